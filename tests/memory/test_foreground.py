"""Background work waits while somebody is being answered, and is not kept waiting for ever."""

from __future__ import annotations

import math
import threading

import pytest

from helix.memory.job_run.foreground import Foreground, Pace


def test_quiet_counts_from_the_end_of_the_last_request() -> None:
    now = [10.0]
    foreground = Foreground(lambda: now[0])
    assert foreground.quiet() == float("inf")
    with foreground.request():
        now[0] = 12.0
        assert foreground.quiet() == 0.0
        with foreground.request():
            pass
        assert foreground.quiet() == 0.0, "another one is still being answered"
    now[0] = 15.0
    assert foreground.quiet() == 3.0


def test_an_error_ends_a_request_too() -> None:
    foreground = Foreground()
    try:
        with foreground.request():
            raise KeyError
    except KeyError:
        pass
    assert foreground.quiet() > 0.0


def gone_on(foreground: Foreground, **named: float) -> threading.Event:
    done = threading.Event()

    def work() -> None:
        quiet, patience, gap = named.get("quiet", 0.0), named.get("patience", 60.0), named.get("gap", math.inf)
        foreground.give_way(quiet, patience, lambda: foreground in stopped, gap=gap)
        done.set()

    stopped.clear()
    threading.Thread(target=work, daemon=True).start()
    return done


stopped: list[Foreground] = []


def test_work_goes_on_when_the_request_has_been_answered() -> None:
    foreground = Foreground()
    with foreground.request():
        done = gone_on(foreground)
        assert not done.wait(0.05)
    assert done.wait(10)


def test_patience_ends() -> None:
    foreground = Foreground()
    with foreground.request():
        assert gone_on(foreground, patience=0.01).wait(10)


def test_whoever_has_to_stop_waits_no_longer() -> None:
    foreground = Foreground()
    with foreground.request():
        done = gone_on(foreground)
        assert not done.wait(0.05)
        stopped.append(foreground)
        foreground.wake()
        assert done.wait(10)


def test_after_a_gap_work_goes_on_where_nobody_waits_however_lately_somebody_did() -> None:
    foreground = Foreground()
    with foreground.request():
        pass
    assert not gone_on(foreground, quiet=3_600.0).wait(0.05)
    assert gone_on(foreground, quiet=3_600.0, gap=0.0).wait(10)


def test_a_gap_that_is_over_does_not_let_work_go_on_in_the_middle_of_an_answer() -> None:
    foreground = Foreground()
    with foreground.request():
        done = gone_on(foreground, quiet=3_600.0, gap=0.0)
        assert not done.wait(0.05)
    assert done.wait(10)


@pytest.mark.parametrize(("seconds", "rests"), [(-math.inf, 40.0), (59.0, 40.0), (60.0, 9.0), (299.0, 9.0), (1e6, 2.0)])
def test_work_rests_the_less_the_longer_it_has_not_caught_up(seconds: float, rests: float) -> None:
    assert Pace(rests=40.0, behind=((60.0, 9.0), (300.0, 2.0))).rests_after(seconds) == rests
