"""Shell: a command line as its parts, and what the status it ended with says of each of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import PurePosixPath
from typing import Literal

Words = tuple[str, ...]
Told = Literal["passed", "failed"]

_SHELLS = frozenset({"bash", "sh", "zsh", "dash", "ksh"})
_SURE = frozenset(
    {"cd", "pushd", "popd", "export", "unset", "echo", "printf", "set", "source", ".", "true", ":"}
    | {"cat", "head", "tail", "tee"}
)
"""Commands that are taken to end well: what a line failed by is hardly ever one of them."""
_BEYOND = frozenset(
    {"if", "for", "while", "until", "case", "select", "function", "do", "then", "[[", "((", "exit", "return", "trap"}
    | {"eval", "wait", "break", "continue"}
)
"""Words that decide what runs, or how it ends, in ways that are not followed here."""
_MOST_PARTS = 10
_MOST_DEPTH = 4
_LONGEST = 20_000
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=.*", re.DOTALL)
_OPERATORS = ("&&", "||", "|&", ";;", "|", ";", "&", "(", ")", "\n")
_REDIRECTION = re.compile(r"(?:\d*|&)(?:>>|>\||>&|<&|<>|>|<)(?:\s*)")


@dataclass(frozen=True, slots=True)
class Simple:
    """One command with its arguments, quotes resolved, assignments before it and redirections left out."""

    words: Words


@dataclass(frozen=True, slots=True)
class Pipe:
    """Parts joined by `|`: it ends as the last one does, with `pipefail` as the worst."""

    stages: tuple[Part, ...]
    negated: bool
    pipefail: bool


@dataclass(frozen=True, slots=True)
class Chain:
    """Parts with what joins each to the one before it, `;`, `&&` or `||`, and whether it is left in the background."""

    parts: tuple[tuple[str, Part, bool], ...]


Part = Simple | Pipe | Chain


class _Unread(Exception):
    """The line holds something that is not followed here."""


def parse(line: str) -> Part | None:
    """Return a command line as parts; None where it is more than a list of commands, or cannot be read."""
    try:
        return _Reader(line, _MOST_DEPTH).whole()
    except _Unread:
        return None


def commands(part: Part) -> Iterator[Simple]:
    """Yield the commands of a line in the order in which they stand."""
    match part:
        case Simple():
            yield part
        case Pipe():
            for stage in part.stages:
                yield from commands(stage)
        case Chain():
            for _, below, _ in part.parts:
                yield from commands(below)


def told(line: Part, ended_well: bool, wanted: Callable[[Words], bool]) -> dict[int, Told]:
    """Return what the end of a line says of each of its commands that is `wanted`, by its place; where it is certain.

    It is certain where every way in which the commands can have ended, and the line with them, agrees: `a && b` that
    ended well says that both did, `a | b` and `a; b` say nothing of `a`, and `a || true` nothing at all. Failing is
    certain too where it is only certain that one of the wanted failed: it stands at the first of them.
    """
    parts = list(commands(line))
    open_ = [place for place, part in enumerate(parts) if not _is_sure(part.words)]
    checks = [place for place, part in enumerate(parts) if wanted(part.words)]
    if not checks or len(open_) > _MOST_PARTS:
        return {}
    ways: list[dict[int, bool]] = []
    for ends in product((True, False), repeat=len(open_)):
        status = dict(zip(open_, ends, strict=True))
        ran: dict[int, bool] = {}
        every = [status.get(place, part.words != ("false",)) for place, part in enumerate(parts)]
        if _run(line, every, ran, [0]) == ended_well:
            ways.append(ran)
    if not ways:
        return {}
    found: dict[int, Told] = {}
    for place in checks:
        if all(way.get(place) is True for way in ways):
            found[place] = "passed"
        elif all(way.get(place) is False for way in ways):
            found[place] = "failed"
    if "failed" not in found.values() and all(any(way.get(place) is False for place in checks) for way in ways):
        found[checks[0]] = "failed"
    return found


def can_fail(line: Part, wanted: Callable[[Words], bool]) -> bool:
    """Return whether a `wanted` command that ends badly has the line end badly, where all else ends well."""
    parts = list(commands(line))
    well = [part.words != ("false",) for part in parts]
    checks = [place for place, part in enumerate(parts) if wanted(part.words)]
    return any(
        not _run(line, [end and place != bad for place, end in enumerate(well)], {}, [0])
        for bad in checks
        if not _is_sure(parts[bad].words)
    ) != (not _run(line, well, {}, [0]))


def _is_sure(words: Words) -> bool:
    return not words or words[0] in _SURE or words == ("false",)


def _run(part: Part, ends: Sequence[bool], ran: dict[int, bool], place: list[int]) -> bool:
    """Run a part in thought: note how each command that runs ends, and return how the part does.

    `place` holds the place of the part's first command, and is moved behind its last.
    """
    match part:
        case Simple():
            here, place[0] = place[0], place[0] + 1
            ran[here] = ends[here]
            return ends[here]
        case Pipe():
            statuses = [_run(stage, ends, ran, place) for stage in part.stages]
            well = all(statuses) if part.pipefail else statuses[-1]
            return well != part.negated
        case Chain():
            well = True
            for joint, below, behind in part.parts:
                if (joint == "&&" and not well) or (joint == "||" and well):
                    place[0] += sum(1 for _ in commands(below))
                    continue
                ended = _run(below, ends, ran, place)
                well = behind or ended
            return well


class _Reader:
    """Reads one line; `depth` bounds how far shells within shells are followed."""

    def __init__(self, line: str, depth: int, errexit: bool = False, pipefail: bool = False) -> None:
        if len(line) > _LONGEST or depth <= 0:
            raise _Unread
        self._tokens = list(_tokens(line))
        self._at = 0
        self._depth = depth
        self._errexit = errexit
        self._pipefail = pipefail

    def whole(self) -> Part:
        found = self._chain(())
        if self._at < len(self._tokens):
            raise _Unread
        return found

    def _next(self) -> str | None:
        """Return the operator that comes next, or None before a word and at the end."""
        if self._at < len(self._tokens):
            kind, text = self._tokens[self._at]
            return text if kind == "operator" else None
        return None

    def _chain(self, until: Sequence[str]) -> Part:
        parts: list[tuple[str, Part, bool]] = []
        joint = ";"
        while self._at < len(self._tokens) and not self._ends(until):
            if self._next() in (";", "\n"):
                self._at += 1
                continue
            below = self._pipe()
            operator = self._next()
            # With `set -e` a failing command ends the line: what follows runs only where it went well.
            plain = "&&" if self._errexit and parts else ";"
            parts.append((plain if joint == ";" else joint, below, operator == "&"))
            if operator == "&":
                self._at += 1
                joint = ";"
            elif operator in ("&&", "||"):
                self._at += 1
                while self._next() == "\n":
                    self._at += 1
                joint = operator
            elif operator in (";", "\n"):
                joint = ";"
            elif operator is not None and operator not in until:
                raise _Unread
        if not parts:
            raise _Unread
        return Chain(tuple(parts))

    def _ends(self, until: Sequence[str]) -> bool:
        return bool(until) and self._tokens[self._at][1] in until

    def _pipe(self) -> Part:
        negated = False
        while self._tokens[self._at] == ("word", "!"):
            negated, self._at = not negated, self._at + 1
            if self._at >= len(self._tokens):
                raise _Unread
        stages = [self._command()]
        while self._next() in ("|", "|&"):
            self._at += 1
            if self._at >= len(self._tokens):
                raise _Unread
            stages.append(self._command())
        if len(stages) == 1 and not negated:
            return stages[0]
        return Pipe(tuple(stages), negated, self._pipefail)

    def _command(self) -> Part:
        for opening, closing in (("(", ")"), ("{", "}")):
            if self._tokens[self._at][1] == opening:
                return self._group(closing)
        words: list[str] = []
        while self._at < len(self._tokens) and self._tokens[self._at][0] != "operator":
            words.append(self._tokens[self._at][1])
            self._at += 1
        while words and _ASSIGNMENT.fullmatch(words[0]):
            del words[0]
        if words and (words[0] in _BEYOND or self._next() == "("):
            raise _Unread
        if words[:1] == ["set"]:
            self._note_options(words[1:])
        return self._inner(words) or Simple(tuple(words))

    def _group(self, closing: str) -> Part:
        held = (self._errexit, self._pipefail)
        self._at += 1
        inner = self._chain((closing,))
        if self._at >= len(self._tokens):
            raise _Unread
        self._at += 1
        if closing == ")":
            self._errexit, self._pipefail = held
        return inner

    def _note_options(self, options: Sequence[str]) -> None:
        short = "".join(option[1:] for option in options if re.fullmatch(r"-[a-zA-Z]+", option))
        self._errexit |= "e" in short or "errexit" in options
        self._pipefail |= "o" in short and "pipefail" in options

    def _inner(self, words: Sequence[str]) -> Part | None:
        """Return the parts of what a shell is told to run by `-c`."""
        if not words or PurePosixPath(words[0]).name not in _SHELLS:
            return None
        flags = next((place for place, word in enumerate(words) if re.fullmatch(r"-[a-z]*c", word)), None)
        if flags is None or flags + 1 >= len(words):
            return None
        errexit = any(re.fullmatch(r"-[a-z]*e[a-z]*", word) for word in words[1 : flags + 1])
        return _Reader(words[flags + 1], self._depth - 1, errexit, "pipefail" in words[1:flags]).whole()


def _tokens(line: str) -> Iterator[tuple[str, str]]:
    """Yield the words and operators of a line; redirections are left out, their targets with them."""
    place, length = 0, len(line)
    while place < length:
        if line[place] in " \t\r":
            place += 1
        elif line.startswith("\\\n", place):
            place += 2
        elif line[place] == "#":
            place = _end_of_line(line, place)
        elif line.startswith("<<", place):
            raise _Unread  # a document within the line
        elif (redirection := _REDIRECTION.match(line, place)) is not None:
            place = redirection.end()
            place = place + 1 if line[place : place + 1] == "-" else _word(line, place)[1]
        elif (operator := next((one for one in _OPERATORS if line.startswith(one, place)), None)) is not None:
            yield "operator", operator
            place += len(operator)
        else:
            word, place = _word(line, place)
            yield "word", word


def _end_of_line(line: str, place: int) -> int:
    found = line.find("\n", place)
    return len(line) if found < 0 else found


def _word(line: str, place: int) -> tuple[str, int]:
    """Return the word at a place with its quotes resolved, and where it ends; substitutions stay as written."""
    letters: list[str] = []
    while place < len(line) and line[place] not in " \t\r\n|;&()<>":
        sign = line[place]
        if sign == "'":
            end = _closing(line, place + 1, "'")
            letters.append(line[place + 1 : end])
        elif sign == '"':
            end = _closing(line, place + 1, '"')
            letters.append(re.sub(r'\\(["\\$`])', r"\1", line[place + 1 : end]))
        elif sign == "`":
            end = _closing(line, place + 1, "`")
            letters.append(line[place : end + 1])
        elif line.startswith("$(", place):
            end = _closing_bracket(line, place + 2)
            letters.append(line[place : end + 1])
        elif sign == "\\" and place + 1 < len(line):
            end = place + 1
            letters.append("" if line[end] == "\n" else line[end])
        else:
            end = place
            letters.append(sign)
        place = end + 1
    return "".join(letters), place


def _closing(line: str, place: int, quote: str) -> int:
    while place < len(line) and line[place] != quote:
        place += 2 if line[place] == "\\" and quote != "'" else 1
    if place >= len(line):
        raise _Unread
    return place


def _closing_bracket(line: str, place: int) -> int:
    depth = 1
    while place < len(line):
        if line[place] in "'\"":
            place = _closing(line, place + 1, line[place])
        depth += (line[place] == "(") - (line[place] == ")")
        if depth == 0:
            return place
        place += 1
    raise _Unread
