"""Held folder: reached through no link, and the same one however its name is changed meanwhile.

Whoever may write above a file can put a link in a folder's place between a look at a path and its opening. So each
folder of a path is opened in the one before, and none may be a link (openat(2), O_NOFOLLOW); a name in it is then
looked up there and nowhere else. Windows cannot open so: there names are opened as they are.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import BufferedReader
from pathlib import Path
from typing import BinaryIO

from helix import files
from helix.errors import ConflictError, NotFoundError

_FOLDER = getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_RIGHTS = 0o777
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

    def mode_of(self, name: str, mode: int) -> int:
        """Return the rights of one's own file in this folder; `mode` where there is none that is surely one's own.

        No more than rights: a program that anybody wrote would run as this user. Raises OSError for no regular file.
        """
        with suppress(FileNotFoundError), self.open(name) as there:
            found = os.fstat(there.fileno())
            own = sys.platform == "win32" or (found.st_uid == os.geteuid() and found.st_nlink == 1)
            return found.st_mode & _RIGHTS if own else mode
        return mode

    def write(self, name: str, text: str, mode: int) -> None:
        """Write a file of this folder whole or not at all. Raises OSError."""
        draft = f".{name}.helix-draft"  # always the same: the next run clears what a kill left
        self.remove(draft)
        try:
            with os.fdopen(self.create(draft), "w", encoding="utf-8", newline="") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
                if sys.platform != "win32":
                    os.fchmod(file.fileno(), mode)
            self.rename(draft, name)
        except BaseException:
            self.remove(draft)
            raise

    def rename(self, name: str, to: str) -> None:
        """Give a file of this folder another name, and take that name from what has it. Raises OSError."""
        here = self._descriptor
        os.replace(self._name(name), self._name(to), src_dir_fd=here, dst_dir_fd=here)

    def stat(self, name: str) -> os.stat_result | None:
        """Return what a name of this folder is, a link itself; None where there is none. Raises OSError."""
        with suppress(FileNotFoundError):
            return os.stat(self._name(name), dir_fd=self._descriptor, follow_symlinks=False)
        return None

    def move_out(self, name: str, to: Path) -> None:
        """Give what has a name in this folder another place on the same disk, where nothing is. Raises OSError."""
        os.rename(self._name(name), to, src_dir_fd=self._descriptor)

    def names(self) -> list[str]:
        """Return the names in this folder. Raises OSError."""
        if self._descriptor is None:
            return [path.name for path in self.path.iterdir()]
        readable = os.open(".", os.O_RDONLY | _FOLDER, dir_fd=self._descriptor)
        try:
            return os.listdir(readable)  # noqa: PTH208  (a descriptor has no path)
        finally:
            os.close(readable)

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


@contextmanager
def folder_of_new(target: Path) -> Iterator[HeldFolder]:
    """Lend the folder of a file that is not there yet.

    Raises ConflictError where something has the name, NotFoundError without its folder, and OSError.
    """
    if not target.parent.is_dir():
        raise NotFoundError(f"there is no folder {target.parent}", hint="make it first")
    with held_folder(files.real_path(target.parent)) as folder:
        if folder.stat(target.name) is not None:
            raise ConflictError(f"{target} exists already", hint="name another file, or remove it first")
        yield folder


@contextmanager
def new_file(target: Path, draft: str = "") -> Iterator[BinaryIO]:
    """Lend a new file for the owner alone, which has its name once it is whole; until then that of a draft.

    Raises what `folder_of_new` does.
    """
    with folder_of_new(target) as folder:
        draft = draft or f"{target.name}.{os.urandom(8).hex()}.new"
        try:
            with os.fdopen(folder.create(draft), "wb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            folder.rename(draft, target.name)
        finally:
            folder.remove(draft)


def open_resolved(path: Path) -> BufferedReader:
    """Open the regular file of a path that was resolved (`real_path`): what was looked at is what is read.

    Raises OSError as `open_regular` does, and where a folder above it is a link by now.
    """
    with held_folder(path.parent) as folder:
        return folder.open(path.name)


def _opened_in(folder: int, name: str, path: Path, *, make: bool) -> int:
    try:
        try:
            return os.open(name, _PASSED, dir_fd=folder)
        except FileNotFoundError:
            if not make:
                raise
        with suppress(FileExistsError):
            os.mkdir(name, files.PRIVATE_FOLDER, dir_fd=folder)
        return os.open(name, _PASSED, dir_fd=folder)
    except OSError as error:
        linked = error.errno in (errno.ELOOP, errno.ENOTDIR)
        raise OSError(
            error.errno, f"{name} is a link, or no folder" if linked else error.strerror, str(path)
        ) from error
