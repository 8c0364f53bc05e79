"""Foreign database: reads tables of another program's SQLite file, of a copy that nobody else has.

The file may be anybody's. It is copied with its log and opened for reading alone. Only plain tables are read: no view,
no virtual table, no computed column; and no constraint is checked. So nothing runs that its schema says.
"""

from __future__ import annotations

import sqlite3
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from helix.errors import InvalidInputError
from helix.journal import table_check
from helix.journal.journal_copy import take

_COLUMN_LIMIT = 1 << 24


class ForeignDatabase:
    """Tables as they were when the file was copied."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        rows = connection.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'table'")
        self.tables = frozenset(str(name) for name, sql in rows if str(sql).upper().startswith("CREATE TABLE"))
        """The names of its plain tables."""

    def rows(self, table: str, wanted: Sequence[str], order: Sequence[str] = ()) -> Iterator[Mapping[str, Any]]:
        """Yield rows of a table in somebody else's SQLite file, by column.

        Of the `wanted` columns it gives those that the table has; rows are sorted by those of `order`.
        """
        if table not in self.tables:
            return
        self._check(table)
        has = {str(row[1]) for row in self._connection.execute(f"PRAGMA table_info({_quoted(table)})")}
        columns = [name for name in wanted if name in has]
        ordered = [_quoted(name) for name in order if name in has]
        behind = f" ORDER BY {', '.join(ordered)}" if ordered else ""
        names = ", ".join(map(_quoted, columns))
        for row in self._connection.execute(f"SELECT {names} FROM {_quoted(table)}{behind}"):
            yield dict(zip(columns, row, strict=True))

    def _check(self, table: str) -> None:
        """Raise sqlite3.DatabaseError for a table whose columns are computed, or that is damaged.

        What a file has computed may take for ever, and so may pages that come again and again.
        """
        if table_check.computes(self._connection, table):
            raise sqlite3.DatabaseError(f"the table {table} has computed columns")
        (found,) = self._connection.execute(f"PRAGMA quick_check({_quoted(table)})").fetchmany(1)
        if found[0] != "ok":
            raise sqlite3.DatabaseError(f"the table {table} is damaged")


@contextmanager
def foreign_database(path: Path) -> Iterator[ForeignDatabase]:
    """Lend a database of another program's SQLite file; raises InvalidInputError where it cannot be read."""
    with tempfile.TemporaryDirectory(prefix="helix-import-") as folder:
        copy = Path(folder) / "database"
        try:
            take(path, copy, in_use=True)
            with closing(sqlite3.connect(copy, isolation_level=None)) as connection:
                table_check.harden(connection)
                connection.execute("PRAGMA query_only = ON")
                connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _COLUMN_LIMIT)
                connection.text_factory = lambda data: data.decode("utf-8", "replace")
                database = ForeignDatabase(connection)
                if sys.platform != "win32":
                    for file in Path(folder).iterdir():
                        file.unlink()  # it is open: what is killed from here on leaves nothing behind
                yield database
        except (sqlite3.Error, OSError) as error:
            hint = "close the program that writes it, and try again"
            raise InvalidInputError(f"{path} cannot be read as a database: {error}", hint=hint) from error


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
