"""Plain text: takes a file's lines and bounds texts, whatever their length."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

from helix.text.excerpts import head

_ELLIPSIS = " […]"


def bounded_lines(stream: BinaryIO, longest: int) -> Iterator[tuple[int, bytes | None]]:
    """Yield the number, from 1, and the bytes of each line; None for one of `longest` bytes or more.

    No more than that is in memory, even of a line that has no end.
    """
    number = 0
    while raw := stream.readline(longest):
        number += 1
        if len(raw) == longest and not raw.endswith(b"\n"):
            while (rest := stream.readline(longest)) and not rest.endswith(b"\n"):
                pass
            yield number, None
        else:
            yield number, raw


def shorten(text: str, limit: int) -> str:
    """Return at most `limit` (8 or more) characters of the text, redacted before it is cut, and marked as cut."""
    return text if len(text) <= limit else head(text, limit - len(_ELLIPSIS)) + _ELLIPSIS
