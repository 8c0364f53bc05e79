"""Command run: a command that was run, with what its line and its end say, each read once for whoever judges it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePath

from helix.command_outcome.exit_status import Words, parse, told_by_status, words_of
from helix.command_outcome.test_counts import Counts, counts_of
from helix.model.action import Action
from helix.model.evidence import EvidenceKind
from helix.text.command_line.command_forms import CommandForm, Level, forms, forms_of, redacted_line
from helix.text.command_line.parser import (
    Command,
    Line,
    Node,
    commands,
    commands_of,
    joined_command,
    read,
    simple_commands,
)
from helix.text.command_line.runners import work_of_line
from helix.text.command_line.tools import only_looks
from helix.text.error_lines import signature_of, tells_of_failure
from helix.text.excerpts import head
from helix.text.word_lists import words

LONGEST_COMMAND = 2_000
"""Characters that are kept of a command that has no normal form."""
_LEAVES_WORDS = words("cat head tail tee")
_CHANGES_IN_PLACE = re.compile(r"\bsed\b[^|;&]*\s(?:-[a-zA-Z]*i|--in-place)|(?<![<>0-9&])>{1,2}\s*(?!&|/dev/null)")
_CHECKS = frozenset({EvidenceKind.TEST, EvidenceKind.LINT})
_REWRITES = re.compile(r"--(?:unsafe-|auto)?(?:fix|write|apply|update|snapshot-update|in-place)|-[uwi]$")
"""Flags with which tests and linters change files."""


@dataclass(frozen=True, kw_only=True)
class CommandRun(Action):
    """An action that is a command, run or about to be. What is read of it is read when it is first asked for."""

    @cached_property
    def _line(self) -> Line:
        return read(self.command)

    @cached_property
    def commands(self) -> tuple[Command, ...]:
        """The simple commands of its line, in order."""
        return commands_of(self._line)

    @cached_property
    def tree(self) -> Node | None:
        """Its line as commands for the exit status; None where it is no list of them, or unreadable."""
        return parse(self._line)

    @cached_property
    def parts(self) -> tuple[Words, ...]:
        """The words of each command whose exit status is read, in order."""
        return () if self.tree is None else tuple(words_of(self.tree))

    @cached_property
    def forms(self) -> tuple[CommandForm, ...]:
        """The normal forms of its line without the secrets that it may hold, the most exact first."""
        said = redacted_line(self.command)
        parts = self.commands if said == self.command else simple_commands(said)
        return forms_of(parts, folder=self.folder, root=self.root)

    @cached_property
    def normal(self) -> str:
        """The normal form, redacted, by which its failure and fix are remembered."""
        return self.forms[0].text if self.forms else self.told

    @property
    def told(self) -> str:
        """The line as it was run, redacted."""
        return head(" ".join(self.command.split()), LONGEST_COMMAND)

    @cached_property
    def error(self) -> str:
        """The error line of its output, where it is certain that it failed."""
        return signature_of(self.output, failed=True)

    @cached_property
    def counts(self) -> Counts:
        """How many tests its output counts as passed and failed."""
        return counts_of(self.output)

    @property
    def has_failed(self) -> bool:
        """Whether it is certain that it failed: by its status, or where that is hidden by words of failure."""
        return self.passed is False or self.ended_well is False

    @cached_property
    def ended_well(self) -> bool | None:
        """Whether the command that the line is remembered by succeeded, by its exit status; None for uncertain.

        It is certain by the rules of `exit_status`: a pipe, `|| true`, `;` or `&` hides a status, as do loops and
        here-documents that say what to do. A summary that counts failures is never a pass, and of a test run always a
        failure. Where a status is hidden, a shell's or an interpreter's own words of failure are certain too.
        """
        if not self.command or self.passed is None or self.tree is None:
            return None
        subject = _subject(self.tree)
        found = told_by_status(self.tree, self.passed, lambda said: said == subject).values()
        end = False if {"failed", "suspect"} & set(found) else True if found else None
        if end is None and tells_of_failure(self.output):
            return False
        if end is False or not self.counts[1]:
            return end
        return False if work_of_line(subject) is EvidenceKind.TEST else None

    @cached_property
    def only_looks(self) -> bool:
        """Whether it can fix nothing: each of its commands only shows what is there."""
        if _CHANGES_IN_PLACE.search(self.command):
            return False
        parts = [said for part in re.split(r"&&|\|\||[;|\n]", self.command) if (said := part.split())]
        return bool(parts) and all(map(changes_nothing, parts))

    def only_checks(self) -> bool:
        """Return whether its status tells of checks alone: tests and linters that change no files, and what looks."""
        parts = [said for said in self.parts if said]
        checks = [work_of_line(said) in _CHECKS and not any(map(_REWRITES.match, said)) for said in parts]
        return any(checks) and all(check or _leaves_files(said) for check, said in zip(checks, parts, strict=True))

    def succeeded(self, looks: Callable[[Words], bool]) -> tuple[str, ...]:
        """Return its commands that certainly succeeded, each as a line of its own, but for what only `looks`."""
        if not self.command or self.passed is None or self.tree is None or self.ended_well is False:
            return ()
        found = told_by_status(self.tree, self.passed, lambda said: bool(said) and not looks(said))
        return tuple(
            dict.fromkeys(joined_command(self.parts[place]) for place in sorted(found) if found[place] == "passed")
        )

    def comes_without(self, error: str) -> bool:
        """Return whether its output would tell of an error if it were met again, and does not."""
        reads = [part.words[0] for part in self.commands if part.piped]
        told = bool(error and self.output.strip()) and all(PurePath(name).name in _LEAVES_WORDS for name in reads)
        return told and self.error != error


def changes_nothing(said: Sequence[str]) -> bool:
    """Return whether one command, by its words, only shows what is there, and so can be no fix of a failure."""
    return only_looks(PurePath(said[0]).name, said[1:2])


def _leaves_files(said: Sequence[str]) -> bool:
    return changes_nothing(said) and not _CHANGES_IN_PLACE.search(" ".join(said))


def _subject(whole: Node) -> Words:
    """Return the words of the command that a line is remembered by: its last one that is one, filters aside."""
    ordered = [simple.words for simple, _ in sorted(reversed([*commands(whole)]), key=lambda one: one[1])]
    return next(filter(_has_form, ordered), ordered[0])


def _has_form(said: Sequence[str]) -> bool:
    return any(form.level is Level.WHOLE for form in forms(redacted_line(joined_command(said))))
