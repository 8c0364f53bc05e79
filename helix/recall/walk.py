"""Walk: the arms that start where the others arrived, and follow the graph from there."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from helix.model.edge import Label, Relation
from helix.model.entity import Mention
from helix.model.memory import Kind
from helix.model.recall import Expand
from helix.recall.arms import ARM_LIMIT, RankedList
from helix.recall.fusion import Fused
from helix.recall.pagerank import DAMPING, personalised
from helix.recall.relevance import Relevance
from helix.store.catalogue import CatalogueView
from helix.store.node_columns import KIND_CODE, LABEL_CODE, BoolArray, FloatArray, IndexArray
from helix.store.projection import GraphSnapshot

SEEDS = 10
SEED_TEMPERATURE = 0.033
"""A walk starts from so many of the most relevant candidates, each with e^(-its distance from the best / this).

What is nearly as good as the best counts nearly as much, what is clearly worse hardly at all: seeds spread evenly over
fifty candidates lead from nearly anything to nearly anything.
"""

ENTITY_SEED = 1.0
"""Mass of one of the query's own entities with a single edge, over that of the best candidate."""

MAX_ENTITIES = 32

CONTEXT_FROM = 40
"""How far down the most relevant candidates turns are looked for whose neighbours in the session get their chance."""

SOLVED_FROM = 20
"""How far down the fused candidates failures are looked for whose solutions get their chance."""

_ROUNDING = 1e-12
"""What is left of a seed's restart when it is taken off again."""

_FAILURES = (KIND_CODE[Kind.FAILURE], KIND_CODE[Kind.SYSTEMIC])
_MEMORY = LABEL_CODE[Label.MEMORY]
_ENTITY = LABEL_CODE[Label.ENTITY]


@dataclass(frozen=True, slots=True, kw_only=True)
class Seeds:
    """Where a walk starts, and with how much of it; `entities` are the rows of the query's own entities."""

    rows: IndexArray
    mass: FloatArray
    entities: IndexArray


def entity_rows(view: CatalogueView, mentions: Iterable[Mention], walkable: BoolArray) -> IndexArray:
    """Return the rows of the entities that a recall question speaks of, as far as its asker may see them."""
    rows = dict.fromkeys(
        row for mention in mentions for row in view.entities(mention.kind, mention.name) if walkable[row]
    )
    return np.array(list(rows)[:MAX_ENTITIES], np.int64)


def seeds_of(relevance: Relevance, entities: IndexArray, graph: GraphSnapshot) -> Seeds:
    """Return the seeds of recall's walk: the most relevant candidates, and entities by ENTITY_SEED over their degree.

    The degree stands for how little a thing says: what everything mentions leads everywhere (node specificity,
    Gutiérrez et al. 2024, HippoRAG).
    """
    fits = relevance.mixed
    best = np.argsort(-fits, kind="stable")[:SEEDS]
    rows = relevance.rows[best]
    mass = np.exp((fits[best] - fits[best[:1]]) / SEED_TEMPERATURE)
    mass /= max(mass.sum(), 1.0)
    specific = ENTITY_SEED * (mass[0] if len(mass) else 1.0) / np.maximum(graph.degree_of(entities), 1)
    return Seeds(rows=np.concatenate((rows, entities)), mass=np.concatenate((mass, specific)), entities=entities)


def passable(view: CatalogueView, graph: GraphSnapshot, walkable: BoolArray, entities: IndexArray) -> BoolArray:
    """Return the rows that recall's walk may pass: walkable, less entities only one thing has, but for the query's.

    Such an entity leads nowhere but back, and would reward whatever speaks of things nobody else does.
    """
    degree = graph.degree[: view.count]
    lonely = view.columns.label == _ENTITY
    lonely[: len(degree)] &= degree < 2
    found: BoolArray = walkable & ~lonely
    found[entities] = True
    return found


