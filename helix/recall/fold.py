"""Fold: one fact, once. What says less than another item of the answer stands in its place's explanation only.

Of the memories of one matter the one with a resolution goes first, and among those the one that was proven. Nothing
stands for a better founded memory: what a commit says never takes the place of what the user said.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from helix.model.edge import Relation
from helix.model.memory import Kind, Memory
from helix.model.records import Node
from helix.model.reflection import Reflection
from helix.store.csr import RELATION_CODE
from helix.store.node_columns import IndexArray
from helix.store.projection import GraphSnapshot
from helix.text.statement.subsumption import Telling, exceeds, told_by

OF_ONE_MATTER = (Relation.SOLVES, Relation.CAUSES)
"""Edges between a failure and what mends it, and between one and the systemic memory that counts it. A failure that
caused another is a matter of its own."""

_FAULTS = frozenset({Kind.FAILURE, Kind.SYSTEMIC, Kind.GAP})
RECURRING = 3
"""So many episodes of one memory tell the same thing again and again, in whatever words. Of fewer, `pack` shows those
that say more than their memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Folding:
    """The order in which candidates are offered, and for what says less than others the places that say it too.

    A candidate is excluded once each of the places it is `within` is in the answer or excluded itself.
    """

    order: tuple[int, ...]
    within: Mapping[int, frozenset[int]] = field(default_factory=dict)


def fold(
    head: Sequence[int],
    nodes: Mapping[int, Node],
    *,
    rows: IndexArray,
    grounds: Mapping[int, Sequence[int]],
    graph: GraphSnapshot,
    limit: int,
    evidence: bool,
    told: Callable[[str], Telling] = told_by,
) -> Folding:
    """Fold the recall candidates at the places of `head`, best first, whose `nodes` were read.

    `grounds` are the places of the episodes that a memory, by its place, is grounded in; those behind the head are
    folded too. With `evidence` episodes stay beside their memories. `limit` is how many items are asked for. `told`
    reads a text, each once where it keeps what it read.
    """
    memories = {place: node for place in head if isinstance(node := nodes.get(place), Memory) and not node.is_summary}
    order, within = _by_resolution(list(head), memories, rows, graph, told)
    if not evidence:
        for memory, episodes in grounds.items():
            if memory in memories and len(episodes) >= RECURRING:
                within.update({one: frozenset((memory,)) for one in episodes})
    within.update(_cited(head, nodes, rows, graph))
    within = {place: frozenset(_kept(one, within) for one in held) for place, held in within.items()}
    return Folding(order=tuple(_behind(order, within, limit)), within=within)


def _kept(place: int, within: Mapping[int, frozenset[int]]) -> int:
    """Return what stands for a place in the end: a memory that another one says is itself excluded.

    Where insights cite each other in a circle, as a stranger's can, each stands for itself.
    """
    passed = {place}
    while len(held := within.get(place, frozenset())) == 1 and not held <= passed:
        (place,) = held
        passed.add(place)
    return place


def _behind(order: Sequence[int], within: Mapping[int, frozenset[int]], limit: int) -> list[int]:
    """Return the order with what says less behind all that says it, where that is within the limit."""
    at = {place: float(index) for index, place in enumerate(order)}
    key = dict(at)
    for place in within.keys() & at.keys():
        last = max(at[one] for one in within[place])
        if at[place] < last < limit:
            key[place] = last + 0.5
    return sorted(order, key=lambda place: (key[place], at[place]))


