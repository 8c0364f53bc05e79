"""Rule commands: the commands that a rule names, and at which commands it is worth reading.

"Don't run plain `pytest`, use `uv run pytest -n 4`" is worth reading at `pytest -x tests`, and not at what it asks for.

On four sets of notes that it was not written from, 35 of 56 commands get the note about them. Of 56 commands that no
note is about, 9 get one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from functools import lru_cache
from itertools import takewhile

from helix.text.command_line.command_forms import is_path, unwrapped
from helix.text.command_line.command_words import ALONE_ENOUGH, GIVEN_CODE, WITH_ACTIONS
from helix.text.command_line.parser import Command, simple_commands
from helix.text.command_line.tools import only_looks
from helix.text.path_patterns import canonical_path, fits
from helix.text.regex import regex
from helix.text.spotting.typed_commands import HEADS
from helix.text.word_lists import word_list, words

_READ = 4_000
_MOST = 12
_MOST_KEYS = 24
_DEEPEST = 12
_CODE = regex(r"```[^\n]*\n(?P<block>.{1,1000}?)```|`(?P<span>[^`\n]{2,300})`", re.DOTALL)
_TYPED = regex(
    r"\b(?:plain|bare|global|run|call|type)\s+(?=(?P<tool>[a-z][\w.-]{1,30})(?P<rest>(?:\s+-{1,2}[\w=-]+(?:\s+\d+)?)*))"
    r"|\b(?P<alone>[A-Za-z][\w.-]{1,30})\s+alone\s+(?:is|does|won't|will)\b"
)
"""A tool that is told in prose, with its flags."""
_AGAINST = regex(
    r"\b(?:don't|do\s+not|never|not|no\s+longer|avoid|instead\s+of|rather\s+than|stop|plain|bare|global(?:ly)?|without"
    r"|forbidden|mustn't|shouldn't|cannot|can't)\b[^.;:!?`]{0,60}$",
    re.IGNORECASE,
)
_ALONE = regex(r"\s+(?:alone|by\s+itself|directly|by\s+hand)\b", re.IGNORECASE)
_ASKED = regex(
    r"\b(?:use|run|call|do|try|type|with|through|via|by|then|first|prefer|means|it\s+is|i\.e\.|invoke|start|and|or|be|put|in)\W*$"
    r"|[:=,(]\s*$|^\s*(?:[-*]\s*)?$",
    re.IGNORECASE,
)
_PURPOSE = regex(
    r"\s*(?:before|after|when|whenever|instead|first|\(|,|\.|;|:|\)|and\b|or\b|to\b|for\b|$)", re.IGNORECASE
)
_CLAUSE = regex(r"[.;!?]\s|\n\n|,\s+(?=(?:but|use|run|call|do|try|prefer)\b)|\b(?=instead\s+(?:use|run))")
_BRANCH = regex(r"`([\w./-]{2,60})`\s+branch\b")
_IN_PLACE = regex(r"-[a-zA-Z]*i.*|--in-place.*")
_OF_PROGRAMS = word_list("text/command_line/rule_commands", "of_programs")
_PLAIN_TOOL = regex(r"[a-z][a-z0-9_.-]{1,30}")
_ARGUMENT = regex(r"-{1,2}[\w=-]+|[\w./@:-]+")
_TESTS, _TEST_RUNNERS = words("test tests"), words("pytest unittest nose2 jest vitest mocha rspec phpunit")
"""What a project's own command for its tests is called, and what runs the tests past it."""
_NUMBER = regex(r"-?\d+")
_FOLDERS = ("/", "/*", "/**")
"""How what names a whole folder ends."""
_PATH = regex(
    r"(?<![\w/:.@~*-])(?:[\w.-]{1,60}/){1,12}(?:[\w.-]{1,80}|[\w.-]{0,40}\*[\w.-]{0,40})\.[A-Za-z]\w{0,5}"
    r"(?![\w/*-]|:(?=\S))(?!\.\w)"
)
"""A file in prose, or a pattern of files: below a folder, with an extension. A name alone is often no file (`Node.js`)
or many."""


