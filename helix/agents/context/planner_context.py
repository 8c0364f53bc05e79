"""Planner context: what was decided, how things are done here, and what has changed lately."""

from __future__ import annotations

from collections.abc import Sequence

from helix.agents.context.blocks import WARNING, Entry, fitted, lines_of, listing, names_line, shown_of
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
        decisions=lines_of(kept, (Kind.DECISION,)),
        conventions=lines_of(kept, _CONVENTIONS),
        recent_evolution=lines_of(kept, (Kind.EVOLUTION,)),
        injected=tuple(one.name for one in kept),
        text=text,
        shown=shown_of(kept),
    )


def _block(entries: Sequence[Entry]) -> str:
    if not entries:
        return ""
    warnings = "".join(f"{WARNING}: {line}\n" for line in lines_of(entries, (Kind.SYSTEMIC,)))
    lists = (
        listing("DECISIONS", lines_of(entries, (Kind.DECISION,))),
        listing("CONVENTIONS", lines_of(entries, _CONVENTIONS)),
        listing("RECENT_EVOLUTION", lines_of(entries, (Kind.EVOLUTION,))),
        listing("KNOWN_FACTS", lines_of(entries, _FACTS)),
        listing("RELEVANT_FAILURES", lines_of(entries, (Kind.FAILURE,))),
    )
    return f"{TITLE}\n{warnings}{''.join(lists)}{names_line(entries)}".rstrip()
