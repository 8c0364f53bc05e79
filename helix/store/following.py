"""Following: rows handed from the writer to the graph's own thread, so that nobody waits for the graph to write."""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable, Sequence

from helix.model.operations import Row

log = logging.getLogger(__name__)

MOST_BEHIND = 256
"""Rows that may wait: a writer that is faster waits for the graph then, and the next start replays no more."""
_AT_ONCE = 16
"""Rows of one transaction: a query of the graph may have to wait for it."""


class Following:
    """Applies rows in their order, many at once where many wait. Safe from any thread but its own."""

    def __init__(self, apply: Callable[[Sequence[Row]], None]) -> None:
        """`apply` is called with rows that follow one another; what it raises is logged, and the next rows come.

        Whoever applies rows sees by their numbers that some are missing, and makes good for them.
        """
        self._apply = apply
        self._waiting: deque[Row] = deque()
        self._handed_over = self._applied = 0
        self._closed = False
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._run, name="helix-graph", daemon=True)
        self._thread.start()

    @property
    def behind(self) -> bool:
        """Whether rows wait or are being applied."""
        return self._applied < self._handed_over

    def follow(self, rows: Sequence[Row]) -> None:
        """Have the rows applied soon; waits only while MOST_BEHIND others do."""
        with self._changed:
            self._changed.wait_for(lambda: len(self._waiting) < MOST_BEHIND or self._closed)
            self._waiting.extend(rows)
            self._handed_over += len(rows)
            self._changed.notify_all()

    def settle(self, seconds: float | None = None) -> bool:
        """Wait until everything handed over before the call has had its turn; False when that takes longer."""
        with self._changed:
            wanted = self._handed_over
            return self._changed.wait_for(lambda: self._applied >= wanted, seconds)

    def close(self) -> None:
        """Apply what waits and end the thread; closing twice is no error."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        self._thread.join()

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._closed)
                if not self._waiting:
                    return
                rows = [self._waiting.popleft() for _ in range(min(_AT_ONCE, len(self._waiting)))]
            try:
                self._apply(rows)
            except Exception:  # the thread's outermost boundary: without it, every later row would wait for ever
                log.exception("rows not applied", extra={"seq": rows[-1].seq})
            with self._changed:
                self._applied += len(rows)
                self._changed.notify_all()
