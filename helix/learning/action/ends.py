"""Ends: what the end of a command line says of the commands in it; a status that is hidden says nothing."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from helix.learning.action.normal import command_forms
from helix.learning.outcomes.counts import counts_of
from helix.learning.outcomes.runners import recognised
from helix.learning.outcomes.status import Words, parse, told, words_of
from helix.model.action import Action
from helix.model.evidence import EvidenceKind
from helix.text.command_forms import Level
from helix.text.error_lines import tells_of_failure
from helix.text.shell.simple import joined
from helix.text.shell.tree import Node, commands

_CHECKS = frozenset({EvidenceKind.TEST, EvidenceKind.LINT})
_REWRITES = re.compile(r"--(?:unsafe-|auto)?(?:fix|write|apply|update|snapshot-update|in-place)|-[uwi]$")
"""Flags with which tests and linters change files."""


def ended(action: Action) -> bool | None:
    """Return whether the command that a line is remembered by ended well; None where that is not certain.

    It is certain by the rules of `outcomes/status.py`: a pipe, `|| true`, `;` or `&` hides a status, as do loops and
    here-documents that say what to do. A summary that counts failures is never a pass, and of a test run always a
    failure. Where a status is hidden, a shell's or an interpreter's own words of failure are certain too.
    """
    if not action.command or action.passed is None:
        return None
    whole = parse(action.command)
    if whole is None:
        return None
    words = _subject(whole)
    found = told(whole, action.passed, lambda said: said == words).values()
    end = False if {"failed", "suspect"} & set(found) else True if found else None
    if end is None and tells_of_failure(action.output):
        return False
    if end is False or not counts_of(action.output)[1]:
        return end
    return False if recognised(words) is EvidenceKind.TEST else None


def succeeded(action: Action, looks: Callable[[Words], bool]) -> tuple[str, ...]:
    """Return the commands of a line that certainly ended well, each as a line of its own, but for what only `looks`."""
    whole = parse(action.command) if action.command and action.passed is not None else None
    if whole is None or ended(action) is False:
        return ()
    parts = words_of(whole)
    found = told(whole, bool(action.passed), lambda words: bool(words) and not looks(words))
    return tuple(dict.fromkeys(joined(parts[place]) for place in sorted(found) if found[place] == "passed"))


def only_checks(line: str, looks: Callable[[Words], bool]) -> bool:
    """Return whether a line runs tests and linters alone, none of them to change files, beside what only `looks`."""
    whole = parse(line)
    return whole is not None and all(
        looks(words) or (recognised(words) in _CHECKS and not any(map(_REWRITES.match, words)))
        for words in words_of(whole)
        if words
    )


def _subject(whole: Node) -> Words:
    """Return the words of the command that a line is remembered by: its last one that is one, filters aside."""
    ordered = [simple.words for simple, _ in sorted(reversed([*commands(whole)]), key=lambda one: one[1])]
    return next(filter(_has_form, ordered), ordered[0])


def _has_form(words: Sequence[str]) -> bool:
    return any(form.level is Level.WHOLE for form in command_forms(joined(words)))
