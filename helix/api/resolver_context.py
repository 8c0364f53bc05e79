"""Resolver context: the service, the threads it may block, and what its request may still spend."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar

from strawberry.extensions import SchemaExtension

from helix.api.access import Access
from helix.api.limits import AcceptedDocuments
from helix.api.metrics import Meters
from helix.errors import InvalidInputError, QueryTimeoutError, UnauthorizedError
from helix.model.principal import Principal
from helix.service import Helix

T = TypeVar("T")

READERS = 6
"""Threads for what only reads."""
_WRITERS, _ASKERS, _HOOKS = 2, 2, 4

MAX_WALKS = 1_000
"""Most nodes one request may read by walking from node to node, however its selections nest."""

GAP_SECONDS = 0.001
_REST = 3
"""Times of what the loop was late, by their last turn or by others, that the subscribers of a store rest."""


class StreamTurns:
    """Lets the subscribers of a store go on one after the other: each event is an answer of its own.

    All answers are given on one loop, on a team's server other tenants' too. While a change of much is written, each of
    them costs it several milliseconds, as whoever writes has the interpreter's lock.
    """

    def __init__(self) -> None:
        self._lock = asyncio.Lock()

    async def next(self) -> None:
        """Return when it is the turn of a subscriber of the store to be told of an event."""
        loop = asyncio.get_running_loop()
        async with self._lock:
            due = loop.time() + GAP_SECONDS
            await asyncio.sleep(GAP_SECONDS)
            await asyncio.sleep(_REST * (loop.time() - due))


class Threads:
    """The threads that requests may block, of one app or of all of a process.

    Reads, writes and questions to the graph have threads of their own, so that what waits for its turn never keeps a
    read waiting: the graph answers one question at a time, each for seconds if need be. So have hooks: an agent waits
    for them at every command, whatever else is asked. An app has its `ThreadShare` of each.
    """

    def __init__(self, times: int = 1) -> None:
        """Make as many as one app needs, or so many times that."""
        self.readers = ThreadPoolExecutor(READERS * times, thread_name_prefix="helix-read")
        self.writers = ThreadPoolExecutor(_WRITERS * times, thread_name_prefix="helix-write")
        self.askers = ThreadPoolExecutor(_ASKERS * times, thread_name_prefix="helix-ask")
        self.hooks = ThreadPoolExecutor(_HOOKS * times, thread_name_prefix="helix-hook")

    async def close(self) -> None:
        """Let API requests that have begun end, drop what still waits."""
        for pool in (self.readers, self.writers, self.askers, self.hooks):
            await asyncio.to_thread(pool.shutdown, wait=True, cancel_futures=True)


class ThreadShare:
    """An app's share of threads: at most `most` of its calls are in them at once, and the others wait here.

    So the threads of a process are never all with one of its tenants, whatever that one asks.
    """

    def __init__(self, threads: ThreadPoolExecutor, most: int) -> None:
        """Share these threads."""
        self._threads = threads
        self._free = asyncio.Semaphore(most)

    async def run(self, function: Callable[[], T]) -> T:
        """Return what a blocking function returns to an API request; once begun it goes on, whoever stops waiting."""
        loop = asyncio.get_running_loop()
        await self._free.acquire()
        try:
            work = self._threads.submit(function)
        except RuntimeError:  # the threads are closed
            self._free.release()
            raise
        work.add_done_callback(lambda _: loop.call_soon_threadsafe(self._free.release))
        return await asyncio.wrap_future(work)


class AppRuntime:
    """What all requests of one app share. With `many`, the server has other tenants, and who asks has to be known."""

    def __init__(
        self,
        helix: Helix,
        access: Access,
        meters: Meters,
        shutdown: Callable[[], None] | None,
        threads: Threads,
        *,
        many: bool = False,
    ) -> None:
        self.helix = helix
        self.access = access
        self.meters = meters
        self.accepted = AcceptedDocuments()
        self.shutdown = shutdown
        self.closing = asyncio.Event()
        self.subscribed = 0
        self.turns = StreamTurns()
        self.seconds = helix.settings.request_timeout_ms / 1000
        self.readers, self.writers = ThreadShare(threads.readers, READERS), ThreadShare(threads.writers, _WRITERS)
        self.askers, self.hooks = ThreadShare(threads.askers, _ASKERS), ThreadShare(threads.hooks, _HOOKS)
        self.many = many

    async def call(
        self,
        function: Callable[..., T],
        /,
        *args: Any,
        seconds: float,
        writing: bool = False,
        asking: bool = False,
        **named: Any,
    ) -> T:
        """Return what the blocking `function` returns to an API request, in a thread, for at most `seconds`.

        Raises QueryTimeoutError after that. A thread cannot be stopped: work that has begun goes on to its end, and
        only work that still waits for a thread is dropped.
        """
        share = self.writers if writing else self.askers if asking else self.readers
        work = asyncio.create_task(share.run(partial(copy_context().run, function, *args, **named)))
        try:
            await asyncio.wait({work}, timeout=max(seconds, 0))
            if work.done():
                return work.result()
        finally:
            work.cancel()
        hint = (
            "it may still be carried out: look before you send it again"
            if writing
            else "ask for less at once, or raise the setting 'request_timeout_ms'"
        )
        raise QueryTimeoutError(f"the request took longer than {self.seconds:g} s", hint=hint)

    def known(self, principal: Principal | None) -> Principal | None:
        """Return who asks the API; None: the machine's owner. UnauthorizedError where it may be anybody else."""
        if principal is None and self.many:
            raise UnauthorizedError("nothing says who asks")
        return principal


