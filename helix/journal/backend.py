"""Backend: the engine that keeps a journal's tables, and what every part of the journal asks of it.

SQL is written once, in SQLite's words and within what other engines have too: rows are put by `ON CONFLICT`, lists
come as JSON (`json_each`), nothing depends on an order that is not asked for. `database.Database` is a file of SQLite.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol

from helix.model.reports import Durability


class StatementRows(Protocol):
    """What a statement found, to be read once."""

    def fetchone(self) -> Any: ...
    def fetchall(self) -> list[Any]: ...
    def fetchmany(self, size: int = ..., /) -> list[Any]: ...
    def __iter__(self) -> Iterator[Any]: ...


class DatabaseConnection(Protocol):
    """Runs statements, each with a value for every `?` in it."""

    def execute(self, statement: str, values: Sequence[Any] = ..., /) -> StatementRows: ...
    def executemany(self, statement: str, rows: Iterable[Sequence[Any]], /) -> object: ...


class Backend(Protocol):
    """The tables of one journal. Any thread reads; transactions take turns."""

    durability: Durability
    """What an acknowledged change survives, as the last transaction found it."""
    beside: Path
    """A place for files that are gone when the process is: what is replayed for a look at the past."""

    @property
    def fenced(self) -> bool:
        """Whether another process may have written the journal by now: nothing of it held in memory counts any more."""
        ...

    @property
    def closed(self) -> bool:
        """Whether nothing of the journal can be read or written any more."""
        ...

    def transaction(self, *, long: bool = False) -> AbstractContextManager[DatabaseConnection]:
        """Run a durable transaction on the journal: all of it, or nothing. A `long` one may ask nothing for minutes."""
        ...

    def reading(self) -> AbstractContextManager[DatabaseConnection]:
        """Lend a connection that reads what is committed to the journal; not to be kept."""
        ...

    def snapshot(self) -> AbstractContextManager[DatabaseConnection]:
        """Lend a connection that goes on seeing the journal as it is now."""
        ...

    def checkpoint(self) -> None:
        """Have nothing that was removed stand in a log beside the journal's tables, as far as readers allow."""
        ...

    def scrub(self) -> str:
        """Leave nothing of what was removed in the files of the journal's tables; return what may hold it still."""
        ...

    def close(self) -> None:
        """Close every connection to the journal, whichever thread opened it."""
        ...


def put(table: str, columns: Sequence[str], key: Sequence[str]) -> str:
    """Return the SQL statement that puts a row into a journal's table, in the place of the one with its key."""
    kept = ", ".join(f"{name} = excluded.{name}" for name in columns if name not in key)
    return (
        f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"
        f" ON CONFLICT ({', '.join(key)}) DO UPDATE SET {kept}"
    )
