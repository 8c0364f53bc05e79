"""Plain text: bounds a text without cutting a word."""

from __future__ import annotations

_ELLIPSIS = " […]"


def shorten(text: str, limit: int) -> str:
    """Return at most `limit` (8 or more) characters of the text, cut at a space where one is near, marked as cut."""
    if len(text) <= limit:
        return text
    room = limit - len(_ELLIPSIS)
    cut = max(text.rfind(" ", room - room // 4, room), text.rfind("\n", room - room // 4, room))
    return text[: cut if cut > 0 else room].rstrip() + _ELLIPSIS
