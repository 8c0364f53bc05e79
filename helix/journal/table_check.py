"""The schema of a journal's file: nothing but Helix's own tables may be in it.

A file of SQLite can carry triggers, views and virtual tables, which run when it is read or written. A journal or backup
from elsewhere may be such a file, so a file is compared with what the migrations make before anything else is done with
it, and a backup is not copied as a file: its rows are.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection
from contextlib import closing
from functools import cache
from pathlib import Path

from helix.errors import StoreError

_STATISTICS = frozenset({("table", "sqlite_stat1"), ("table", "sqlite_stat4")})
"""What `ANALYZE` makes."""

Make = Callable[[sqlite3.Connection, Collection[int] | None], object]
"""Applies the migrations of these numbers, or all of them, to an empty file."""


def harden(connection: sqlite3.Connection) -> None:
    """Have SQLite trust nothing that a journal's file says of itself."""
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA cell_size_check = ON")
    connection.execute("PRAGMA ignore_check_constraints = ON")


def check_objects(connection: sqlite3.Connection, path: Path) -> None:
    """Raise StoreError for a trigger, view, virtual table or computed column that no journal migration made."""
    for kind, name, sql in connection.execute("SELECT type, name, sql FROM sqlite_master"):
        virtual = kind == "table" and str(sql).upper().split()[1:2] == ["VIRTUAL"]
        foreign = virtual and not name.startswith("lexical")
        if kind not in ("table", "index") or foreign:
            raise _foreign(path, "virtual table" if foreign else str(kind), str(name))
        if kind == "table" and not virtual and computes(connection, name):
            raise _foreign(path, str(kind), str(name))


def computes(connection: sqlite3.Connection, table: str) -> bool:
    """Return whether a table of a journal's file has computed columns: reading them runs what the file says."""
    found = connection.execute("SELECT 1 FROM pragma_table_xinfo(?) WHERE hidden IN (2, 3)", (table,))
    return found.fetchone() is not None


def check_schema(connection: sqlite3.Connection, path: Path, applied: Collection[int], make: Make) -> None:
    """Raise StoreError where a journal's tables and indexes are not those that its applied migrations make."""
    expected = _expected(frozenset(applied), make)
    found = _objects(connection)
    for (kind, name), sql in found.items():
        if expected.get((kind, name)) != sql and (kind, name) not in _STATISTICS:
            raise _foreign(path, kind, name)
    if lacking := sorted(expected.keys() - found.keys()):
        raise StoreError(f"{path} lacks the {' '.join(lacking[0])}: it is not a journal of Helix", hint=_HINT)


def copy_rows(source: Path, target: Path, applied: Collection[int], make: Make) -> None:
    """Fill `target`, a new journal of Helix's own tables, with the rows of a journal's file that was checked."""
    with closing(sqlite3.connect(target.absolute().as_uri(), uri=True, isolation_level=None)) as copy:
        harden(copy)
        make(copy, applied)
        copy.execute("ATTACH ? AS source", (f"{source.absolute().as_uri()}?mode=ro",))
        copy.execute("BEGIN")
        for name in _tables(copy):
            columns = ", ".join(f'"{row[1]}"' for row in copy.execute(f'PRAGMA main.table_info("{name}")'))
            copy.execute(f'DELETE FROM main."{name}"')
            copy.execute(f'INSERT INTO main."{name}" ({columns}) SELECT {columns} FROM source."{name}"')
        copy.execute("COMMIT")
        copy.execute("DETACH source")


_HINT = "name a journal or backup that Helix wrote"


def _foreign(path: Path, kind: str, name: str) -> StoreError:
    return StoreError(f"{path} holds the {kind} {name!r}, which Helix did not make: it is not opened", hint=_HINT)


def _tables(connection: sqlite3.Connection) -> list[str]:
    rows = connection.execute("SELECT name FROM main.sqlite_master WHERE type = 'table' AND sql NOT LIKE '%VIRTUAL%'")
    return [name for (name,) in rows if not name.startswith("sqlite_")]


def _objects(connection: sqlite3.Connection) -> dict[tuple[str, str], str]:
    """Return the text of every object of a file by type and name; SQLite quotes a name or does not."""
    rows = connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_master")
    return {(kind, name): f"{table}: {_plain(str(sql))}" for kind, name, table, sql in rows}


def _plain(sql: str) -> str:
    return " ".join(sql.replace('"', "").split())


@cache
def _expected(applied: frozenset[int], make: Make) -> dict[tuple[str, str], str]:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as empty:
        make(empty, applied)
        return _objects(empty)
