"""Recovering: what a kill cut short is brought to its end by the next start.

A rollback is, before anybody is served: it would take back what is said meanwhile. An import may take minutes; it goes
on as the job that it was, and whoever asks sees what is in by then.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any

from helix.errors import ConflictError, HelixError, NotFoundError, StoreCorruptError
from helix.memory.job_run.run import Watch
from helix.memory.worker.worker import MemoryWorker
from helix.store.jobs import Jobs, Ticket
from helix.store.store import Store
from helix.strands import arriving, rollback, whole
from helix.strands.lineage import remove_drafts

log = logging.getLogger(__name__)

_ENDINGS: Mapping[str, Callable[[Store, Mapping[str, Any], Watch], object]] = MappingProxyType(
    {arriving.JOB: arriving.bring_to_end, rollback.KIND: rollback.bring_to_end}
)

_DAMAGED = (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError)
"""What a damaged row or note comes to."""


def recover(store: Store, jobs: Jobs, worker: MemoryWorker) -> None:
    """End an import or rollback of strands that was cut short, or take it back where that cannot be; remove its files.

    What is left of an import goes on as a job: stopped, it goes on at the next start.
    """
    note = whole.under_way(store.journal)
    if note is not None and (note["kind"] not in _ENDINGS or store.journal.effects.undone_at(note["job"]) is not None):
        _take_back(store, note, "it was being taken back")
    elif note is not None and note["kind"] == arriving.JOB:
        remove_drafts(store.path, note["job"])
        _go_on(partial(_end, store, note), jobs, worker)
        return
    elif note is not None:
        _end(store, note, whole.Unwatched())
    remove_drafts(store.path)


def _go_on(rest: Callable[[Watch], None], jobs: Jobs, worker: MemoryWorker) -> None:
    def work(ticket: Ticket) -> Mapping[str, Any]:
        with worker.standing_still():
            rest(ticket)
        return {}

    jobs.start(arriving.JOB, work)


def _end(store: Store, note: Mapping[str, Any], watch: Watch) -> None:
    try:
        _ENDINGS[note["kind"]](store, note, watch)
    except (HelixError, OSError, *_DAMAGED) as error:  # such as rows that an erasure has removed
        if watch.cancelled:
            raise
        _take_back(store, note, str(error))
    else:
        whole.note_job_ended(store)


def _take_back(store: Store, note: Mapping[str, Any], why: str) -> None:
    job = note["job"]
    log.warning("a job that was cut short is taken back", extra={"job": job, "why": why})
    try:
        if whole.taken_back(store, note):
            return
    except (ConflictError, NotFoundError, StoreCorruptError, *_DAMAGED) as error:  # in no start's way
        why = f"what it did cannot be read: {type(error).__name__}"
    log.error("a job was cut short and can neither be ended nor be taken back", extra={"job": job, "why": why})
    whole.note_job_ended(store)
