"""Deferred queue: what is written down about an event once it has been answered, in the order of the answers.

An answer on its way to an agent is written down as shown, and taken back where it got lost.
"""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import copy_context
from functools import partial

from helix.errors import PausedError
from helix.memory.job_run.foreground import Foreground
from helix.on_demand_thread import OnDemandThread

log = logging.getLogger(__name__)

_SLOW = 1.0
"""Seconds from which on it is told that something took long: hooks that come meanwhile may have waited for it."""

Work = Callable[[], object]


class Afterwards:
    """One thread that does one thing after the other; what fails is logged and keeps nothing else from being done.

    Each waits until nobody has waited for an answer for a moment, but not for long: an agent that fails and calls for
    help at once would wait for its failure to be written down. For whoever waits for what is left, it is done at once.
    """

    def __init__(self, foreground: Foreground, *, quiet: float = 0.05, patience: float = 0.25) -> None:
        """`quiet` is that moment in seconds, `patience` the most that anything waits for it from when it was asked."""
        self._foreground = foreground
        self._quiet = quiet
        self._patience = patience
        self._waiting: queue.SimpleQueue[tuple[Work, float]] = queue.SimpleQueue()
        self._thread = OnDemandThread("helix-hooks", self._work_off)
        self._counting = threading.Lock()
        self._hurried = 0
        self._closed = False

    def do(self, work: Work) -> None:
        """Have something done behind a hook's answer, after all asked for before, in the context of whoever asks.

        It is lost only if the process dies first.
        """
        work = keeping_context(work)
        with self._counting:
            if not self._closed:
                self._waiting.put((work, time.monotonic()))
                self._thread.wake()
                return
        self._do(work)

    def settle(self, seconds: float | None = None) -> bool:
        """Wait until everything that hooks deferred so far is done; False when that takes longer."""
        done = threading.Event()
        with self._hurrying():
            self.do(done.set)
            return done.wait(seconds)

    def close(self) -> None:
        """Do what hooks deferred and end the thread; what is asked for later is done at once, by who asks."""
        with self._counting:
            self._closed = True
        with self._hurrying():
            self._thread.close()

    @contextmanager
    def _hurrying(self) -> Iterator[None]:
        """Have nothing give way meanwhile."""
        with self._counting:
            self._hurried += 1
        self._foreground.wake()
        try:
            yield
        finally:
            with self._counting:
                self._hurried -= 1

    def _work_off(self) -> None:
        while not self._waiting.empty():
            work, asked = self._waiting.get()
            left = asked + self._patience - time.monotonic()
            self._foreground.give_way(self._quiet, left, lambda: self._hurried > 0)
            self._do(work)

    def _do(self, work: Work) -> None:
        begun = time.monotonic()
        try:
            work()
        except PausedError:
            log.debug("not kept: capture is paused")
        except Exception:  # the outermost boundary of this thread
            log.exception("what followed a hook failed")
        took = time.monotonic() - begun
        if took > _SLOW:
            told = {"ms": round(took * 1000), "left": self._waiting.qsize()}
            log.warning("what followed a hook took long", extra=told)


def keeping_context(work: Work) -> Work:
    """Return a hook's deferred work so that it runs later, on any thread, in today's context variables."""
    return partial(copy_context().run, work)


class PendingAnswer:
    """One answer on its way. What it shows counts once somebody says that it has arrived.

    An answer that is given twice, as its client asked twice, is shown when one of the two has arrived. Safe from any
    thread.
    """

    def __init__(
        self,
        *,
        at_once: Sequence[Work] = (),
        then: Sequence[Work] = (),
        undone: Sequence[Work] = (),
        do: Callable[[Work], object] = lambda work: work(),
    ) -> None:
        """`at_once` was done already and is taken back by `undone` where the answer is lost; `do` has `then` done."""
        self._at_once, self._then, self._undone, self._do = at_once, then, undone, do
        self._turn = threading.Lock()
        self._arrived = self._lost = False

    @property
    def counts(self) -> bool:
        """Whether it makes any difference that a hook's answer arrives."""
        return bool(self._at_once or self._then)

    def arrived(self) -> None:
        """Have what a hook's answer showed count, once."""
        with self._turn:
            if self._arrived:
                return
            again, self._arrived = self._lost, True
            for work in self._at_once if again else ():
                work()
            for work in self._then:
                self._do(work)

    def lost(self) -> None:
        """Have a hook's answer show nothing, unless it has arrived: it is shown the next time."""
        with self._turn:
            if self._arrived or self._lost:
                return
            self._lost = True
            for work in self._undone:
                work()
