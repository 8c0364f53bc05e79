"""Every named query compiles against a migrated graph, is used, and declares its parameters."""

from __future__ import annotations

from pathlib import Path

import kuzu
import pytest

from helix import resources
from helix.graph import queries
from helix.graph.kuzu_engine import KuzuEngine, KuzuOptions

ROOT = Path(__file__).resolve().parents[2]


def write(folder: Path, text: str) -> Path:
    (folder / "q.cypher").write_text(text)
    return folder


def test_a_duplicate_name_is_refused(tmp_path: Path) -> None:
    twice = "// name: a\n// params:\nRETURN 1;\n" * 2
    with pytest.raises(queries.QueryFileError, match="used twice"):
        queries.load(write(tmp_path, twice))


@pytest.mark.parametrize("header", ["// params:", "// params: x, y"])
def test_parameters_have_to_be_declared_and_used(tmp_path: Path, header: str) -> None:
    with pytest.raises(queries.QueryFileError, match="declares"):
        queries.load(write(tmp_path, f"// name: a\n{header}\nRETURN $x;\n"))


def test_a_query_written_out_goes_before_one_from_a_pattern(tmp_path: Path) -> None:
    pattern = "// name: count_{label}\n// params:\nMATCH (n:{label}) RETURN 1;\n"
    found = queries.load(write(tmp_path, pattern + "// name: count_Memory\n// params:\nRETURN 2;\n"))
    assert found["count_Memory"] == "RETURN 2;"
    assert "Episode" in found["count_Episode"]


def test_every_query_is_understood_by_a_migrated_graph(tmp_path: Path) -> None:
    from helix.graph.build import build

    path = tmp_path / "g.kuzu"
    options = KuzuOptions(buffer_pool_bytes=64 << 20, max_db_bytes=1 << 30)
    build(path, (), seq=0, store_id="s", dimension=4, total=0, options=options, progress=lambda *_: None)
    database = kuzu.Database(str(path), buffer_pool_size=64 << 20, max_db_size=1 << 30)
    connection = kuzu.Connection(database)
    for name, text in queries.load(resources.directory("queries"), {"dimension": "4"}).items():
        connection.execute(f"EXPLAIN {text}", _sample(name, text))
    connection.close()
    database.close()


def _sample(name: str, text: str) -> dict[str, object]:
    values: dict[str, object] = {
        "key": "k",
        "value": "v",
        "name": "n",
        "hash": "h",
        "after": "",
        "number": 1,
        "limit": 5,
        "ids": ["x"],
        "k": 3,
        "efs": 10,
        "vector": [0.5, 0.5, 0.5, 0.5],
        "embedding": [0.1, 0.2, 0.3, 0.4],
    }
    return {key: values.get(key, "x") for key in queries.parameters(text)}


def test_every_query_is_used_by_name() -> None:
    code = "\n".join(path.read_text("utf-8") for path in (ROOT / "helix").rglob("*.py"))
    patterns = {"put_", "drop_", "count_", "export_", "path_"}
    for name in queries.load(resources.directory("queries")):
        if not any(name.startswith(pattern) for pattern in patterns):
            assert f'"{name}"' in code, name
    for pattern in ('f"put_{', '"put"', '"drop"', 'f"count_{', 'f"count_edges_{', 'f"export_{', 'f"path_{'):
        assert pattern in code, pattern


def test_an_engine_of_a_newer_helix_is_refused(tmp_path: Path) -> None:
    from helix.errors import StoreTooNewError

    path = tmp_path / "g.kuzu"
    engine = KuzuEngine(path, dimension=None, options=KuzuOptions(max_db_bytes=1 << 30))
    engine.fill(lambda connection: connection.execute("CREATE (:SchemaMigration {number: 9999, name: 'x', hash: 'y'})"))
    engine.close()
    with pytest.raises(StoreTooNewError):
        KuzuEngine(path, dimension=None, options=KuzuOptions(max_db_bytes=1 << 30))
