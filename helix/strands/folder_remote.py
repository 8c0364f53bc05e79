"""A folder as a place of strands: of a disk that is carried, of a network, or one that a program keeps the same."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from helix import files
from helix.errors import InvalidInputError
from helix.strands.place import Remote, StrandName, check_size

_MOST_NAMES = 100_000


class FolderRemote(Remote):
    """A folder: of a disk that is carried, of a network, or of a program that keeps folders of machines the same."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def names(self) -> list[str]:
        """Return the names of the strands, and of others that lie two levels deep in folders of that place.

        Raises InvalidInputError where there are more than any place of strands has: others may write there.
        """
        found: list[str] = []
        with os.scandir(self._folder) as signers:
            for signer in (one for one in signers if one.is_dir(follow_symlinks=False)):
                with os.scandir(signer) as strands:
                    found += (f"{signer.name}/{one.name}" for one in islice(strands, _MOST_NAMES + 1))
                if len(found) > _MOST_NAMES:
                    raise InvalidInputError(f"{self._folder} names more files than any place of strands has")
        return found

    def fetch(self, name: str, target: Path, most: int) -> None:
        """Copy a strand to a new file; links are not followed, and nothing but a file is read."""
        try:
            found = files.open_regular(self._file(name), links=False)
        except OSError as error:
            raise InvalidInputError(f"it is not a file that can be read: {error.strerror}") from error
        with (
            found as source,
            os.fdopen(files.create_private(target, exclusive=True), "wb") as copy,
        ):
            size = os.fstat(source.fileno()).st_size
            check_size(size, most)
            if not files.copy_open(source, copy, size):
                raise InvalidInputError("it grew while it was fetched")

    def publish(self, source: Path, name: str) -> None:
        """Write a draft of the strand, and give it its name once it is on the disk."""
        target = self._file(name)
        if target.parent.is_symlink():
            raise InvalidInputError(f"{target.parent} is a link", hint="remove it: strands lie in the place itself")
        files.private_folder(target.parent)
        draft = target.with_name(f".{target.name}.{os.urandom(8).hex()}.new")
        try:
            with (
                files.open_regular(source) as written,
                os.fdopen(files.create_private(draft, exclusive=True), "wb") as copy,
            ):
                shutil.copyfileobj(written, copy)
                copy.flush()
                os.fsync(copy.fileno())
            draft.replace(target)
        finally:
            draft.unlink(missing_ok=True)

    def remove(self, names: Sequence[str]) -> None:
        """Remove strands."""
        for name in names:
            self._file(name).unlink(missing_ok=True)

    def _file(self, name: str) -> Path:
        return self._folder / str(StrandName.read(name))
