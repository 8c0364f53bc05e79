"""Walks: fields that lead from a node to its neighbours, so that one request can follow the graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from helix.api.fields import walk
from helix.model.edge import Edge, Label, Ref, Relation
from helix.model.episode import Episode
from helix.model.memory import Memory
from helix.model.proof import MemoryEffect, Showing
from helix.model.records import Node
from helix.model.reports import Page
from helix.operations import learning, memories
from helix.operations.checks import page_size
from helix.service import Helix
from helix.store import listing


def edges(
    helix: Helix, memory: Memory, *, relation: str | None = None, first: int = 20, after: str | None = None
) -> Page[Edge]:
    """Its edges, in both directions."""
    return memories.edges(helix, memory.id, relation, first, after)


def episodes(helix: Helix, memory: Memory, *, first: int = 5, after: str | None = None) -> Page[Episode]:
    """The episodes it rests on, newest first."""
    index = helix.store.index
    rows = index.rows_of(
        op.target for op in helix.store.records.edges_at(memory.ref) if op.type is Relation.GROUNDED_IN
    )
    return listing.page(helix.store, rows, (Label.EPISODE,), page_size(helix, "first", first), after)


def showings(helix: Helix, effect: MemoryEffect, *, first: int = 20, after: str | None = None) -> Page[Showing]:
    """The tasks that it was shown to or held back from, newest first."""
    return learning.showings(helix, effect.memory.id, first, after)


def node(helix: Helix, ref: Ref) -> Node | None:
    """The node itself; null when it is gone."""
    return helix.store.records.present([ref])[0]


EXTRAS: Mapping[type[Any], Sequence[Any]] = {
    Memory: (partial(walk, edges), partial(walk, episodes)),
    MemoryEffect: (partial(walk, showings),),
    Ref: (partial(walk, node),),
}
"""The fields to add to the type of each domain class."""
