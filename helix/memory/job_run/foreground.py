"""Foreground: tells background work whether somebody waits for an answer just now, so that it can give way."""

from __future__ import annotations

import math
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import takewhile

_SWITCH_SECONDS = 0.0005


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How background work gives way, in seconds.

    It begins, and goes on without a pause, when the foreground has been quiet for `quiet`. Before that a slice follows
    the one before after `rests` times as long as that took, and never while somebody is being answered, unless
    somebody always is: then after `patience`. So it takes a fortieth of the time, and one recall in forty meets it: a
    question that is embedded beside a text of the work takes twice as long, however short the work's slices are. Work
    that has not caught up for so many seconds rests less, as `behind` says (seconds, rests): a tenth of the time after
    a minute, a fifth after five. Else what was learned beside somebody who never pauses would not be there when it is
    asked for. A third of the time made the slowest twentieth of the answers 1.6 times as slow, a tenth no slower.

    `again` is after what time it looks again while work that somebody asked for goes on. What failed is tried again
    after `backoff`, and after four times as long each time it fails again; vectors that could not be made, after
    `trouble`.
    """

    quiet: float = 2.0
    rests: float = 40.0
    behind: tuple[tuple[float, float], ...] = ((60.0, 9.0), (300.0, 4.0))
    patience: float = 5.0
    again: float = 0.5
    backoff: float = 2.0
    trouble: float = 30.0

    def rests_after(self, seconds: float) -> float:
        """Return how many times as long as a slice took a job rests that has not caught up for so many seconds."""
        reached = takewhile(lambda stage: stage[0] <= seconds, self.behind)
        return min((self.rests, *(rests for _, rests in reached)))


class Foreground:
    """Counts the requests being answered, and knows when the last one was. Safe from any thread."""

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        """`monotonic` is a clock in seconds that never goes back."""
        self._monotonic = monotonic
        self._changed = threading.Condition()
        self._active = 0
        self._last = -float("inf")

    @contextmanager
    def request(self) -> Iterator[None]:
        """Hold while somebody waits for an answer, which jobs give way to."""
        with self._changed:
            self._active += 1
        try:
            yield
        finally:
            with self._changed:
                self._active -= 1
                self._last = self._monotonic()
                self._changed.notify_all()

    def quiet(self) -> float:
        """Return the seconds since the last request was answered, by which jobs rest.

        0 while one is, infinity before the first.
        """
        return 0.0 if self._active else self._monotonic() - self._last

    def give_way(
        self, quiet: float, patience: float, stopping: Callable[[], bool] = lambda: False, *, gap: float = math.inf
    ) -> None:
        """Have a job wait until nobody has waited for `quiet` seconds, but no longer than `patience` seconds.

        After `gap` seconds it is enough that nobody waits at this moment. `stopping` is looked at whenever something
        changes: `wake` makes the caller look.
        """
        began = self._monotonic()
        with self._changed:
            while not stopping():
                passed = self._monotonic() - began
                lacking = min(quiet - self.quiet(), gap - passed)
                if passed >= patience or (lacking <= 0 and not self._active):
                    return
                left = patience - passed
                self._changed.wait(left if self._active else min(lacking, left))

    def wake(self) -> None:
        """Have the jobs that give way look again whether they should stop."""
        with self._changed:
            self._changed.notify_all()


@contextmanager
def quick_switching() -> Iterator[None]:
    """Have Python change threads ten times as fast while a job runs, so that it gives way to answers.

    Else a recall gets the interpreter's lock back, some ten times, 5 ms late each: 35 ms were measured, with this none.
    """
    usual = sys.getswitchinterval()
    sys.setswitchinterval(_SWITCH_SECONDS)
    try:
        yield
    finally:
        sys.setswitchinterval(usual)
