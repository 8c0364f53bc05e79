"""Folding: SQLite's log goes into the journal's file as soon as nobody writes, so that little ever lies in it alone."""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence

from helix.errors import HelixError
from helix.journal.log import Journal
from helix.model.operations import Row

log = logging.getLogger(__name__)

QUIET_SECONDS = 2.0
"""How long nothing has been written when the log is folded in."""


class IdleFold:
    """Folds the log of a journal's file in, in a thread of its own. `note` is told of every change."""

    def __init__(self, journal: Journal, quiet_seconds: float = QUIET_SECONDS) -> None:
        self._journal = journal
        self._quiet_seconds = quiet_seconds
        self._written = threading.Event()
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._run, name="helix-fold", daemon=True)

    def start(self) -> None:
        """Start the thread; where a server keeps the journal, nobody does."""
        self._thread.start()

    def note(self, rows: Sequence[Row]) -> None:
        """Take notice of a change."""
        self._written.set()

    def close(self) -> None:
        """End the thread; closing twice is no error."""
        self._closed.set()
        self._written.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        while self._written.wait() and not self._closed.is_set():
            self._written.clear()
            if self._closed.wait(self._quiet_seconds) or self._written.is_set():
                continue
            try:
                if not self._journal.fold_in_now():
                    self._written.set()  # somebody reads an older state: later
            except HelixError as error:  # nothing is lost by that: the log stays as it is
                log.warning("the journal's log is not folded in", extra={"error": str(error)})
