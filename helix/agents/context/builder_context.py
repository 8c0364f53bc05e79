"""Builder context: what to avoid, what to apply, how things are done here, and what came before.

Lineage: what the tasks before a task delivered, as the next agent is told of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from helix.agents.answers.planner_answer import sequence
from helix.agents.answers.prompt import MOST_MEMORIES, BuilderParams
from helix.agents.answers.task_record import state
from helix.agents.context.blocks import (
    CONVENTIONS,
    FACTS,
    FAILURES,
    PARENTS,
    PATTERNS,
    WARNING,
    Entry,
    fitted,
    lines_of,
    listing,
    names_line,
    one_line,
    shown_of,
)
from helix.agents.context.relevant import Sources, relevant
from helix.model.context_answers import BuilderContext, Delivery
from helix.model.memory import Kind
from helix.model.provenance import QUOTED
from helix.model.recall import Intent
from helix.model.task import DELIVERED, SEQ, SLUG, SUMMARY, Task
from helix.model.task_answers import PlanTask

_SECTIONS: Mapping[str, tuple[Kind, ...]] = {
    FAILURES: (Kind.FAILURE,),
    PATTERNS: (Kind.PATTERN, Kind.SNIPPET),
    CONVENTIONS: (Kind.CONVENTION, Kind.PREFERENCE),
    FACTS: (Kind.DECISION, Kind.FACT, Kind.ENTITY, Kind.PROJECT),
}
"""The lists of a block in their order, with the kinds of memory that each holds."""
_BINDING = _SECTIONS[CONVENTIONS]
"""Kinds that bind an agent, where they are not only quoted from somebody else: then they stand among the facts."""
_KINDS = (Kind.SYSTEMIC, *(kind for kinds in _SECTIONS.values() for kind in kinds))


def builder_context(sources: Sources, params: BuilderParams, scope: str | None) -> BuilderContext:
    """Return what matters to a task: memories that fit its objective and those that touch its files, `limit` in all.

    Systemic failures are warnings, which come first. Without anything to say the block is empty.
    """
    found = relevant(
        sources,
        "\n".join(dict.fromkeys(part for part in (params.objective, params.task) if part)),
        scope=scope,
        kinds=_KINDS,
        limit=min(params.memory_limit, MOST_MEMORIES),
        intent=Intent.HOW,
        files=params.relevant_files,
    )
    parents = lineage_of(params.lineage)
    said = one_line(params.warning)
    kept, text = fitted(found, lambda entries: _block(entries, said, parents))
    return BuilderContext(injected=tuple(one.name for one in kept), text=text, shown=shown_of(kept))


def _block(entries: Sequence[Entry], warning: str, parents: Sequence[Delivery]) -> str:
    warnings = [*([warning] if warning else []), *lines_of(entries, (Kind.SYSTEMIC,))]
    own = [one for one in entries if not _is_hearsay(one)]
    lists = [listing(title, lines_of(own, kinds)) for title, kinds in _SECTIONS.items()]
    hearsay = [one.line for one in entries if _is_hearsay(one)]
    lists[-1] = listing(FACTS, (*lines_of(own, _SECTIONS[FACTS]), *hearsay))
    return "".join(
        (
            *(f"{WARNING}: {line}\n" for line in warnings),
            *lists,
            listing(PARENTS, (parent.line for parent in parents)),
            names_line(entries),
        )
    ).rstrip()


def _is_hearsay(one: Entry) -> bool:
    return one.memory.kind in _BINDING and one.memory.said_by in QUOTED


_LONGEST = 300
_MOST = 20


def lineage_of(tasks: Iterable[Mapping[str, Any] | Task | PlanTask | Delivery]) -> tuple[Delivery, ...]:
    """Return the deliveries of tasks in the order of their numbers, at most the last twenty; others deliver nothing.

    A task is one of ours, one of a client's list (`metadata` says what came of it), or a delivery as it stands.
    """
    found = [delivery for task in tasks if (delivery := _delivery(task)) is not None]
    return tuple(sorted(found, key=lambda one: (len(one.seq), one.seq, one.slug))[-_MOST:])


def _delivery(task: Mapping[str, Any] | Task | PlanTask | Delivery) -> Delivery | None:
    match task:
        case Delivery():
            return task
        case PlanTask():
            return _said(task.seq, task.slug, task.delivered) if task.outcome == DELIVERED else None
        case Task():
            said = task.attributes
            return _said(said.get(SEQ), said.get(SLUG), said.get(SUMMARY)) if task.outcome == DELIVERED else None
    if "delivered" in task:
        return _said(task.get("seq"), task.get("slug"), task.get("delivered"))
    if not state(task).successful:
        return None
    metadata = task.get("metadata")
    said = metadata if isinstance(metadata, Mapping) else {}
    return _said(said.get("seq"), said.get("slug") or task.get("subject"), said.get("summary"))


def _said(seq: object, slug: object, delivered: object) -> Delivery | None:
    words = one_line(delivered, _LONGEST) if isinstance(delivered, str) else ""
    if not words:
        return None
    number = one_line(sequence(seq), 60) if isinstance(seq, str | int) else ""
    return Delivery(seq=number, slug=one_line(slug, 60) if isinstance(slug, str) else "", delivered=words)
