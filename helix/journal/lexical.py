"""The lexical index: BM25 over code-aware tokens in SQLite's FTS5, kept in the journal's own transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from helix.journal.database import Database


class LexicalIndex:
    """Searches passages by tokens. Tokens consist of letters, digits and `_` only (see `helix.text.tokens`)."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def put(self, connection: sqlite3.Connection, number: int, tokens: Sequence[str]) -> None:
        """Index a passage, replacing what its number held."""
        remove(connection, number)
        connection.execute("INSERT INTO lexical (rowid, tokens) VALUES (?, ?)", (number, " ".join(tokens)))

    def search(self, terms: Sequence[str]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float32]]:
        """Return (passage numbers, BM25 scores, higher is better) of every passage with any of the terms, unsorted.

        All matches come back, so that a filter applied behind it loses nothing. BM25 as FTS5 has it: k1 1.2, b 0.75.
        """
        if not terms:
            return np.empty(0, np.int64), np.empty(0, np.float32)
        match = " OR ".join(f'"{term}"' for term in terms)
        with self._database.reading() as connection:
            rows = connection.execute(
                "SELECT rowid, bm25(lexical) FROM lexical WHERE lexical MATCH ?", (match,)
            ).fetchall()
        if not rows:
            return np.empty(0, np.int64), np.empty(0, np.float32)
        numbers, scores = zip(*rows, strict=True)
        return np.array(numbers, np.int64), -np.array(scores, np.float32)

    def document_frequency(self, terms: Sequence[str]) -> dict[str, int]:
        """Return in how many passages each term occurs; terms that occur nowhere are left out."""
        found = {}
        with self._database.reading() as connection:
            for term in terms:
                row = connection.execute("SELECT doc FROM lexical_terms WHERE term = ?", (term,)).fetchone()
                if row is not None:
                    found[term] = int(row[0])
        return found


def remove(connection: sqlite3.Connection, number: int) -> None:
    """Take a passage out of the index."""
    connection.execute("DELETE FROM lexical WHERE rowid = ?", (number,))
