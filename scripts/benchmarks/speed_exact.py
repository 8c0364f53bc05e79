"""What is exact: the vector arm, the graph's vector index and the walk of recall, beside slow ways to the same."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.machine import percentiles
from helix.errors import GraphUnavailableError
from helix.model.clock import to_micros
from helix.model.recall import Expand, RecallQuery
from helix.recall.pagerank import DAMPING
from helix.recall.question import TextReading, read_question
from helix.recall.search import Scene, matches_of, search
from helix.recall.stopwatch import Stopwatch
from helix.recall.vector import candidates, vector_arm
from helix.recall.walk import Seeds, nearness, passable
from helix.store.catalogue import CatalogueView
from helix.store.matrix import VectorArray
from helix.store.node_columns import BoolArray, FloatArray, IndexArray
from helix.store.projection import GraphSnapshot
from helix.store.store import Store

NEAREST = 20
"""Depth at which the vector arm is compared with an exact search."""

TOP = 100
"""Depth at which the walk is compared with its exact vector."""

_CONVERGED = 1e-12
_MOST_STEPS = 200
_ROUNDING = 1e-9
"""How far two values are apart, as a share of them, that exact arithmetic would give as equal."""


def scene_of(store: Store, query: RecallQuery) -> tuple[Scene, VectorArray]:
    """Return what a recall of the query would work on, and the vector of its question."""
    now = store.runtime.clock()
    question = read_question(query, now, TextReading())
    graph, view = store.projection.snapshot, store.catalogue.view
    vector = np.asarray(store.embed_query(question.embedded), np.float32)
    scene = Scene(
        query=query,
        question=question,
        view=view,
        graph=graph,
        mask=view.mask(query, now),
        now=to_micros(now),
        vector=vector,
    )
    return scene, vector


def nearest(store: Store, scenes: Sequence[tuple[Scene, VectorArray]]) -> dict[str, float]:
    """Return recall@20 of the vector arm against the products with all that passes the filter, sorted."""
    shares = []
    for scene, vector in scenes:
        ranked, _ = vector_arm(scene.view, scene.mask, store.graph, vector)
        shares.append(_overlap(ranked.rows[:NEAREST], exact_nearest(scene.view, scene.mask, vector)))
    return {"recall@20": round(float(np.mean(shares)), 4), "worst": round(min(shares), 4)}


def exact_nearest(view: CatalogueView, mask: BoolArray, vector: VectorArray, limit: int = NEAREST) -> IndexArray:
    """Return the rows of the greatest cosines, each by its best passage: every product, no codes, and a sort."""
    indexes = candidates(view, mask)
    order = np.argsort(-view.passages.vectors.products_of(indexes, vector), kind="stable")
    owners = view.passages.owner[indexes[order]]
    first = np.sort(np.unique(owners, return_index=True)[1])
    return owners[first[:limit]].astype(np.int64)


def index(store: Store, scenes: Sequence[tuple[Scene, VectorArray]]) -> dict[str, Any]:
    """Return recall@20 and time of the graph's vector index alone, over passages, or why it cannot be asked."""
    shares, times = [], []
    for scene, vector in scenes:
        passages = scene.view.passages
        living = np.flatnonzero(passages.alive & passages.embedded)
        exact = living[np.argsort(-passages.vectors.products_of(living, vector), kind="stable")[:NEAREST]]
        started = time.perf_counter()
        try:
            found = store.graph.vector_search(vector.tolist(), NEAREST)
        except GraphUnavailableError as error:
            return {"why": error.message}
        times.append(time.perf_counter() - started)
        shares.append(_overlap(passages.indexes_of_ids([passage for passage, _ in found]), exact))
    return {"recall@20": round(float(np.mean(shares)), 4), "worst": round(min(shares), 4), **percentiles(times)}


def walk(store: Store, scenes: Sequence[tuple[Scene, VectorArray]]) -> dict[str, Any]:
    """Return the time of recall's walk and how much of its top 100 is exact, for the seeds of real questions.

    The percentiles are those of the whole stage (seeds, what may be passed, PageRank, the arms that read it), `alone`
    those of PageRank with what may be passed.
    """
    stages, alone, shares = [], [], []
    for scene, _ in scenes:
        watch = Stopwatch()
        found = search(scene, matches_of(scene.view, scene.mask, scene.question), store.graph, watch)
        stages.append(watch.timings_ms["pagerank"] / 1000)
        allowed = scene.view.walkable(scene.query.scope)
        started = time.perf_counter()
        walkable = passable(scene.view, scene.graph, allowed, found.seeds.entities)
        near = nearness(scene.view, scene.graph, found.seeds, walkable, Expand.PAGERANK)
        alone.append(time.perf_counter() - started)
        shares.append(agreement(near, exact_nearness(scene.graph, found.seeds, walkable)))
    return {
        **percentiles(stages),
        "alone": percentiles(alone),
        "overlap@100": round(float(np.mean(shares)), 4),
        "worst": round(min(shares), 4),
    }


def exact_nearness(graph: GraphSnapshot, seeds: Seeds, walkable: BoolArray) -> FloatArray:
    """Return what `nearness` approximates with PAGERANK: what arrives over edges, without the restarts."""
    near = power_iteration(graph, seeds.rows, seeds.mass, walkable)
    total = seeds.mass[walkable[seeds.rows]].sum()
    if total > 0:
        np.subtract.at(near, seeds.rows, (1 - DAMPING) * seeds.mass / total)
    near[~walkable | (near < _CONVERGED)] = 0.0
    return near


def agreement(found: FloatArray, exact: FloatArray, depth: int = TOP) -> float:
    """Return how much of the exact top was found; a row as near as the last of that top is as good as it."""
    count = min(depth, int(np.count_nonzero(exact)))
    if not count:
        return 1.0
    least = np.partition(exact, -count)[-count] * (1 - _ROUNDING)
    best = np.lexsort((np.arange(len(found)), -found))[:count]
    return float(np.count_nonzero((found[best] > 0) & (exact[best] >= least))) / count


def power_iteration(graph: GraphSnapshot, seeds: IndexArray, mass: FloatArray, walkable: BoolArray) -> FloatArray:
    """Return the exact personalised PageRank of what `personalised` approximates, by iterating over every edge.

    It shares nothing with it but the edges: rows that are not walkable absorb what reaches them and show 0.
    """
    recent = graph.recent_walk.edges()
    walk = graph.walk.edges()
    source = np.concatenate((walk.source, graph.recent_rows[recent.source]))
    target = np.concatenate((walk.target, recent.target))
    weight = np.concatenate((walk.weight, recent.weight))
    strength = np.bincount(source, weight, len(walkable)) + np.bincount(target, weight, len(walkable))
    restart = np.zeros(len(walkable))
    np.add.at(restart, seeds, mass)
    restart *= walkable
    restart /= restart.sum() or 1.0
    found = restart.copy()
    for _ in range(_MOST_STEPS):
        sent = np.divide(found, strength, out=np.zeros(len(found)), where=strength > 0)
        arrived = np.bincount(target, sent[source] * weight, len(found))
        arrived += np.bincount(source, sent[target] * weight, len(found))
        following = ((1 - DAMPING) * restart + DAMPING * arrived) * walkable
        change = float(np.abs(following - found).sum())
        found = following
        if change < _CONVERGED:
            break
    return found


def _overlap(found: IndexArray, exact: IndexArray) -> float:
    """Return how much of what an exact search finds was found."""
    return len(np.intersect1d(found, exact)) / len(exact) if len(exact) else 1.0
