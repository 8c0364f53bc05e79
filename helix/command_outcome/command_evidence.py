"""Command evidence: what the end of a command says of the work, and what all of a task's evidence comes to.

Some commands of git put files back to what they were: nothing seen before is true of those files any more.

Of 78 commands of recorded runs that count tests it judges 63, each as its counts do; the status alone is right for 60
of 78.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from posixpath import basename

from helix.command_outcome.command_run import CommandRun
from helix.command_outcome.exit_status import Told, Words, can_fail, parse, told_by_status, words_of
from helix.model.evidence import Evidence, EvidenceKind, Verification
from helix.text.command_line.launchers import bare_command, git_verb
from helix.text.command_line.parser import Node
from helix.text.command_line.runners import work_of_line
from helix.text.spotting.paths import is_file_name
from helix.text.word_lists import words

_NOTHING_RAN = frozenset({125, 126, 127})
"""What a shell says of a command that it cannot start, and a container's tool or `timeout` where itself it fails."""
_CUT_SHORT = frozenset({124, 130, 137, 143})
"""What a shell says of a command that was stopped from outside: by `timeout`, Ctrl-C, or a signal that ends it."""
_NO_TESTS = {"pytest": frozenset({4, 5}), "py.test": frozenset({4, 5})}
"""Where a tool has a status of its own for having run no test."""
_LANDED = re.compile(r"^\[[^\]\n]*? ([0-9a-f]{7,40})\] (.*)$", re.MULTILINE)
_UNDOES = re.compile(r'Revert "(.*)"\s*')
HEAD = "HEAD"
"""What stands for the commit that a revert took back, where the command names the newest one."""
_REVERTED = re.compile(r"\bThis reverts commit ([0-9a-f]{7,40})\b")
_COMMIT = re.compile(r"[0-9a-f]{7,40}")
_STRENGTH = (
    EvidenceKind.PERSON,
    EvidenceKind.OTHER,
    EvidenceKind.TEST,
    EvidenceKind.BUILD,
    EvidenceKind.LINT,
    EvidenceKind.REVERT,
    EvidenceKind.COMMIT,
)
_LONG_AGO = datetime.min.replace(tzinfo=UTC)


def classify(run: CommandRun, verify: str = "") -> Evidence | None:
    """Return what the outcome of a command proves of the work, or None where it says nothing for certain.

    A test, build or lint run counts by the status it ended with itself: one whose status is hidden (by a pipe without
    `pipefail`, `|| true`, `;`, `&`) never passed, and failed only where its own summary says so. `verify` is the task's
    own command: whatever it is, the status that it ends with counts.
    """
    if not run.command or run.passed is None or run.exit_status in _NOTHING_RAN | _CUT_SHORT:
        return None
    own = _is(run.command, verify)
    if run.tree is None:
        return _evidence(run, EvidenceKind.OTHER, run.passed, own) if own else None
    wanted = _of_verify(verify)
    kinds = [EvidenceKind.OTHER if wanted is not None and words == wanted else _kind(words) for words in run.parts]
    if own:
        return _of_own(run, run.tree)
    if any(run.exit_status in _NO_TESTS.get((bare_command(words) or [""])[0], ()) for words in run.parts):
        return None
    return _of_parts(run, run.tree, kinds)


def _of_own(run: CommandRun, whole: Node) -> Evidence | None:
    """Judge the verify command itself: by its status, unless that cannot tell; then by its own summary."""
    known = [kind for kind in map(work_of_line, run.parts) if kind is not None]
    kind = min(known, key=_STRENGTH.index, default=EvidenceKind.OTHER)
    good, bad = run.counts if kind is EvidenceKind.TEST else (None, None)
    if bad:
        return _evidence(run, kind, False, verify=True)
    if can_fail(whole, lambda words: work_of_line(words) is not None if known else True):
        return _evidence(run, kind, bool(run.passed), verify=True)
    return _evidence(run, kind, True, verify=True) if good and run.passed else None


