"""Backup and restore of a running store. A backup is one SQLite file: the journal, from which all else is rebuilt."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from itertools import count
from pathlib import Path

from helix import files
from helix.errors import ConflictError, NotFoundError, StoreError
from helix.graph.on_disk import remove
from helix.journal import journal_copy as copies
from helix.journal import witnesses
from helix.journal.mark import MarkFile, reached
from helix.lock import StoreLock
from helix.model.clock import to_micros
from helix.store import erasing
from helix.store.copy_drafts import TAKEN, copy_begun, draft_of_copy, take_place
from helix.store.engine import GRAPH_NAME, IMAGE_NAME, JOURNAL_NAME, MARK_NAME
from helix.store.jobs import Ticket
from helix.store.snapshot_file import read_stamp
from helix.store.store import KEPT_JOURNAL, Store

_TRIES = 5
_MAY_BE_BACK = (
    "the store that was replaced is too damaged to say what was erased from it: what you erased since this backup was "
    "made, and sessions made private since, may be in it; look with `helix recall`, erase with `helix forget --hard`"
)


def back_up(store: Store, target: Path, ticket: Ticket) -> Mapping[str, object]:
    """Back up the running store: write a copy of its journal to `target`, checked before it gets its name.

    SQLite opens by its name what it writes, and where others may write too they can give that name to a file of theirs.
    So it writes in the store, and `target` is written by a descriptor.

    Raises ConflictError when the file is there already, or another one is in the end; NotFoundError without its folder.
    """
    database, made, size = store.journal.database, False, 0
    with copy_begun(target) as (file, folder), store.copying, draft_of_copy(store.path) as draft:
        known = str(folder.path / target.name)
        try:
            # Known before anything is in it: what is erased from now on is erased there too.
            copies.remember(database, [(known, to_micros(store.runtime.clock()))])
            ticket.progress(0, 0, "copying the journal")
            store.journal.file.backup_to(draft)
            ticket.progress(0, 0, "checking the copy")
            rows = copies.check(draft)
            made = take_place(draft, file, folder, target)
            size = file.tell()
        finally:
            if not made:
                copies.disown(database, known)
    if not made:
        hint = "name a folder where nobody else may write"
        raise ConflictError(f"somebody put another file in the place of {target}", hint=hint)
    damaged = len(store.journal.verify_chain().damaged)
    return {"path": str(target), "bytes": size, "rows": rows, "damaged rows": damaged}


def restore(store: Store, source: Path, ticket: Ticket) -> Mapping[str, object]:
    """Put a backup in the place of the store's journal while the service runs; the old one is kept beside it.

    Recall answers from the restored state at once, the graph follows: that it could not be built is a warning of the
    answer. Raises NotFoundError, InvalidInputError for a
    file that is no backup, StoreTooNewError for one of a newer Helix.
    """
    if not source.is_file():
        raise NotFoundError(f"there is no file {source}", hint="`helix backup FILE` makes one")
    ticket.progress(0, 0, "checking the backup")
    with store.copying, _taken(source, store.path) as taken:
        rows = copies.check_foreign(taken, called=source)
        kept = _free(store.path, store.runtime.clock())
        ticket.progress(0, 0, "restoring")
        store.log_check.close()
        try:
            if not any(_put_in_place(store, taken, kept) for _ in range(_TRIES)):
                raise ConflictError("sessions became private all the time while it was restored", hint="try again")
        finally:
            store.log_check.begin()
    warnings = []
    try:
        store.rebuild_graph(ticket)
    except StoreError as error:  # the journal is restored, which is what was asked for
        warnings.append(f"the graph is not built yet, the next question to it tries again: {error.message}")
    return {"rows": rows, "kept": str(kept), "warnings": warnings}


def _put_in_place(store: Store, taken: Path, kept: Path) -> bool:
    """Put a checked copy of a backup in the journal's place; False where what is left to it has changed meanwhile.

    The journal is kept in the turn in which it is replaced: whatever was acknowledged is in one or the other.
    """
    left = erasing.legacy_of(store.journal)
    with erasing.without_the_erased(taken, left, store.path, to_micros(store.runtime.clock())) as cleared:

        def replace() -> bool:
            if erasing.legacy_of(store.journal) != left:
                return False
            store.journal.file.backup_to(kept)
            kept.chmod(files.PRIVATE_FILE)
            store.take_over(cleared)
            return True

        return store.writer.call(replace)


def restore_closed(folder: Path, source: Path, now: datetime) -> Mapping[str, object]:
    """Put a backup in the place of a store's journal that nobody has open, such as a damaged one.

    Returns what `restore` returns, and `warnings`. The graph is built anew at the next start. Raises what `restore`
    raises, and StoreLockedError.
    """
    if not source.is_file():
        raise NotFoundError(f"there is no file {source}", hint="`helix backup FILE` makes one")
    with StoreLock(folder), _taken(source, folder) as taken:
        rows = copies.check_foreign(taken, called=source)
        journal, kept = folder / JOURNAL_NAME, _free(folder, now)
        existed = journal.exists()
        left = erasing.left_by(journal) if existed else erasing.Legacy()
        with erasing.without_the_erased(taken, left, folder, to_micros(now)) as cleared:
            _keep(journal, kept)
            remove(folder / GRAPH_NAME)
            files.remove(folder / IMAGE_NAME)
            # Killed from here on, the next start finds a mark without its journal, and says so.
            if (found := reached(cleared)) is not None:
                mark = MarkFile(folder / MARK_NAME)
                mark.write(found[0])
                mark.close()
            cleared.replace(journal)
    return {"rows": rows, "kept": str(kept) if existed else "", "warnings": [] if left.readable else [_MAY_BE_BACK]}


def set_aside_closed(folder: Path, now: datetime) -> None:
    """Put a store's journal that cannot be opened aside, with its witnesses; raises StoreLockedError."""
    with StoreLock(folder):
        mark = MarkFile(folder / MARK_NAME)
        journal, image, graph = folder / JOURNAL_NAME, folder / IMAGE_NAME, folder / GRAPH_NAME
        witnesses.set_aside(journal, mark, image, read_stamp(image), graph, to_micros(now))


@contextmanager
def _taken(backup: Path, folder: Path) -> Iterator[Path]:
    """Lend a copy of a backup in a store's folder, which nobody else can change; then it is gone."""
    with draft_of_copy(folder, TAKEN) as copy:
        copies.take(backup, copy)
        yield copy


def _free(folder: Path, now: datetime) -> Path:
    """Return a name for a journal that is replaced, which no other has: two may be within a second."""
    names = (folder / f"{KEPT_JOURNAL}{second}.db" for second in count(to_micros(now) // 1_000_000))
    return next(path for path in names if not path.exists())


def _keep(journal: Path, kept: Path) -> None:
    """Give a journal that is replaced, and its logs, another name."""
    for suffix in ("", "-wal", "-shm"):
        file = journal.with_name(journal.name + suffix)
        if file.exists():
            file.rename(kept.with_name(kept.name + suffix))
