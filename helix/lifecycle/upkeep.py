"""Upkeep: the long jobs a store needs now and then - rebuild, reembed, backup, restore - and how they stand."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from helix.lifecycle import recover, reembed
from helix.model.reports import Job
from helix.recall.completing import Completable, completions
from helix.store import backup
from helix.store.jobs import Jobs, Ticket
from helix.store.store import Store


class Upkeep:
    """The part of the service that keeps a store in shape; every method returns at once, and its job goes on."""

    _store: Store
    _jobs: Jobs

    def completions(self, of: Completable, prefix: str, limit: int = 50) -> list[str]:
        """Return words of the store that begin with a prefix."""
        return completions(self._store, of, prefix, limit)

    def rebuild(self) -> Job:
        """Make good what the journal's state lacks, and build the graph anew from it, while recall goes on."""

        def work(ticket: Ticket) -> Mapping[str, Any]:
            ticket.progress(0, 0, "comparing the state with the log")
            self._store.make_good()
            replayed = self._store.rebuild_graph(ticket)
            return {"replayed": replayed, **self._store.records.counts()}

        return self._jobs.start("rebuild", work)

    def reembed(self) -> Job:
        """Embed every passage with the model that is set and make its space the store's own."""
        return self._jobs.start("reembed", lambda ticket: reembed.reembed(self._store, ticket))

    def backup(self, path: str) -> Job:
        """Write a checked copy of the journal to a file while the store is in use."""
        return self._jobs.start("backup", lambda ticket: backup.back_up(self._store, Path(path), ticket))

    def restore_backup(self, path: str) -> Job:
        """Put a backup in the place of what is there, which is kept beside it."""
        return self._jobs.start("restore", lambda ticket: backup.restore(self._store, Path(path), ticket))

    def recover(self) -> Job:
        """Take back what the journal lost, from the files that were put aside when that was noticed."""
        return self._jobs.start("recover", lambda ticket: recover.recover(self._store, ticket))

    def acknowledge_loss(self) -> int:
        """Tell no more of what the journal lost; return how many losses there were. The kept files stay."""
        return recover.acknowledge(self._store)

    def job(self, job_id: str) -> Job:
        """Return a job as it stands."""
        return self._jobs.get(job_id)

    def jobs(self) -> list[Job]:
        """Return the jobs that are still known, newest first."""
        return self._jobs.all()

    def cancel(self, job_id: str) -> Job:
        """Ask a job to stop at its next resting place."""
        return self._jobs.cancel(job_id)
