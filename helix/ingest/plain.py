"""Plain text: takes a file's lines and bounds texts, whatever their length."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

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
    """Return at most `limit` (8 or more) characters of the text, cut at a space where one is near, marked as cut."""
    if len(text) <= limit:
        return text
    room = limit - len(_ELLIPSIS)
    cut = max(text.rfind(" ", room - room // 4, room), text.rfind("\n", room - room // 4, room))
    return text[: cut if cut > 0 else room].rstrip() + _ELLIPSIS
