"""Resolver context: the service, the threads it may block, and what its request may still spend."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar

from strawberry.extensions import SchemaExtension

from helix.api.access import Access
from helix.api.limits import Accepted
from helix.api.metrics import Meters
from helix.errors import InvalidInputError, QueryTimeoutError
from helix.service import Helix

T = TypeVar("T")

READERS = 6
"""Threads for what only reads."""

MAX_WALKS = 1_000
"""Most nodes one request may read by walking from node to node, however its selections nest."""


class Runtime:
    """What all requests of one app share.

    Reads, writes and questions to the graph have threads of their own, so that what waits for its turn never keeps a
    read waiting: the graph answers one question at a time, each for seconds if need be.
    """

    def __init__(self, helix: Helix, access: Access, meters: Meters, shutdown: Callable[[], None] | None) -> None:
        self.helix = helix
        self.access = access
        self.meters = meters
        self.accepted = Accepted()
        self.shutdown = shutdown
        self.closing = asyncio.Event()
        self.seconds = helix.settings.request_timeout_ms / 1000
        self.readers = ThreadPoolExecutor(READERS, thread_name_prefix="helix-read")
        self.writers = ThreadPoolExecutor(2, thread_name_prefix="helix-write")
        self.askers = ThreadPoolExecutor(2, thread_name_prefix="helix-ask")

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
        """Return what the blocking `function` returns, run in a thread for at most `seconds`.

        Raises QueryTimeoutError after that. A thread cannot be stopped: work that has begun goes on to its end, and
        only work that still waits for a thread is dropped.
        """
        pool = self.writers if writing else self.askers if asking else self.readers
        future = asyncio.get_running_loop().run_in_executor(pool, partial(function, *args, **named))
        try:
            await asyncio.wait({future}, timeout=max(seconds, 0))
            if future.done():
                return future.result()
        finally:
            future.cancel()
        hint = (
            "it may still be carried out: look before you send it again"
            if writing
            else "ask for less at once, or raise the setting 'request_timeout_ms'"
        )
        raise QueryTimeoutError(f"the request took longer than {self.seconds:g} s", hint=hint)

    async def close(self) -> None:
        """End subscriptions, let begun work end, drop what still waits."""
        self.closing.set()
        for pool in (self.readers, self.writers, self.askers):
            await asyncio.to_thread(pool.shutdown, wait=True, cancel_futures=True)


@dataclass(kw_only=True, slots=True)
class Context:
    """One request, or one WebSocket; `begun` and `walks` belong to one operation (see `PerOperation`).

    `agent` is the coding agent that asks, where its client says so. `connection_params` is what a WebSocket client sent
    when it said hello.
    """

    runtime: Runtime
    base_url: str
    authorized: bool
    agent: str = ""
    connection_params: Mapping[str, Any] = field(default_factory=dict)
    begun: float = 0.0
    walks: int = 0

    async def read(self, function: Callable[..., T], /, *args: Any, **named: Any) -> T:
        """Return what a blocking read returns, within the time the request has left."""
        return await self.runtime.call(function, *args, seconds=self._left(), **named)

    async def ask(self, function: Callable[..., T], /, *args: Any, **named: Any) -> T:
        """Return what a question to the graph comes to, within the time the request has left."""
        return await self.runtime.call(function, *args, seconds=self._left(), asking=True, **named)

    async def write(self, function: Callable[..., T], /, *args: Any, **named: Any) -> T:
        """Return what a blocking write returns, within the time the request has left."""
        return await self.runtime.call(function, *args, seconds=self._left(), writing=True, **named)

    def walk(self, nodes: int) -> None:
        """Count nodes about to be read on a walk; raises InvalidInputError when the request asks for too many."""
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
