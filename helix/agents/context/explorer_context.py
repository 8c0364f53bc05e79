"""Explorer context: facts that need not be found again, and failures to watch for."""

from __future__ import annotations

from collections.abc import Sequence

from helix.agents.context.blocks import Entry, fitted, listing, names_line, shown_of
from helix.agents.context.relevant import LIMIT, Sources, relevant
from helix.model.context_answers import ExplorerContext
from helix.model.memory import Kind

TITLE = "# MEMORY CONTEXT"
_FACTS = (
    *(Kind.DECISION, Kind.CONVENTION, Kind.PREFERENCE),
    *(Kind.FACT, Kind.ENTITY, Kind.PROJECT, Kind.PATTERN, Kind.SNIPPET, Kind.EVOLUTION),
)
_FAILURES = (Kind.SYSTEMIC, Kind.FAILURE)
_KINDS = (Kind.DECISION, Kind.CONVENTION, Kind.FACT, Kind.ENTITY, Kind.PROJECT, *_FAILURES)


def explorer_context(
    sources: Sources,
    objective: str,
    scope: str | None,
    limit: int = LIMIT,
    *,
    focus: str = "",
) -> ExplorerContext:
    """Return what is known and the failures that matter to an objective and what is looked for, `limit` in all.

    Decisions and conventions are among what is known.
    """
    question = f"{objective}\n{focus}" if focus else objective
    found = relevant(sources, question, scope=scope, kinds=_KINDS, limit=limit)
    kept, text = fitted(found, _block)
    return ExplorerContext(
        known_facts=_lines(kept, _FACTS),
        relevant_failures=_lines(kept, _FAILURES),
        injected=tuple(one.name for one in kept),
        text=text,
        shown=shown_of(kept),
    )


def _block(entries: Sequence[Entry]) -> str:
    if not entries:
        return ""
    facts = listing("KNOWN_FACTS", _lines(entries, _FACTS))
    failures = listing("RELEVANT_FAILURES", _lines(entries, _FAILURES))
    return f"{TITLE}\n{facts}{failures}{names_line(entries)}".rstrip()


def _lines(entries: Sequence[Entry], kinds: Sequence[Kind]) -> tuple[str, ...]:
    chosen = [one for one in entries if one.memory.kind in kinds]
    return tuple(one.line for one in sorted(chosen, key=lambda one: one.memory.kind is not Kind.SYSTEMIC))
