"""JSON lines on their way to the daemon: read in bounded memory, whatever the input, and cut into chunks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

CHUNK_LINES = 200
CHUNK_BYTES = 100_000
"""A chunk is embedded within one request: on a slow machine this many bytes take seconds, not the whole time limit."""

LINE_BYTES = 3_000_000
"""Longest line, as it is sent: with its envelope it still fits into one request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """Lines that follow each other, the number of the first, and what was refused just behind them.

    `bytes_read` counts from the start of the input. `problems` are (place, reason).
    """

    lines: tuple[str, ...]
    first_line: int
    bytes_read: int
    problems: tuple[tuple[str, str], ...] = ()


def chunks(stream: BinaryIO) -> Iterator[Chunk]:
    """Yield the lines of a stream in chunks of at most CHUNK_LINES and, unless one line is longer, CHUNK_BYTES.

    A line that is not UTF-8, or longer than LINE_BYTES, is left out and named; memory stays bounded even when the
    input has no line breaks at all.
    """
    lines: list[str] = []
    first, number, held, position = 1, 0, 0, 0
    while raw := stream.readline(LINE_BYTES + 1):
        number += 1
        before, position = position, position + len(raw)
        whole = raw.endswith(b"\n") or len(raw) <= LINE_BYTES
        if not whole:
            position += _skip_line(stream)
        line, sent, problem = _decoded(raw) if whole else ("", 0, f"longer than {LINE_BYTES:,} bytes")
        if problem:
            yield Chunk(
                lines=tuple(lines), first_line=first, bytes_read=position, problems=((f"line {number}", problem),)
            )
            lines, first, held = [], number + 1, 0
            continue
        if lines and (len(lines) == CHUNK_LINES or held + sent > CHUNK_BYTES):
            yield Chunk(lines=tuple(lines), first_line=first, bytes_read=before)
            lines, first, held = [], number, 0
        lines.append(line)
        held += sent
    if lines:
        yield Chunk(lines=tuple(lines), first_line=first, bytes_read=position)


def _decoded(raw: bytes) -> tuple[str, int, str]:
    """Return the line, its size as it is sent, and what is wrong with it ("" when nothing is)."""
    try:
        line = raw.decode("utf-8").strip("\ufeff\r\n")
    except UnicodeDecodeError:
        return "", 0, "not UTF-8 text"
    sent = len(json.dumps(line))
    return line, sent, "" if sent <= LINE_BYTES else f"longer than {LINE_BYTES:,} bytes as it is sent"


def _skip_line(stream: BinaryIO) -> int:
    """Read to the end of the line and return how many bytes that took."""
    skipped = 0
    while rest := stream.readline(CHUNK_BYTES):
        skipped += len(rest)
        if rest.endswith(b"\n"):
            break
    return skipped