class CommandRole(Enum):
    """What a rule says of a command that it names."""

    AGAINST = auto()
    ASKED = auto()
    SPOKEN = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleCommand:
    """A command that a rule names: its tool, its other words without paths and numbers, and what is said of it.

    `action` are its words before the first flag, `places` the paths that it names, `folder` is where `cd` takes it;
    `ran` tells that a runner such as `uv run` runs it.
    """

    tool: str
    said: frozenset[str]
    role: CommandRole
    action: frozenset[str] = frozenset()
    places: tuple[str, ...] = ()
    folder: str = ""
    ran: bool = False


@lru_cache(maxsize=512)
def named_commands(text: str) -> tuple[RuleCommand, ...]:
    """Return the commands that a rule's text names in code, code blocks, or by a tool's own name; at most 12."""
    return tuple(dict.fromkeys(_named(text[:_READ])))[:_MOST]


def stands_at(named: Sequence[RuleCommand], line: Sequence[Command]) -> bool:
    """Return whether a rule's text that names these commands is worth reading where a command line is run.

    That is where the line runs what the rule speaks of or against, or runs what it asks for with words of it left out.
    Not where the line runs a command as the rule asks for it, and not where it only looks.
    """
    if is_followed(named, line):
        return False
    return any(_matches(one, it) for it in _run_by(line) if not _only_looks(it) for one in named)


def speaks_against(named: Sequence[RuleCommand], line: Sequence[Command]) -> bool:
    """Return whether the text of a rule, which names these commands, says not to do what a line does."""
    return stands_at([one for one in named if one.role is CommandRole.AGAINST], line) and not is_followed(named, line)


def is_followed(named: Sequence[RuleCommand], line: Sequence[Command]) -> bool:
    """Return whether a command line follows a rule that names these commands."""
    return any(one.role is CommandRole.ASKED and _has(it, one) for it in _run_by(line) for one in named)


def keys_of_rule(text: str) -> tuple[str, ...]:
    """Return the keys by which a rule's text is found at commands: the tools and the files it names in code."""
    found = named_commands(text)
    tests = _TEST_RUNNERS if any(one.role is CommandRole.ASKED and _tests(one) for one in found) else ()
    return tuple(dict.fromkeys((*(one.tool for one in found), *sorted(tests), *named_files(text))))[:_MOST_KEYS]


def keys_of_line(line: Sequence[Command]) -> tuple[str, ...]:
    """Return the keys under which rules for a command line may be found: its tools, and its files."""
    files = (key for _, keys in _file_keys(line) for key in keys)
    return tuple(dict.fromkeys((*(one.tool for one in _run_by(line)), *files)))


def named_files(text: str) -> frozenset[str]:
    """Return the files that a rule's text names, by path; of a pattern (`tests/*_int.py`) its last part.

    In code they may be a name alone, in prose they lie below a folder. A folder, `docs/` or `docs/*`, ends with `/`.
    """
    folders = (f"{canonical_path(word.rstrip('*')).rstrip('/')}/" for word in _in_code(text) if word.endswith(_FOLDERS))
    files = (path.rpartition("/")[2] if "*" in path else path for path in _files(text))
    return frozenset(files) | (frozenset(folders) - {"/"})


def names_file(text: str, path: str, keys: Iterable[str]) -> bool:
    """Return whether a rule's text names a file by one of its keys; a pattern counts where it matches the path."""
    found = named_files(text).intersection(keys)
    if not found or any("*" not in key for key in found):
        return bool(found)
    return any("*" in named and fits(f"*/{named}", f"/{path}") for named in _files(text))


def _files(text: str) -> Iterator[str]:
    told = (match[0] for match in _PATH.finditer(_CODE.sub(" ", text[:_READ])))
    paths = (canonical_path(word) for word in (*_in_code(text), *told) if not word.endswith(_FOLDERS))
    return (f"*{path}" if path[0] in "_-" else path for path in paths if path)


