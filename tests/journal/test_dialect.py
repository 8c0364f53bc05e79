"""No statement of the journal runs on a server without its tenant, or in a way that no index serves."""

from __future__ import annotations

import pytest

from helix.journal.postgres.dialect import tables, translated

UNSAFE = (
    "WITH node AS (SELECT props FROM node) SELECT props FROM node",
    "SELECT slug FROM tenant",
    "DELETE FROM process",
    "INSERT INTO meta (key, value) SELECT 'a', 'b' UNION SELECT 'c', 'd'",
)


@pytest.mark.parametrize("statement", UNSAFE)
def test_a_statement_that_may_miss_its_tenant_is_refused(statement: str) -> None:
    with pytest.raises(ValueError, match=r"tenant|names a table"):
        translated(statement)


@pytest.mark.parametrize("table", tables())
def test_each_table_is_read_changed_and_emptied_for_one_tenant(table: str) -> None:
    column = tables()[table][0]
    assert f'FROM "{table}" WHERE "tenant" = $1' in translated(f"SELECT {column} FROM {table}")
    assert f'"{table}"."tenant" = $1' in translated(f"DELETE FROM {table}")
    assert f'"{table}"."tenant" = $1' in translated(f"UPDATE {table} SET {column} = ? WHERE {column} = ?")
    assert translated(f"INSERT INTO {table} ({column}) VALUES (?)").startswith(f'INSERT INTO "{table}" ("tenant", ')
    joined = translated(f"SELECT a.{column} FROM {table} a LEFT JOIN {table} b ON a.{column} = b.{column}")
    assert joined.count('"tenant" = $1') == 2


def test_values_keep_their_order_and_texts_their_marks() -> None:
    found = translated("SELECT '?' FROM node WHERE id = ? AND label IN (?, ?) LIMIT ?")
    assert "'?'" in found
    assert found.index("$2") < found.index("$3") < found.index("$4") < found.index("$5")


def test_an_order_is_what_an_index_has() -> None:
    assert "NULLS" not in translated("SELECT seq FROM log ORDER BY seq DESC LIMIT 1")
    assert "NULLS" not in translated("SELECT seq FROM log ORDER BY seq")
