"""The token store: each passage's code-aware tokens, kept in the journal's own transaction.

The words that recall searches are held in memory (`helix.store.bm25`) and loaded from here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from helix.journal.backend import Connection
from helix.journal.backend import put as put_statement

_BATCH = 4096


def put(connection: Connection, tokens: Iterable[tuple[int, str]]) -> None:
    """Store passages' tokens, joined by blanks, by number, replacing what a number held."""
    connection.executemany(put_statement("token", ("number", "tokens"), ("number",)), tokens)


def read(connection: Connection) -> Iterator[tuple[Sequence[int], Sequence[bytes]]]:
    """Yield every passage's number and tokens, by number, in batches; the tokens in UTF-8, joined by blanks."""
    rows = connection.execute("SELECT number, CAST(tokens AS BLOB) FROM token ORDER BY number")
    while batch := rows.fetchmany(_BATCH):
        numbers, texts = zip(*batch, strict=True)
        yield numbers, texts
