"""Threads that many apps share: none has all of them, whatever it asks."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from helix.api.resolver_context import Threads, ThreadShare
from helix.server.running import TIMES_AS_MANY_THREADS
from tests.waiting import MOST_SECONDS


def _with_shares(work: Callable[[ThreadShare, ThreadShare, threading.Event], Awaitable[Any]]) -> Any:
    """Return what comes of two apps that may have two of four threads each; what waits for the event goes on then."""

    async def run() -> Any:
        free = threading.Event()
        with ThreadPoolExecutor(4) as threads:
            try:
                return await asyncio.wait_for(
                    work(ThreadShare(threads, 2), ThreadShare(threads, 2), free), MOST_SECONDS
                )
            finally:
                free.set()

    return asyncio.run(run())


def test_an_app_that_asks_without_end_leaves_threads_to_the_others() -> None:
    async def work(one: ThreadShare, other: ThreadShare, free: threading.Event) -> list[int]:
        asked = [asyncio.create_task(one.run(free.wait)) for _ in range(40)]
        answered = [await other.run(lambda: 1), await other.run(lambda: 2)]
        free.set()
        await asyncio.gather(*asked)
        return answered

    assert _with_shares(work) == [1, 2]


def test_who_stops_waiting_keeps_its_thread_until_the_work_has_ended() -> None:
    async def work(one: ThreadShare, _other: ThreadShare, free: threading.Event) -> tuple[list[bool], bool]:
        asked = [asyncio.create_task(one.run(free.wait)) for _ in range(5)]
        await asyncio.sleep(0)
        for task in asked:
            task.cancel()
        await asyncio.gather(*asked, return_exceptions=True)
        behind = asyncio.create_task(one.run(lambda: True))
        done, _ = await asyncio.wait({behind}, timeout=0.05)
        free.set()
        return [task.done() for task in done], await behind

    assert _with_shares(work) == ([], True)


def test_an_error_and_closed_threads_give_the_turn_back() -> None:
    def fails() -> None:
        raise ValueError("no")

    async def work(one: ThreadShare, _other: ThreadShare, _free: threading.Event) -> int:
        for _ in range(5):
            with pytest.raises(ValueError, match="no"):
                await one.run(fails)
        with ThreadPoolExecutor(1) as closed:
            share = ThreadShare(closed, 1)
        for _ in range(3):
            with pytest.raises(RuntimeError):
                await share.run(fails)
        return await one.run(lambda: 3)

    assert _with_shares(work) == 3


def test_a_few_tenants_that_keep_all_their_threads_busy_have_nobody_else_wait() -> None:
    threads, free = Threads(TIMES_AS_MANY_THREADS), threading.Event()

    async def work() -> int:
        busy = [asyncio.create_task(ThreadShare(threads.writers, 1).run(free.wait)) for _ in range(6)]
        try:
            return await asyncio.wait_for(ThreadShare(threads.writers, 1).run(lambda: 7), MOST_SECONDS)
        finally:
            free.set()
            await asyncio.gather(*busy)
            await threads.close()

    assert asyncio.run(work()) == 7
