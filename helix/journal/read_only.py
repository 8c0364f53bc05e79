"""The journal as another process sees it: it reads, and never writes."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from helix.journal.backend import DatabaseConnection
from helix.journal.database import mapped
from helix.journal.log import read_chain, read_rows, unreadable_rows
from helix.journal.state import Snapshot
from helix.model.operations import Operation, Row

_TIMEOUT_SECONDS = 30
_DANGLING = """
    SELECT type, count(*) FROM edge e
    WHERE NOT EXISTS (SELECT 1 FROM node n WHERE n.label = e.source_label AND n.id = e.source)
       OR NOT EXISTS (SELECT 1 FROM node n WHERE n.label = e.target_label AND n.id = e.target)
    GROUP BY type
"""


class JournalView:
    """The journal at one moment: rows, state and counts agree with each other."""

    def __init__(self, connection: DatabaseConnection) -> None:
        self._connection = connection

    @property
    def store_id(self) -> str:
        """The id of the store that the journal belongs to."""
        return str(self._connection.execute("SELECT value FROM meta WHERE key = 'store_id'").fetchone()[0])

    @property
    def last_seq(self) -> int:
        """The sequence number of the newest row of the journal that is looked at; 0 when there is none."""
        return int(self._connection.execute("SELECT coalesce(max(seq), 0) FROM log").fetchone()[0])

    @property
    def dimension(self) -> int | None:
        """The dimension of the journal's active embedding space, or None while there is none."""
        row = self._connection.execute("SELECT dimension FROM space WHERE active").fetchone()
        return None if row is None else int(row[0])

    def chain_at(self, seq: int) -> str:
        """Return what `Journal.chain_at` does."""
        return read_chain(self._connection, seq)

    def rows(self, after: int, limit: int) -> list[Row]:
        """Return what `Journal.rows` does."""
        return read_rows(self._connection, after, limit)

    def unreadable(self, after: int, limit: int) -> list[int]:
        """Return what `Journal.unreadable` does."""
        return unreadable_rows(self._connection, after, limit)

    def operations(self) -> Iterator[Operation]:
        """Yield the journal's whole state: nodes, then edges, then passages with vectors in the active space."""
        yield from Snapshot(self._connection).operations()

    def size(self) -> int:
        """Return how many nodes, edges and passages the journal's state holds together."""
        tables = ("node", "edge", "passage")
        return sum(int(self._connection.execute(f"SELECT count(*) FROM {name}").fetchone()[0]) for name in tables)

    def counts(self) -> dict[str, int]:
        """Return how many nodes of each label, edges of each type, and vectors the journal's state holds."""
        grouped = (
            "SELECT label, count(*) FROM node GROUP BY label UNION ALL SELECT type, count(*) FROM edge GROUP BY type"
        )
        counted = {str(name): int(number) for name, number in self._connection.execute(grouped)}
        (counted["passages"],) = self._connection.execute(
            "SELECT count(*) FROM vector v JOIN passage p ON p.number = v.number"
            " WHERE v.space = (SELECT id FROM space WHERE active)"
        ).fetchone()
        return counted

    def dangling(self) -> dict[str, int]:
        """Return by type how many edges of the journal's state lack an end: no graph can hold those."""
        return {str(name): int(number) for name, number in self._connection.execute(_DANGLING)}


class JournalReader:
    """Reads a journal that another process writes."""

    def __init__(
        self,
        snapshot: Callable[[], AbstractContextManager[DatabaseConnection]],
        close: Callable[[], None] = lambda: None,
    ) -> None:
        """`snapshot` lends a connection that sees the journal as it is then; `close` ends what lends it."""
        self._snapshot = snapshot
        self.close = close

    @contextmanager
    def look(self) -> Iterator[JournalView]:
        """Lend the journal as it is now; short looks let SQLite fold its log in."""
        with self._snapshot() as connection:
            yield JournalView(connection)


def file_reader(path: Path) -> JournalReader:
    """Return a reader of the journal at `path`; raises the StoreError that `mapped` makes of what SQLite says."""
    with mapped(path):
        # Not `rw`: who closes as the last one that seems to have it open folds SQLite's log in, and removes it.
        connection = sqlite3.connect(
            f"{path.absolute().as_uri()}?mode=ro", uri=True, isolation_level=None, timeout=_TIMEOUT_SECONDS
        )
        connection.execute("PRAGMA query_only = ON")

    @contextmanager
    def snapshot() -> Iterator[DatabaseConnection]:
        with mapped(path):
            connection.execute("BEGIN")
            try:
                yield connection
            finally:
                connection.execute("ROLLBACK")

    return JournalReader(snapshot, connection.close)
