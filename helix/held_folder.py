"""Held folder: reached through no link, and the same one however its name is changed meanwhile.

Whoever may write above a file can put a link in a folder's place between a look at a path and its opening. So each
folder of a path is opened in the one before, and none may be a link (openat(2), O_NOFOLLOW); a name in it is then
looked up there and nowhere else. Windows cannot open so: there names are opened as they are.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import BufferedReader
from pathlib import Path

from helix import files

_FOLDER = getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_PASSED = getattr(os, "O_PATH", os.O_RDONLY) | _FOLDER  # folders such as /home may be passed and not be read


class HeldFolder:
    """A folder by its path and its descriptor, which is None on Windows."""

    def __init__(self, path: Path, descriptor: int | None) -> None:
        self.path = path
        self._descriptor = descriptor

    def open(self, name: str) -> BufferedReader:
        """Open a regular file of this folder for reading, through no link. Raises OSError as `open_regular` does."""
        return files.open_regular(self.path / name, links=False, folder=self._descriptor)

    def create(self, name: str) -> int:
        """Create a private file of a new name in this folder; return its descriptor. Raises OSError."""
        return files.create_private(self.path / name, exclusive=True, folder=self._descriptor)

    def write(self, name: str, text: str, mode: int) -> None:
        """Write a file of this folder whole or not at all; one that is there keeps its mode. Raises OSError."""
        with suppress(FileNotFoundError), self.open(name) as there:
            mode = stat.S_IMODE(os.fstat(there.fileno()).st_mode)
        draft = f".{name}.helix-draft"  # always the same: the next run clears what a kill left
        self.remove(draft)
        try:
            with os.fdopen(self.create(draft), "w", encoding="utf-8", newline="") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
                if sys.platform != "win32":
                    os.fchmod(file.fileno(), mode)
            here = self._descriptor
            os.replace(self._name(draft), self._name(name), src_dir_fd=here, dst_dir_fd=here)
        except BaseException:
            self.remove(draft)
            raise

    def remove(self, name: str) -> None:
        """Remove a file of this folder, if there is one of that name. Raises OSError."""
        with suppress(FileNotFoundError):
            os.unlink(self._name(name), dir_fd=self._descriptor)

    def remove_folder(self, name: str) -> None:
        """Remove an empty folder in this one. Raises OSError where anything is in it."""
        os.rmdir(self._name(name), dir_fd=self._descriptor)

    def _name(self, name: str) -> str:
        return name if self._descriptor is not None else str(self.path / name)


@contextmanager
def held_folder(path: Path, *, make: bool = False) -> Iterator[HeldFolder]:
    """Lend the folder of a path that was resolved (`real_path`); `make` makes what is missing, for the owner alone.

    Raises OSError where it is not there, where it or a folder above is a link by now, and for one to `make` that is
    another user's.
    """
    if sys.platform == "win32":
        if make:
            files.private_folder(path)
        yield HeldFolder(path, None)
        return
    descriptor = os.open("/", _PASSED)
    try:
        for name in path.parts[1:]:
            outer, descriptor = descriptor, _opened_in(descriptor, name, path, make=make)
            os.close(outer)
        if make and os.geteuid() not in (0, os.fstat(descriptor).st_uid):
            raise PermissionError(errno.EPERM, "the folder belongs to another user", str(path))
        yield HeldFolder(path, descriptor)
    finally:
        os.close(descriptor)


def open_resolved(path: Path) -> BufferedReader:
    """Open the regular file of a path that was resolved (`real_path`): what was looked at is what is read.

    Raises OSError as `open_regular` does, and where a folder above it is a link by now.
    """
    with held_folder(path.parent) as folder:
        return folder.open(path.name)


def _opened_in(folder: int, name: str, path: Path, *, make: bool) -> int:
    try:
        if make and not _is_there(folder, name):
            with suppress(FileExistsError):
                os.mkdir(name, files.PRIVATE_FOLDER, dir_fd=folder)
        return os.open(name, _PASSED, dir_fd=folder)
    except OSError as error:
        linked = error.errno in (errno.ELOOP, errno.ENOTDIR)
        raise OSError(
            error.errno, f"{name} is a link, or no folder" if linked else error.strerror, str(path)
        ) from error


def _is_there(folder: int, name: str) -> bool:
    try:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True
