"""Refusals: what Kuzu raises, turned into Helix's own errors."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from helix.errors import (
    DiskFullError,
    InvalidInputError,
    QueryTimeoutError,
    StoreCorruptError,
    StoreError,
    StoreLockedError,
)

# How Kuzu's complaints about a statement, rather than about its files, begin.
_WRONG_STATEMENT = (
    "Parser exception",
    "Binder exception",
    "Catalog exception",
    "Conversion exception",
    "Runtime exception",
    "Overflow exception",
    "Buffer manager exception",
    "Parameter",
)


class OutOfMemoryError(InvalidInputError):
    """The graph's process has less memory left than what it was asked for takes."""


@contextmanager
def mapped(path: Path, *, opening: bool = False) -> Iterator[None]:
    """Turn Kuzu's errors, which are all RuntimeError or worse, into Helix's own.

    ValueError, and a text that is none (UnicodeDecodeError), come of a damaged file.
    """
    try:
        yield
    except (RuntimeError, IndexError, MemoryError, ValueError) as error:
        text = str(error)
        lowered = text.lower()
        if "could not set lock" in lowered:
            raise StoreLockedError(f"{path} is open in another process", hint="`helix status` shows which") from error
        if "no space left" in lowered or "quota exceeded" in lowered or "cannot write" in lowered:
            raise DiskFullError(
                f"no room to write {path}", hint="free some space: the journal has kept what was acknowledged"
            ) from error
        if "interrupted" in lowered:
            raise QueryTimeoutError(
                "the query ran into its time limit", hint="narrow the pattern or raise the limit"
            ) from error
        if "bad_alloc" in lowered or "mmap for size" in lowered or isinstance(error, MemoryError):
            raise OutOfMemoryError(
                "the statement needs more memory than the graph's process may have",
                hint="ask for less, or raise graph_memory_mb",
            ) from error
        if opening:
            raise StoreCorruptError(
                f"{path} cannot be opened: {text.splitlines()[0] if text else 'unreadable'}"
            ) from error
        if text.startswith(_WRONG_STATEMENT):
            raise InvalidInputError(
                text.strip(),
                hint="`:schema` in `helix cypher` lists what it may name; the language is that of Kuzu 0.11",
            ) from error
        raise StoreError(f"the graph refused: {text.strip()}", hint="`helix doctor` looks closer") from error
