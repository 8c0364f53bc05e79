"""On-demand thread: there while something is to be done; nothing that it is told of is missed."""

from __future__ import annotations

import ctypes
import queue
import subprocess
import sys
import threading
from collections.abc import Callable
from contextvars import Context, ContextVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helix import processes
from helix.on_demand_thread import OnDemandThread
from tests.sampling import draws
from tests.waiting import until

FREED = """
import ctypes
from pathlib import Path
from helix.on_demand_thread import give_memory_back
library = ctypes.CDLL(None)
library.malloc.restype = ctypes.c_void_p
library.free.argtypes = [ctypes.c_void_p]
def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) // 256
taken = [library.malloc(8_000) for _ in range(10_000)]
for one in taken:
    ctypes.memset(one, 1, 8_000)
keeps = library.malloc(8_000)  # behind the others: without it the heap would just end earlier
for one in taken:
    library.free(one)
before = resident()
give_memory_back()
print(before - resident())
"""


def _named(name: str) -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == name]


def _drain(tasks: queue.SimpleQueue[Callable[[], object]]) -> Callable[[], None]:
    def look() -> None:
        while not tasks.empty():
            tasks.get()()

    return look


def test_it_works_as_whoever_made_it() -> None:
    """And not as who wakes it first: what it logs and changes is theirs."""
    whose: ContextVar[str] = ContextVar("whose", default="nobody's")
    told: queue.SimpleQueue[str] = queue.SimpleQueue()
    made = Context()
    made.run(whose.set, "the maker's")
    thread = made.run(OnDemandThread, "of the test", lambda: told.put(whose.get()))
    for _ in range(2):
        Context().run(thread.wake)
        assert told.get(timeout=60) == "the maker's"
    thread.close()


@pytest.mark.soak
def test_there_is_a_thread_only_while_something_is_to_be_done() -> None:
    looked = threading.Event()
    thread = OnDemandThread("of the test", lambda: looked.set())
    assert not _named("of the test")
    assert thread.resting
    for _ in range(2):  # once it has ended, another begins
        looked.clear()
        thread.wake()
        assert looked.wait(60)
        until(lambda: not _named("of the test"))
    assert thread.resting


def test_it_looks_again_when_it_said_it_would() -> None:
    waits = iter([0.0, 0.01, None])
    done = threading.Event()

    def look() -> float | None:
        wait = next(waits)
        if wait is None:
            done.set()
        return wait

    thread = OnDemandThread("of the test", look)
    thread.wake()
    assert done.wait(60)
    thread.close()


@settings(max_examples=draws(10), deadline=None)
@given(st.lists(st.integers(0, 50), max_size=6))
def test_nothing_that_it_was_told_of_is_left_when_it_is_closed(counts: list[int]) -> None:
    tasks: queue.SimpleQueue[Callable[[], object]] = queue.SimpleQueue()
    done: list[int] = []
    thread = OnDemandThread("of the test", _drain(tasks))

    def tell(count: int) -> None:
        for _ in range(count):
            tasks.put(lambda: done.append(1))
            thread.wake()

    tellers = [threading.Thread(target=tell, args=(count,)) for count in counts]
    for teller in tellers:
        teller.start()
    for teller in tellers:
        teller.join()
    thread.close()
    thread.close()
    assert len(done) == sum(counts)
    thread.wake()
    assert not _named("of the test")


def test_who_waits_is_told_when_it_rests() -> None:
    go = threading.Event()
    thread = OnDemandThread("of the test", lambda: None if go.wait(60) else 0.0)
    thread.wake()
    assert not thread.resting
    with thread.changed:
        assert not thread.changed.wait_for(lambda: thread.resting, 0.01)
    go.set()
    with thread.changed:
        assert thread.changed.wait_for(lambda: thread.resting, 60)
    thread.close()


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "malloc_trim"), reason="only glibc keeps what was let go of")
def test_memory_that_was_let_go_of_goes_back_to_the_system() -> None:
    done = subprocess.run(
        [sys.executable, "-c", FREED], env=processes.environment(), capture_output=True, text=True, check=True
    )
    assert int(done.stdout) >= 60  # of 80 MB
