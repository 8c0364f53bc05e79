"""Undo report: what taking a background job back came to, or why it was not done."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoConflict:
    """Something that a job touched and that going back would take away from somebody else.

    `what` names it for people (`memory use-uv`), `by` is the kind of the last change that touched it, or why.
    """

    what: str
    by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoReport:
    """What undoing a job came to: nodes, edges and passages put back. With conflicts, nothing was written.

    `kept_out` counts the memories that it had derived: they are not derived again until a person asks for it.
    """

    job: str
    restored: int
    kept_out: int = 0
    conflicts: tuple[UndoConflict, ...] = ()
    dry_run: bool = False
