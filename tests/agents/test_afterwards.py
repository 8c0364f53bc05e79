"""What is written down after an answer: in its turn, behind whoever waits for an answer, and never given up."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial

import pytest

from helix.agents.hook_events.deferred_queue import Afterwards
from helix.memory.job_run.foreground import Foreground

LONG, A_WHILE = 3_600.0, 0.05


@pytest.fixture
def foreground() -> Foreground:
    return Foreground()


@pytest.fixture
def patient(foreground: Foreground) -> Iterator[Afterwards]:
    after = Afterwards(foreground, quiet=0.0, patience=LONG)
    yield after
    after.close()


def test_what_follows_waits_until_nobody_waits_for_an_answer(foreground: Foreground, patient: Afterwards) -> None:
    done = threading.Event()
    with foreground.request():
        patient.do(done.set)
        assert not done.wait(A_WHILE)
    assert done.wait(LONG)


def test_it_is_done_at_once_for_whoever_waits_for_it(foreground: Foreground, patient: Afterwards) -> None:
    done = threading.Event()
    with foreground.request():
        patient.do(done.set)
        assert patient.settle(LONG)
        assert done.is_set()


def test_it_is_done_at_once_where_the_service_closes(foreground: Foreground, patient: Afterwards) -> None:
    done = threading.Event()
    with foreground.request():
        patient.do(done.set)
        patient.close()
        assert done.is_set()


def test_it_is_done_in_the_end_where_somebody_always_waits_for_an_answer(foreground: Foreground) -> None:
    after, done = Afterwards(foreground, quiet=LONG, patience=0.0), threading.Event()
    with foreground.request():
        after.do(done.set)
        assert done.wait(LONG)
    after.close()


def test_what_follows_keeps_its_order_and_goes_on_behind_what_fails(patient: Afterwards) -> None:
    came: list[int] = []

    def fail() -> None:
        raise ValueError("it fails")

    for number in range(20):
        patient.do(partial(came.append, number))
        patient.do(fail)
    assert patient.settle(LONG)
    assert came == list(range(20))
