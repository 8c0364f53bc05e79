"""Shared place: the strands that a store and one who shares it leave for each other, in a folder of the store.

Whoever shares it puts them here and gets them from here over HTTP (`helix.api.sync_api`); the store exchanges them with
itself as with any folder. Nothing comes in but what the key of the share has signed, of exactly its scopes.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import threading
from collections import defaultdict
from pathlib import Path

from helix import files
from helix.errors import ConflictError, DiskFullError, InvalidInputError, NotFoundError
from helix.model.strand import MemoryShare
from helix.store.erasing import SHARED, STRANDS
from helix.strands.folder_remote import FolderRemote
from helix.strands.keyring import digits_of
from helix.strands.place import SHORT, StrandName, Terms, verified
from helix.strands.rows import Selection, canonical_json

PREFIX = "share://"
"""How the places begin that are a share's, among those that a store is synced with."""
MOST_BYTES = 4 << 30
"""Bytes that one strand may have."""
MOST_STRANDS = 200
"""Strands that one who shares the store may have here at a time; a sync keeps some forty."""
MOST_IN_ALL = 16 << 30
"""Bytes that those strands may have together."""
_COMING = ".coming"
_LOCKS: defaultdict[Path, threading.Lock] = defaultdict(threading.Lock)


class SharedPlace(FolderRemote):
    """The folder of one share. Uploads are taken one at a time, part by part, each where the last one ended."""

    def __init__(self, folder: Path, share: MemoryShare) -> None:
        super().__init__(files.private_folder(_folder_of(folder, share)))
        self._share = share
        self._lock = _LOCKS[self._folder]

    def terms(self) -> Terms:
        """Return what strands the store may exchange with who shares it."""
        return Terms(peer=self._share.key, scopes=self._share.scopes, may_take=self._share.write)

    def sizes(self) -> dict[StrandName, int]:
        """Return the strands that lie here with their sizes in bytes."""
        names = (StrandName.read(name) for name in self.names())
        return {name: self.file(name).stat().st_size for name in sorted(one for one in names if one is not None)}

    def file(self, name: StrandName) -> Path:
        """Return the file of a strand; raises NotFoundError where there is none."""
        found = self._file(str(name))
        if not found.is_file():
            raise NotFoundError("no strand has that name", hint="list them again")
        return found

    def arrived(self, name: StrandName) -> tuple[int, bool]:
        """Return how many bytes of an upload have arrived, and whether that is all of it."""
        self._check(name)
        with self._lock:
            return self._arrived(name)

    def add(self, name: StrandName, offset: int, length: int, part: bytes) -> tuple[int, bool]:
        """Take the next part of a strand's upload of `length` bytes; returns what `arrived` does then.

        Whatever else was coming in is dropped by the first part of another strand. Raises ConflictError where
        `offset` is not where the last part ended, InvalidInputError for what is no strand of this share.
        """
        self._check(name)
        if not 0 < length <= MOST_BYTES or offset + len(part) > length:
            raise InvalidInputError(f"a strand may have {MOST_BYTES:,} bytes, and no more than were said")
        with self._lock:
            held, complete = self._arrived(name)
            if complete or offset != held:
                raise ConflictError(f"{held} bytes of it have arrived", hint="go on from there")
            if shutil.disk_usage(self._folder).free < 2 * (length - held):
                raise DiskFullError("there is no room for the strand")
            self._check_room(name, length)
            if not held:
                self._begin()
            with os.fdopen(files.create_private(self._coming(name), append=True), "ab") as file:
                file.write(part)
                file.flush()
                os.fsync(file.fileno())
            if held + len(part) == length:
                self._finish(name)
                return length, True
        return held + len(part), False

    def take_away(self, name: StrandName) -> None:
        """Remove a strand that who shares the store has left."""
        self._check(name)
        self.remove([str(name)])

    def _check(self, name: StrandName) -> None:
        if not self._share.write:
            raise InvalidInputError("this share is for reading alone")
        if name.signer != digits_of(self._share.key)[:SHORT]:
            raise InvalidInputError("a strand is left by who signed it alone", hint="sync with the key of the share")

    def _arrived(self, name: StrandName) -> tuple[int, bool]:
        for file, complete in ((self._file(str(name)), True), (self._coming(name), False)):
            if file.is_file():
                return file.stat().st_size, complete
        return 0, False

    def _check_room(self, name: StrandName, length: int) -> None:
        theirs = [size for one, size in self.sizes().items() if one.signer == name.signer]
        if len(theirs) >= MOST_STRANDS or sum(theirs) + length > MOST_IN_ALL:
            most = f"{MOST_STRANDS} strands, and {MOST_IN_ALL:,} bytes in all, may lie here"
            raise InvalidInputError(most, hint="remove those that nobody needs")

    def _begin(self) -> None:
        files.remove(self._folder / _COMING)
        files.private_folder(self._folder / _COMING)

    def _coming(self, name: StrandName) -> Path:
        return self._folder / _COMING / f"{name.number:08}-{name.version}-{name.sha256}"

    def _finish(self, name: StrandName) -> None:
        """Give an upload its name once it is what that says; otherwise nothing of it stays."""
        file = self._coming(name)
        try:
            manifest = verified(file, name, Selection.of(self._share.scopes))
            if manifest.data["signer"] != digits_of(self._share.key):
                raise InvalidInputError("it is not signed by the key of this share")
            target = self._file(str(name))
            files.private_folder(target.parent)
            file.replace(target)
        finally:
            file.unlink(missing_ok=True)


def clear(folder: Path, share: MemoryShare) -> None:
    """Remove the strands from the place of a share that was revoked."""
    files.remove(_folder_of(folder, share))


def _folder_of(folder: Path, share: MemoryShare) -> Path:
    """Return the folder of this very share: one of the same name, before or after it, may be of other scopes."""
    said = canonical_json({"key": share.key, "scopes": share.scopes, "since": share.since.isoformat()})
    return folder / STRANDS / SHARED / f"{share.name}-{hashlib.sha256(said).hexdigest()[:SHORT]}"
