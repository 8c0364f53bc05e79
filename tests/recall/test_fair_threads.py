"""Stores that share threads take turns."""

from __future__ import annotations

import threading

import pytest

from helix.recall.fair_threads import FairThreads


def test_a_store_that_asks_once_waits_for_one_call_of_each_other_store() -> None:
    threads, begun, go_on = FairThreads(1, "fair"), threading.Event(), threading.Event()
    done: list[str] = []
    threads.submit("busy", lambda: (begun.set(), go_on.wait()))
    assert begun.wait(60)
    answers = [
        threads.submit(store, done.append, f"{store} {number}") for store in ("one", "two") for number in (1, 2, 3)
    ]
    answers.append(threads.submit("late", done.append, "late"))
    go_on.set()
    for answer in answers:
        answer.result(60)
    threads.close()
    assert done == ["one 1", "two 1", "late", "one 2", "two 2", "one 3", "two 3"]


def test_an_error_reaches_who_asked_and_the_next_call_is_made() -> None:
    threads = FairThreads(1, "fair")
    failed, answered = threads.submit("one", int, "no number"), threads.submit("one", int, "7")
    with pytest.raises(ValueError, match="no number"):
        failed.result(60)
    assert answered.result(60) == 7
    threads.close()