@dataclass(kw_only=True, slots=True)
class Context:
    """One request, or one WebSocket; `begun` and `walks` belong to one operation (see `PerOperation`).

    `agent` is the coding agent that asks, where its client says so, and `principal` whose key it showed, where many are
    served. `connection_params` is what a WebSocket client sent
    when it said hello.
    """

    runtime: AppRuntime
    base_url: str
    authorized: bool
    agent: str = ""
    principal: Principal | None = None
    connection_params: Mapping[str, Any] = field(default_factory=dict)
    begun: float = 0.0
    walks: int = 0

    @property
    def asker(self) -> str:
        """What tells an API request's asker from others who ask the same: agent, whose key it is, where it leads."""
        who = self.principal
        return self.agent if who is None else "\n".join((who.name, *who.scopes, self.agent))

    @property
    def owner(self) -> str:
        """Whose the keys are that an API request names, as changes name who asked; empty for the machine's owner."""
        who = self.principal
        return "" if who is None else f"{who.name}\n{who.agent}"

    async def read(self, function: Callable[..., T], /, *args: Any, **named: Any) -> T:
        """Return what a blocking read returns, within the time the API request has left."""
        return await self.runtime.call(function, *args, seconds=self._left(), **named)

    async def ask(self, function: Callable[..., T], /, *args: Any, **named: Any) -> T:
        """Return what a question to the graph comes to, within the time the API request has left."""
        return await self.runtime.call(function, *args, seconds=self._left(), asking=True, **named)

    async def write(self, function: Callable[..., T], /, *args: Any, **named: Any) -> T:
        """Return what a blocking write returns, within the time the API request has left."""
        return await self.runtime.call(function, *args, seconds=self._left(), writing=True, **named)

    def walk(self, nodes: int) -> None:
        """Count nodes that an API request is about to read on a walk; raises InvalidInputError for too many."""
        self.walks += nodes
        if self.walks > MAX_WALKS:
            message = f"the request walks over more than {MAX_WALKS} nodes"
            raise InvalidInputError(message, hint="select fewer edges per node, or ask with `cypher`")

    def _left(self) -> float:
        return self.begun + self.runtime.seconds - asyncio.get_running_loop().time()


class PerOperation(SchemaExtension):
    """Gives each operation its own time and walks, also where many share one WebSocket."""

    def on_operation(self) -> Iterator[None]:
        shared = self.execution_context.context
        self.execution_context.context = replace(shared, begun=asyncio.get_running_loop().time(), walks=0)
        yield