def _in_code(text: str) -> list[str]:
    spans = (match["span"] for match in _CODE.finditer(text[:_READ]) if match["span"] is not None)
    return [word for span in spans for word in span.split() if is_path(word) and " " not in word]


def keys_of_file(path: str) -> tuple[str, ...]:
    """Return the keys under which rules' texts for a file may be found: path and name, folders, and endings."""
    parts = path.split("/")
    folders = ("/".join(parts[:depth]) + "/" for depth in range(1, min(len(parts), _DEEPEST)))
    keys = (path, parts[-1], *(folder for folder in folders if folder != "/"), *_endings(path))
    return tuple(dict.fromkeys(keys))


def _endings(path: str) -> Iterator[str]:
    """Yield the patterns of names that a file's name ends as: `*_live.py`, `*.py`; the last ones of very many."""
    name = path.rpartition("/")[2]
    signs = [at for at, sign in enumerate(name) if sign in "_.-"]
    return (f"*{name[at:]}" for at in signs[-_MOST_KEYS:])


def is_about(text: str, line: Sequence[Command]) -> bool:
    """Return whether a rule's text is worth reading at a command line: for its commands, or a file it runs or edits."""
    named = named_commands(text)
    if is_followed(named, line):
        return False
    return stands_at(named, line) or any(names_file(text, path, keys) for path, keys in _file_keys(line))


