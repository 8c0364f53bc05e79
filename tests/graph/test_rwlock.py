"""The fair lock: readers beside readers, a writer alone, first come first served."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from helix.graph.rwlock import FairLock


def until(condition: Callable[[], bool]) -> None:
    for _ in range(2_000):
        if condition():
            return
        time.sleep(0.005)
    raise AssertionError("it never happened")


def start(work: Callable[[], None]) -> threading.Thread:
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread


def test_readers_share() -> None:
    lock, inside = FairLock(), threading.Barrier(3, timeout=10)

    def read() -> None:
        with lock.shared():
            inside.wait()

    threads = [start(read) for _ in range(3)]
    for thread in threads:
        thread.join(10)
    assert not inside.broken


def test_a_writer_is_alone_and_nobody_overtakes_it() -> None:
    lock, order = FairLock(), list[str]()
    release = threading.Event()

    def hold() -> None:
        with lock.shared():
            release.wait(10)

    def write() -> None:
        with lock.exclusive():
            order.append("writer")

    def read() -> None:
        with lock.shared():
            order.append("late reader")

    first = start(hold)
    until(lambda: lock.held_shared == 1)
    writer = start(write)
    until(lambda: lock.waiting == 1)
    reader = start(read)
    until(lambda: lock.waiting == 2)
    release.set()
    for thread in (first, writer, reader):
        thread.join(10)
    assert order == ["writer", "late reader"]


def test_a_reader_that_gives_up_leaves_the_queue() -> None:
    lock = FairLock()
    with lock.exclusive():
        with lock.shared(timeout=0.01) as held:
            assert not held
        assert lock.waiting == 0
    with lock.shared(timeout=0.01) as held:
        assert held
    assert lock.held_shared == 0


def test_an_error_inside_releases_the_lock() -> None:
    lock = FairLock()
    for _ in range(2):
        try:
            with lock.exclusive():
                raise ValueError
        except ValueError:
            pass
    with lock.exclusive():
        assert lock.waiting == 0


def test_many_readers_and_writers_never_meet() -> None:
    lock, state, wrong = FairLock(), {"readers": 0, "writers": 0}, list[dict[str, int]]()
    guard = threading.Lock()

    def step(kind: str) -> None:
        with guard:
            state[kind] += 1
            if state["writers"] > 1 or (state["writers"] and state["readers"]):
                wrong.append(dict(state))
        with guard:
            state[kind] -= 1

    def read() -> None:
        for _ in range(200):
            with lock.shared():
                step("readers")

    def write() -> None:
        for _ in range(200):
            with lock.exclusive():
                step("writers")

    threads = [start(work) for work in (read, read, read, write, write)]
    for thread in threads:
        thread.join(30)
        assert not thread.is_alive()
    assert wrong == []
