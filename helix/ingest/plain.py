"""Plain text: takes a file's lines and bounds texts, whatever their length."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

from helix.text.excerpts import head

_ELLIPSIS = " […]"
_BLOCK = 1 << 20
_ENDLESS = 1 << 30
"""Bytes of a line behind which nothing is read: a hole in a file takes no room on the disk, and may be any size."""


def bounded_lines(stream: BinaryIO, longest: int) -> Iterator[tuple[int, bytes | None]]:
    """Yield the number, from 1, and the bytes of each line to ingest; None for one of `longest` bytes or more.

    No more than that is in memory, even of a line that has no end; behind one of _ENDLESS bytes nothing is read.
    """
    number = 0
    while raw := stream.readline(longest):
        number += 1
        if len(raw) == longest and not raw.endswith(b"\n"):
            skipped = 0
            while (rest := stream.readline(longest)) and not rest.endswith(b"\n") and skipped < _ENDLESS:
                skipped += len(rest)
            yield number, None
            if skipped >= _ENDLESS:
                return
        else:
            yield number, raw


def count_lines(stream: BinaryIO) -> int:
    """Return how many lines to ingest `bounded_lines` yields of a stream."""
    count = pending = 0
    while pending < _ENDLESS and (piece := stream.read(_BLOCK)):
        ends = piece.count(b"\n")
        count += ends
        pending = len(piece) - piece.rfind(b"\n") - 1 if ends else pending + len(piece)
    return count + (pending > 0)


def shorten(text: str, limit: int) -> str:
    """Return at most `limit` (8 or more) characters of an ingested text, redacted before it is cut and marked."""
    return text if len(text) <= limit else head(text, limit - len(_ELLIPSIS)) + _ELLIPSIS
