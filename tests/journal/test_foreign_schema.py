"""A journal or backup from elsewhere: triggers, views and tables that Helix did not make are refused, and never run."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from helix.errors import HelixError
from helix.journal import journal_copy
from helix.journal.database import Database, make_tables

CRAFTED = {
    "trigger": "CREATE TRIGGER planted AFTER INSERT ON log BEGIN DELETE FROM node; END",
    "view": "CREATE VIEW planted AS SELECT * FROM log",
    "table": "CREATE TABLE planted (x)",
    "index": "CREATE INDEX planted ON node (props)",
    "virtual table": "CREATE VIRTUAL TABLE planted USING fts5(x)",
}


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    path = tmp_path / "journal.db"
    Database(path).close()
    return path


def craft(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)


@pytest.mark.parametrize(("kind", "statement"), CRAFTED.items(), ids=CRAFTED)
def test_what_helix_did_not_make_is_refused_by_name(journal: Path, kind: str, statement: str) -> None:
    craft(journal, statement)
    for opened in (lambda: Database(journal), lambda: journal_copy.check(journal)):
        with pytest.raises(HelixError, match=r"holds the (virtual )?(trigger|view|table|index) 'planted") as refused:
            opened()
        assert str(journal) in refused.value.message
        assert refused.value.hint == "name a journal or backup that Helix wrote"


@pytest.mark.parametrize("name", ["sqlite_stat9", "sqlite_autoindex_log_9"])
def test_a_name_of_sqlite_s_own_is_no_way_in(journal: Path, name: str) -> None:
    """An index on an expression is computed at every write."""
    renamed = f"name = '{name}', sql = replace(sql, 'planted', '{name}')"
    craft(
        journal,
        "CREATE INDEX planted ON log (length(printf('%.*c', 30000000, 'x') || seq))",
        "PRAGMA writable_schema = ON",
        f"UPDATE sqlite_schema SET {renamed} WHERE name = 'planted'",
    )
    for opened in (lambda: Database(journal), lambda: journal_copy.check(journal)):
        with pytest.raises(HelixError, match=f"holds the index '{name}'"):
            opened()


def test_statistics_of_sqlite_are_no_fault(journal: Path) -> None:
    craft(journal, "ANALYZE")
    Database(journal).close()


def test_a_table_that_is_not_as_helix_makes_it_is_refused(journal: Path) -> None:
    craft(journal, "DROP TABLE undone", "CREATE TABLE undone (job TEXT PRIMARY KEY, seq INTEGER, at INTEGER, more)")
    with pytest.raises(HelixError, match="holds the table 'undone'"):
        Database(journal)
    craft(journal, "DROP TABLE undone")
    with pytest.raises(HelixError, match="lacks the table undone"):
        journal_copy.check(journal)


def test_a_view_in_the_place_of_what_is_looked_at_first_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    craft(path, "CREATE VIEW migration AS SELECT 1 AS number, 'x' AS hash")
    with pytest.raises(HelixError, match="holds the view 'migration'"):
        Database(path)


def test_a_column_that_is_computed_is_refused_before_it_is_read(journal: Path) -> None:
    """What the migrations have is read before the tables are compared; here that would end in an error of SQLite's."""
    made = "CREATE TABLE migration (number INTEGER PRIMARY KEY, name, hash AS (abs(-9223372036854775807 - 1)))"
    craft(journal, "PRAGMA writable_schema = ON", f"UPDATE sqlite_schema SET sql = '{made}' WHERE name = 'migration'")
    for opened in (lambda: Database(journal), lambda: journal_copy.check(journal)):
        with pytest.raises(HelixError, match="holds the table 'migration'"):
            opened()


def test_a_restore_takes_rows_and_not_the_file(journal: Path, tmp_path: Path) -> None:
    """Whatever else a file holds in its pages stays behind: only rows are copied, into tables that Helix makes."""
    craft(journal, "INSERT INTO meta VALUES ('told', 'yes')", "PRAGMA user_version = 4711")
    journal_copy.copy_checked(journal, tmp_path / "copy.db")
    with closing(sqlite3.connect(tmp_path / "copy.db")) as copy:
        assert copy.execute("SELECT value FROM meta WHERE key = 'told'").fetchone() == ("yes",)
        assert copy.execute("PRAGMA user_version").fetchone() == (0,)
        (told,) = copy.execute("SELECT count(*) FROM migration").fetchone()
        assert told == 8
    Database(tmp_path / "copy.db").close()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["copy.db", "journal.db"]


@pytest.mark.parametrize("numbers", [[1], [1, 2], [1, 2, 3], [*range(1, 8)]])
def test_a_journal_of_an_earlier_helix_is_opened(tmp_path: Path, numbers: list[int]) -> None:
    path = tmp_path / "journal.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        make_tables(connection, numbers)
    Database(path).close()
    journal_copy.check(path)
