"""Salvage ends, whatever a damaged journal says of its rows."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from helix.journal import salvage
from helix.journal.database import Database

ROW = "INSERT INTO log VALUES (?, 1, x'00', x'00', x'00', x'00')"
ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS seq, 1 AS at FROM n"


@pytest.mark.parametrize(
    "statements", [[ROW], ["DROP TABLE log", f"CREATE VIEW log AS {ENDLESS}"]], ids=["number", "view"]
)
def test_neither_a_huge_number_nor_a_view_keeps_it_at_work(tmp_path: Path, statements: list[str]) -> None:
    journal = tmp_path / "journal.db"
    Database(journal).close()
    with closing(sqlite3.connect(journal, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement, (1 << 60,) * statement.count("?"))
    assert salvage.rows_in(journal, tmp_path / "none-wal", tmp_path / "draft", 0) == []


def test_what_a_kill_left_is_in_nobodys_way(tmp_path: Path) -> None:
    journal, draft = tmp_path / "journal.db", tmp_path / "draft"
    Database(journal).close()
    draft.write_bytes(b"half a copy")
    assert salvage.rows_in(journal, tmp_path / "none-wal", draft, 0) == []
    assert not draft.exists()
