"""Subscriptions: what changes in a store, as it changes."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from threading import Lock
from typing import Annotated, Any

from helix.api.permissions import check_unbound
from helix.api.resolver_context import AppRuntime, Context, StreamTurns
from helix.errors import InvalidInputError
from helix.model.ids import Id
from helix.model.reports import Event, Job, JobState
from helix.store.change_events import EVENT_TYPES

MOST = 200
"""Subscriptions of one store at once: each event is handed to all of them."""
QUEUE = 1_000
"""Events kept for a subscriber that reads slowly; older ones are dropped and counted."""


class Feed:
    """The events of one subscriber: put in by the writer's thread, taken out by the event loop."""

    def __init__(self, wanted: Callable[[Mapping[str, Any]], bool], turns: StreamTurns) -> None:
        self._wanted = wanted
        self._turns = turns
        self._loop = asyncio.get_running_loop()
        self._lock = Lock()
        self._waiting: deque[Mapping[str, Any]] = deque()
        self._missed = 0
        self._ready = asyncio.Event()

    def publish(self, event: Mapping[str, Any]) -> None:
        """Hand an event to a GraphQL subscription; from any thread, returns at once."""
        if not self._wanted(event):
            return
        with self._lock:
            first = not self._waiting
            if len(self._waiting) >= QUEUE:
                self._waiting.popleft()
                self._missed += 1
            self._waiting.append(event)
        if first and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._ready.set)

    async def take(self, closing: asyncio.Event) -> tuple[Mapping[str, Any], int] | None:
        """Return a subscription's next event and how many were dropped before it; None when the daemon closes."""
        while not closing.is_set():
            with self._lock:
                if not self._waiting:
                    self._ready.clear()
            if self._ready.is_set():
                await self._turns.next()
                with self._lock:
                    missed, self._missed = self._missed, 0
                    return self._waiting.popleft(), missed
            ends = [asyncio.ensure_future(self._ready.wait()), asyncio.ensure_future(closing.wait())]
            try:
                await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for end in ends:
                    end.cancel()
        return None

    def skip(self) -> None:
        """Let go of the events that wait for a GraphQL subscription: what they tell of is about to be read anyway."""
        with self._lock:
            self._waiting.clear()


async def events(
    context: Context,
    *,
    types: Annotated[Sequence[str] | None, "Only events of these types; all where it is not said."] = None,
) -> AsyncGenerator[Event, None]:
    """Tell of each change of the store after it is durable, optionally of some types only.

    Types are those of memories (memory.added, memory.changed, memory.dropped), episodes (episode.recorded,
    episode.dropped), edge.changed, contradiction.changed, what is kept of agents' work (candidate.changed,
    insight.changed, session.changed, plan.changed, task.changed, exploration.changed, workspace.changed), job.progress,
    work.progress (background work), and store.changed: a pause, or another content.
    """
    check_unbound(context.principal, "`events`")
    wanted = frozenset(types or EVENT_TYPES)
    if unknown := sorted(wanted.difference(EVENT_TYPES)):
        raise InvalidInputError(f"unknown event type {unknown[0]!r:.100}", hint=f"known are {', '.join(EVENT_TYPES)}")
    async with _subscribed(context.runtime, lambda event: event["type"] in wanted) as feed:
        while (taken := await feed.take(context.runtime.closing)) is not None:
            event, missed = taken
            detail = {key: value for key, value in event.items() if key not in ("type", "id")}
            yield Event(type=event["type"], id=event["id"], detail=detail, missed=missed)


async def job_progress(context: Context, *, id: Id) -> AsyncGenerator[Job, None]:
    """Show a job as it stands, then again whenever it moves, until it ends."""
    check_unbound(context.principal, "`jobProgress`")
    runtime = context.runtime

    async with _subscribed(runtime, lambda event: event["type"] == "job.progress" and event["id"] == id) as feed:
        while True:
            job = await runtime.call(runtime.helix.jobs.get, id, seconds=runtime.seconds)
            yield job
            if job.state is not JobState.RUNNING or await feed.take(runtime.closing) is None:
                return
            feed.skip()


ALL = (events, job_progress)


@asynccontextmanager
async def _subscribed(runtime: AppRuntime, wanted: Callable[[Mapping[str, Any]], bool]) -> AsyncIterator[Feed]:
    if runtime.subscribed >= MOST:
        raise InvalidInputError(f"{MOST} subscriptions are open already", hint="close one that nobody reads")
    feed = Feed(wanted, runtime.turns)
    runtime.subscribed += 1
    unsubscribe = runtime.helix.events.subscribe(feed.publish)
    try:
        yield feed
    finally:
        runtime.subscribed -= 1
        unsubscribe()
