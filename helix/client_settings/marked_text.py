"""Marked text: a block between two marks in a file of prose (AGENTS.md), put in, renewed and taken out."""

from __future__ import annotations

import re

BEGIN, END = "<!-- helix: begin -->", "<!-- helix: end -->"

_BLOCK = re.compile(rf"(?:(?<=\n)\n)?{re.escape(BEGIN)}\n(.*?)\n?{re.escape(END)}(?:\n|\Z)", re.DOTALL)


def parse(text: str) -> dict[str, str]:
    """Return Helix's block in an agents' file of prose, and all the rest. Raises ValueError for marks out of order."""
    text = text.replace("\r\n", "\n")
    if (text.count(BEGIN), text.count(END)) not in {(0, 0), (1, 1)} or len(_BLOCK.findall(text)) != text.count(BEGIN):
        raise ValueError(f"it holds {BEGIN!r} and {END!r} in no order")
    block = _BLOCK.search(text)
    return {"rest": _BLOCK.sub("", text).rstrip("\n"), **({"helix": block[1]} if block else {})}


def set_block(text: str, block: str) -> str:
    """Return an agents' file of prose with Helix's block at its end, or where one of ours stands."""
    whole = f"{BEGIN}\n{block}\n{END}\n"
    if (there := _BLOCK.search(text)) is not None:
        lead = "\n" if there[0].startswith("\n") else ""
        return f"{text[: there.start()]}{lead}{whole}{text[there.end() :]}"
    return f"{text}{'' if text.endswith(chr(10)) or not text else chr(10)}{chr(10) * bool(text.strip())}{whole}"


def drop_block(text: str) -> str:
    """Return an agents' file of prose without Helix's block and the empty line before it."""
    return _BLOCK.sub("", text, count=1)
