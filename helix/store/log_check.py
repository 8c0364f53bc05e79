"""Log check: walks the journal's chain once behind each start, in a thread of its own, and says which rows are damaged.

The state is kept apart from the log, so that a damaged row of that shows nowhere else until somebody needs the row.
"""

from __future__ import annotations

import logging
import threading
from contextvars import copy_context

from helix.errors import HelixError
from helix.journal.log import Journal

log = logging.getLogger(__name__)

_TOLD = 5


class _Closed(Exception):
    """The store is being closed: the rest of the chain is not looked at."""


class LogCheck:
    """The look at the chain that is under way, or what it found: `trouble` is a sentence, empty where all is well."""

    def __init__(self, journal: Journal, *, begins: bool = True) -> None:
        """`begins`: look at the chain now."""
        self.trouble = ""
        self._journal = journal
        self._closed = threading.Event()
        self._thread: threading.Thread | None = None
        if begins:
            self.begin()

    def begin(self) -> None:
        """Begin the store's check of its journal anew: another log may stand there now."""
        self.trouble = ""
        self._closed.clear()
        self._thread = threading.Thread(
            target=copy_context().run, args=(self._run,), name="helix-log-check", daemon=True
        )
        self._thread.start()

    def wait(self) -> str:
        """Return the trouble with the journal's log once the store's check of it is over."""
        self._join()
        return self.trouble

    def close(self) -> None:
        """End the store's check of its journal; closing twice is no error."""
        self._closed.set()
        self._join()

    def _join(self) -> None:
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        try:
            damaged = self._journal.verify_chain(self._seen).damaged
        except _Closed:
            return
        except HelixError as error:
            self.trouble = f"the journal's log cannot be read to its end: {error.message} (`helix doctor`)"
        else:
            rows = ", ".join(map(str, damaged[:_TOLD])) + (" and more" if len(damaged) > _TOLD else "")
            self.trouble = f"damaged rows in the journal's log: {rows} (`helix doctor`)" if damaged else ""
        if self.trouble:
            log.error("the journal's log is damaged", extra={"trouble": self.trouble})

    def _seen(self, done: int, total: int) -> None:
        if self._closed.is_set():
            raise _Closed
