"""Folding: SQLite's log goes into the journal's file as soon as nobody writes, so that little ever lies in it alone."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Sequence

from helix.errors import HelixError
from helix.journal.log import Journal
from helix.model.operations import Row
from helix.on_demand_thread import OnDemandThread

log = logging.getLogger(__name__)

QUIET_SECONDS = 2.0
"""How long nothing has been written when the log is folded in."""


class IdleFold:
    """Folds the log of a journal's file in, in a thread of its own. `note` is told of every change."""

    def __init__(self, journal: Journal, quiet_seconds: float = QUIET_SECONDS) -> None:
        self._journal = journal
        self._quiet_seconds = quiet_seconds
        self._written_at = -math.inf
        self._thread = OnDemandThread("helix-fold", self._look)
        self._unfolded = self._closed = False

    def note(self, rows: Sequence[Row]) -> None:
        """Take notice of a change of the store, whose journal is folded in once it rests."""
        self._written_at = time.monotonic()
        if not self._unfolded:
            self._unfolded = True
            self._thread.wake()

    def close(self) -> None:
        """End the thread that folds the store's journal in; closing twice is no error."""
        self._closed = True
        self._thread.close()

    def _look(self) -> float | None:
        """Fold in where nothing was written lately; return the seconds until the next look, None: after a change."""
        left = self._written_at + self._quiet_seconds - time.monotonic()
        if self._closed or left > 0:
            return left
        self._unfolded = False
        try:
            if self._journal.fold_in_now():
                return None
        except HelixError as error:  # nothing is lost by that: the log stays as it is
            log.warning("the journal's log is not folded in", extra={"error": str(error)})
            return None
        self._unfolded = True  # somebody reads an older state: later
        return self._quiet_seconds
