"""Whole: a job of many changes is there as a whole or not at all, also where the program is killed in between.

The journal has a note of a job under way. What a kill cut short is brought to its end by that note at the next start
(`recovering.py`): it cannot always be taken back, as somebody else may have built on it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from helix.errors import ConflictError, HelixError
from helix.journal.log import Journal
from helix.memory.job_run.run import Watch
from helix.memory.worker.undo import undo
from helix.store.store import Store
from helix.strands.lineage import rows_file

T = TypeVar("T")
UNDER_WAY = "strand_under_way"
"""Key under which the journal notes the job that has not ended."""


class Unwatched:
    """Nobody looks after the work, or stops it."""

    cancelled = False

    def progress(self, done: int, total: int, message: str = "") -> None:
        """Take no notice."""


def carry_through(
    store: Store,
    note: Mapping[str, Any],
    work: Callable[[Watch], T],
    watch: Watch,
    *,
    forsake: Callable[[], None] = lambda: None,
) -> T:
    """Run a strand's import or rollback whole: its changes all stay once it ended, none stays where it raises.

    The `note` has the `kind` and the `job`, and what it takes to do the work once more, which passes over what is done.
    That happens at the next start where a kill came in between, and at once where the work cannot be taken back.
    `forsake` makes room, and has the next start take the job back. Raises what the work raises, and ConflictError while
    an earlier job has not ended.
    """
    if under_way(store.journal) is not None:
        raise ConflictError("an earlier import has not ended", hint="`helix stop`: the next start ends it")
    note = {**note, "after": store.journal.last_seq}
    store.writer.call(lambda: store.journal.set_meta(UNDER_WAY, json.dumps(note)))
    try:
        done = work(watch)
        note_job_ended(store)
        return done
    except BaseException:
        if _taken_back_for_sure(store, note, forsake):
            raise
        done = work(Unwatched())
    note_job_ended(store)
    return done


def _taken_back_for_sure(store: Store, note: Mapping[str, Any], forsake: Callable[[], None]) -> bool:
    try:
        return taken_back(store, note)
    except (HelixError, OSError):  # the disk is full
        forsake()
        return taken_back(store, note)


def under_way(journal: Journal) -> Mapping[str, Any] | None:
    """Return the note of the strand job that has not ended, or None; a damaged one is of no job."""
    told = journal.meta(UNDER_WAY)
    if not told:
        return None
    if not told.startswith("{"):  # of before notes told more
        return {"kind": "", "job": told}
    try:
        note = dict(json.loads(told))
    except (ValueError, RecursionError):
        note = {}
    return note if all(isinstance(note.get(part), str) for part in ("kind", "job")) else {"kind": "", "job": ""}


def taken_back(store: Store, note: Mapping[str, Any]) -> bool:
    """Take back what a strand job has done by now; return False, and leave all, where somebody has built on it.

    Nor is a version known any more that only the job's changes had made the store's: its rows would count as dropped.
    """
    job = note["job"]
    if store.journal.effects.steps(job) and store.journal.effects.undone_at(job) is None and undo(store, job).conflicts:
        return False
    if isinstance(note.get("after"), int):
        taken = str(note.get("taken") or "")
        for version in store.writer.call(lambda: store.journal.versions.let_go(note["after"], taken)):
            rows_file(store.path, version).unlink(missing_ok=True)
    note_job_ended(store)
    return True


def note_job_ended(store: Store) -> None:
    """Note that no import or rollback of strands is under way any more."""
    store.writer.call(lambda: store.journal.drop_meta(UNDER_WAY))
