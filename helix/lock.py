"""The lock of a store: one process owns a store's files, told apart from a corrupt or abandoned store.

The operating system's file lock is the truth (it goes with the process, however that ends); the pid written into
the file only serves the message. The filelock library is not used: it asks to write even where a disk can only be
read, does not tell which process is the owner, and opens through a link where the system cannot refuse.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
import time
from pathlib import Path
from types import TracebackType

from helix import files
from helix.errors import StoreError, StoreLockedError, of_the_system

LOCK_NAME = "lock"

# Windows locks are mandatory: lock a byte far behind the pid, so that others can still read who owns the store.
_WINDOWS_BYTE = 1 << 30

# A client that asks `is_locked` holds the lock for an instant: an owner tries again before it gives up.
_TRIES, _PAUSE_SECONDS = 8, 0.03
_LONGEST = 64


class StoreLock:
    """An exclusive lock on a store's folder, held until `release` or the end of the process.

    Another `name` is another lock, which says nothing about who owns the store.
    """

    def __init__(self, store: Path, *, name: str = LOCK_NAME) -> None:
        self.path = store / name
        self._fd: int | None = None

    def acquire(self) -> None:
        """Take the store's lock at once. Raises StoreLockedError naming the owner, StoreError for an unsafe folder."""
        files.check_store(self.path.parent)
        files.private_folder(self.path.parent)
        fd = _opened(self.path, os.O_RDWR | os.O_CREAT)
        try:
            _lock_soon(fd)
        except OSError as error:
            os.close(fd)
            owner = owner_of(self.path.parent)
            who = f"process {owner}" if owner else "another process"
            raise StoreLockedError(
                f"the store {self.path.parent} is open in {who}", hint="`helix status` shows it, `helix stop` ends it"
            ) from error
        os.ftruncate(fd, 0)
        os.pwrite(fd, str(os.getpid()).encode(), 0) if sys.platform != "win32" else os.write(
            fd, str(os.getpid()).encode()
        )
        self._fd = fd

    def release(self) -> None:
        """Let the store's lock go; releasing twice is no error."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def __enter__(self) -> StoreLock:
        self.acquire()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()


def is_locked(store: Path) -> bool:
    """Return whether a living process holds the lock of a store."""
    path = store / LOCK_NAME
    try:
        fd = _opened(path, os.O_RDWR if os.access(path, os.W_OK) else os.O_RDONLY)  # a disk may turn read-only
    except FileNotFoundError:
        return False
    try:
        _ask(fd)
    except OSError:
        return True
    finally:
        os.close(fd)
    return False


def owner_of(store: Path) -> int | None:
    """Return the pid that last took a store's lock, or None; only meaningful while `is_locked`."""
    try:
        return int(files.read_text(store / LOCK_NAME, _LONGEST).strip() or 0) or None
    except (OSError, ValueError):
        return None


def _opened(path: Path, way: int) -> int:
    """Return a descriptor of the lock's file: a regular one and no link, as others wait or lead elsewhere."""
    careful = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
    try:
        fd = os.open(path, way | careful, files.PRIVATE_FILE)
        if stat.S_ISREG(os.fstat(fd).st_mode):
            return fd
        os.close(fd)
    except FileNotFoundError:
        raise
    except OSError as error:
        if error.errno in (errno.EROFS, errno.EACCES, errno.EPERM):  # nothing is wrong with the file itself
            raise of_the_system(error) from error
        words = f"{path} cannot be opened: {error.strerror or error}"
        raise StoreError(words, hint="it should be a small file of yours, and no link; remove it") from error
    raise StoreError(f"{path} is not a regular file", hint="remove it: it is made anew")


def _lock_soon(fd: int) -> None:
    for attempt in range(_TRIES):
        try:
            return _lock(fd)
        except OSError:
            if attempt == _TRIES - 1:
                raise
            time.sleep(_PAUSE_SECONDS)


if sys.platform == "win32":
    import msvcrt

    def _lock(fd: int) -> None:
        os.lseek(fd, _WINDOWS_BYTE, os.SEEK_SET)
        msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)
        os.lseek(fd, 0, os.SEEK_SET)

    _ask = _lock  # no lock is shared there

else:
    import fcntl

    def _lock(fd: int) -> None:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def _ask(fd: int) -> None:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)  # shared: two that ask at once are no owner to each other
