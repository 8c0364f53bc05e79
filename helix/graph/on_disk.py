"""The files of a graph: which there are, how large they are, and how they go. Kuzu is not needed for it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from helix import files

Progress = Callable[[str, int, int], None]
"""Told of a build under way: its stage, how much is done, of how much."""


def files_of(path: Path) -> tuple[Path, ...]:
    """Return the files that belong to a graph: the database, its log and its shadow pages."""
    return (path, *(path.with_name(path.name + suffix) for suffix in (".wal", ".shadow", ".tmp")))


def drop_log(path: Path) -> None:
    """Remove the log of a graph that was not closed: the file is then what the last checkpoint made it.

    Opened eight times, the same unclosed files gave two different contents (measured on Kuzu 0.11.3). A file whose
    checkpoint was cut short has shadow pages beside it and needs its log to finish: it is left as it is.
    """
    _, wal, shadow, _ = files_of(path)
    if path.exists() and not shadow.exists():
        wal.unlink(missing_ok=True)


def size_of(path: Path) -> int:
    """Return the bytes of a graph's files on disk, whether it is open or not."""
    size = 0
    for file in files_of(path):
        with suppress(FileNotFoundError):  # Kuzu's own log comes and goes
            size += file.stat().st_size
    return size


def remove(path: Path) -> None:
    """Delete a graph's files, where there are any."""
    for file in files_of(path):
        files.remove(file)
