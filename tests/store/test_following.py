"""Rows reach the graph's thread in order and whole, and nobody waits for it but one who runs far ahead."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import pytest

from helix.model.operations import Change, Row
from helix.store.following import MOST_BEHIND, Following


def rows(first: int, count: int) -> list[Row]:
    return [Row(seq=seq, at=0, change=Change(kind="test", operations=())) for seq in range(first, first + count)]


class Slow:
    """Applies rows one batch for each time it is let."""

    def __init__(self) -> None:
        self.let = threading.Semaphore(0)
        self.applied: list[int] = []

    def __call__(self, batch: Sequence[Row]) -> None:
        self.let.acquire()
        self.applied += [row.seq for row in batch]


def test_rows_are_applied_in_order_and_settling_waits_for_them() -> None:
    applied: list[int] = []
    following = Following(lambda batch: applied.extend(row.seq for row in batch))
    for first in range(1, 600, 3):
        following.follow(rows(first, 3))
    assert following.settle()
    assert applied == list(range(1, 601))
    assert not following.behind
    following.close()
    following.close()


def test_handing_over_does_not_wait_until_too_many_do() -> None:
    slow = Slow()
    following = Following(slow)
    for seq in range(1, MOST_BEHIND + 1):
        following.follow(rows(seq, 1))
    assert following.behind
    assert not following.settle(0.01)
    following.follow(rows(MOST_BEHIND + 1, 1))  # the thread holds the first rows already
    ahead = threading.Thread(target=following.follow, args=(rows(MOST_BEHIND + 2, MOST_BEHIND),))
    ahead.start()
    for _ in range(100):
        slow.let.release()
    ahead.join()
    assert following.settle()
    assert slow.applied == list(range(1, 2 * MOST_BEHIND + 2))
    following.close()


def test_closing_applies_what_waits() -> None:
    slow = Slow()
    following = Following(slow)
    following.follow(rows(1, 300))
    for _ in range(100):
        slow.let.release()
    following.close()
    assert slow.applied == list(range(1, 301))


def test_an_error_is_logged_and_does_not_end_the_thread(caplog: pytest.LogCaptureFixture) -> None:
    applied: list[int] = []

    def apply(batch: Sequence[Row]) -> None:
        if batch[0].seq == 1:
            raise RuntimeError("no")
        applied.extend(row.seq for row in batch)

    following = Following(apply)
    following.follow(rows(1, 1))
    assert following.settle()
    following.follow(rows(2, 1))
    following.close()
    assert applied == [2], "what was missed is for the one who applies to find out: see test_graph_follower"
    assert "rows not applied" in caplog.text


def test_settling_waits_for_what_was_handed_over_before_and_for_nothing_after() -> None:
    slow = Slow()
    following = Following(slow)
    following.follow(rows(1, 1))
    settled = threading.Event()

    def settle() -> None:
        following.settle()
        settled.set()

    waiting = threading.Thread(target=settle)
    for seq in range(2, 5):  # the thread has taken the first row, or takes it with one of these
        if seq == 3:
            waiting.start()
        following.follow(rows(seq, 1))
    assert not settled.wait(0.05)
    following.follow(rows(5, MOST_BEHIND - 10))
    slow.let.release(3)
    assert settled.wait(10)
    assert following.behind
    slow.let.release(100)
    waiting.join()
    following.close()
