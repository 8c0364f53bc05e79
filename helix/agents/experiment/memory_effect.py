"""Memory effect: where one memory was shown, and what came of it there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from helix.agents.outcomes.ledger import ledger_of
from helix.agents.tasks.board import injection_of, injections
from helix.memory.upkeep.history import versions_of
from helix.model.clock import to_micros
from helix.model.edge import Ref, Relation
from helix.model.memory import Memory
from helix.model.paging import Key, page_of
from helix.model.proof import EffectPeriod, MemoryEffect, Showing
from helix.model.records import edge_from
from helix.model.reports import Page
from helix.model.task import Injection, Task
from helix.store.index import StoreIndex

_LONGEST_IN_DAYS = 42
_SHOWN = (Relation.INJECTED, Relation.WITHHELD)
_Shown = tuple[str, Injection]
"""The id of a task, and what it was shown."""


def effect(index: StoreIndex, memory: Memory) -> MemoryEffect:
    """Count the outcomes of the experiment's tasks where a memory was shown or held back, in all its versions."""
    held = [one for _, one in _shown(index, memory)]
    shown = [one for one in held if not one.held_back]
    came = Counter(one.outcome for one in shown)
    days, periods = _periods(shown)
    return MemoryEffect(
        memory=memory,
        shown=len(shown),
        helped=came["helped"],
        failed=came["failed"],
        unused=came["unused"],
        claimed=came["claimed"],
        withheld=len(held) - len(shown),
        days=days,
        periods=periods,
    )


def showings(index: StoreIndex, memory: Memory, first: int, after: str | None) -> Page[Showing]:
    """Return a page of the tasks that a memory was shown to or held back from in the experiment, newest first."""
    return _paged(index, _shown(index, memory), first, after)


def showings_in(index: StoreIndex, tasks: Sequence[Task], first: int, after: str | None) -> Page[Showing]:
    """Return a page of the memories that were shown to tasks or held back in the experiment, newest first."""
    return _paged(index, [(task.id, one) for task in tasks for one in injections(index, task.id)], first, after)


def _paged(index: StoreIndex, shown: Sequence[_Shown], first: int, after: str | None) -> Page[Showing]:
    found = page_of(shown, _place, first=first, after=after, newest_first=True)
    ids = [task for task, _ in found]
    tasks = dict(zip(ids, index.records.present([Ref.task(one) for one in ids]), strict=True))
    return found.each(lambda one: _showing(one, tasks[one[0]]))


def _place(shown: _Shown) -> Key:
    return (to_micros(shown[1].at), _id(shown))


def showings_of(index: StoreIndex, task: Task) -> tuple[Showing, ...]:
    """Return the memories shown to a task and held back from it in the experiment, in the order in which they came."""
    return tuple(_showing((task.id, one), task) for one in injections(index, task.id))


def _shown(index: StoreIndex, memory: Memory) -> list[_Shown]:
    here = {Ref.memory(one) for one in versions_of(index, memory)}
    edges = (op for ref in here for op in index.records.edges_at(ref) if op.type in _SHOWN and op.target == ref)
    return [(op.source.id, injection_of(index, edge_from(op))) for op in edges]


def _id(shown: _Shown) -> str:
    return f"{shown[0]}:{shown[1].memory_id}"


def _showing(shown: _Shown, task: object) -> Showing:
    ident, one = shown
    held = task if isinstance(task, Task) else None
    ledger = None if held is None else ledger_of(held)
    return Showing(
        id=_id(shown),
        task=ident,
        memory_id=one.memory_id,
        name=one.name,
        objective="" if held is None else held.objective,
        session="" if held is None else held.session,
        at=one.at,
        arm=one.arm,
        rank=one.rank,
        score=one.score,
        tokens=one.tokens,
        withheld=one.held_back,
        outcome=one.outcome,
        use=() if ledger is None else tuple(ledger.signs.get(one.memory_id, ())),
    )


def _periods(shown: Sequence[Injection]) -> tuple[int, tuple[EffectPeriod, ...]]:
    """Return how many days a period has, and those from the first showing to the last, empty ones too."""
    if not shown:
        return 1, ()
    first, last = min(map(_day, shown)), max(map(_day, shown))
    days = 1 if (last - first).days < _LONGEST_IN_DAYS else 7
    first -= timedelta(days=first.weekday()) if days == 7 else timedelta()
    came: dict[int, Counter[str]] = {}
    for one in shown:
        came.setdefault((_day(one) - first).days // days, Counter()).update(("shown", one.outcome))
    counts = [came.get(number, Counter()) for number in range((last - first).days // days + 1)]
    return days, tuple(
        EffectPeriod(
            start=first + timedelta(days=days * number),
            shown=one["shown"],
            helped=one["helped"],
            failed=one["failed"],
            unused=one["unused"],
        )
        for number, one in enumerate(counts)
    )


def _day(shown: Injection) -> datetime:
    return shown.at.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
