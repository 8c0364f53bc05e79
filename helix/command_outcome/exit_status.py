"""Exit status: what the status that a command line ended with says of each command in it.

A status that is hidden, as in a pipe, says nothing.

Of 78 commands of recorded runs that count tests the status of the line is right for 60; read so, `command_evidence`
is right for 63 and never wrong.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import PurePosixPath
from typing import Literal

from helix.text.command_line.launchers import without_launchers
from helix.text.command_line.parser import (
    AndOr,
    Compound,
    Group,
    Line,
    List,
    Node,
    Pipeline,
    Simple,
    commands,
    read,
)
from helix.text.word_lists import word_list

Words = tuple[str, ...]
Told = Literal["passed", "failed", "suspect"]
"""How a command ended: `suspect` is one of several of which one failed, and it is not certain which."""

_SHELLS = frozenset({"bash", "sh", "zsh", "dash", "ksh"})
_SURE = word_list("command_outcome/exit_status", "sure")
_SURE_WITH = {"mkdir": re.compile(r"-\w*p\w*|--parents"), "rm": re.compile(r"-\w*f\w*|--force")}
"""And those that are with an option."""
_BEYOND = frozenset({"return", "trap", "eval", "wait", "break", "continue"})
"""Commands that decide what runs, or how it ends, in ways that are not followed here."""
_READERS = frozenset({"cat", "tee"})
"""Commands to which a here-document is but data; to any other it may say what to do."""
_MOST_PARTS = 10
_MOST_DEPTH = 4
_SUBSTITUTES = re.compile(r"\$\(|`")
_NUMBER = re.compile(r"\d{1,3}")
_LAST_STATUS = re.compile(r"\$\?|\$\{\?\}")
_STAGE_STATUS = re.compile(r"\$\{PIPESTATUS\[(\d{1,2})\]\}|\$PIPESTATUS")
_VARIABLE = re.compile(r"\$([A-Za-z_]\w*)|\$\{([A-Za-z_]\w*)\}")
_ASSIGNED = re.compile(r"([A-Za-z_]\w*)(?:\[[^]]*\])?\+?=")


@dataclass(frozen=True, slots=True)
class Started(Group):
    """What a shell of its own is told to run by `-c`, with the options that it begins with."""

    errexit: bool
    pipefail: bool


class _Unread(Exception):
    """The line holds something that is not followed here."""


def parse(line: str | Line) -> Node | None:
    """Return a command line as its commands for the exit status; None where it is no list of them, or unreadable.

    Loops, conditions and functions are more, and so is a command that is told by a here-document what to do.
    """
    try:
        found = _followed(read(line) if isinstance(line, str) else line, _MOST_DEPTH)
    except _Unread:
        return None
    simples = [simple for simple, _ in commands(found)]
    kept = {name[1] for simple in simples for said in simple.assignments if (name := _ASSIGNED.match(said))}
    asked = {name for simple in simples if simple.words[:1] == ("exit",) for name in map(_variable, simple.words[1:])}
    return found if asked <= {"", *kept} else None


def words_of(line: Node) -> list[Words]:
    """Return the words of each command of a line whose exit status is read, in order."""
    return [simple.words for simple, _ in commands(line)]


def told_by_status(line: Node, ended_well: bool, wanted: Callable[[Words], bool]) -> dict[int, Told]:
    """Return what a line's exit status says of each of its commands that is `wanted`, by place; where it is certain.

    It is certain where every way in which the commands can have ended, and the line with them, agrees: `a && b` that
    ended well says that both did, `a | b` and `a; b` say nothing of `a`, and `a || true` nothing at all. Where it is
    only certain that one of the wanted failed, all are suspects that can have.
    """
    parts = [simple for simple, _ in commands(line)]
    open_ = [id(part) for part in parts if not _is_sure(part)]
    checks = {place: id(part) for place, part in enumerate(parts) if wanted(part.words)}
    if not checks or len(open_) > _MOST_PARTS:
        return {}
    ways: list[Mapping[int, bool]] = []
    for ends in product((True, False), repeat=len(open_)):
        try:
            ran, well = _run(line, dict(zip(open_, ends, strict=True)))
        except _Unread:
            return {}
        if well == ended_well:
            ways.append(ran)
    if not ways:
        return {}
    found: dict[int, Told] = {}
    for place, part in checks.items():
        if all(way.get(part) is True for way in ways):
            found[place] = "passed"
        elif all(way.get(part) is False for way in ways):
            found[place] = "failed"
    if "failed" not in found.values() and all(any(way.get(part) is False for part in checks.values()) for way in ways):
        suspects = [place for place, part in checks.items() if any(way.get(part) is False for way in ways)]
        found.update(dict.fromkeys(suspects, "suspect"))
    return found


def can_fail(line: Node, wanted: Callable[[Words], bool]) -> bool:
    """Return whether the exit status of a `wanted` command that fails is the line's, where all else succeeds."""
    checks = [simple for simple, _ in commands(line) if wanted(simple.words) and not _is_sure(simple)]
    try:
        _, well = _run(line, {})
        return any(not _run(line, {id(check): False})[1] for check in checks) != (not well)
    except _Unread:
        return False


