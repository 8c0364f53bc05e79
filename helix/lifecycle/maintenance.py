"""Maintenance: feedback, and what time does to evidence nobody has renewed. Archives, never deletes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from helix.errors import InvalidInputError
from helix.lifecycle.compose import Composer
from helix.lifecycle.find import memory_of
from helix.lifecycle.intake import OWN_ATTRIBUTE
from helix.model.edge import OPEN_RELATIONS, Edge, Label, Ref
from helix.model.memory import Memory, Status
from helix.model.records import edge_from
from helix.model.reports import MaintenanceReport
from helix.store.store import Store
from helix.store.writer import Decision

_MOST_DELTA = 100.0
_DECAYED = f"{OWN_ATTRIBUTE}decayed_at"
_ALL = 1_000_000_000


def feedback(store: Store, names: Sequence[str], delta: float) -> list[Memory]:
    """Add a positive delta to `helped`, or a negative one's size to `failed`, of each memory; counts as a verified use.

    A name is followed to its newest version. Nothing is changed when one of the names is unknown (NotFoundError).
    """
    if not math.isfinite(delta) or delta == 0 or abs(delta) > _MOST_DELTA:
        raise InvalidInputError(f"delta must be a number other than 0, within -100..100, not {delta!r}")
    if not names:
        raise InvalidInputError("feedback needs the name of a memory", hint="helix feedback NAME --delta 0.5")

    def decision() -> Decision[list[Memory]]:
        composer = Composer(store, store.clock())
        changed = []
        for memory in {memory.id: memory for memory in (memory_of(store, name) for name in names)}.values():
            after = replace(
                memory,
                helped=memory.helped + max(0.0, delta),
                failed=memory.failed + max(0.0, -delta),
                uses=memory.uses + 1,
                # A use that failed says nothing for the memory: only one that helped resets the clock.
                last_used_at=composer.now if delta > 0 else memory.last_used_at,
            )
            composer.node(after)
            changed.append(after)
        return Decision((composer.change("feedback", delta=delta),), changed)

    return store.writer.submit(decision)


def decay(store: Store, unused_days: float, min_uses: int, dry_run: bool) -> MaintenanceReport:
    """Halve `helped` and `failed` of memories unused for so long with fewer uses than `min_uses`.

    A memory decays once per such period, however often this runs.
    """

    def stale(memory: Memory, before: datetime) -> bool:
        return (
            memory.uses < min_uses
            and memory.helped + memory.failed > 0
            and max(memory.recorded_at, memory.last_used_at or memory.recorded_at) < before
            and _not_since(memory.attributes.get(_DECAYED), before)
        )

    def halved(memory: Memory, now: datetime) -> Memory:
        attributes = {**memory.attributes, _DECAYED: now.isoformat()}
        return replace(memory, helped=memory.helped / 2, failed=memory.failed / 2, attributes=attributes)

    def decision() -> Decision[MaintenanceReport]:
        composer = Composer(store, store.clock())
        before = composer.now - _days(unused_days)
        changed = [memory for memory in store.memories(Status.ACTIVE) if stale(memory, before)]
        for memory in changed:
            composer.node(halved(memory, composer.now))
        return _decided(composer, "decay", [memory.name for memory in changed], dry_run)

    return store.writer.submit(decision)


def prune(store: Store, min_effectiveness: float, min_uses: int, dry_run: bool) -> MaintenanceReport:
    """Archive memories whose effectiveness is below `min_effectiveness` after at least `min_uses` uses."""

    def decision() -> Decision[MaintenanceReport]:
        composer = Composer(store, store.clock())
        names = []
        for memory in store.memories(Status.ACTIVE):
            ratio = memory.effectiveness
            if memory.uses >= min_uses and ratio is not None and ratio < min_effectiveness:
                composer.patch(Ref(label=Label.MEMORY, id=memory.id), status=Status.ARCHIVED)
                names.append(memory.name)
        return _decided(composer, "prune", names, dry_run)

    return store.writer.submit(decision)


def decay_edges(store: Store, unused_days: float, dry_run: bool) -> MaintenanceReport:
    """Halve the weight of edges between memories that were not used for so long; once per such period."""

    def stale(edge: Edge, before: datetime) -> bool:
        used = max(edge.created_at, edge.last_used_at or edge.created_at)
        return edge.type in OPEN_RELATIONS and used < before and _not_since(edge.attributes.get(_DECAYED), before)

    def decision() -> Decision[MaintenanceReport]:
        composer = Composer(store, store.clock())
        before = composer.now - _days(unused_days)
        edges = [edge for op in store.records.edges_of(None, _ALL) if stale(edge := edge_from(op), before)]
        for edge in edges:
            attributes = {**edge.attributes, _DECAYED: composer.now.isoformat()}
            composer.put_edge(replace(edge, weight=edge.weight / 2, attributes=attributes))
        return _decided(composer, "decay_edges", [edge.type.value for edge in edges], dry_run)

    return store.writer.submit(decision)


def _decided(composer: Composer, operation: str, names: list[str], dry_run: bool) -> Decision[MaintenanceReport]:
    report = MaintenanceReport(operation=operation, changed=len(names), names=tuple(names), dry_run=dry_run)
    changes = () if dry_run or not names else (composer.change(operation),)
    return Decision(changes, report)


def _days(days: float) -> timedelta:
    if not 0 <= days <= 36_500:
        raise InvalidInputError(f"days must be between 0 and 36500, not {days!r}")
    return timedelta(days=days)


def _not_since(stamp: object, before: datetime) -> bool:
    return not isinstance(stamp, str) or datetime.fromisoformat(stamp) < before