def _file_keys(line: Sequence[Command]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the files that a line edits or runs, each with the keys under which rules for it may be found."""
    yield from ((edited, keys_of_file(edited)) for edited in edited_in_place(line))
    for part in line:
        said, _ = unwrapped(part.words)
        one = _parse_command(part, CommandRole.SPOKEN)
        if one is None or _only_looks(one) or one.tool in ("sed", "perl", "git"):
            continue
        for word in said:
            path = canonical_path(word.partition("::")[0])
            if is_path(path):
                yield path, (path, *_endings(path))


def edited_in_place(line: Sequence[Command]) -> tuple[str, ...]:
    """Return the files that a command line edits where they are, as `sed -i` does."""
    found: dict[str, None] = {}
    for part in line:
        said, _ = unwrapped(part.words)
        if said and said[0] in ("sed", "perl") and any(_IN_PLACE.fullmatch(word) for word in said[1:]):
            found.update(dict.fromkeys(canonical_path(word) for word in said[2:] if is_path(word) and " " not in word))
    return tuple(found)


def _run_by(line: Sequence[Command]) -> list[RuleCommand]:
    return [one for part in line if (one := _parse_command(part, CommandRole.SPOKEN)) is not None]


def _matches(one: RuleCommand, it: RuleCommand) -> bool:
    if one.role is CommandRole.ASKED and _tests(one) and it.tool in _TEST_RUNNERS and one.tool != it.tool:
        return True
    if one.tool != it.tool or (one.places and not it.places and not one.said):
        return False
    if one.role is CommandRole.ASKED:
        if one.folder and any(canonical_path(place).startswith(f"{one.folder}/") for place in it.places):
            return True
        other = one.tool in WITH_ACTIONS and it.action != one.action  # `make test` is no `make -j8` without a word
        return one.action <= it.said and one.said != one.action and not other
    return one.said <= it.said and (one.ran or not it.ran or bool(one.said))


def _tests(one: RuleCommand) -> bool:
    return bool(one.said & _TESTS) or one.tool.rpartition("/")[2] in _TESTS


def _has(it: RuleCommand, asked: RuleCommand) -> bool:
    """Return whether a command is run as it is asked for."""
    placed = not asked.places or bool(it.places)
    there = not asked.folder or f"{it.folder}/".endswith(f"{asked.folder}/")
    return it.tool == asked.tool and asked.said <= it.said and it.ran >= asked.ran and placed and there


def _only_looks(it: RuleCommand) -> bool:
    return only_looks(it.tool, {*it.action, *(word for word in it.said if word.startswith("-"))})


def _named(text: str) -> Iterator[RuleCommand]:
    last: RuleCommand | None = None
    for match in _CODE.finditer(text):
        before, after = text[: match.start()], text[match.end() :]
        for line in (match["block"] or match["span"]).splitlines():
            role, block = _role(before, after), match["block"] is not None
            found = [*_of_line(line, role, block=block), *_of_flags(line, role, last)]
            last = found[-1] if found else last
            yield from found
    for match in _BRANCH.finditer(text):
        yield RuleCommand(tool="git", said=frozenset({match[1]}), role=CommandRole.SPOKEN)
    for match in _TYPED.finditer(_CODE.sub(lambda found: "\x00" * len(found[0]), text)):
        tool = match["tool"] or match["alone"].lower()
        if tool in HEADS | ALONE_ENOUGH:
            role = (
                CommandRole.AGAINST if match["alone"] else _role(text[: match.start("tool")], text[match.end("rest") :])
            )
            yield from _of_line(f"{tool}{match['rest'] or ''}", role)


def _role(before: str, after: str) -> CommandRole:
    clause = _CLAUSE.split(before[-200:])[-1]
    if _ALONE.match(after) or _AGAINST.search(clause):
        return CommandRole.AGAINST
    return CommandRole.ASKED if _ASKED.search(clause) and _PURPOSE.match(after) else CommandRole.SPOKEN


def _of_line(line: str, role: CommandRole, *, block: bool = False) -> Iterator[RuleCommand]:
    """Yield the commands of a line of code; what is no command by its first word names none."""
    for part in simple_commands(line.strip().removeprefix("$ ")):
        one = _parse_command(part, role)
        if one is not None and (one.said or one.places or not block) and _is_command(one, part.words, block):
            yield one


def _of_flags(line: str, role: CommandRole, last: RuleCommand | None) -> Iterator[RuleCommand]:
    """Yield the command that flags are said of which stand alone: the last one that was named."""
    if (
        last is not None
        and role is not CommandRole.ASKED
        and line.startswith("--")
        and all(map(_ARGUMENT.fullmatch, line.split()))
    ):
        said = frozenset({*last.action, *line.split()})
        yield RuleCommand(tool=last.tool, said=said, role=role, action=last.action, ran=last.ran)


def _is_command(one: RuleCommand, said: Sequence[str], block: bool) -> bool:
    """Return whether words of code are a command: of a known tool, a script, or at least two words like one."""
    script = one.tool.startswith(("scripts/", "bin/", "tools/")) or one.tool.endswith(".sh")
    known = one.tool in HEADS or one.tool in ALONE_ENOUGH or one.tool in WITH_ACTIONS or script
    if one.tool in _OF_PROGRAMS:
        return False
    alike = _PLAIN_TOOL.fullmatch(one.tool) and len(said) > 1 and all(_ARGUMENT.fullmatch(word) for word in said[1:])
    return known or (not block and bool(alike))


def _parse_command(part: Command, role: CommandRole) -> RuleCommand | None:
    said, ran = unwrapped(part.words)
    if len(said) > 1 and said[0] in GIVEN_CODE and is_path(said[1]):
        said = said[1:]  # a script is run rather than its interpreter
    if not said or "=" in said[0] or any(word in ("...", "…") for word in said[:1]):
        return None
    rest = [word for word in said[1:] if word not in (".", "...", "--")]
    places = tuple(word for word in rest if is_path(word))
    plain = [word for word in rest if word not in places and not _NUMBER.fullmatch(word)]
    action = takewhile(lambda word: not word.startswith("-"), plain)
    return RuleCommand(
        tool=said[0].removeprefix("./"),
        said=frozenset(plain),
        role=role,
        action=frozenset(action),
        places=places,
        folder=canonical_path(part.folder),
        ran=ran,
    )
