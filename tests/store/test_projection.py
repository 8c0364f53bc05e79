"""The projection holds the graph's edges both ways, whatever order they came and went in."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helix.model.edge import Label, Ref, Relation
from helix.model.operations import DropEdge, Operation, PutEdge, PutNode
from helix.store import projection
from helix.store.catalogue import Catalogue
from helix.store.projection import GraphSnapshot, Projection
from tests.sampling import draws

ROWS = 8
WEIGHTS = {**dict.fromkeys(Relation, 1.0), Relation.MENTIONS: 0.5, Relation.INJECTED: 0.0}

Known = dict[tuple[Relation, int, int], float]


def node(row: int) -> PutNode:
    return PutNode(label=Label.MEMORY, id=str(row), props={})


def ref(row: int) -> Ref:
    return Ref.memory(str(row))


def edge(source: int, target: int, weight: float | None = 1.0, kind: Relation = Relation.SOLVES) -> PutEdge:
    props = {} if weight is None else {"weight": weight}
    return PutEdge(type=kind, source=ref(source), target=ref(target), props=props)


def drop(source: int, target: int, kind: Relation = Relation.SOLVES) -> DropEdge:
    return DropEdge(type=kind, source=ref(source), target=ref(target))


def catalogue(rows: int = ROWS) -> Catalogue:
    made = Catalogue(0)
    made.load([node(row) for row in range(rows)])
    return made


def applied(operations: Sequence[Operation], loaded: int = 0) -> GraphSnapshot:
    """Return the graph after loading the first operations and applying the others one by one."""
    made, rows = Projection(WEIGHTS), catalogue()
    made.load(operations[:loaded], rows)
    for operation in operations[loaded:]:
        made.apply([operation], rows)
    return made.snapshot


def naive(operations: Sequence[Operation]) -> Known:
    known: Known = {}
    for op in operations:
        assert isinstance(op, PutEdge | DropEdge)
        key = op.type, int(op.source.id), int(op.target.id)
        if isinstance(op, DropEdge):
            known.pop(key, None)
        elif key[1] != key[2]:
            given_weight = op.props.get("weight")
            known[key] = float(given_weight) if given_weight is not None else known.get(key, 1.0)
    return known


def seen(graph: GraphSnapshot) -> Known:
    """Return the edges as every row sees them, which must be the same from both ends."""
    found = graph.neighbours(range(ROWS))
    sides: list[Known] = [{}, {}]
    for origin, row, relation, weight, outgoing in zip(
        found.origin, found.rows, found.relations, found.weights, found.outgoing, strict=True
    ):
        ends = (int(origin), int(row)) if outgoing else (int(row), int(origin))
        sides[bool(outgoing)][tuple(Relation)[relation], *ends] = float(weight)
    assert sides[0] == sides[1]
    return sides[0]


changes = st.one_of(
    st.builds(
        edge,
        st.integers(0, ROWS - 1),
        st.integers(0, ROWS - 1),
        st.none() | st.floats(0.1, 3.0),
        st.sampled_from([Relation.SOLVES, Relation.MENTIONS, Relation.INJECTED]),
    ),
    st.builds(drop, st.integers(0, ROWS - 1), st.integers(0, ROWS - 1)),
)


def drawn(key: tuple[Relation, int, int], weight: float, row: int) -> float:
    """Return the weight by which an edge draws a walk from a row: to what it mentions, no more than MOST_TO_ENTITY."""
    return min(weight, projection.MOST_TO_ENTITY) if key[:2] == (Relation.MENTIONS, row) else weight


@settings(max_examples=draws(30), deadline=None)
@given(operations=st.lists(changes, max_size=40), loaded=st.integers(0, 40), fold=st.integers(0, 12))
def test_every_history_ends_in_the_edges_it_leaves(operations: list[Operation], loaded: int, fold: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(projection, "FOLD_MINIMUM", fold)
        graph = applied(operations, loaded)
    known = naive(operations)
    assert seen(graph) == known
    for relation in Relation:
        sources = sorted({source for kind, source, _ in known if kind is relation})
        assert graph.sources_of(relation).tolist() == sources
    assert graph.edge_count == len(known)
    for row in range(ROWS):
        here = [key for key in known if row in key[1:]]
        assert graph.degree_of(np.array([row]))[0] == len(here)
        expected = sum(drawn(key, known[key], row) * WEIGHTS[key[0]] for key in here)
        assert graph.strength_of(np.array([row]))[0] == pytest.approx(expected)


@settings(max_examples=draws(30), deadline=None)
@given(operations=st.lists(changes, max_size=40), loaded=st.integers(0, 40), seed=st.integers(0, 99))
def test_a_step_spreads_all_the_mass_of_what_has_edges(operations: list[Operation], loaded: int, seed: int) -> None:
    graph = applied(operations, loaded)
    mass = np.random.default_rng(seed).random(ROWS)
    _, shares = graph.spread(np.arange(ROWS), mass)
    connected = graph.strength_of(np.arange(ROWS)) > 0
    assert shares.sum() == pytest.approx(mass[connected].sum())


def test_a_snapshot_never_changes_whatever_is_written_after_it() -> None:
    made, rows = Projection(WEIGHTS), catalogue()
    made.load([edge(0, 1), edge(1, 2)], rows)
    before = made.snapshot
    kept = seen(before), before.strength.tolist()
    made.apply([edge(0, 1, 5.0), drop(1, 2), edge(2, 3)], rows)
    assert (seen(before), before.strength.tolist()) == kept
    assert seen(made.snapshot) != kept[0]


def test_edges_to_something_that_is_no_node_are_left_out() -> None:
    graph = applied([edge(0, 99), edge(0, 1)])
    assert list(naive([edge(0, 1)])) == list(seen(graph))


def test_neighbours_can_be_asked_for_by_type() -> None:
    graph = applied([edge(0, 1), edge(0, 2, kind=Relation.CAUSES), edge(3, 0, kind=Relation.CAUSES)])
    found = graph.neighbours([0], Relation.CAUSES)
    assert sorted(zip(found.rows.tolist(), found.outgoing.tolist(), strict=True)) == [(2, True), (3, False)]


def test_rows_added_later_take_part_and_unknown_rows_have_nothing() -> None:
    made, rows = Projection(WEIGHTS), catalogue()
    made.load([edge(0, 1)], rows)
    rows.apply([node(20)])
    made.apply([edge(0, 20)], rows)
    assert sorted(made.snapshot.neighbours([0]).rows.tolist()) == [1, ROWS]
    assert made.snapshot.degree_of(np.array([ROWS, 5000])).tolist() == [1, 0]
    assert len(made.snapshot.neighbours([5000]).rows) == 0


def test_a_graph_knows_which_load_of_the_catalogue_its_rows_belong_to() -> None:
    made, rows = Projection(), catalogue()
    made.load([edge(0, 1)], rows)
    assert made.snapshot.generation == rows.view.generation
    rows.load([node(0)])
    assert made.snapshot.generation != rows.view.generation
