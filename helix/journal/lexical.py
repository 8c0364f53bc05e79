"""The token store: each passage's code-aware tokens in SQLite's FTS5, kept in the journal's own transaction.

The words that recall searches are held in memory (`helix.store.words`) and loaded from here.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence

_BATCH = 4096


def put(connection: sqlite3.Connection, number: int, tokens: Sequence[str]) -> None:
    """Store a passage's tokens, which hold no blanks, replacing what its number held."""
    remove(connection, number)
    connection.execute("INSERT INTO lexical (rowid, tokens) VALUES (?, ?)", (number, " ".join(tokens)))


def remove(connection: sqlite3.Connection, number: int) -> None:
    """Take a passage's tokens out."""
    connection.execute("DELETE FROM lexical WHERE rowid = ?", (number,))


def read(connection: sqlite3.Connection) -> Iterator[tuple[Sequence[int], Sequence[bytes]]]:
    """Yield every passage's number and tokens, by number, in batches; the tokens in UTF-8, joined by blanks."""
    # FTS5's own table of contents (section 9 of its manual) is read straight: its rows in order, nothing decoded.
    rows = connection.execute("SELECT id, CAST(c0 AS BLOB) FROM lexical_content ORDER BY id")
    while batch := rows.fetchmany(_BATCH):
        numbers, texts = zip(*batch, strict=True)
        yield numbers, texts
