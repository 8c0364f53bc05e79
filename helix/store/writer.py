"""The one writer: decide, journal, memory, acknowledge, in one thread; the graph follows in another.

A decision runs on the writer's thread, so it sees everything accepted before it; it returns what to change and what
to answer. By the time `submit` returns, the change is durable.
"""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from helix.errors import DaemonError
from helix.journal.log import Journal
from helix.model.clock import Clock, to_micros
from helix.model.operations import Change, Row
from helix.store.catalogue import Catalogue
from helix.store.projection import Projection
from helix.store.replay import GraphFollower

log = logging.getLogger(__name__)

T = TypeVar("T")
Listener = Callable[[Sequence[Row]], None]


@dataclass(frozen=True, slots=True)
class Decision(Generic[T]):
    """What a decision came to: the changes to accept (none is fine) and the answer for the caller."""

    changes: tuple[Change, ...]
    answer: T


Decide = Callable[[], Decision[T]]


class Writer:
    """Accepts changes one after another. `submit` is safe from any thread but the writer's own."""

    def __init__(
        self, journal: Journal, follower: GraphFollower, catalogue: Catalogue, projection: Projection, *, clock: Clock
    ) -> None:
        self._journal = journal
        self._follower = follower
        self._catalogue = catalogue
        self._projection = projection
        self._clock = clock
        self._listeners: list[Listener] = []
        self._queue: queue.SimpleQueue[tuple[Callable[[], Any], Future[Any]] | None] = queue.SimpleQueue()
        self._closed = False
        self._closing = threading.Lock()
        self._thread = threading.Thread(target=self._run, name="helix-writer", daemon=True)
        self._thread.start()

    def submit(self, decide: Decide[T]) -> T:
        """Decide and write; return the decision's answer once its changes are durable. Raises what either raises."""
        return self.begin(decide).result()

    def begin(self, decide: Decide[T]) -> Future[T]:
        """Queue a decision; the future holds its answer once its changes are durable."""
        return self._enqueue(lambda: self._write(decide()))

    def call(self, work: Callable[[], T]) -> T:
        """Run something on the writer's thread, between two changes, and return what it returns."""
        return self._enqueue(work).result()

    def _enqueue(self, work: Callable[[], T]) -> Future[T]:
        future: Future[T] = Future()
        with self._closing:
            if self._closed:
                raise DaemonError("the store is closing", hint="start Helix again")
            self._queue.put((work, future))
        return future

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Have `listener` told of accepted rows, on the writer's thread; return a function that ends it."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def close(self) -> None:
        """Finish what is queued and end the thread."""
        with self._closing:
            if not self._closed:
                self._closed = True
                self._queue.put(None)
        self._thread.join()

    def _run(self) -> None:
        while (item := self._queue.get()) is not None:
            work, future = item
            try:
                future.set_result(work())
            except BaseException as error:  # handed to the caller, whatever it is
                future.set_exception(error)

    def _write(self, decision: Decision[T]) -> T:
        if decision.changes:
            self._follower.check_room()
            rows = self._journal.append(decision.changes, to_micros(self._clock()))
            operations = [op for row in rows for op in row.change.operations]
            # From here the change is durable and found; a graph that is slow or behind must not keep anybody waiting.
            self._catalogue.apply(operations)
            self._projection.apply(operations, self._catalogue)
            self._follower.follow(rows)
            for listener in tuple(self._listeners):
                listener(rows)
        return decision.answer
