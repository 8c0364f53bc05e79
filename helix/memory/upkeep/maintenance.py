"""Maintenance: what a use adds, and what time does to evidence nobody has renewed. Archives, never deletes.

Decay, decay of edges and prune are jobs, done at once on request or in the background: both are guarded and undone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Generic, TypeVar

from helix.errors import ConflictError, InvalidInputError
from helix.journal.state import Records
from helix.memory.change.compose import Composer
from helix.memory.change.intake import OWN_ATTRIBUTE
from helix.memory.job_run.run import Run
from helix.memory.scores import Quality, last_access, reinforced
from helix.model.edge import OPEN_RELATIONS, Edge
from helix.model.memory import Memory, Status, claimed_of, with_claimed
from helix.model.provenance import Trust
from helix.model.records import edge_from
from helix.model.reports import MaintenanceReport
from helix.store.store import Store

_MOST_DELTA = 10.0
"""Outcomes that one word of a person counts for at most: beyond that a single one would settle a memory for good."""
_DECAYED = f"{OWN_ATTRIBUTE}decayed_at"
_ALL = 1_000_000_000
_AT_A_TIME = 10

UNUSED_DAYS, FEW_USES = 30.0, 2
UNUSED_EDGE_DAYS = 60.0
LEAST_EFFECTIVENESS, TRIED_USES = 0.25, 3

T = TypeVar("T")


def check_feedback(names: Sequence[str], delta: float, quality: int | None) -> None:
    """Raise InvalidInputError for feedback on a memory that says nothing, or nothing that may be said."""
    if not math.isfinite(delta) or delta == 0 or abs(delta) > _MOST_DELTA:
        message = f"delta must be a number other than 0, within -{_MOST_DELTA:g}..{_MOST_DELTA:g}, not {delta!r}"
        raise InvalidInputError(message, hint="above 0 it helped, below it failed: helix feedback NAME --delta 0.5")
    if not names:
        raise InvalidInputError("feedback needs the name of a memory", hint="helix feedback NAME --delta 0.5")
    if quality is not None and (isinstance(quality, bool) or quality not in list(Quality)):
        told = ", ".join(str(int(one)) for one in sorted(Quality))
        raise InvalidInputError(
            f"quality must be one of {told}, not {quality!r}",
            hint="5 used, and it passed; 4 said to be used, and it passed; 3 it passed; 1 used, and it failed",
        )


def decay(store: Store, unused_days: float, min_uses: int, dry_run: bool) -> MaintenanceReport:
    """Halve `helped` and `failed` of memories unused for so long with fewer uses than `min_uses`.

    A memory decays once per such period, however often this runs.
    """
    return _at_once(store, "decay", _decay(store, unused_days, min_uses), dry_run)


def prune(store: Store, min_effectiveness: float, min_uses: int, dry_run: bool) -> MaintenanceReport:
    """Archive memories whose effectiveness is below `min_effectiveness` after at least `min_uses` uses.

    What the user said or confirmed stays: that goes when somebody names it (`forget`).
    """
    return _at_once(store, "prune", _prune(store, min_effectiveness, min_uses), dry_run)


def decay_edges(store: Store, unused_days: float, dry_run: bool) -> MaintenanceReport:
    """Halve the weight of edges between memories that were not used for so long; once per such period."""
    return _at_once(store, "decay_edges", _decay_edges(store.records, unused_days), dry_run)


def run_decay(run: Run, payload: Mapping[str, Any]) -> Mapping[str, int]:
    """Run `decay` of unused memories as a job; payload {"unused_days": 30, "min_uses": 2}, both optional."""
    days, uses = payload.get("unused_days", UNUSED_DAYS), payload.get("min_uses", FEW_USES)
    return _in_background(run, "memories decayed", _decay(run.store, days, uses))


def run_prune(run: Run, payload: Mapping[str, Any]) -> Mapping[str, int]:
    """Run `prune` of failing memories as a job; payload {"min_effectiveness": 0.25, "min_uses": 3}, optional."""
    ratio, uses = payload.get("min_effectiveness", LEAST_EFFECTIVENESS), payload.get("min_uses", TRIED_USES)
    return _in_background(run, "memories archived", _prune(run.store, ratio, uses))


def run_decay_edges(run: Run, payload: Mapping[str, Any]) -> Mapping[str, int]:
    """Run `decay_edges` between memories as a job; payload {"unused_days": 60}, optional."""
    return _in_background(
        run, "edges decayed", _decay_edges(run.store.records, payload.get("unused_days", UNUSED_EDGE_DAYS))
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sweep(Generic[T]):
    """A piece of maintenance: what there is, what of it is due at a moment, and how one that is due is changed.

    `key` names an item for good: a run that was killed goes on with the first that is still due.
    """

    items: Callable[[], Iterable[T]]
    present: Callable[[T], T | None]
    due: Callable[[T, datetime], bool]
    change: Callable[[Composer, T], None]
    name: Callable[[T], str]
    key: Callable[[T], str]


def _decay(store: Store, unused_days: float, min_uses: int) -> _Sweep[Memory]:
    span = _days(unused_days)

    def due(memory: Memory, now: datetime) -> bool:
        return (
            memory.uses < min_uses
            and memory.helped + memory.failed > 0
            and last_access(memory) < now - span
            and _not_since(memory.attributes.get(_DECAYED), now - span)
        )

    def change(composer: Composer, memory: Memory) -> None:
        kept = with_claimed(memory.attributes, claimed_of(memory) / 2)
        attributes = {**kept, _DECAYED: composer.now.isoformat()}
        composer.node(replace(memory, helped=memory.helped / 2, failed=memory.failed / 2, attributes=attributes))

    return _of_memories(store, due, change)


def _prune(store: Store, min_effectiveness: float, min_uses: int) -> _Sweep[Memory]:
    if not 0 <= min_effectiveness <= 1:
        raise InvalidInputError(f"min_effectiveness must be between 0 and 1, not {min_effectiveness!r}")

    def due(memory: Memory, now: datetime) -> bool:
        ratio = memory.effectiveness
        users = memory.provenance.trust is Trust.USER_ASSERTED
        return not users and memory.uses >= min_uses and ratio is not None and ratio < min_effectiveness

    def change(composer: Composer, memory: Memory) -> None:
        composer.patch(memory.ref, status=Status.ARCHIVED)

    return _of_memories(store, due, change)


def _of_memories(
    store: Store, due: Callable[[Memory, datetime], bool], change: Callable[[Composer, Memory], None]
) -> _Sweep[Memory]:
    def present(memory: Memory) -> Memory | None:
        found = store.index.memory_by_id(memory.id)
        return found if found is not None and found.status is Status.ACTIVE else None

    return _Sweep(
        items=lambda: store.index.memories(Status.ACTIVE),
        present=present,
        due=due,
        change=change,
        name=lambda memory: memory.name,
        key=lambda memory: memory.id,
    )


def _decay_edges(records: Records, unused_days: float) -> _Sweep[Edge]:
    span = _days(unused_days)

    def due(edge: Edge, now: datetime) -> bool:
        used = max(edge.created_at, edge.last_used_at or edge.created_at)
        return (
            edge.type in OPEN_RELATIONS and used < now - span and _not_since(edge.attributes.get(_DECAYED), now - span)
        )

    def present(edge: Edge) -> Edge | None:
        ends = (edge.type, edge.source, edge.target)
        held = records.edges_at(edge.source)
        return next((edge_from(op) for op in held if (op.type, op.source, op.target) == ends), None)

    def change(composer: Composer, edge: Edge) -> None:
        attributes = {**edge.attributes, _DECAYED: composer.now.isoformat()}
        composer.put_edge(replace(edge, weight=edge.weight / 2, attributes=attributes))

    return _Sweep(
        items=lambda: map(edge_from, records.edges_of(None, _ALL)),
        present=present,
        due=due,
        change=change,
        name=lambda edge: edge.type.value,
        key=lambda edge: f"{edge.type} {edge.source.id} {edge.target.id}",
    )


def _at_once(store: Store, operation: str, sweep: _Sweep[T], dry_run: bool) -> MaintenanceReport:
    """Do all that is due in one step of a job of its own: guarded, whole or not at all, and taken back by `undo`."""
    run = Run(store, store.runtime.make_id(store.runtime.clock()), operation, dry_run=dry_run)
    due = [item for item in sweep.items() if sweep.due(item, run.now)]
    names = tuple(_changed(run, sweep, due))
    job = run.job if names and not dry_run else ""
    return MaintenanceReport(operation=operation, changed=len(names), names=names, dry_run=dry_run, job=job)


def _in_background(run: Run, what: str, sweep: _Sweep[T]) -> Mapping[str, int]:
    """Find what is due beside the writer, and change it a few at a time, so that nobody waits long."""
    due = [item for item in sweep.items() if sweep.due(item, run.now)]
    for start in range(0, len(due), _AT_A_TIME):
        if run.cancelled:
            break
        run.progress(start, len(due), what)
        for name in _changed(run, sweep, due[start : start + _AT_A_TIME]):
            run.count(what)
            run.say(f"{what}: {name}")
    return dict(run.counts)


def _changed(run: Run, sweep: _Sweep[T], batch: Sequence[T]) -> list[str]:
    """Change in one step what of a batch is still due on the writer's thread; return the names of that."""

    def compose(composer: Composer) -> list[str]:
        present = (sweep.present(item) for item in batch)
        changing = [item for item in present if item is not None and sweep.due(item, composer.now)]
        for item in changing:
            sweep.change(composer, item)
        return [sweep.name(item) for item in changing]

    return (run.write(f"{run.kind} {sweep.key(batch[0])}", compose) or []) if batch else []


def used(memory: Memory, helped: float, failed: float, quality: int | None, now: datetime) -> Memory:
    """Return a memory after one use, which a quality makes a verified one; ConflictError for a quarantined memory."""
    if memory.status is Status.QUARANTINED:
        raise ConflictError(
            f"{memory.name!r} is quarantined: nobody can have used it", hint="look at it: `helix review list`"
        )
    after = replace(memory, helped=memory.helped + helped, failed=memory.failed + failed, uses=memory.uses + 1)
    return after if quality is None else reinforced(after, quality, now)


def _days(days: float) -> timedelta:
    if not 0 <= days <= 36_500:
        raise InvalidInputError(f"days must be between 0 and 36500, not {days!r}", hint="30 is a month, 365 a year")
    return timedelta(days=days)


def _not_since(stamp: object, before: datetime) -> bool:
    return not isinstance(stamp, str) or datetime.fromisoformat(stamp) < before
