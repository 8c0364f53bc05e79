"""What every graph engine has to keep; parametrised over the engines there are."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helix.errors import GraphUnavailableError, HelixError, InvalidInputError, QueryTimeoutError
from helix.graph.build import NODE_GROUP_ROWS, build, pool_bytes
from helix.graph.kuzu_engine import KuzuEngine, KuzuOptions
from helix.graph.on_disk import files_of
from helix.model.edge import Edge, Label, Ref, Relation
from helix.model.entity import Entity, EntityKind
from helix.model.memory import Kind, Memory
from helix.model.operations import DropEdge, DropNode, DropPassage, Operation, PutPassage
from helix.model.records import node_from, put_edge, put_record
from helix.model.task import Task

DIMENSION = 8
NOW = datetime(2026, 1, 1, tzinfo=UTC)
SMALL = KuzuOptions(buffer_pool_bytes=64 << 20, max_db_bytes=1 << 30, reopen_after=5)

Open = Callable[[], KuzuEngine]


def memory(name: str, **fields: Any) -> Memory:
    return Memory(id=name, name=name, kind=Kind.FACT, trigger="t", resolution="r", recorded_at=NOW, **fields)


def ref(name: str, label: Label = Label.MEMORY) -> Ref:
    return Ref(label=label, id=name)


def edge(source: str, target: str, kind: Relation = Relation.SOLVES, weight: float = 1.0) -> Operation:
    return put_edge(Edge(type=kind, source=ref(source), target=ref(target), created_at=NOW, weight=weight))


def passage(owner: str, *values: float, number: int = 1) -> PutPassage:
    vector = np.zeros(DIMENSION, np.float32)
    vector[: len(values)] = values
    return PutPassage(id=f"{owner}#0", number=number, owner=ref(owner), text=owner, vector=vector.tobytes())


@pytest.fixture(params=["kuzu"])
def open_engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Open]:
    path = tmp_path / "graph.kuzu"
    build(
        path,
        (),
        seq=0,
        store_id="s",
        dimension=DIMENSION,
        total=0,
        options=SMALL,
        progress=lambda stage, done, total: None,
    )
    opened: list[KuzuEngine] = []

    def open_it() -> KuzuEngine:
        opened.append(KuzuEngine(path, dimension=DIMENSION, options=SMALL))
        return opened[-1]

    yield open_it
    for engine in opened:
        engine.close()


@pytest.fixture
def engine(open_engine: Open) -> KuzuEngine:
    return open_engine()


def count(engine: KuzuEngine, name: str) -> int:
    return int(engine.read(f"count_{name}")[0]["count"])


def test_applying_twice_is_applying_once(engine: KuzuEngine) -> None:
    batch = [
        put_record(memory("a")),
        put_record(memory("b")),
        edge("a", "b"),
        passage("a", 1),
        passage("b", 0, 1, number=2),
    ]
    engine.apply(batch, 1)
    engine.apply(batch, 1)
    assert (count(engine, "Memory"), count(engine, "edges_SOLVES"), count(engine, "passages")) == (2, 1, 2)
    assert engine.applied_seq() == 1


def test_every_property_of_a_node_is_kept(engine: KuzuEngine) -> None:
    full = memory("a", helped=0.5, uses=3, valid_from=NOW, attributes={"k": "ü 'quote\" \n"}, source="x")
    engine.apply([put_record(full)], 1)
    (row,) = engine.export("Memory")
    assert node_from(Label.MEMORY, row["id"], row) == full


def test_later_operations_of_a_batch_win(engine: KuzuEngine) -> None:
    engine.apply(
        [put_record(memory("a", uses=1)), put_record(memory("b")), edge("a", "b"), put_record(memory("a", uses=2))], 1
    )
    engine.apply([edge("a", "b", weight=3.0), DropEdge(type=Relation.SOLVES, source=ref("a"), target=ref("b"))], 2)
    assert next(iter(engine.export("Memory")))["uses"] == 2
    assert count(engine, "edges_SOLVES") == 0


def test_a_dropped_passage_is_not_found_and_a_replaced_one_by_its_new_vector(engine: KuzuEngine) -> None:
    engine.apply([put_record(memory("a")), put_record(memory("b")), passage("a", 1), passage("b", 0, 1, number=2)], 1)
    assert [found for found, _ in engine.vector_search([1, 0] + [0] * 6, 5)] == ["a#0", "b#0"]
    engine.apply([DropPassage(id="a#0"), passage("b", 0, 0, 1, number=3)], 2)
    ((found, cosine),) = engine.vector_search([0, 0, 1] + [0] * 5, 5)
    assert found == "b#0"
    assert cosine == pytest.approx(1.0, abs=1e-5)


def test_search_works_again_after_every_passage_was_dropped(engine: KuzuEngine) -> None:
    engine.apply([put_record(memory("a")), passage("a", 1)], 1)
    engine.apply([DropPassage(id="a#0")], 2)
    assert engine.vector_search([1] + [0] * 7, 3) == []
    engine.apply([passage("a", 1, number=2)], 3)
    assert [found for found, _ in engine.vector_search([1] + [0] * 7, 3)] == ["a#0"]


def test_the_applied_row_and_the_data_survive_reopening(engine: KuzuEngine, open_engine: Open) -> None:
    for seq in range(1, 13):  # folds its log in twice on the way
        engine.apply([put_record(memory(f"m{seq}")), passage(f"m{seq}", seq, 1, number=seq)], seq)
    engine.close()
    again = open_engine()
    assert again.applied_seq() == 12
    assert (count(again, "Memory"), count(again, "passages")) == (12, 12)
    assert len(again.vector_search([1, 1] + [0] * 6, 20)) == 12


def log_bytes(path: Path) -> int:
    wal = files_of(path)[1]
    return wal.stat().st_size if wal.exists() else 0


def test_the_log_is_folded_in_before_the_file_is_closed_which_would_hold_every_thread(
    engine: KuzuEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    left: list[int] = []
    close = KuzuEngine._close

    def noted(closing: KuzuEngine) -> None:
        left.append(log_bytes(closing.path))
        close(closing)

    monkeypatch.setattr(KuzuEngine, "_close", noted)
    for seq in range(1, SMALL.reopen_after + 2):
        engine.apply([put_record(memory(f"m{seq}")), passage(f"m{seq}", 1, number=seq)], seq)
    assert log_bytes(engine.path) > 0
    engine.close()
    assert left == [0, 0]
    assert log_bytes(engine.path) == 0


def test_nodes_of_every_label_and_edges_between_unlike_labels(engine: KuzuEngine) -> None:
    task = Task(id="t", objective="o", recorded_at=NOW)
    entity = Entity(id="e", kind=EntityKind.FILE, name="src/a.c")
    injected = put_edge(
        Edge(
            type=Relation.INJECTED,
            source=ref("t", Label.TASK),
            target=ref("a"),
            created_at=NOW,
            attributes={"rank": 2, "arm": "vector", "outcome": "delivered"},
        )
    )
    touches = put_edge(Edge(type=Relation.TOUCHES, source=ref("a"), target=ref("e", Label.ENTITY), created_at=NOW))
    engine.apply([put_record(memory("a")), put_record(task), put_record(entity), injected, touches], 1)
    asked = "MATCH (t:Task)-[i:INJECTED]->(m:Memory)-[:TOUCHES]->(f) RETURN i.rank, i.arm, i.outcome, m.name, f.name"
    columns, rows, more = engine.cypher(asked, {}, timeout_ms=5_000, limit=10)
    assert (columns[0], rows, more) == ("i.rank", [[2, "vector", "delivered", "a", "src/a.c"]], False)


def test_a_graph_built_from_a_state_equals_one_it_was_applied_to(engine: KuzuEngine, tmp_path: Path) -> None:
    state: list[Operation] = [put_record(memory(f"m{n}", source='line\nbreak, "quote"')) for n in range(30)]
    state += [edge(f"m{n}", f"m{n + 1}") for n in range(20)]
    state += [passage(f"m{n}", n + 1, 1, number=n + 1) for n in range(30)]
    engine.apply(state, 7)
    path = tmp_path / "built.kuzu"
    stages = set[str]()
    build(
        path,
        state,
        seq=7,
        store_id="s",
        dimension=DIMENSION,
        total=len(state),
        options=SMALL,
        progress=lambda stage, done, total: stages.add(stage),
    )
    built = KuzuEngine(path, dimension=DIMENSION, options=SMALL)
    try:
        assert list(built.export("Memory")) == list(engine.export("Memory"))
        assert built.applied_seq() == 7
        for name in ("edges_SOLVES", "passages"):
            assert count(built, name) == count(engine, name)
        query = [3, 1] + [0] * 6
        assert [found for found, _ in built.vector_search(query, 5)] == [
            found for found, _ in engine.vector_search(query, 5)
        ]
        assert stages == {"copying", "indexing 30 vectors", "closing"}
    finally:
        built.close()


def test_an_edge_without_an_end_is_left_out_of_a_built_graph_and_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    state: list[Operation] = [
        put_record(memory("a")),
        put_record(memory("b")),
        edge("a", "b"),
        edge("a", "gone"),
        edge("gone", "b"),
    ]
    path = tmp_path / "built.kuzu"
    told: Callable[[str, int, int], None] = lambda stage, done, total: None  # noqa: E731
    build(path, state, seq=1, store_id="s", dimension=None, total=len(state), options=SMALL, progress=told)
    built = KuzuEngine(path, dimension=None, options=SMALL)
    assert count(built, "edges_SOLVES") == 1
    built.close()
    (record,) = [record for record in caplog.records if "without an end" in record.message]
    assert vars(record)["edges"] == 2


def test_the_room_for_building_grows_with_all_vectors() -> None:
    assert pool_bytes(None, 1_000) == 0
    assert pool_bytes(384, 10 * NODE_GROUP_ROWS) == 10 * pool_bytes(384, NODE_GROUP_ROWS)
    assert pool_bytes(384, 300_000) >= 2 * 4 * 384 * 300_000


def test_a_refused_batch_leaves_nothing_and_the_same_rows_can_be_written_after_it(engine: KuzuEngine) -> None:
    rng = random.Random(3)
    undeclared = put_edge(Edge(type=Relation.BLOCKED_BY, source=ref("m0"), target=ref("m1"), created_at=NOW))
    engine.apply([put_record(memory(f"m{n}")) for n in range(4)], 1)
    for seq in range(2, 25):
        one, other = rng.sample(range(4), 2)
        batch = [
            put_record(memory(f"m{one}", uses=seq)),
            edge(f"m{one}", f"m{other}"),
            passage(f"m{one}", 1, number=seq),
        ]
        with pytest.raises(HelixError):
            engine.apply([*batch, put_record(memory("never")), undeclared], seq)
        assert engine.applied_seq() == seq - 1
        engine.apply(batch, seq)
    assert count(engine, "Memory") == 4
    assert max(row["uses"] for row in engine.export("Memory")) == 24


def test_a_dropped_node_takes_its_edges_along_and_may_come_again(engine: KuzuEngine, open_engine: Open) -> None:
    drop = DropNode(label=Label.MEMORY, id="b")
    engine.apply(
        [put_record(memory("a")), put_record(memory("b", uses=7)), edge("a", "b"), edge("b", "a"), edge("a", "c")], 1
    )
    for seq in (2, 3):  # replayed, it finds nothing and is no error
        engine.apply([drop], seq)
        assert (count(engine, "Memory"), count(engine, "edges_SOLVES")) == (1, 0)
    engine.apply([put_record(memory("b")), edge("b", "a"), drop, put_record(memory("b", helped=1.0))], 4)
    engine.close()
    (a, b) = open_engine().export("Memory")
    assert (a["id"], b["id"], b["uses"], b["helped"]) == ("a", "b", 0, 1.0)


def test_a_write_inside_a_read_only_statement_is_refused(engine: KuzuEngine) -> None:
    with pytest.raises(HelixError):
        engine.cypher("CREATE (:Entity {id: 'x'})", {}, timeout_ms=1_000, limit=1)
    assert count(engine, "Entity") == 0


def test_a_statement_ends_at_its_time_limit_and_its_row_limit(engine: KuzuEngine) -> None:
    engine.apply([put_record(memory(f"m{n}")) for n in range(60)], 1)
    _, rows, more = engine.cypher("MATCH (m:Memory) RETURN m.id", {}, timeout_ms=5_000, limit=7)
    assert (len(rows), more) == (7, True)
    slow = "UNWIND range(1, 30000) AS a UNWIND range(1, 30000) AS b WITH a, b WHERE (a * b) % 7 = 1 RETURN count(*)"
    with pytest.raises(QueryTimeoutError):
        engine.cypher(slow, {}, timeout_ms=50, limit=1)
    assert count(engine, "Memory") == 60, "the connection is good for more"


def test_a_wrong_statement_says_what_is_wrong(engine: KuzuEngine) -> None:
    with pytest.raises(InvalidInputError, match="Nowhere"):
        engine.cypher("MATCH (n:Nowhere) RETURN n", {}, timeout_ms=1_000, limit=1)


def test_a_closed_engine_says_so(engine: KuzuEngine) -> None:
    engine.close()
    with pytest.raises(GraphUnavailableError):
        engine.read("count_Memory")
