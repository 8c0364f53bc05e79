"""Watching: has the store synced with places again and again, in the background, as long as the service is open.

Nothing waits for it. A run is a job like any other; one that fails is told of, and tried again the next time.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from helix.errors import ConflictError, HelixError
from helix.model.reports import Job
from helix.on_demand_thread import OnDemandThread
from helix.store.store import Store
from helix.strands import sync_state

log = logging.getLogger(__name__)

_SOON = 5.0
"""Seconds from the start of the service to the first run of each place, and to another try where a job is under way."""


class Watching:
    """A thread that begins syncs when they are due; it ends while no place is watched."""

    def __init__(self, store: Store, begin: Callable[[str], Job], *, soon: float = _SOON) -> None:
        """`begin` starts the sync with a place as a job; it raises ConflictError while another one carries strands."""
        self._store, self._begin, self._soon = store, begin, soon
        self._due: dict[str, float] = {}
        self._turn = threading.Lock()
        self._stopping = False
        self._thread = OnDemandThread("helix-sync", self._look)

    def start(self) -> None:
        """Begin with the places for strands that were watched when the service ended."""
        for state in sync_state.every(self._store.journal):
            if state.minutes is not None:
                self._watch(state.place, self._soon)

    def stop(self) -> None:
        """Begin no further syncs with places for strands."""
        self._stopping = True
        self._thread.close()

    def set(self, place: str, minutes: float | None) -> None:
        """Have a place synced every so many minutes from now on, or (None) no longer; it is kept over restarts."""
        state = sync_state.read(self._store.journal, place)
        state.minutes = minutes
        sync_state.write(self._store, state)
        with self._turn:
            self._due.pop(place, None)
        if minutes is not None:
            self._watch(place, 0.0)

    def _watch(self, place: str, seconds: float) -> None:
        with self._turn:
            self._due[place] = time.monotonic() + seconds
        self._thread.wake()

    def _look(self) -> float | None:
        """Begin the run that is due, if any; return the seconds until the next one, None while no place is watched."""
        with self._turn:
            place = min(self._due, key=self._due.__getitem__, default=None)
            left = 0.0 if place is None else self._due[place] - time.monotonic()
        if place is None or self._stopping:
            return None
        if left > 0:
            return left
        try:
            wait = self._begun(place)
        except Exception:  # the thread's outermost boundary: without it no place would be synced any more
            log.exception("a sync could not be begun")
            wait = 60.0
        with self._turn:
            if wait is not None and place in self._due:
                self._due[place] = time.monotonic() + wait
        return 0.0

    def _begun(self, place: str) -> float | None:
        """Begin a run; return the seconds until the next one, None where the place is not watched any more."""
        minutes = sync_state.read(self._store.journal, place).minutes
        if minutes is None:
            return None
        try:
            self._begin(place)
        except ConflictError:  # strands are being carried just now
            return self._soon
        except HelixError as error:
            log.warning("a sync could not be begun", extra={"place": place, "error": str(error)})
        return minutes * 60
