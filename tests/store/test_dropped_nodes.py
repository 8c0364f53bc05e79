"""A dropped node is gone everywhere, with all that was attached to it: journal, memory, image and graph."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helix import settings as configuration
from helix.journal.database import Database
from helix.journal.log import Journal
from helix.model.edge import Label, Ref, Relation
from helix.model.entity import EntityKind
from helix.model.memory import GLOBAL_SCOPE, Kind
from helix.model.operations import (
    Change,
    DropEdge,
    DropNode,
    DropPassage,
    Operation,
    PutEdge,
    PutNode,
    PutPassage,
    decode,
    encode,
)
from helix.model.recall import RecallQuery
from helix.providers.fakes import HashEmbedder
from helix.store import doctor, listing, projection
from helix.store import snapshot as imaging
from helix.store.catalogue import Catalogue
from helix.store.change_events import ChangeEvents
from helix.store.listing import MemoryFilter
from helix.store.node_columns import LABEL_CODE, NO_CODE
from helix.store.projection import Projection
from helix.store.snapshot_file import read, write
from helix.store.store import Store
from helix.store.writer import Decision
from tests.sampling import draws
from tests.waiting import UNHURRIED

DIMENSION = 4
REFS = (
    *(Ref.memory(f"m{i}") for i in range(4)),
    *(Ref.entity(f"e{i}") for i in range(2)),
)
MEMORIES = REFS[:4]
EdgeName = tuple[str, str, str]


@dataclass
class World:
    """What there should be, kept in the plainest way; `drop` says what the operation promises."""

    nodes: dict[Ref, float] = field(default_factory=dict)
    edges: set[EdgeName] = field(default_factory=set)
    passages: dict[str, tuple[Ref, str]] = field(default_factory=dict)
    number: int = 0

    def operation(self, what: str, one: int, other: int, value: float, dimension: int) -> Operation | None:
        """Return the operation of a step and take it in; None where it would speak of what is not there."""
        ref, far = REFS[one], REFS[other]
        relation = Relation.SOLVES if far.label is Label.MEMORY else Relation.MENTIONS
        name = (relation.value, ref.id, far.id)
        match what:
            case "node":
                self.nodes[ref] = value
                props = (
                    {"name": ref.id, "kind": Kind.FACT.value, "helped": value, "scope": GLOBAL_SCOPE, "trigger": "t"}
                    if ref.label is Label.MEMORY
                    else {"name": f"{ref.id}/x.c", "kind": EntityKind.FILE.value, "scope": GLOBAL_SCOPE}
                )
                if ref.label is Label.MEMORY:
                    props |= {"resolution": "r", "recorded_at": 1, "status": "active", "source": f"from {ref.id}"}
                return PutNode(label=ref.label, id=ref.id, props=props)
            case "drop" if ref in self.nodes:
                del self.nodes[ref]
                self.edges = {edge for edge in self.edges if ref.id not in edge[1:]}
                self.passages = {key: held for key, held in self.passages.items() if held[0] != ref}
                return DropNode(label=ref.label, id=ref.id)
            case "edge" if ref in MEMORIES and ref != far and {ref, far} <= self.nodes.keys():
                self.edges.add(name)
                return PutEdge(type=relation, source=ref, target=far, props={"weight": 1.0, "created_at": 1})
            case "unedge" if ref in MEMORIES:
                self.edges.discard(name)
                return DropEdge(type=relation, source=ref, target=far)
            case "passage" if ref in MEMORIES and ref in self.nodes:
                self.number += 1
                passage_id, text = f"{ref.id}#{other % 2}", f"word{self.number}"
                self.passages[passage_id] = (ref, text)
                vector = np.eye(dimension, dtype=np.float32)[self.number % dimension].tobytes()
                return PutPassage(id=passage_id, number=self.number, owner=ref, text=text, vector=vector)
            case "unpassage":
                self.passages.pop(f"{ref.id}#{other % 2}", None)
                return DropPassage(id=f"{ref.id}#{other % 2}")
        return None


# A change is a few steps, and a transaction a few changes: a node may come, go and come again within one.
steps = st.tuples(
    st.sampled_from(["node", "node", "drop", "drop", "edge", "edge", "unedge", "passage", "passage", "unpassage"]),
    st.integers(0, len(REFS) - 1),
    st.integers(0, len(REFS) - 1),
    st.floats(0, 9),
)
transactions = st.lists(st.lists(st.lists(steps, min_size=1, max_size=6), min_size=1, max_size=3), max_size=6)


def composed(
    world: World, transaction: Sequence[Sequence[tuple[str, int, int, float]]], dimension: int
) -> list[Change]:
    made = [[world.operation(*step, dimension) for step in change] for change in transaction]
    return [Change(kind="test", operations=tuple(op for op in ops if op is not None)) for ops in made]


def in_journal(journal: Journal, world: World) -> None:
    with journal.snapshot() as (_, state):
        nodes, edges, passages = list(state.nodes()), list(state.edges()), list(state.passages())
    held = {Ref(label=op.label, id=op.id): op.props for op in nodes}
    assert held.keys() == world.nodes.keys()
    assert all(held[ref].get("helped", value) == value for ref, value in world.nodes.items())
    assert {(op.type.value, op.source.id, op.target.id) for op in edges} == world.edges
    assert {op.id: (op.owner, op.text) for op in passages} == world.passages
    assert all(op.vector is not None for op in passages), "vectors stay with what stays"
    assert [number for numbers, _ in journal.tokens() for number in numbers] == [op.number for op in passages]


def in_memory(catalogue: Catalogue, graph: Projection, world: World) -> None:
    view, snapshot = catalogue.view, graph.snapshot
    rows = [row for row in range(view.count) if view.columns.label[row] != NO_CODE]
    assert sorted(view.ref_of(row).id for row in rows) == sorted(ref.id for ref in world.nodes)
    for ref in REFS:
        row = view.row_of(ref)
        assert (row is not None) == (ref in world.nodes)
        assert row is None or view.ref_of(row) == ref
        found = view.name_row(GLOBAL_SCOPE, ref.id) if ref in MEMORIES else None
        assert found == (row if ref in MEMORIES else None)
        assert view.row_of_source(f"from {ref.id}", label=Label.MEMORY) == found
        if ref not in MEMORIES:
            expected = [] if row is None else [row]
            assert (row in view.files_like("y/X.c")) == (row is not None)
            assert len(view.files_like("x.c")) == sum(ref not in MEMORIES for ref in world.nodes)
            assert view.entities(EntityKind.FILE, f"{ref.id}/X.c") == expected
    counts = view.counts()
    assert counts.labels[Label.MEMORY] == sum(ref in MEMORIES for ref in world.nodes)
    assert sum(counts.labels.values()) == len(world.nodes)
    assert sum(counts.statuses.values()) == counts.labels[Label.MEMORY]
    assert not view.walkable(None)[view.columns.label == NO_CODE].any()
    living = np.flatnonzero(view.passages.alive)
    owners = {view.passages.ids[index]: view.ref_of(int(view.passages.owner[index])) for index in living}
    assert owners == {name: owner for name, (owner, _) in world.passages.items()}
    for name, (_, text) in world.passages.items():
        (index,), _ = view.words.search([text])
        assert view.passages.ids[index] == name
    assert view.words.living == len(world.passages)
    edges = snapshot.edges()
    walked = {
        (tuple(Relation)[relation].value, view.ref_of(int(source)).id, view.ref_of(int(target)).id)
        for relation, source, target in zip(edges.relation, edges.source, edges.target, strict=True)
    }
    assert walked == world.edges
    assert snapshot.edge_count == len(world.edges)


@contextmanager
def opened(folder: Path) -> Iterator[Journal]:
    journal = Journal(Database(folder / "journal.db"), tokenise=str.split)
    journal.spaces.activate(journal.spaces.prepare(model="m", dimension=DIMENSION, digest="d"))
    yield journal
    journal.close()


def tables(journal: Journal) -> tuple[Catalogue, Projection]:
    catalogue, graph = Catalogue(DIMENSION, tokenise=str.split), Projection()
    with journal.snapshot() as (_, state):
        catalogue.load([*state.nodes(), *state.passages()])
        graph.load(state.edges(), catalogue)
    return catalogue, graph


@settings(max_examples=draws(15), deadline=None)
@given(history=transactions, cut=st.integers(0, 6), fold=st.sampled_from([0, 2048]))
def test_journal_memory_and_every_way_of_following_agree(
    history: list[list[list[tuple[str, int, int, float]]]], cut: int, fold: int
) -> None:
    world = World()
    with (
        TemporaryDirectory() as folder,
        opened(Path(folder)) as journal,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setattr(projection, "FOLD_MINIMUM", fold)
        catalogue, graph = tables(journal)
        behind, seen = (catalogue, graph), 0
        for place, transaction in enumerate(history):
            if place == cut:
                behind, seen = tables(journal), journal.last_seq
            rows = journal.append(composed(world, transaction, DIMENSION), at=1)
            operations = [op for row in rows for op in row.change.operations]
            catalogue.apply(operations)
            graph.apply(operations, catalogue)
            in_journal(journal, world)
            in_memory(catalogue, graph, world)
        in_memory(*tables(journal), world)
        if cut < len(history):
            tail = [op for row in journal.rows(seen, 1_000) for op in row.change.operations]
            for _ in range(2):  # a follower that lost its place replays what it has applied already
                behind[0].apply(tail)
                behind[1].apply(tail, behind[0])
                in_memory(*behind, world)
        write(Path(folder) / "image", {}, imaging.image_of(catalogue.view, graph.snapshot))
        image = read(Path(folder) / "image")
        assert image is not None
        developed = (Catalogue(DIMENSION, tokenise=str.split), Projection())
        imaging.fill_from_image(image, *developed, DIMENSION)
        in_memory(*developed, world)
        assert journal.verify_chain().damaged == ()
        journal.restate()
        in_journal(journal, world)


def in_graph(store: Store, world: World) -> None:
    assert store.graph.settle(30)
    assert not store.graph.refused
    for label in (Label.MEMORY, Label.ENTITY):
        served = {row["id"] for row in store.graph.ask("export", 5, label=label.value)}
        assert served == {ref.id for ref in world.nodes if ref.label is label}
    ask = "MATCH (a)-[e:SOLVES|MENTIONS]->(b) RETURN label(e), a.id, b.id"
    _, edges, _ = store.graph.ask("cypher", 5, text=ask, params={}, limit=1_000)
    assert {tuple(edge) for edge in edges} == world.edges
    ask = "MATCH (p:Passage) RETURN p.id, p.owner"
    _, passages, _ = store.graph.ask("cypher", 5, text=ask, params={}, limit=1_000)
    served_passages = {passage: owner for passage, owner in passages if passage}
    assert served_passages == {name: owner.id for name, (owner, _) in world.passages.items()}
    assert all(finding.ok for finding in doctor.examine(store).findings if finding.check != "disk")


def store_at(home: Path) -> Store:
    given_settings = {"home": home, "reopen_after": 3, "buffer_pool_mb": 64, "max_db_gb": 1}
    return Store(configuration.load(given_settings, environ=UNHURRIED, cwd=home), embedder=HashEmbedder())


@pytest.mark.soak
@settings(max_examples=draws(1), deadline=None)
@given(history=st.lists(transactions.filter(bool), min_size=2, max_size=2))
def test_the_graph_agrees_too_also_when_it_is_opened_again(
    history: list[list[list[list[tuple[str, int, int, float]]]]],
) -> None:
    world = World()
    with TemporaryDirectory() as folder:
        for part in history:
            store = store_at(Path(folder))
            dimension = store.dimension or 0
            for transaction in part:
                changes = tuple(composed(world, transaction, dimension))
                store.writer.submit(lambda changes=changes: Decision(changes, None))
            in_graph(store, world)
            in_memory(store.catalogue, store.projection, world)
            store.close()
        store = store_at(Path(folder))
        in_graph(store, world)
        in_memory(store.catalogue, store.projection, world)
        store.close()


def test_a_hole_is_not_listed_not_counted_and_not_eligible_and_keeps_no_words() -> None:
    world, catalogue = World(), Catalogue(DIMENSION)
    catalogue.load([op for one in range(6) if (op := world.operation("node", one, one, 1.0, DIMENSION)) is not None])
    before = catalogue.view
    catalogue.apply([DropNode(label=Label.MEMORY, id="m1"), DropNode(label=Label.ENTITY, id="e0")])
    view = catalogue.view
    now = RecallQuery(query="x", labels=tuple(Label), deep=True)
    assert np.flatnonzero(~view.mask(now, datetime(2030, 1, 1, tzinfo=UTC))).tolist() == [1, 4]
    assert (view.columns.label == LABEL_CODE[Label.MEMORY]).sum() == 3
    assert "m1" not in view.lookups.names
    assert "from m1" not in view.lookups.origins
    assert before.columns.label[1] == LABEL_CODE[Label.MEMORY], "a view that was taken before goes on as it was"


def test_what_a_drop_takes_along_is_spelled_out_in_the_log(tmp_path: Path) -> None:
    with opened(tmp_path) as journal:
        world = World()
        script = [("node", 0, 0, 1.0), ("node", 1, 1, 1.0), ("edge", 0, 1, 1.0), ("edge", 1, 0, 1.0)]
        journal.append(composed(world, [[*script, ("passage", 0, 0, 1.0), ("passage", 1, 1, 1.0)]], DIMENSION), at=1)
        (row,) = journal.append(composed(world, [[("drop", 0, 0, 1.0)]], DIMENSION), at=2)
        m0, m1 = REFS[:2]
        expected = (
            DropEdge(type=Relation.SOLVES, source=m0, target=m1),
            DropEdge(type=Relation.SOLVES, source=m1, target=m0),
            DropPassage(id="m0#0"),
            DropNode(label=Label.MEMORY, id="m0"),
        )
        assert row.change.operations == expected
        assert journal.rows(1, 1)[0].change.operations == expected
        assert decode(encode(row.change)) == row.change


def test_a_dropped_memory_is_told_and_no_longer_listed(tmp_path: Path) -> None:
    store = store_at(tmp_path)
    world, told = World(), list[object]()
    events = ChangeEvents()
    events.subscribe(lambda event: told.append((event["type"], event["id"])))
    store.writer.listen(events.tell_rows)
    for script in ([[("node", 0, 0, 1.0), ("node", 1, 1, 1.0)]], [[("drop", 0, 0, 1.0)]]):
        changes = tuple(composed(world, script, store.dimension or 0))
        store.writer.submit(lambda changes=changes: Decision(changes, None))
    page = listing.memories(store, MemoryFilter(any_status=True), 10, None)
    assert ([memory.id for memory in page.items], page.total) == (["m1"], 1)
    assert told[-1] == ("memory.dropped", "m0")
    store.close()
