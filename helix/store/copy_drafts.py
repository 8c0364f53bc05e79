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
from helix.held_folder import HeldFolder, folder_of_new, held_folder
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


def take_place(draft: Path, file: BinaryIO, folder: HeldFolder, path: Path) -> bool:
    """Write a draft to a copy's unfinished file, which is open, and give it the copy's name; return whether it has it.

    Where others may write too, another file can have the name in the end.
    """
    with open_regular(draft, links=False) as whole:
        shutil.copyfileobj(whole, file)
    file.flush()
    os.fsync(file.fileno())
    folder.rename(unfinished_backup(path).name, path.name)
    found = folder.stat(path.name)
    return found is not None and os.path.samestat(os.fstat(file.fileno()), found)


def replace_copy(draft: Path, path: Path) -> None:
    """Put a draft of a journal's copy in the place of the one at a resolved path, by a new file of one's own."""
    with held_folder(path.parent) as folder, _unfinished(folder, path) as file:
        if not take_place(draft, file, folder, path):
            raise StoreError(f"somebody put another file in the place of {path}")


@contextmanager
def _unfinished(folder: HeldFolder, path: Path) -> Iterator[BinaryIO]:
    """Lend a copy's new unfinished file in a folder; then its name is gone."""
    name = unfinished_backup(path).name
    folder.remove(name)
    try:
        with os.fdopen(folder.create(name), "wb") as file:
            yield file
    finally:
        folder.remove(name)


@contextmanager
def copy_begun(target: Path) -> Iterator[tuple[BinaryIO, HeldFolder]]:
    """Lend the unfinished file of a copy that is to have a new name, and its folder.

    Raises what `folder_of_new` does.
    """
    with folder_of_new(target) as folder, _unfinished(folder, target) as file:
        yield file, folder


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
