"""Graph rebuilds: when the graph that recall and Cypher read is built anew from the journal, always as a job."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from helix.errors import ConflictError
from helix.model.operations import Row
from helix.model.reports import Job, JobState
from helix.store.jobs import Jobs, Ticket
from helix.store.store import Store

_BETWEEN_SECONDS = 30.0
"""How long after a build that failed a change that is accepted has the graph built once more."""
_JOB = "rebuild"


class GraphRebuilds:
    """Builds a graph that could not be used: at the start, when something asks for it, and when the last job ended."""

    def __init__(self, store: Store, jobs: Jobs) -> None:
        self._store, self._jobs = store, jobs
        self._stopped = False
        self._begun_at = -_BETWEEN_SECONDS

    def begin(self) -> None:
        """Build the graph now where it has to be built, and from now on as soon as that is seen."""
        self._store.graph.rebuild_wanted = self._want
        self._store.writer.listen(self.mend)
        self._jobs.listen(self._follow)
        if self._store.graph.needs_rebuild:
            self._want()

    def stop(self) -> None:
        """Begin no more builds of the graph."""
        self._stopped = True

    def start(self) -> Job:
        """Make good what the journal's state lacks and build the graph anew, while recall goes on."""

        def work(ticket: Ticket) -> Mapping[str, Any]:
            ticket.progress(0, 0, "comparing the state with the log")
            if self._store.journal.compare_state().differences:  # making good lets nobody write until it is done
                self._store.make_good()
            replayed = self._store.rebuild_graph(ticket)
            return {"replayed": replayed, **self._store.records.counts()}

        return self._jobs.start(_JOB, work)

    def mend(self, rows: Sequence[Row] = ()) -> None:
        """Build a graph that could not be built: now that something is written or asked, the cause may have gone."""
        if self._store.graph.needs_rebuild and time.monotonic() > self._begun_at + _BETWEEN_SECONDS:
            self._want()

    def _want(self) -> None:
        """Have a job build the graph anew, unless other jobs run: the end of the last one is seen in `_follow`."""
        if not self._stopped and not self._jobs.are_running():
            self._begun_at = time.monotonic()
            with suppress(ConflictError):  # another thread was quicker
                self.start()

    def _follow(self, job: Job) -> None:
        """Build the graph where the last job to end left it to be built, unless that failed."""
        if job.state is JobState.RUNNING or self._stopped or not self._store.graph.needs_rebuild:
            return
        if job.kind == _JOB and job.state is not JobState.DONE:
            self._begun_at = time.monotonic()  # another try soon would end the same way
        else:
            self._want()