def _is_sure(part: Simple) -> bool:
    if not part.words:
        return not any(_SUBSTITUTES.search(assigned) for assigned in part.assignments)
    if part.words[0] in _SURE_WITH:
        return any(map(_SURE_WITH[part.words[0]].fullmatch, part.words))
    return part.words[0] in _SURE or part.words == ("false",)


def _followed(found: Line, depth: int) -> List:
    """Return what a line holds, with shells within shells followed no deeper than `depth`."""
    if depth <= 0 or not found.certain or not found.body.parts:
        raise _Unread
    return List(tuple((_within(part, depth), behind) for part, behind in found.body.parts))


def _within(node: Node, depth: int) -> Node:
    """Return a part of a line in which what a shell is told to run by `-c` stands in its place."""
    match node:
        case Simple():
            return _command(node, depth)
        case Pipeline():
            return replace(node, stages=tuple(_within(stage, depth) for stage in node.stages))
        case AndOr():
            return replace(node, parts=tuple((joint, _within(part, depth)) for joint, part in node.parts))
        case List():
            return replace(node, parts=tuple((_within(part, depth), behind) for part, behind in node.parts))
        case Group():
            return replace(node, body=_within(node.body, depth))
        case Compound():
            raise _Unread


def _command(simple: Simple, depth: int) -> Node:
    words = simple.words
    if not words:
        return simple
    if words[0] in _BEYOND or (simple.document and PurePosixPath(words[0]).name not in _READERS):
        raise _Unread
    if words[0] == "exit" and (len(words) > 2 or not all(map(_is_status, words[1:]))):
        raise _Unread
    if depth < _MOST_DEPTH and words[0] == "exit" and any(map(_is_expanded, words[1:])):
        raise _Unread  # where the quotes were double it was the shell outside that put something there
    started = () if words[0] == "exec" else next((form for form in without_launchers(words) if _is_shell(form)), ())
    flags = next((place for place, word in enumerate(started) if re.fullmatch(r"-[a-z]*c", word)), None)
    if flags is None or flags + 1 >= len(started):
        return simple
    options = started[1 : flags + 1]
    return Started(
        _followed(read(started[flags + 1]), depth - 1),
        own_shell=True,
        errexit="errexit" in options or any(re.fullmatch(r"-[a-z]*e[a-z]*", option) for option in options),
        pipefail="pipefail" in options,
    )


def _is_shell(words: Sequence[str]) -> bool:
    return bool(words) and PurePosixPath(words[0]).name in _SHELLS


def _is_status(word: str) -> bool:
    return any(pattern.fullmatch(word) for pattern in (_NUMBER, _LAST_STATUS, _STAGE_STATUS, _VARIABLE))


def _is_expanded(word: str) -> bool:
    return _STAGE_STATUS.fullmatch(word) is not None or _variable(word) != ""


def _variable(word: str) -> str:
    """Return the name of the variable of a line's own that a word is; empty where it is none."""
    found = None if _STAGE_STATUS.fullmatch(word) else _VARIABLE.fullmatch(word)
    return (found[1] or found[2]) if found else ""


@dataclass(slots=True)
class _Shell:
    """The options of a shell, how what it ran last ended, and each part of that, and the statuses that it keeps.

    `stages` is empty where what PIPESTATUS would be is not followed.
    """

    errexit: bool = False
    pipefail: bool = False
    well: bool = True
    stages: tuple[bool, ...] = ()
    kept: Mapping[str, bool] = field(default_factory=dict)


class _Exited(Exception):
    """A shell that ended before its last command, and how."""

    def __init__(self, well: bool) -> None:
        super().__init__()
        self.well = well


