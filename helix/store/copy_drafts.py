"""Copy drafts: files of a journal's copies that are only just being written, and how one of them takes its place."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from helix.errors import StoreError
from helix.files import create_private, open_regular
from helix.store.store import KEPT_JOURNAL

CLEARED = f"{KEPT_JOURNAL}cleared.db"
"""The copy of a backup from which a restore takes what was erased since."""
_DRAFT = "backup-in-work.db"
"""The copy of the journal that a backup is made of."""
TAKEN = "restore-in-work.db"
"""The copy of a backup that a restore reads."""


def unfinished_backup(backup: Path) -> Path:
    """Return the path under which a store's backup is written until it is whole."""
    return backup.with_name(backup.name + ".partial")


def take_place(draft: Path, file: BinaryIO, path: Path) -> bool:
    """Write a draft to a copy's unfinished file, which is open, and give it the copy's name; return whether it has it.

    Where others may write too, another file can have the name in the end.
    """
    with open_regular(draft, links=False) as whole:
        shutil.copyfileobj(whole, file)
    file.flush()
    os.fsync(file.fileno())
    unfinished_backup(path).replace(path)
    return os.path.samestat(os.fstat(file.fileno()), path.lstat())


def replace_copy(draft: Path, path: Path) -> None:
    """Put a draft of a journal's copy in the copy's place, by a new file that is nobody else's."""
    partial = unfinished_backup(path)
    partial.unlink(missing_ok=True)
    with os.fdopen(create_private(partial, exclusive=True), "wb") as file:
        try:
            if not take_place(draft, file, path):
                raise StoreError(f"somebody put another file in the place of {path}")
        finally:
            partial.unlink(missing_ok=True)


@contextmanager
def draft_of_copy(folder: Path, name: str = _DRAFT) -> Iterator[Path]:
    """Lend a new private file in the store's folder that it copies its journal to; then it is gone."""
    draft = folder / name
    remove_copy(draft)
    try:
        os.close(create_private(draft, exclusive=True))
        yield draft
    finally:
        remove_copy(draft)


def drop_unfinished_copies(folder: Path) -> None:
    """Remove the copies that a killed backup or restore left behind: they may hold what was erased since."""
    for name in (CLEARED, _DRAFT, TAKEN):
        remove_copy(folder / name)


def remove_copy(journal: Path) -> None:
    for suffix in ("", "-wal", "-shm"):
        journal.with_name(journal.name + suffix).unlink(missing_ok=True)
