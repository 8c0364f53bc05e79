"""Plain text: makes any text one that every store can hold, and bounds it without cutting a word."""

from __future__ import annotations

import codecs
import re

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_ELLIPSIS = " […]"


def storable(text: str) -> str:
    """Return the text without NUL, lone surrogates as U+FFFD, surrogate pairs joined, and lines ended by `\\n`."""
    if _LONE_SURROGATE.search(text):
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text.replace("\0", "").replace("\r\n", "\n").replace("\r", "\n")


def decode(data: bytes) -> str:
    """Return the text of a file: UTF-8, or UTF-16 that says so by its byte order mark; bad bytes become U+FFFD."""
    encoding = "utf-16" if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else "utf-8-sig"
    return storable(data.decode(encoding, "replace"))


def shorten(text: str, limit: int) -> str:
    """Return at most `limit` (8 or more) characters of the text, cut at a space where one is near, marked as cut."""
    if len(text) <= limit:
        return text
    room = limit - len(_ELLIPSIS)
    cut = max(text.rfind(" ", room - room // 4, room), text.rfind("\n", room - room // 4, room))
    return text[: cut if cut > 0 else room].rstrip() + _ELLIPSIS
