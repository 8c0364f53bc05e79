"""Undo report: what taking a background job back came to, or why it was not done."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoConflict:
    """Something that a job touched and that going back would take away from somebody else.

    `what` names it for people (`memory use-uv`), `by` is the kind of the last change that touched it, or why.
    """

    what: Annotated[str, "What going back would take away from somebody else."]
    by: Annotated[str, "The change that touched it last."]


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoReport:
    """What undoing a job came to: nodes, edges and passages put back. With conflicts, nothing was written.

    `kept_out` counts the memories that it had derived: they are not derived again until a person asks for it.
    """

    job: Annotated[str, "The piece of work."]
    restored: Annotated[int, "Nodes, edges and passages that were put back."]
    kept_out: Annotated[int, "Memories it had derived: they stay away until `rederive` is asked for."] = 0
    conflicts: Annotated[tuple[UndoConflict, ...], "What stands in the way; with any, nothing was written."] = ()
    dry_run: Annotated[bool, "Whether nothing was to be written anyway."] = False