def _run(line: Node, ends: Mapping[int, bool]) -> tuple[dict[int, bool], bool]:
    """Run a line in thought: return how each command that is run ends, by its identity, and how the line does.

    `ends` says how commands end, by their identity; of others all but `false` end well.
    """
    ran: dict[int, bool] = {}
    return ran, _in_own_shell(line, _Shell(), False, ends, ran)


def _in_own_shell(node: Node, shell: _Shell, guarded: bool, ends: Mapping[int, bool], ran: dict[int, bool]) -> bool:
    try:
        return _step(node, replace(shell), guarded, ends, ran)
    except _Exited as exited:
        return exited.well


def _step(node: Node, shell: _Shell, guarded: bool, ends: Mapping[int, bool], ran: dict[int, bool]) -> bool:
    """Return how a part of a line ends; `guarded` is what stands where a failure is asked about, as before `||`.

    With `errexit` a command, a pipeline or a shell of its own that fails where it is not guarded ends its shell.
    """
    fatal = True
    match node:
        case Simple():
            well = ran[id(node)] = ends.get(id(node), node.words != ("false",))
            _keep(node, shell)
            _note(node.words, shell, well)
            shell.stages = (well,)
        case Pipeline(stages=(only,)):
            well, fatal = not _step(only, shell, True, ends, ran), False
        case Pipeline():
            fatal = not node.negated
            stages = [_in_own_shell(stage, shell, guarded or not fatal, ends, ran) for stage in node.stages]
            well = (all(stages) if shell.pipefail else stages[-1]) != node.negated
            shell.stages = tuple(stages)
        case AndOr():
            well, fatal = True, False
            for place, (joint, part) in enumerate(node.parts):
                if not joint or (joint == "&&") == well:
                    well = _step(part, shell, guarded or place + 1 < len(node.parts), ends, ran)
        case List():
            well, fatal = True, False
            for part, behind in node.parts:
                ended = (_in_own_shell if behind else _step)(part, shell, guarded, ends, ran)
                well = shell.well = behind or ended
                shell.stages = () if behind else shell.stages
        case Started():
            well = _in_own_shell(node.body, _Shell(node.errexit, node.pipefail), False, ends, ran)
            shell.stages = (well,)
        case Group():
            fatal = node.own_shell
            well = (_in_own_shell if fatal else _step)(node.body, shell, guarded, ends, ran)
            shell.stages = ()
        case Compound():
            raise AssertionError(node)  # `parse` gives none
    shell.well = well
    if fatal and not well and shell.errexit and not guarded:
        raise _Exited(False)
    return well


def _keep(simple: Simple, shell: _Shell) -> None:
    """Note which statuses a command has the shell keep in variables, and which of those it may change."""
    named = {word.partition("=")[0] for word in simple.words}
    kept = {} if named & {"source", "."} else {name: well for name, well in shell.kept.items() if name not in named}
    for said in () if simple.words else simple.assignments:  # before a command they are for that alone
        if (assigned := _ASSIGNED.match(said)) is not None:
            kept.pop(assigned[1], None)
            word = said[assigned.end() :].strip('"')
            if assigned[0] == f"{assigned[1]}=" and _is_status(word):
                kept[assigned[1]] = _status(word, shell)
    shell.kept = kept


def _status(word: str, shell: _Shell) -> bool:
    """Return whether a status is that of what ended well, as the shell would expand the word."""
    if _NUMBER.fullmatch(word):
        return int(word) % 256 == 0
    if _LAST_STATUS.fullmatch(word):
        return shell.well
    stage, name = _STAGE_STATUS.fullmatch(word), _variable(word)
    if stage is not None and int(stage[1] or 0) < len(shell.stages):
        return shell.stages[int(stage[1] or 0)]
    if name in shell.kept:
        return shell.kept[name]
    raise _Unread


def _note(words: Words, shell: _Shell, well: bool) -> None:
    """Note what a command that was run does to the shell that ran it."""
    match words:
        case ("set", *options):
            _set(options, shell)
        case ("exit",):
            raise _Exited(shell.well)
        case ("exit", status):
            raise _Exited(_status(status, shell))
        case ("exec", _, *_):
            raise _Exited(well)


def _set(options: Sequence[str], shell: _Shell) -> None:
    following = iter(options)
    for option in following:
        if re.fullmatch(r"[-+][a-zA-Z]+", option) is None:
            return
        on, letters = option[0] == "-", option[1:]
        names = [next(following, "") for letter in letters if letter == "o"]
        if "e" in letters or "errexit" in names:
            shell.errexit = on
        if "pipefail" in names:
            shell.pipefail = on