def _of_parts(run: CommandRun, whole: Node, kinds: Sequence[EvidenceKind | None]) -> Evidence | None:
    parts = run.parts
    checks = {words for words, kind in zip(parts, kinds, strict=True) if kind is not None}
    found = told_by_status(whole, bool(run.passed), lambda words: words in checks)
    blamed = _blamed(run, kinds, [place for place, end in found.items() if end == "suspect"])
    if blamed is not None:
        return _as_told(run, parts[blamed], _sure(kinds[blamed]), "failed")
    certain = [place for place, end in found.items() if end != "suspect"]
    judged = sorted(certain, key=lambda place: (found[place] != "failed", _STRENGTH.index(_sure(kinds[place])), place))
    judged = [place for place in judged if not _is_commit(kinds[place]) or found[place] == "passed"]
    # What passed before files were taken back says nothing of what they became.
    last = max((place for place, words in enumerate(parts) if puts_back(words)), default=0)
    judged = [place for place in judged if place >= last or found[place] == "failed"]
    if judged and "suspect" not in found.values():
        return _as_told(run, parts[judged[0]], _sure(kinds[judged[0]]), found[judged[0]])
    good, bad = run.counts
    if bad and good is not None and EvidenceKind.TEST in kinds:
        return _evidence(run, EvidenceKind.TEST, False)
    return None


def _blamed(run: CommandRun, kinds: Sequence[EvidenceKind | None], suspects: Sequence[int]) -> int | None:
    """Return which of several commands of which one failed is held to have; None where it may be none that checks.

    A summary of tests says whether it was the tests, where it can be of one run only. Else it is the last: that one has
    not passed, whatever kept it, and what was before it has done so when it does.
    """
    if not suspects or any(_is_commit(kinds[place]) for place in suspects):
        return None
    good, bad = run.counts
    tests = [place for place in suspects if work_of_line(run.parts[place]) is EvidenceKind.TEST]
    if good is None or not tests:
        return suspects[-1]
    if bad:
        return tests[-1]
    left = [place for place in suspects if place not in tests[:1]] if len(tests) == 1 else []
    return left[-1] if left else None


def _as_told(run: CommandRun, words: Words, kind: EvidenceKind, end: Told) -> Evidence:
    if kind is EvidenceKind.REVERT:
        return _as_revert(run, git_verb(words)[1])
    own = kind is EvidenceKind.OTHER
    return _evidence(run, (work_of_line(words) or kind) if own else kind, end == "passed", own)


def _as_revert(run: CommandRun, named: Sequence[str]) -> Evidence:
    """Return the evidence of a revert: what git prints is its own commit, whose subject quotes that of the other."""
    found, landed = _evidence(run, EvidenceKind.REVERT, False), _LANDED.search(run.output)
    said, undoes = _REVERTED.search(run.output), landed and _UNDOES.fullmatch(landed[2])
    hashes = [word for word in named if _COMMIT.fullmatch(word)] or ([said[1]] if said is not None else [])
    heads = [HEAD for word in named if word in (HEAD, "@")]
    return replace(found, commit=next(iter(hashes + heads), ""), subject=undoes[1] if undoes else "")


def _evidence(run: CommandRun, kind: EvidenceKind, passed: bool, verify: bool = False) -> Evidence:
    good, bad = run.counts if kind in (EvidenceKind.TEST, EvidenceKind.LINT) else (None, None)
    landed = _LANDED.search(run.output)
    return Evidence(
        kind=kind,
        command=run.command,
        passed=passed,
        id=run.id,
        exit_status=run.exit_status,
        tests_passed=good,
        tests_failed=bad,
        commit=landed[1] if landed is not None else "",
        subject=landed[2].strip() if landed is not None else "",
        verify=verify,
        at=run.at,
    )


def verification_of(evidence: Iterable[Evidence], edited_at: datetime | None = None) -> Verification:
    """Return what the evidence of commands for a task comes to; the order makes no difference.

    What a person says decides. Else a commit of the task that was taken back has it fail, unless there is evidence from
    later on. Then its own verify command decides, by its last run. Else the last test run and the last build do: one
    that failed, or all passed; else the last lint; else a commit that landed. What passed before the last edit says
    nothing of what it became.
    """
    ordered = sorted(evidence, key=lambda one: (came_up_at(one), one.id, one.command, not one.passed))
    told = _last(ordered, EvidenceKind.PERSON)
    if told:
        return Verification.PASSED if told[0].passed else Verification.FAILED
    reverts = [place for place, one in enumerate(ordered) if one.kind is EvidenceKind.REVERT]
    if reverts:
        ordered = ordered[reverts[-1] + 1 :]
    standing = [one for one in ordered if not one.passed or edited_at is None or (one.at or edited_at) >= edited_at]
    for chosen in (
        [one for one in standing if one.verify][-1:],
        [*_last(standing, EvidenceKind.TEST), *_last(standing, EvidenceKind.BUILD)],
        _last(standing, EvidenceKind.LINT),
        _last(standing, EvidenceKind.COMMIT),
    ):
        if chosen:
            return Verification.PASSED if all(one.passed for one in chosen) else Verification.FAILED
    return Verification.FAILED if reverts else Verification.NONE


