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
from helix.service import Helix


def edges(helix: Helix, memory: Memory, *, relation: str | None = None, limit: int = 20) -> list[Edge]:
    """Its edges, in both directions."""
    return memories.edges(helix, memory.id, relation, limit)


def episodes(helix: Helix, memory: Memory, *, limit: int = 5) -> list[Episode]:
    """The episodes it rests on."""
    grounds = memories.edges(helix, memory.id, Relation.GROUNDED_IN, limit)
    found = [node(helix, edge.target) for edge in grounds if edge.target.label is Label.EPISODE]
    return [episode for episode in found if isinstance(episode, Episode)]


def showings(helix: Helix, effect: MemoryEffect, *, first: int = 20, after: str | None = None) -> Page[Showing]:
    """The tasks that it was shown to or held out from, newest first."""
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
