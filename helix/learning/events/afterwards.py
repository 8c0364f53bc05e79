"""Afterwards: what is written down about an event once it has been answered, in the order of the answers."""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Callable

from helix.errors import PausedError

log = logging.getLogger(__name__)

_SLOW = 1.0
"""Seconds from which on it is told that something took long: hooks that come meanwhile may have waited for it."""

Work = Callable[[], object]


class Afterwards:
    """One thread that does one thing after the other; what fails is logged and keeps nothing else from being done."""

    def __init__(self) -> None:
        self._waiting: queue.SimpleQueue[Work | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()

    def do(self, work: Work) -> None:
        """Have something done after everything that was asked for before; lost only if the process dies first."""
        with self._starting:
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="helix-hooks", daemon=True)
                self._thread.start()
            self._waiting.put(work)

    def settle(self, seconds: float | None = None) -> bool:
        """Wait until everything asked for so far is done; False when that takes longer."""
        done = threading.Event()
        self.do(done.set)
        return done.wait(seconds)

    def close(self) -> None:
        """Do what is left and end the thread."""
        with self._starting:
            thread, self._thread = self._thread, None
            if thread is not None:
                self._waiting.put(None)
        if thread is not None:
            thread.join()

    def _run(self) -> None:
        while (work := self._waiting.get()) is not None:
            begun = time.monotonic()
            try:
                work()
            except PausedError:
                log.debug("not kept: capture is paused")
            except Exception:  # the outermost boundary of this thread
                log.exception("what followed a hook failed")
            took = time.monotonic() - begun
            if took > _SLOW:
                log.warning(
                    "what followed a hook took long", extra={"ms": round(took * 1000), "left": self._waiting.qsize()}
                )
