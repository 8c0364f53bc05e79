"""On-demand thread: does what is to be done when it is told of it, and is there only as long as that comes.

A store at rest has no thread of its own, so that a process can hold a thousand of them.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from contextvars import copy_context

_LINGERS_SECONDS = 2.0
"""How long the thread waits for more before it ends: beginning one takes a tenth of a millisecond."""

_GIVEN_BACK_SECONDS = 60.0
"""With many tenants some thread ends all the time, and looking through a large heap takes a tenth of a second."""
_given_back = float("-inf")


class OnDemandThread:
    """Calls `look`, on a thread that begins with `wake`, until that has nothing more to do. Safe from any thread."""

    def __init__(self, name: str, look: Callable[[], float | None]) -> None:
        """`look` does all that can be done now, and returns the seconds until the next look, None for "when woken".

        It handles its own errors, and works as whoever makes this, not as who wakes it.
        """
        self.changed = threading.Condition()
        """Notified whenever the thread is woken or has nothing to do just now."""
        self._name = name
        self._look = look
        self._context = copy_context()
        self._thread: threading.Thread | None = None
        self._news = self._closed = False
        self._resting = True

    @property
    def resting(self) -> bool:
        """Whether an on-demand thread has nothing to do just now, as its last look found."""
        return self._resting and not self._news

    def wake(self) -> None:
        """Have an on-demand thread look, again if it just does; nothing after `close`."""
        with self.changed:
            if self._closed:
                return
            self._news = True
            if self._thread is None:
                run = self._context.copy().run
                self._thread = threading.Thread(target=run, args=(self._run,), name=self._name, daemon=True)
                self._thread.start()
            self.changed.notify_all()

    def close(self, seconds: float | None = None) -> None:
        """Have an on-demand thread look a last time if told of something, and wait for its end; twice is no error."""
        with self.changed:
            self._closed = True
            self.changed.notify_all()
            thread = self._thread
        if thread is not None:
            thread.join(seconds)

    def _run(self) -> None:
        while self._begins():
            wait = self._look()
            with self.changed:
                self._resting = True
                self.changed.notify_all()
                lingers = _LINGERS_SECONDS if wait is None else wait
                woken = self.changed.wait_for(lambda: self._closed or self._news, lingers)
                self._news |= not woken and wait is not None
        give_memory_back()

    def _begins(self) -> bool:
        """Return whether to look once more; else there is no thread from here on."""
        with self.changed:
            begins, self._news = self._news, False
            self._resting = not begins
            if not begins:
                self._thread = None
            return begins


def give_memory_back() -> None:
    """Give memory that was let go of back to the system, where the C library keeps it; once in a minute at most.

    glibc keeps what is not at the end of a heap: 40 MB once long texts were embedded, 25 once a large store was loaded.
    """
    global _given_back
    now = time.monotonic()
    if now - _given_back < _GIVEN_BACK_SECONDS or sys.platform != "linux":
        return
    _given_back = now
    import ctypes  # which commands do without

    if (trim := getattr(ctypes.CDLL(None), "malloc_trim", None)) is not None:
        trim(0)