def seen_since(evidence: Iterable[Evidence], moment: datetime) -> list[Evidence]:
    """Return the evidence in the outcomes of commands from a moment on, without the revert of a commit of before."""
    told = list(evidence)
    before = [one.commit for one in told if one.kind is not EvidenceKind.REVERT and one.at and one.at < moment]
    return [
        one
        for one in told
        if (one.at is None or one.at >= moment) and not (one.kind is EvidenceKind.REVERT and one.commit in before)
    ]


def first_verified(evidence: Sequence[Evidence], edited_at: datetime | None = None) -> Verification:
    """Return what the outcomes of commands come to in a session without a task: what has passed once is over.

    What fails afterwards is of other work, unless it takes back what passed, or a person says so.
    """
    ordered = sorted(evidence, key=came_up_at)
    if not any(one.kind in (EvidenceKind.REVERT, EvidenceKind.PERSON) for one in ordered):
        for place, one in enumerate(ordered, 1):
            known = edited_at if edited_at is not None and edited_at <= came_up_at(one) else None
            if one.passed and verification_of(ordered[:place], known) is Verification.PASSED:
                return Verification.PASSED
    return verification_of(ordered, edited_at)


def came_up_at(evidence: Evidence) -> datetime:
    """Return when a command gave evidence; what nobody has told the time of was long ago."""
    return evidence.at or _LONG_AGO


def _last(evidence: Sequence[Evidence], kind: EvidenceKind) -> list[Evidence]:
    return [one for one in evidence if one.kind is kind][-1:]


def _kind(words: Words) -> EvidenceKind | None:
    verb, rest = git_verb(words)
    if verb in ("commit", "revert"):
        aside = {"--dry-run", "--abort", "--continue", "--quit", "--skip", "-n", "--no-commit"}
        said = set(rest) & (aside if verb == "revert" else {"--dry-run"})
        return None if said else EvidenceKind(verb)
    return work_of_line(words)


def _is_commit(kind: EvidenceKind | None) -> bool:
    return kind in (EvidenceKind.COMMIT, EvidenceKind.REVERT)


def _sure(kind: EvidenceKind | None) -> EvidenceKind:
    assert kind is not None  # only what is of a kind was asked about
    return kind


def _is(command: str, verify: str) -> bool:
    """Return whether a command is the verify command itself, or that behind changes of folder."""
    plain, wanted = " ".join(command.split()), " ".join(verify.split())
    if not wanted:
        return False
    while plain != wanted and (moved := re.match(r"cd [^&|;<>]+(?:&&|;) ?", plain)) is not None:
        plain = plain[moved.end() :]
    return plain == wanted


def _of_verify(verify: str) -> Words | None:
    """Return the words of a verify command that is one command, so that it is known within a longer line."""
    whole = parse(verify) if verify.strip() else None
    held = [] if whole is None else words_of(whole)
    return held[0] if len(held) == 1 and held[0] else None


_ON_A_BRANCH = words("-b -B -t --track --orphan --detach")
_OF_A_TREE = words("--hard --merge --keep")
_STASH_ALONE = words("list show drop clear create store")


def takes_back(run: CommandRun) -> bool:
    """Return whether a command that has ended may have put files back to what they were.

    It is so wherever that is not certainly false: where the status of it is hidden, or the line not followed, the files
    may be others than those that were looked at before.
    """
    if not run.command or run.passed is None:
        return False
    if run.tree is None:
        return any(puts_back(command.words) for command in run.commands)
    at = [place for place, said in enumerate(run.parts) if puts_back(said)]
    found = told_by_status(run.tree, run.passed, puts_back) if len(at) == 1 else {}
    return any(found.get(place) != "failed" for place in at)


def puts_back(said: Words) -> bool:
    """Return whether a command's outcome is that files are back to what they were.

    Those of a commit, of the index, or of a stash.
    """
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
