"""Plain text: reads the bytes of a file as text, bounds a text without cutting a word, and looks for whole words."""

from __future__ import annotations

import codecs
import re

from helix.text.names import clean

_ELLIPSIS = " […]"


def decode(data: bytes) -> str:
    """Return the text of a file, cleaned: UTF-8, or UTF-16 that says so by its byte order mark; bad bytes as U+FFFD."""
    encoding = "utf-16" if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else "utf-8-sig"
    return clean(data.decode(encoding, "replace"))


def shorten(text: str, limit: int) -> str:
    """Return at most `limit` (8 or more) characters of the text, cut at a space where one is near, marked as cut."""
    if len(text) <= limit:
        return text
    room = limit - len(_ELLIPSIS)
    cut = max(text.rfind(" ", room - room // 4, room), text.rfind("\n", room - room // 4, room))
    return text[: cut if cut > 0 else room].rstrip() + _ELLIPSIS


def words(*alternatives: str) -> re.Pattern[str]:
    """Return a pattern that finds any of the alternatives as whole words, upper and lower case alike."""
    return re.compile(rf"(?<!\w)(?:{'|'.join(alternatives)})(?!\w)", re.IGNORECASE)
