"""What a daemon's answers cannot tell, measured inside this process on the same store, closed meanwhile.

Exactness of the vector arm and of PageRank, CPU time of a recall, and how much of storing is the journal.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.machine import percentiles
from benchmarks.speed_corpus import SELECTIVE, Phrases
from helix.errors import GraphUnavailableError
from helix.lifecycle.remember import StoreRequest, remember
from helix.model.clock import system_clock
from helix.model.ids import uuid7
from helix.model.recall import RecallQuery
from helix.providers.embedder import Vectors
from helix.recall.fusion import RANK_CONSTANT
from helix.recall.pagerank import DAMPING, personalised
from helix.recall.vector import candidates, scan, vector_arm
from helix.service import Helix
from helix.settings import Settings
from helix.store.catalogue import CatalogueView
from helix.store.columns import BoolArray, FloatArray, IndexArray
from helix.store.opening import open_store
from helix.store.projection import GraphSnapshot
from helix.store.store import Store

NEAREST = 20
"""Depth at which the vector arm is compared with an exact search."""

SEEDS = 50
"""Rows that PageRank starts from here, as many as a recall's."""

TOP = 100
"""Depth at which PageRank is compared with its exact vector."""

_CONVERGED = 1e-12
_MOST_STEPS = 200


@contextmanager
def opened(settings: Settings) -> Iterator[tuple[Store, float]]:
    """Yield the store, open in this process, and the seconds that opening it took."""
    started = time.perf_counter()
    store, _ = open_store(settings, embedder=None, clock=system_clock, make_id=uuid7)
    try:
        yield store, time.perf_counter() - started
    finally:
        store.close("{}")


