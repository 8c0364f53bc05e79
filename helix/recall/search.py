"""Search: from a question to fused candidates, through every arm."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from helix.model.recall import Expand, RecallQuery
from helix.recall.arms import (
    Matches,
    RankedList,
    files_arm,
    lexical_matches,
    named_arm,
    selective_terms,
    time_arm,
    yours_arm,
)
from helix.recall.fusion import Fused, fuse
from helix.recall.pagerank import DAMPING
from helix.recall.question import RecallQuestion
from helix.recall.recipes import ARM_WEIGHTS
from helix.recall.relevance import Relevance, relevance_of
from helix.recall.stopwatch import Stopwatch
from helix.recall.vector import cosines, vector_arm
from helix.recall.walk import Seeds, context_arm, entity_rows, graph_arm, nearness, passable, seeds_of, solves_arm
from helix.store.catalogue import CatalogueView
from helix.store.engine import VectorSearch
from helix.store.matrix import VectorArray
from helix.store.node_columns import BoolArray, FloatArray, IndexArray
from helix.store.projection import GraphSnapshot


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """What one recall works on: the query as read, and the store as it was when it came.

    `mask` marks the rows that pass every filter, `now` is in microseconds, `vector` is None in lexical mode.
    """

    query: RecallQuery
    question: RecallQuestion
    view: CatalogueView
    graph: GraphSnapshot
    mask: BoolArray
    now: int
    vector: VectorArray | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult:
    """What the arms brought: candidates, how they fit, where the walk began and how near it came to each row."""

    fused: Fused
    relevance: Relevance
    seeds: Seeds
    near: FloatArray
    notes: tuple[str, ...] = ()


def matches_of(view: CatalogueView, mask: BoolArray, question: RecallQuestion) -> Matches:
    """Return what the most selective of a recall question's words find among the rows of the mask."""
    return lexical_matches(view, mask, selective_terms(question.terms, view.words.document_frequency(question.terms)))


def search(scene: Scene, matches: Matches, vectors: VectorSearch, watch: Stopwatch) -> SearchResult:
    """Search for a question by every arm of recall, fuse, walk the graph from there, and fuse again with that."""
    view, mask = scene.view, scene.mask
    lists: list[RankedList] = []
    notes: list[str] = []
    if scene.vector is not None:
        with watch("vector"):
            ranked, note = vector_arm(view, mask, vectors, scene.vector)
            lists.append(ranked)
            notes += [note] if note else []
    lists.append(matches.ranked(view))
    if scene.question.names:
        lists.append(named_arm(view, mask, scene.graph, scene.question.names, matches))
    lists += _pointed(scene, matches, watch)
    with watch("fuse"):
        fused = fuse(lists, ARM_WEIGHTS)
        relevance = relevance_of(view, fused.rows, scene.vector, matches)
    with watch("pagerank"):
        walkable = view.walkable(scene.query.scope)
        entities = entity_rows(view, scene.question.mentions, walkable)
        seeds = seeds_of(relevance, entities, scene.graph)
        near = nearness(view, scene.graph, seeds, passable(view, scene.graph, walkable, entities), scene.query.expand)
        if scene.query.expand is not Expand.NONE:
            lists.append(graph_arm(near, mask, scene.query.expand))
        lists.append(solves_arm(view, scene.graph, mask, fused))
        lists.append(context_arm(scene.graph, mask, relevance))
    with watch("fuse"):
        fused = fuse(lists, ARM_WEIGHTS)
        added = fused.rows[~np.isin(fused.rows, relevance.rows)]
        relevance = relevance.extended(relevance_of(view, added, scene.vector, matches), fused.rows)
    return SearchResult(fused=fused, relevance=relevance, seeds=seeds, near=near, notes=tuple(notes))


def heat_of(found: SearchResult, walkable: BoolArray) -> FloatArray:
    """Return the share of its time that recall's graph walk spends at each row, its restarts at the seeds included."""
    heat, seeds = found.near.copy(), found.seeds
    allowed = walkable[seeds.rows]
    total = seeds.mass[allowed].sum()
    if total > 0:
        np.add.at(heat, seeds.rows[allowed], (1 - DAMPING) * seeds.mass[allowed] / total)
    return heat


def _pointed(scene: Scene, matches: Matches, watch: Stopwatch) -> list[RankedList]:
    """Return what is the user's own and surely about what is asked, and the arms that files or a time ask for."""
    view, question = scene.view, scene.question

    def affinity(rows: IndexArray) -> FloatArray:
        if scene.vector is None:
            return np.nan_to_num(matches.of_rows(view, rows))
        return np.nan_to_num(cosines(view, rows, scene.vector)[0])

    lists = []
    with watch("files"):
        if question.files:
            lists.append(files_arm(view, scene.mask, scene.graph, question.files, affinity))
    about = lists[0].rows if lists else np.empty(0, np.int64)
    lists.insert(0, yours_arm(view, scene.mask, question.terms, affinity, about))
    with watch("time"):
        if question.time is not None:
            lists.append(time_arm(view, scene.mask, *question.time, affinity))
    return lists
