"""Planner context: what was decided, how things are done here, and what has changed lately."""

from __future__ import annotations

from collections.abc import Sequence

from helix.agents.context.blocks import WARNING, Entry, fitted, listing, names_line, shown_of
from helix.agents.context.relevant import LIMIT, Sources, relevant
from helix.model.context_answers import PlannerContext
from helix.model.memory import Kind

TITLE = "# PROJECT CONTEXT"
_CONVENTIONS = (Kind.CONVENTION, Kind.PREFERENCE, Kind.PATTERN, Kind.SNIPPET)
_FACTS = (Kind.FACT, Kind.ENTITY, Kind.PROJECT)
_KINDS = (
    *(Kind.SYSTEMIC, Kind.DECISION, Kind.CONVENTION, Kind.PREFERENCE, Kind.EVOLUTION),
    *(Kind.FACT, Kind.FAILURE),
)


def planner_context(
    sources: Sources,
    objective: str,
    scope: str | None,
    limit: int = LIMIT,
) -> PlannerContext:
    """Return the decisions, conventions, changes, facts and failures that matter to an objective, `limit` in all.

    A systemic failure that it runs into stands before them, as a warning.
    """
    found = relevant(sources, objective, scope=scope, kinds=_KINDS, limit=limit)
    kept, text = fitted(found, _block)
    return PlannerContext(
        decisions=_lines(kept, Kind.DECISION),
        conventions=_lines(kept, *_CONVENTIONS),
        recent_evolution=_lines(kept, Kind.EVOLUTION),
        injected=tuple(one.name for one in kept),
        text=text,
        shown=shown_of(kept),
    )


def _block(entries: Sequence[Entry]) -> str:
    if not entries:
        return ""
    warnings = "".join(f"{WARNING}: {line}\n" for line in _lines(entries, Kind.SYSTEMIC))
    lists = (
        listing("DECISIONS", _lines(entries, Kind.DECISION)),
        listing("CONVENTIONS", _lines(entries, *_CONVENTIONS)),
        listing("RECENT_EVOLUTION", _lines(entries, Kind.EVOLUTION)),
        listing("KNOWN_FACTS", _lines(entries, *_FACTS)),
        listing("RELEVANT_FAILURES", _lines(entries, Kind.FAILURE)),
    )
    return f"{TITLE}\n{warnings}{''.join(lists)}{names_line(entries)}".rstrip()


def _lines(entries: Sequence[Entry], *kinds: Kind) -> tuple[str, ...]:
    return tuple(one.line for one in entries if one.memory.kind in kinds)