def nearness(
    view: CatalogueView, graph: GraphSnapshot, seeds: Seeds, walkable: BoolArray, expand: Expand
) -> FloatArray:
    """Return how much of recall's walk from the seeds arrives at each row over edges; 0 everywhere without expansion.

    With PAGERANK it is the personalised PageRank less the restarts, so that a seed nothing leads to has 0: what the
    other arms found is theirs to say. With NEIGHBOURS it is what one step brings, and a second one from where nothing
    can be answered with (entities), so that two things that speak of the same are neighbours.
    """
    near = np.zeros(len(walkable))
    total = seeds.mass[walkable[seeds.rows]].sum()
    if total <= 0 or expand is Expand.NONE:
        return near
    if expand is Expand.PAGERANK:
        near = personalised(graph, seeds.rows, seeds.mass, walkable)
        np.subtract.at(near, seeds.rows, (1 - DAMPING) * seeds.mass / total)
    else:
        near = _one_step(graph, seeds.rows, seeds.mass / total, walkable)
        between = np.flatnonzero((view.columns.label == _ENTITY) & (near > 0))
        near += _one_step(graph, between, near[between], walkable)
    near *= near >= _ROUNDING
    return near


def _one_step(graph: GraphSnapshot, rows: IndexArray, mass: FloatArray, walkable: BoolArray) -> FloatArray:
    reached, shares = graph.spread(rows, mass)
    arrived = np.zeros(len(walkable))
    np.add.at(arrived, reached, shares)
    return arrived * walkable


def graph_arm(near: FloatArray, mask: BoolArray, expand: Expand, limit: int = ARM_LIMIT) -> RankedList:
    """Return the recall arm of the rows that the walk finds nearest, of equals the lower row first."""
    rows = np.flatnonzero(mask & (near > 0))
    values = near[rows]
    if len(rows) > limit:
        keep = values >= np.partition(values, -limit)[-limit]
        rows, values = rows[keep], values[keep]
    order = np.lexsort((rows, -values))[:limit]
    return RankedList.plain(expand.value, rows[order], values[order])


def solves_arm(view: CatalogueView, graph: GraphSnapshot, mask: BoolArray, fused: Fused) -> RankedList:
    """Return the recall arm of what solves the failures among the best candidates, in the order of the failures."""
    top = fused.rows[:SOLVED_FROM]
    failed = (view.columns.label[top] == _MEMORY) & np.isin(view.columns.kind[top], _FAILURES)
    found = graph.neighbours(top[failed], Relation.SOLVES)
    solving = mask[found.rows] & ~found.outgoing
    by_rank = np.argsort(found.origin[solving], kind="stable")
    rows, origin = found.rows[solving][by_rank], found.origin[solving][by_rank]
    first = np.sort(np.unique(rows, return_index=True)[1])[:ARM_LIMIT]
    return RankedList.plain("solves", rows[first], fused.scores[:SOLVED_FROM][failed][origin[first]])


def context_arm(graph: GraphSnapshot, mask: BoolArray, relevance: Relevance) -> RankedList:
    """Return the recall arm of the turns beside the most relevant ones in their sessions, in the order of those."""
    fits = relevance.mixed
    best = np.argsort(-fits, kind="stable")[:CONTEXT_FROM]
    found = graph.neighbours(relevance.rows[best], Relation.NEXT)
    beside = mask[found.rows]
    rows, origin = found.rows[beside], found.origin[beside]
    first = np.sort(np.unique(rows, return_index=True)[1])[:ARM_LIMIT]
    return RankedList.plain("context", rows[first], fits[best][origin[first]])


def turns_beside(graph: GraphSnapshot, rows: IndexArray) -> IndexArray:
    """Return the places of recall candidates that are turns next to each other in a session, both ways, (2, pairs)."""
    found = graph.neighbours(rows, Relation.NEXT)
    sorter = np.argsort(rows)
    places = (
        sorter[np.minimum(np.searchsorted(rows, found.rows, sorter=sorter), len(rows) - 1)] if len(rows) else found.rows
    )
    held = rows[places] == found.rows
    return np.stack((found.origin[held], places[held]))
