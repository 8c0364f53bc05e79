"""Packed lines: a private file of lines, packed by zlib, that is written and read in one go."""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from helix import files

_AT_ONCE = 1 << 16


class PackedLines:
    """Writes lines to a new file that only its owner may read; they are there once it was closed."""

    def __init__(self, path: Path) -> None:
        self._file = os.fdopen(files.create_private(path, exclusive=True), "wb")
        self._packer = zlib.compressobj(1)
        self._waiting: list[bytes] = []
        self._bytes = 0

    def add(self, line: bytes) -> None:
        """Take one line of strand rows, which has no line feed in it."""
        self._waiting.append(line)
        self._bytes += len(line)
        if self._bytes > _AT_ONCE:
            self._pack()

    def close(self) -> None:
        """Have the disk hold all that was taken."""
        self._pack()
        self._file.write(self._packer.flush())
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()

    def abandon(self) -> None:
        """Stop writing; whatever was written by now is of no use."""
        with suppress(OSError):  # what is still to be written finds no room either
            self._file.close()

    def _pack(self) -> None:
        if self._waiting:
            self._file.write(self._packer.compress(b"\n".join((*self._waiting, b""))))
        self._waiting, self._bytes = [], 0


def read_lines(path: Path) -> Iterator[bytes]:
    """Yield the lines of a packed file of strand rows; raises OSError without it, ValueError for a damaged one."""
    opener, rest = zlib.decompressobj(), b""
    with files.open_regular(path) as file:
        while packed := file.read(_AT_ONCE):
            try:
                *lines, rest = (rest + opener.decompress(packed)).split(b"\n")
            except zlib.error as error:
                raise ValueError(str(error)) from error
            yield from lines
    if rest or not opener.eof:
        raise ValueError(f"{path} is cut")
