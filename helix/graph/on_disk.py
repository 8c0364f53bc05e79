"""The files of a graph: which there are, how large they are, and how they go. Kuzu is not needed for it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from helix import files

Progress = Callable[[str, int, int], None]
"""Told of a build under way: its stage, how much is done, of how much."""


_BOOT = Path("/proc/sys/kernel/random/boot_id")


def files_of(path: Path) -> tuple[Path, ...]:
    """Return the files that belong to a Kuzu graph: the database, its log, its shadow pages, and its seal."""
    return (path, *(path.with_name(path.name + suffix) for suffix in (".wal", ".shadow", ".tmp", ".seal")))


def seal(path: Path) -> None:
    """Note the digest of a closed Kuzu graph's file as its seal: Kuzu's pages hold no sums of their own."""
    _note(path, f"closed {_digest(path)}\n")


def unseal(path: Path) -> str:
    """Return whether a Kuzu graph's file is as it was left: "" if so, else "damaged", or "torn" where the machine went
    down while it was open. It counts as open from here on.
    """
    noted = files_of(path)[-1]
    said, boot, found = "", files.read_text(_BOOT).strip() if _BOOT.exists() else "", ""
    with suppress(FileNotFoundError):
        said, _, found = files.read_text(noted, links=False, errors="replace").strip().partition(" ")
    _note(path, f"open {boot}\n")
    if said == "closed":
        return "" if _digest(path) == found else "damaged"
    return "torn" if said == "open" and found != boot else ""


def _digest(path: Path) -> str:
    with files.open_regular(path, links=False) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _note(path: Path, text: str) -> None:
    noted = files_of(path)[-1]
    try:
        files.write_private(noted, text)
    except OSError:  # a full disk is no reason to do without the graph; without a note it is taken as it is
        noted.unlink(missing_ok=True)


def drop_log(path: Path) -> None:
    """Remove the log of a Kuzu graph that was not closed: the file is then what the last checkpoint made it.

    Opened eight times, the same unclosed files gave two different contents (measured on Kuzu 0.11.3). A file whose
    checkpoint was cut short has shadow pages beside it and needs its log to finish: it is left as it is.
    """
    _, wal, shadow, *_ = files_of(path)
    if path.exists() and not shadow.exists():
        wal.unlink(missing_ok=True)


def size_of(path: Path) -> int:
    """Return the bytes of a Kuzu graph's files on disk, whether it is open or not."""
    size = 0
    for file in files_of(path):
        with suppress(FileNotFoundError):  # Kuzu's own log comes and goes
            size += file.stat().st_size
    return size


def remove(path: Path) -> None:
    """Delete a Kuzu graph's files, where there are any."""
    for file in files_of(path):
        files.remove(file)
