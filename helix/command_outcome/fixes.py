"""Fixes: a command that failed, what was done then, and the same command passing; a pure fold over actions.

Live hooks and imported transcripts use this one fold and its words, so that both remember the same once.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import PurePath

from helix.command_outcome.command_run import LONGEST_COMMAND, CommandRun
from helix.model.action import Action
from helix.model.memory import Memory
from helix.text.error_lines import signature_of
from helix.text.excerpts import head
from helix.text.secrets.redact import redact

COMMAND, ERROR = "command", "error"
"""Attributes of a memory of a failure: the command in its normal form, and the line of its output that told of it."""

FIXED = "#fix"
"""How the source of a failure ends that is remembered with its fix."""
SESSIONS = "helix:sessions"
"""Attribute of a failure that is remembered: in how many sessions its error was met, where that is more than one."""

_CHANGING, _RUNNING = "changing ", "running "
_MOST_OPEN = 50
_MOST_DONE = 8
_ERROR_SHOWN, _COMMAND_SHOWN = 300, 200
_MOVED = re.compile(r"^(?:cd\s+\S+\s*(?:&&|;)\s*)+")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Failure:
    """A failure: `command` is in its normal form, `error` the line of the output that told of it."""

    command: str
    error: str

    @property
    def attributes(self) -> dict[str, object]:
        """What is kept of a command's failed outcome beside the words: it is found at this command and error alone."""
        return {COMMAND: self.command, ERROR: self.error}


@dataclass(frozen=True, slots=True, kw_only=True)
class Fix(_Failure):
    """A failure that was mended.

    `files` were edited and `commands` run with success between the last failure and the pass, in their order; `changes`
    says of each file in a line what was done to it, as far as one line tells that;
    `times` is how often it failed. `passed_id` names the action that passed, or failed with another error by then, as
    `passed` says.
    """

    files: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    times: int = 1
    passed: bool = True
    failed_at: datetime | None = None
    passed_at: datetime | None = None
    failed_id: str = ""
    passed_id: str = ""

    @property
    def trigger(self) -> str:
        """When the fix is to be remembered: at the command that failed, with its error."""
        said = f": {self.error}" if self.error else ""
        return f"`{self.command}` fails{said}"

    @property
    def resolution(self) -> str:
        """What was done between a command's failed outcome and its good one."""
        done = []
        if self.files:
            told = [*self.changes, *[""] * len(self.files)]
            named = (f"{file} ({change})" if change else file for file, change in zip(self.files, told, strict=False))
            done.append(_CHANGING + ", ".join(list(named)[:_MOST_DONE]))
        if self.commands:
            done.append(_RUNNING + ", ".join(f"`{_cut(one, _COMMAND_SHOWN)}`" for one in self.commands[:_MOST_DONE]))
        return f"{'It passed' if self.passed else 'That was mended'} after {' and '.join(done)}."


@dataclass(frozen=True, slots=True, kw_only=True)
class Unsolved(_Failure):
    """A failure that was not mended: the command in its normal form, its error's line, and how often it failed so."""

    times: int
    first: Action

    @property
    def trigger(self) -> str:
        """When a failed command is to be remembered: in the words of one that was mended."""
        return Fix(command=self.command, error=self.error).trigger


def is_mended_in_files(memory: Memory) -> bool:
    """Return whether the outcome of a failed command was mended by changed files alone.

    It is gone until its error returns.
    """
    done = memory.resolution
    return memory.source.endswith(FIXED) and f" after {_CHANGING}" in done and _RUNNING not in done


@dataclass(slots=True)
class _Open:
    """A command that has failed and has not passed since, with what was done since it last did."""

    command: str
    error: str
    first: Action
    times: int = 1
    files: dict[str, str] = field(default_factory=dict)
    commands: dict[str, None] = field(default_factory=dict)


class FixTracker:
    """The fold, an action at a time: give it what one agent did, in order."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self._open: dict[str, _Open] = {}

    def take(self, action: Action) -> Fix | None:
        """Return the fix that an action completes, or None.

        A command that passes although nothing was changed and nothing run in between is no fix: it was chance. Tests
        and linters mend nothing. What only looks (`ls`, `git diff`) changes nothing and is never one that fails. What
        is not certain of a command by the end of its line (`exit_status.py`) neither fails nor passes; but where its
        output, of which nothing is picked, comes without the error, that error is mended, and where it tells of none,
        it is part of what was done.
        """
        if not isinstance(action, CommandRun):
            if action.is_edit and action.passed is not False:
                edited = dict.fromkeys(
                    (_inside(file, action.root or action.folder) for file in action.files), redact(action.change).text
                )
                for one in self._open.values():
                    one.files.update(edited)
            return None
        if not action.command or action.only_looks or action.passed is None:
            return None
        if action.ended_well is False:
            return self._failed(action)
        well, known = action.ended_well, self._open.get(action.normal)
        if well is None and (not action.passed or (known is not None and not action.comes_without(known.error))):
            return None
        self._open.pop(action.normal, None)
        if (well or not signature_of(action.output)) and not action.only_checks():
            for one in self._open.values():
                one.commands[_as_run(action)] = None
        return None if known is None or not (known.files or known.commands) else _fix(known, action)

    @property
    def unsolved(self) -> tuple[Unsolved, ...]:
        """The commands that failed and have not passed since, in the order in which each first failed so."""
        return tuple(
            Unsolved(command=one.command, error=one.error, times=one.times, first=one.first)
            for one in self._open.values()
        )

    def _failed(self, run: CommandRun) -> Fix | None:
        """Return the fix of the error before, where the command fails with another one by now."""
        command, error = run.normal, _cut(run.error, _ERROR_SHOWN)
        known = self._open.get(command)
        if known is not None and known.error == error:
            known.times += 1
            return None
        self._open.pop(command, None)
        self._open[command] = _Open(command, error, run)
        while len(self._open) > _MOST_OPEN:
            self._open.pop(next(iter(self._open)))
        mended = known is not None and known.error and error and (known.files or known.commands)
        return _fix(known, run) if known is not None and mended else None


def failure_words(run: CommandRun) -> str:
    """Return the words kept of a failed command: the command, its exit status and the line that tells why.

    Where the end of a line does not tell which of its commands failed, the line is told as it was run.
    """
    command = run.normal if run.ended_well is False else run.told
    status = "" if run.exit_status is None else f" with exit status {run.exit_status}"
    error = _cut(run.error, _ERROR_SHOWN)
    return f"`{_cut(command, _COMMAND_SHOWN)}` failed{status}" + (f": {error}" if error else ".")


def _as_run(run: CommandRun) -> str:
    """Return a command as it was run, redacted, on one line, without where it was run and what it was given to read."""
    said = _MOVED.sub("", " ".join(head(run.command, LONGEST_COMMAND).partition("<<")[0].split()))
    return redact(said).text


def _fix(known: _Open, passed: CommandRun) -> Fix:
    return Fix(
        command=known.command,
        error=known.error,
        files=tuple(known.files),
        changes=tuple(known.files.values()),
        commands=tuple(known.commands),
        times=known.times,
        passed=passed.ended_well is True,
        failed_at=known.first.at,
        passed_at=passed.at,
        failed_id=known.first.id,
        passed_id=passed.id,
    )


def _inside(file: str, folder: str) -> str:
    """Return a file by its path from the folder that was worked in, where it lies there."""
    path = PurePath(file)
    return path.relative_to(folder).as_posix() if folder and path.is_relative_to(folder) else file


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 3].rstrip() + "..."
