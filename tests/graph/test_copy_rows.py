"""Rows copied into Kuzu by a Parquet file of our own: exactly what was given comes out again."""

import math
from array import array
from collections.abc import Iterator
from pathlib import Path

import kuzu
import pytest

from helix.graph.kuzu_engine import copy_in
from helix.graph.parquet import INTEGER, NUMBER, TEXT, Column, Vectors

TEXTS = (
    *("", " ", "null", "NULL", r"\N", None, "q\"uo'te", "a,b|c\td;e", "line\nline\r\n", r"back\slash\n", "nul\0inside"),
    *(
        "[1, 2]",
        "{a: 1}",
        '{"a": null}',
        "\ufeffmark",
        "é \u2028 🎈 e\u0301",
        "x" * 70_000,
        "2026-01-02T03:04:05Z",
        None,
    ),
)
INTEGERS = (0, -1, None, 2**63 - 1, -(2**63), 1_700_000_000_000_000)
NUMBERS = (0.0, -0.0, None, 0.1, 1 / 3, 5e-324, 1.7976931348623157e308, math.inf, -math.inf)
ROWS = 5_000
"""More than two pages, the last one with an odd number of rows."""


@pytest.fixture
def connection() -> Iterator[kuzu.Connection]:
    database = kuzu.Database(":memory:", buffer_pool_size=64 << 20, max_db_size=1 << 30)
    with kuzu.Connection(database) as opened:
        opened.execute(
            "CREATE NODE TABLE Thing (id STRING PRIMARY KEY, said STRING, count INT64, part DOUBLE, place FLOAT[3])"
        )
        opened.execute("CREATE REL TABLE Leads (FROM Thing TO Thing, part DOUBLE)")
        yield opened
    database.close()


def many(values: tuple[object, ...]) -> list[object]:
    return [values[row % len(values)] for row in range(ROWS)]


def test_every_value_arrives_as_it_was(connection: kuzu.Connection, tmp_path: Path) -> None:
    ids = [f"{row:06}" for row in range(ROWS)]
    said, count, part = many(TEXTS), many(INTEGERS), many(NUMBERS)
    place = [array("f", (row, -row / 7, 1e-30)).tobytes() for row in range(ROWS)]
    odd = tmp_path / "it's [a] *folder* é"
    odd.mkdir()
    columns = {
        "id": Column(TEXT, ids),
        "said": Column(TEXT, said),
        "count": Column(INTEGER, count),
        "part": Column(NUMBER, part),
        "place": Vectors(3, place),
    }
    assert copy_in(connection, "Thing", columns, odd) == ROWS
    assert list(odd.iterdir()) == []
    result = connection.execute("MATCH (t:Thing) RETURN t.id, t.said, t.count, t.part, t.place ORDER BY t.id")
    assert isinstance(result, kuzu.QueryResult)
    found = [tuple(row) for row in result.get_all()]
    assert [row[:3] for row in found] == list(zip(ids, said, count, strict=True))
    assert [repr(row[3]) for row in found] == list(map(repr, part))  # which tells 0.0 from -0.0
    assert [array("f", row[4]).tobytes() for row in found] == place


def test_columns_of_nulls_and_edges_without_an_end(connection: kuzu.Connection) -> None:
    nothing = [None] * 9
    nodes = {"id": Column(TEXT, list("abcdefghi")), "said": Column(TEXT, nothing), "count": Column(INTEGER, nothing)}
    one = {"part": Column(NUMBER, nothing), "place": Vectors(3, [bytes(12)] * 9)}
    assert copy_in(connection, "Thing", nodes | one) == 9
    edges = {
        "from": Column(TEXT, list("abx")),
        "to": Column(TEXT, list("bxa")),
        "part": Column(NUMBER, [None, 1.0, 2.0]),
    }
    assert copy_in(connection, "Leads", edges, options="from='Thing', to='Thing', ignore_errors=true") == 1
    result = connection.execute("MATCH (a)-[l:Leads]->(b) RETURN a.id, b.id, l.part, a.said, a.count")
    assert isinstance(result, kuzu.QueryResult)
    assert result.get_all() == [["a", "b", None, None, None]]
