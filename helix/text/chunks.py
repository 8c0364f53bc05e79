"""Chunks: cuts long text into pieces an embedding model reads whole, at the gentlest boundary there is."""

from __future__ import annotations

import re

CHUNK_CHARACTERS = 1_600
MOST_CHUNKS = 64

_BOUNDARIES = tuple(re.compile(pattern) for pattern in (r"\n\s*\n", r"\n", r"(?<=[.!?\u3002\uff01\uff1f])\s+", r"\s+"))
# A boundary in the first half of the window would make a piece that says little.
_EARLIEST = 0.5


def chunks(text: str, size: int = CHUNK_CHARACTERS) -> list[str]:
    """Return the text in pieces of at most `size` characters, nothing but white space lost between them.

    Cuts at paragraphs, else lines, else sentences, else words, else anywhere. Text behind the last of MOST_CHUNKS
    pieces stays in that piece.
    """
    pieces: list[str] = []
    rest = text.strip()
    while len(rest) > size and len(pieces) < MOST_CHUNKS - 1:
        cut = _cut(rest, size)
        pieces.append(rest[:cut].rstrip())
        rest = rest[cut:].lstrip()
    return [*pieces, rest] if rest else pieces


def _cut(text: str, size: int) -> int:
    for boundary in _BOUNDARIES:
        ends = [match.end() for match in boundary.finditer(text, int(size * _EARLIEST), size)]
        if ends:
            return ends[-1]
    return size