def measured(settings: Settings, queries: int, stores: int) -> dict[str, Any]:
    """Measure all of it, with so many questions and so many memories stored."""
    phrases = Phrases(random.Random(time.time_ns()))
    cpu = _cpu_of_recalls(settings, phrases, queries)
    with opened(settings) as (store, seconds):
        every = [_asked(store, RecallQuery(query=phrases.question())) for _ in range(queries)]
        narrow = [_asked(store, RecallQuery(query=phrases.question(), scope=SELECTIVE)) for _ in range(queries)]
        return {
            "open_seconds": round(seconds, 2),
            "recall_cpu_ms": cpu,
            "vector": {
                "all": _nearest(store, every),
                "filtered": _nearest(store, narrow),
                "index": _index(store, every),
            },
            "pagerank": _pagerank(store, every),
            "storing": _storing(store, phrases, stores),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One question as the arms get it: the rows that pass its filter, and its vector."""

    view: CatalogueView
    mask: BoolArray
    vector: Vectors


def _asked(store: Store, query: RecallQuery) -> Asked:
    view = store.catalogue.view
    return Asked(view=view, mask=view.mask(query, store.clock()), vector=store.embed_query(query.query))


def _cpu_of_recalls(settings: Settings, phrases: Phrases, queries: int) -> float:
    """Return the CPU milliseconds of one recall, in all its threads."""
    with Helix.open(settings) as helix:
        helix.recall(RecallQuery(query=phrases.question()))
        questions = [RecallQuery(query=phrases.question()) for _ in range(queries)]
        started = time.process_time()
        for question in questions:
            helix.recall(question)
        return round((time.process_time() - started) * 1000 / queries, 2)


def _nearest(store: Store, questions: Sequence[Asked]) -> dict[str, float]:
    """Return recall@20 of the vector arm against a scan of all that passes the filter."""
    shares = []
    for asked in questions:
        ranked, _ = vector_arm(asked.view, asked.mask, store.graph, asked.vector)
        exact = scan(asked.view, candidates(asked.view, asked.mask), asked.vector)
        shares.append(_overlap(ranked.rows[:NEAREST], exact.rows[:NEAREST]))
    return {"recall@20": round(float(np.mean(shares)), 4), "worst": round(min(shares), 4)}


def _index(store: Store, questions: Sequence[Asked]) -> dict[str, Any]:
    """Return recall@20 and time of the graph's vector index alone, over passages, or why it cannot be asked."""
    shares, times = [], []
    for asked in questions:
        passages = asked.view.passages
        living = np.flatnonzero(passages.alive & passages.embedded)
        exact = living[np.argsort(-passages.vectors.products_of(living, asked.vector), kind="stable")[:NEAREST]]
        started = time.perf_counter()
        try:
            found = store.graph.vector_search(asked.vector.tolist(), NEAREST)
        except GraphUnavailableError as error:
            return {"why": error.message}
        times.append(time.perf_counter() - started)
        shares.append(_overlap(passages.indexes_of_ids([passage for passage, _ in found]), exact))
    return {"recall@20": round(float(np.mean(shares)), 4), "worst": round(min(shares), 4), **percentiles(times)}


def _pagerank(store: Store, questions: Sequence[Asked]) -> dict[str, float]:
    """Return the time of PageRank alone, from each question's nearest rows, and how much of its top 100 is exact."""
    graph = store.projection.snapshot
    times, shares = [], []
    for asked in questions:
        nearest = scan(asked.view, candidates(asked.view, asked.mask), asked.vector, SEEDS).rows
        seeds, mass = nearest, 1.0 / (RANK_CONSTANT + 1 + np.arange(len(nearest)))
        walkable = asked.view.walkable(None)
        started = time.perf_counter()
        near = personalised(graph, seeds, mass, walkable)
        times.append(time.perf_counter() - started)
        shares.append(_overlap(_top(near), _top(power_iteration(graph, seeds, mass, walkable))))
    return {**percentiles(times), "overlap@100": round(float(np.mean(shares)), 4), "worst": round(min(shares), 4)}


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


def _storing(store: Store, phrases: Phrases, stores: int) -> dict[str, dict[str, float]]:
    """Return the time of storing a memory, and of each part of it; the rest is deciding and waiting for a turn."""
    watch = _Watch()
    store.embed_query(phrases.question())  # the model's first text after a pause is slower
    watch.follow("journal", store.journal, "append")
    watch.follow("catalogue", store.catalogue, "apply")
    watch.follow("projection", store.projection, "apply")
    watch.follow("graph", store.graph, "follow")
    for _ in range(stores):
        request = StoreRequest(kind="fact", trigger=phrases.question(), resolution=phrases.question(), scope="bench")
        with watch.once("whole"):
            remember(store, request)
    return {part: percentiles(times) for part, times in watch.times.items()}


class _Watch:
    """Times calls of methods, and adds up those of one part within one whole."""

    def __init__(self) -> None:
        self.times: dict[str, list[float]] = {}
        self._spent: dict[str, float] = {}

    def follow(self, part: str, owner: object, method: str) -> None:
        """Count what calls of a method of this one object take as the part's."""
        function: Callable[..., Any] = getattr(owner, method)

        def timed(*args: Any, **named: Any) -> Any:
            started = time.perf_counter()
            try:
                return function(*args, **named)
            finally:
                self._spent[part] = self._spent.get(part, 0.0) + time.perf_counter() - started

        setattr(owner, method, timed)

    @contextmanager
    def once(self, whole: str) -> Iterator[None]:
        """Time what happens inside as one whole, and note what each part took of it."""
        self._spent = {}
        started = time.perf_counter()
        yield
        self.times.setdefault(whole, []).append(time.perf_counter() - started)
        for part, seconds in self._spent.items():
            self.times.setdefault(part, []).append(seconds)


def _top(values: FloatArray) -> IndexArray:
    """Return the rows of the greatest values that are not 0, of equals the lower row first."""
    best = np.lexsort((np.arange(len(values)), -values))[:TOP]
    return best[values[best] > 0]


def _overlap(found: Any, exact: Any) -> float:
    """Return how much of what an exact search finds was found."""
    return len(np.intersect1d(found, exact)) / len(exact) if len(exact) else 1.0
