"""The one writer: decide, journal, memory, acknowledge, in one thread; the graph follows in another.

A decision runs on the writer's thread, so it sees everything accepted before it; it returns what to change and what
to answer, and does nothing else: it may be taken twice. By the time `submit` returns, the change is durable.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from helix.errors import DaemonError, InvalidInputError
from helix.graph.graph_follower import GraphFollower
from helix.journal.idempotency import RequestNote
from helix.journal.log import Journal
from helix.journal.state import Records
from helix.model.clock import Clock, to_micros
from helix.model.operations import Change, Put, Row
from helix.model.records import check_put
from helix.model.requests import Request
from helix.on_demand_thread import OnDemandThread
from helix.store.catalogue import Catalogue
from helix.store.projection import Projection
from helix.store.retry_answers import packed_answer, unpacked_answer

T = TypeVar("T")
_ACTOR: ContextVar[str] = ContextVar("helix_actor", default="")
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
        self,
        journal: Journal,
        records: Records,
        follower: GraphFollower,
        catalogue: Catalogue,
        projection: Projection,
        *,
        clock: Clock,
    ) -> None:
        self._journal = journal
        self._records = records
        self._follower = follower
        self._catalogue = catalogue
        self._projection = projection
        self._clock = clock
        self._listeners: list[Listener] = []
        self._local = threading.local()
        self._queue: queue.SimpleQueue[tuple[Callable[[], Any], Future[Any]]] = queue.SimpleQueue()
        self._closed = False
        self._closing = threading.Lock()
        self._thread = OnDemandThread("helix-writer", self._work_off)

    @contextmanager
    def request(self, request: Request) -> Iterator[None]:
        """Have what this thread submits meanwhile to the store's writer with a name count once, however often sent."""
        self._local.request = request
        try:
            yield
        finally:
            self._local.request = None

    @contextmanager
    def acting(self, actor: str) -> Iterator[None]:
        """Have the changes submitted to the store's writer meanwhile in this context name who asked for them."""
        before = _ACTOR.set(actor)
        try:
            yield
        finally:
            _ACTOR.reset(before)

    def submit(self, decide: Decide[T], *, once: str = "") -> T:
        """Have the store's writer decide and write; return the answer once changes are durable. Raises as either does.

        Within a `request`, a decision that has a name (`once`) is taken once: the transaction of its changes notes it,
        and a retry gets the first answer. Raises ConflictError where the key was used for another payload. What changed
        nothing is not noted, and decided again.
        """
        request: Request | None = getattr(self._local, "request", None)
        if request is None or not once:
            return self.begin(decide).result()
        step, actor = request.step(once), _ACTOR.get()
        return self._enqueue(lambda: self._once(request, step, decide, actor)).result()

    def begin(self, decide: Decide[T]) -> Future[T]:
        """Queue a decision for the store's writer; the future holds its answer once its changes are durable."""
        actor = _ACTOR.get()
        return self._enqueue(lambda: self._write(self.decided(decide), actor=actor))

    def call(self, work: Callable[[], T]) -> T:
        """Run something on the thread of the store's writer, between two changes, and return what it returns."""
        return self._enqueue(work).result()

    def _enqueue(self, work: Callable[[], T]) -> Future[T]:
        future: Future[T] = Future()
        with self._closing:
            if self._closed:
                raise DaemonError("the store is closing", hint="start Helix again")
            self._queue.put((work, future))
            self._thread.wake()
        return future

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Have `listener` told of rows accepted, on the store's writer's thread; return a function that ends it."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def close(self) -> None:
        """Finish what is queued for the store's writer and end its thread."""
        with self._closing:
            self._closed = True
        self._thread.close()

    def _work_off(self) -> None:
        while not self._queue.empty():
            work, future = self._queue.get()
            try:
                future.set_result(work())
            except BaseException as error:  # handed to the caller, whatever it is
                future.set_exception(error)

    def decided(self, decide: Decide[T]) -> Decision[T]:
        """Take a decision for the store's writer.

        It may be taken again where another process wrote meanwhile, so all it does is return.
        """
        return decide()

    def _once(self, request: Request, step: str, decide: Decide[T], actor: str) -> T:
        """Take a decision of a request, or return what it came to before; the writer's thread takes one at a time."""
        done = self._journal.idempotency.done(request, step)
        if done is not None:
            answer: T = unpacked_answer(done.answer, self._records)
            return answer
        decision = self.decided(decide)
        return self._write(
            decision, RequestNote(request=request, step=step, answer=packed_answer(decision.answer)), actor
        )

    def _write(self, decision: Decision[T], note: RequestNote | None = None, actor: str = "") -> T:
        if decision.changes:
            self._follower.check_room()
            changes = decision.changes
            _check(changes)
            if actor:
                changes = tuple(replace(change, note={**change.note, "actor": actor}) for change in changes)
            rows = self._journal.append(changes, to_micros(self._clock()), note)
            operations = [op for row in rows for op in row.change.operations]
            # From here the change is durable and found; a graph that is slow or behind must not keep anybody waiting.
            self._records.follow(operations)
            self._catalogue.apply(operations)
            self._projection.apply(operations, self._catalogue)
            self._follower.follow(rows)
            for listener in tuple(self._listeners):
                listener(rows)
        return decision.answer


def _check(changes: Sequence[Change]) -> None:
    """Raise InvalidInputError for a value that is none of a record: once it is written, no backup is restored."""
    for change in changes:
        for op in change.operations:
            if isinstance(op, Put):
                try:
                    check_put(op)
                except ValueError as error:
                    raise InvalidInputError(
                        str(error), hint="nothing was written: look at what it was made from"
                    ) from error
