"""What a daemon's answers cannot tell, measured inside this process on the same store, closed meanwhile.

Exactness of the vector arm and of the walk, CPU time of a recall, and how much of storing is the journal.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from benchmarks.machine import percentiles
from benchmarks.speed_corpus import SELECTIVE, Phrases
from benchmarks.speed_exact import index, nearest, scene_of, walk
from helix.memory.remember.remember import remember
from helix.memory.remember.request import StoreRequest
from helix.model.clock import system_clock
from helix.model.ids import uuid7
from helix.model.recall import RecallQuery
from helix.service import Helix
from helix.settings import Settings
from helix.store.opening import open_store
from helix.store.store import Store

_WARM = 30
_CPU_QUESTIONS = 100
"""Recalls before the CPU time of one is measured, and the fewest that it is the median of."""


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
        every = [scene_of(store, RecallQuery(query=phrases.question())) for _ in range(queries)]
        narrow = [scene_of(store, RecallQuery(query=phrases.question(), scope=SELECTIVE)) for _ in range(queries)]
        return {
            "open_seconds": round(seconds, 2),
            "recall_cpu_ms": cpu,
            "vector": {
                "all": nearest(store, every),
                "filtered": nearest(store, narrow),
                "index": index(store, every),
            },
            "pagerank": walk(store, every),
            "storing": _storing(store, phrases, stores),
        }


def _cpu_of_recalls(settings: Settings, phrases: Phrases, queries: int) -> float:
    """Return the median CPU milliseconds of a recall, of all threads of this process, which does nothing else."""
    spent = []
    with Helix.open(settings) as helix:
        for number in range(_WARM + max(queries, _CPU_QUESTIONS)):
            question = RecallQuery(query=phrases.question())
            started = time.process_time()
            helix.recall(question)
            if number >= _WARM:
                spent.append(time.process_time() - started)
    return round(float(np.median(spent)) * 1000, 2)


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
