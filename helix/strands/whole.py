"""Whole: a job of many changes is there as a whole or not at all, also where the program is killed in between."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from helix.memory.worker.undo import undo
from helix.store.store import Store
from helix.strands.lineage import remove_drafts

log = logging.getLogger(__name__)

UNDER_WAY = "strand_under_way"
"""Key under which the journal notes the job that has not ended."""


@contextmanager
def whole(store: Store, job: str) -> Iterator[None]:
    """Have all changes of a job stay once the block has ended, and none where it raises, or never comes to its end."""
    take_back(store)  # what a full disk kept from being taken back
    store.writer.call(lambda: store.journal.set_meta(UNDER_WAY, job))
    try:
        yield
    except BaseException:
        take_back(store)
        raise
    store.writer.call(lambda: store.journal.drop_meta(UNDER_WAY))


def recover(store: Store) -> None:
    """Take back what a kill cut short and remove what it left behind; before anything else is at work."""
    remove_drafts(store)
    take_back(store)


def take_back(store: Store) -> bool:
    """Take back a job that was cut short, where there is one; return whether there was."""
    job = store.journal.meta(UNDER_WAY)
    if not job:
        return False
    if store.journal.effects.steps(job) and store.journal.effects.undone_at(job) is None:
        report = undo(store, job)
        if report.conflicts:
            log.error("a job was cut short and cannot be taken back", extra={"job": job})
    store.writer.call(lambda: store.journal.drop_meta(UNDER_WAY))
    return True
