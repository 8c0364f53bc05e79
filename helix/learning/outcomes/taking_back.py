"""Taking back: which commands of git put files to what they were, after which nothing seen before is true of them."""

from __future__ import annotations

from posixpath import basename

from helix.learning.outcomes.launchers import git_verb
from helix.learning.outcomes.status import Words, parse, told, words_of
from helix.model.action import Action
from helix.text.shell.simple import simple_commands
from helix.text.spotting.paths import is_file_name
from helix.text.spotting.vocabulary import words

_ON_A_BRANCH = words("-b -B -t --track --orphan --detach")
_OF_A_TREE = words("--hard --merge --keep")
_STASH_ALONE = words("list show drop clear create store")


def takes_back(action: Action) -> bool:
    """Return whether a command that has ended may have put files to what they were.

    It is so wherever that is not certainly false: where the status of it is hidden, or the line not followed, the files
    may be others than those that were looked at before.
    """
    if not action.command or action.passed is None:
        return False
    whole = parse(action.command)
    if whole is None:
        return any(puts_back(command.words) for command in simple_commands(action.command))
    at = [place for place, said in enumerate(words_of(whole)) if puts_back(said)]
    found = told(whole, action.passed, puts_back) if len(at) == 1 else {}
    return any(found.get(place) != "failed" for place in at)


def puts_back(said: Words) -> bool:
    """Return whether a command puts files to what they were: those of a commit, of the index, or of a stash."""
    verb, rest = git_verb(said)
    options = {word for word in rest if word.startswith("-")}
    match verb:
        case "restore":
            return not options & {"--staged", "-S"} or bool(options & {"--worktree", "-W"})
        case "checkout":
            files = any(word == "." or is_file_name(basename(word)) for word in rest)
            return not options & _ON_A_BRANCH and (files or bool(options & {"--", "-f", "--force"}))
        case "switch":
            return bool(options & {"-f", "--force", "--discard-changes"})
        case "reset":
            return bool(options & _OF_A_TREE)
        case "stash":
            return not rest or rest[0] not in _STASH_ALONE
        case "clean":
            letters = "".join(option for option in options if not option.startswith("--"))
            return ("--force" in options or "f" in letters) and not ("--dry-run" in options or "n" in letters)
        case "revert":
            return not options & {"--quit", "--continue", "--skip"}
    return False
