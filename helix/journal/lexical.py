"""The token store: each passage's code-aware tokens, kept in the journal's own transaction.

The words that recall searches are held in memory (`helix.store.bm25`) and loaded from here.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence

_BATCH = 4096


def put(connection: sqlite3.Connection, tokens: Iterable[tuple[int, str]]) -> None:
    """Store passages' tokens, joined by blanks, by number, replacing what a number held."""
    connection.executemany("INSERT OR REPLACE INTO token VALUES (?, ?)", tokens)


def remove(connection: sqlite3.Connection, number: int) -> None:
    """Take a passage's tokens out."""
    connection.execute("DELETE FROM token WHERE number = ?", (number,))


def read(connection: sqlite3.Connection) -> Iterator[tuple[Sequence[int], Sequence[bytes]]]:
    """Yield every passage's number and tokens, by number, in batches; the tokens in UTF-8, joined by blanks."""
    rows = connection.execute("SELECT number, CAST(tokens AS BLOB) FROM token ORDER BY number")
    while batch := rows.fetchmany(_BATCH):
        numbers, texts = zip(*batch, strict=True)
        yield numbers, texts