def _by_resolution(
    head: list[int],
    memories: Mapping[int, Memory],
    rows: IndexArray,
    graph: GraphSnapshot,
    told: Callable[[str], Telling],
) -> tuple[list[int], dict[int, frozenset[int]]]:
    """Return the order with each matter's best memory first, and what says less within it.

    None is moved past what a better class of source says.
    """
    at = {place: index for index, place in enumerate(head)}
    key, within = dict[int, float](at), dict[int, frozenset[int]]()
    standing = {place: _standing(memory) for place, memory in memories.items()}
    # What each states: all of it where it says what to do, else the trigger.
    stated = {place: told(_whole(one) if _resolved(one) else one.trigger) for place, one in memories.items()}
    for matter in _matters(memories, rows, graph, stated):
        first = min(matter, key=lambda place: (standing[place], at[place]))
        if not _resolved(memories[first]):
            continue
        for place in matter:  # moved ahead of what stands lower, which keeps its place: it may fit the question best
            to = min(at[other] for other in matter if standing[other] > standing[place] or other == place)
            passed = (at[other] for other in memories if not _may_stand_for(memories[place], memories[other]))
            key[place] = max((one + 0.5 for one in passed if to <= one < at[place]), default=to)
        less = (place for place in matter if _goes_into(memories[place], stated[place], stated[first]))
        within.update(
            {place: frozenset((first,)) for place in less if _may_stand_for(memories[first], memories[place])}
        )
    return sorted(head, key=lambda place: (key[place], standing.get(place, 0), at[place])), within


def _may_stand_for(memory: Memory, other: Memory) -> bool:
    """Return whether a memory comes from no weaker class of source than another one."""
    return memory.provenance.trust.rank <= other.provenance.trust.rank


def _goes_into(one: Memory, stated: Telling, first: Telling) -> bool:
    """Return whether a memory without a resolution is said by the best of its matter: a rule needs none to be one."""
    return not _resolved(one) and (one.kind in _FAULTS or not exceeds(stated, first))


def _standing(memory: Memory) -> int:
    """Return 0 for a resolution that was proven, 1 for one that was not, 2 where there is none."""
    if not _resolved(memory):
        return 2
    return 0 if memory.helped > memory.failed else 1


def _resolved(memory: Memory) -> bool:
    """Return whether a memory says what to do; that something comes again and again is none."""
    return bool(memory.resolution.strip()) and memory.kind is not Kind.SYSTEMIC


def _matters(
    memories: Mapping[int, Memory], rows: IndexArray, graph: GraphSnapshot, stated: Mapping[int, Telling]
) -> list[list[int]]:
    """Return the places of the memories that are about one matter, by edges, or as one says no more than another."""
    leader = {place: place for place in memories}

    def of(place: int) -> int:
        while leader[place] != place:
            place = leader[place]
        return place

    places = list(memories)
    place_of = {int(rows[place]): place for place in places}
    found = graph.neighbours(rows[np.array(places, np.int64)], *OF_ONE_MATTER)
    causes = found.relations == RELATION_CODE[Relation.CAUSES]
    for origin, row, causing in zip(found.origin.tolist(), found.rows.tolist(), causes.tolist(), strict=True):
        one, other = places[origin], place_of.get(row)
        if other is not None and (not causing or Kind.SYSTEMIC in (memories[one].kind, memories[other].kind)):
            leader[of(one)] = of(other)
    resolved = [place for place in places if _resolved(memories[place])]
    for place in places:
        if not _resolved(memories[place]):
            better = (other for other in resolved if not exceeds(stated[place], stated[other]))
            better = (other for other in better if _may_stand_for(memories[other], memories[place]))
            if (said := next(better, None)) is not None:
                leader[of(place)] = of(said)
    matters: dict[int, list[int]] = {}
    for place in places:
        matters.setdefault(of(place), []).append(place)
    return [matter for matter in matters.values() if len(matter) > 1]


def _whole(memory: Memory) -> str:
    return f"{memory.trigger}\n{memory.resolution}"


def _cited(
    head: Sequence[int], nodes: Mapping[int, Node], rows: IndexArray, graph: GraphSnapshot
) -> dict[int, frozenset[int]]:
    """Return the reflections among the places whose every citation is there too, within those."""
    places = [place for place in head if isinstance(nodes.get(place), Reflection)]
    if not places:
        return {}
    place_of = {int(rows[place]): place for place in head}
    found = graph.neighbours(rows[np.array(places, np.int64)], Relation.CITES)
    cited: dict[int, set[int | None]] = {}
    for origin, row, outgoing in zip(found.origin.tolist(), found.rows.tolist(), found.outgoing.tolist(), strict=True):
        if outgoing:
            cited.setdefault(places[origin], set()).add(place_of.get(row))
    return {place: frozenset(held) for place, held in cited.items() if None not in held}  # type: ignore[arg-type]
