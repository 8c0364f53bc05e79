"""Edges that are put beside others in one change, into a table that has edges on disk, are all kept."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from helix.graph.kuzu_engine import KuzuEngine, KuzuOptions
from helix.model.edge import Label, Ref, Relation
from helix.model.operations import DropEdge, Operation, PutEdge, PutNode

OPTIONS = KuzuOptions(buffer_pool_bytes=64 << 20, max_db_bytes=1 << 30)
NAMES = "SABCDE"
Ends = tuple[str, str]


def put(ends: Ends, weight: float = 1.0) -> PutEdge:
    return PutEdge(
        type=Relation.CAUSES,
        source=Ref.memory(ends[0]),
        target=Ref.memory(ends[1]),
        props={"weight": weight, "created_at": 1},
    )


def drop(ends: Ends) -> DropEdge:
    return DropEdge(type=Relation.CAUSES, source=Ref.memory(ends[0]), target=Ref.memory(ends[1]))


def held(engine: KuzuEngine) -> dict[Ends, float]:
    rows = engine.cypher("MATCH (a)-[e:CAUSES]->(b) RETURN a.id, b.id, e.weight", {}, timeout_ms=10_000, limit=1_000)[1]
    assert len({(a, b) for a, b, _ in rows}) == len(rows), "no edge is there twice"
    return {(a, b): weight for a, b, weight in rows}


def opened(path: Path) -> KuzuEngine:
    return KuzuEngine(path, dimension=None, options=OPTIONS)


def begun(path: Path) -> KuzuEngine:
    engine = opened(path)
    engine.apply([PutNode(label=Label.MEMORY, id=name, props={"name": name}) for name in NAMES], 1)
    return engine


def test_each_edge_to_every_other_node_is_kept_beside_those_on_disk(tmp_path: Path) -> None:
    engine = begun(tmp_path / "graph.kuzu")
    before = {(name, "S"): 1.0 for name in "DCBAE"}
    engine.apply([put(ends) for ends in before], 2)
    engine.close()  # folds them into the file
    engine = opened(tmp_path / "graph.kuzu")
    added = {ends: 2.0 for ends in permutations("DASBEC", 2) if ends[1] != "S"}
    engine.apply([put(ends, weight) for ends, weight in added.items()], 3)
    assert held(engine) == before | added
    engine.close()


CHANGES = st.lists(
    st.dictionaries(
        st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES)),
        st.one_of(st.none(), st.integers(1, 9).map(float)),
        min_size=1,
        max_size=20,
    ),
    min_size=1,
    max_size=6,
)


@given(changes=CHANGES)
@settings(max_examples=6, deadline=None)
def test_whatever_is_put_and_dropped_the_graph_holds_what_the_changes_come_to(
    tmp_path_factory: object, changes: list[dict[Ends, float | None]]
) -> None:
    path = tmp_path_factory.mktemp("edges") / "graph.kuzu"  # type: ignore[attr-defined]
    engine, wanted = begun(path), dict[Ends, float]()
    for seq, change in enumerate(changes, 2):
        operations: list[Operation] = [drop(e) if weight is None else put(e, weight) for e, weight in change.items()]
        engine.apply(operations, seq)
        wanted = {ends: weight for ends, weight in (wanted | change).items() if weight is not None}
        if seq % 2:
            engine.close()
            engine = opened(path)
        assert held(engine) == wanted
    engine.close()
