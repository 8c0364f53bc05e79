"""Local socket: how the programs of one user reach the daemon of a store, and know that it is that user's.

A port of the machine can be taken by anybody as soon as its owner is gone, and everybody may connect to it. A Unix
socket lies in the store's folder, which is private, and the system says whose process listens at its other end. So
tokens and payloads go this way alone. Standard library alone. The process hook has the same in small.
"""

from __future__ import annotations

import errno
import os
import socket
import stat
import struct
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from helix import files

SOCKET_FILE = "socket"

HAS_UNIX = hasattr(socket, "AF_UNIX")
"""Whether Python has Unix sockets here; on Windows it has none, and loopback and the store's lock must do."""

_LONGEST = 100
"""Bytes of a socket's path that every system takes."""
_DESCRIPTORS = Path("/proc/self/fd")
_CONNECTIONS = Path("/proc/net")
_ESTABLISHED = "01"
_LOCAL_PEERCRED, _XUCRED_BYTES, _XUCRED_UID = 1, 76, 4


def listen(store: Path) -> socket.socket | None:
    """Return the listening local socket in a store's folder; None where this system has none. For the lock's owner.

    What an earlier daemon left in its place is replaced. Raises OSError.
    """
    if not HAS_UNIX:
        return None
    path = store / SOCKET_FILE
    forget(store)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        with _short(path) as name:
            listener.bind(name)
        path.chmod(files.PRIVATE_FILE)
        listener.listen()
    except BaseException:
        listener.close()
        raise
    return listener


def forget(store: Path) -> None:
    """Remove the local socket of a daemon that has gone or leaves; anything else of that name stays, an error later."""
    path = store / SOCKET_FILE
    with suppress(FileNotFoundError):
        if stat.S_ISSOCK(path.lstat().st_mode):
            path.unlink()


def connect(store: Path, timeout: float | None = None) -> socket.socket:
    """Return a connection to the store's daemon by its local socket, once the system has said it is this user's.

    Raises OSError: nothing listens there, or PermissionError where it is another user's.
    """
    path = store / SOCKET_FILE
    if not stat.S_ISSOCK(path.lstat().st_mode):
        raise OSError(errno.ENOTSOCK, "no socket", str(path))
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.settimeout(timeout)
        with _short(path) as name:
            connection.connect(name)
        if peer_of(connection) != os.geteuid():
            raise PermissionError(errno.EPERM, "another user's process listens there", str(path))
    except BaseException:
        connection.close()
        raise
    return connection


def peer_of(connection: socket.socket) -> int | None:
    """Return the user id of the process at a local socket's other end; None where the system does not tell."""
    if hasattr(socket, "SO_PEERCRED"):
        told = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        return int(struct.unpack("3i", told)[1])
    if sys.platform == "darwin":
        told = connection.getsockopt(0, _LOCAL_PEERCRED, _XUCRED_BYTES)
        return int(struct.unpack_from("I", told, _XUCRED_UID)[0])
    return None


def user_at(client: tuple[str, int], server: tuple[str, int]) -> int | None:
    """Return the user id of the process at the client's end of a local connection over loopback, by the system.

    -1 where no open connection is found: whoever made it has closed it. None where the system keeps no such list (only
    Linux does).
    """
    family = socket.AF_INET6 if ":" in client[0] else socket.AF_INET
    listed = _CONNECTIONS / ("tcp6" if family == socket.AF_INET6 else "tcp")
    try:
        lines = listed.read_text("ascii")
    except OSError:
        return None
    ends = f"{_as_listed(family, *client[:2])} {_as_listed(family, *server[:2])}"
    _, found, behind = lines.partition(f": {ends} {_ESTABLISHED} ")
    return int(behind.split(maxsplit=4)[3]) if found else -1


def _as_listed(family: int, host: str, port: int) -> str:
    """Return an address as Linux lists it: each four bytes as a number of this machine, in hexadecimal."""
    packed = socket.inet_pton(family, host)
    words = (int.from_bytes(packed[at : at + 4], sys.byteorder) for at in range(0, len(packed), 4))
    return f"{''.join(f'{word:08X}' for word in words)}:{port:04X}"


@contextmanager
def _short(path: Path) -> Iterator[str]:
    """Yield a name for a socket that is short enough for its system. Raises OSError where there is none."""
    whole = os.path.abspath(path)  # noqa: PTH100  (a link in it is not to be followed here)
    if len(os.fsencode(whole)) <= _LONGEST:
        yield whole
        return
    if not _DESCRIPTORS.is_dir():
        words = f"the store's path is too long for a socket ({_LONGEST} bytes): keep it at a shorter one"
        raise OSError(errno.ENAMETOOLONG, words, whole)
    folder = os.open(path.parent, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
    try:
        yield f"{_DESCRIPTORS}/{folder}/{path.name}"
    finally:
        os.close(folder)
