"""The catalogue holds what the operations say, filters exactly, and never shows a reader half of a change."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helix.errors import EmbeddingSpaceError, InvalidInputError
from helix.model.clock import to_micros
from helix.model.edge import Label, Ref
from helix.model.entity import Entity, EntityKind, entity_id
from helix.model.episode import Episode
from helix.model.memory import Kind, Memory, Status, TimeKind
from helix.model.operations import DropPassage, Operation, PutNode, PutPassage
from helix.model.provenance import Provenance, Trust
from helix.model.recall import RecallQuery
from helix.model.records import put_record
from helix.model.reflection import Reflection
from helix.store.catalogue import MOST_PATTERNS, Catalogue, CatalogueView
from helix.store.passages import NO_INDEX
from tests.sampling import draws

NOW = datetime(2026, 6, 1, tzinfo=UTC)
FLOOR = 0.5
DIMENSION = 4


def memory(node_id: str, **values: object) -> Memory:
    given_values: dict[str, object] = {"id": node_id, "name": f"name-{node_id}", "kind": Kind.FACT, "trigger": "t"}
    return Memory(**{**given_values, "resolution": "r", "recorded_at": NOW, **values})  # type: ignore[arg-type]


def ref(node_id: str, label: Label = Label.MEMORY) -> Ref:
    return Ref(label=label, id=node_id)


def passage(passage_id: str, number: int, owner: Ref, direction: int = 0) -> PutPassage:
    vector = np.zeros(DIMENSION, np.float32)
    vector[direction % DIMENSION] = 1.0
    return PutPassage(id=passage_id, number=number, owner=owner, text="", vector=vector.tobytes())


def loaded(operations: Sequence[Operation]) -> Catalogue:
    catalogue = Catalogue(DIMENSION, salience_floor=FLOOR)
    catalogue.load(operations)
    return catalogue


def changed(node_id: str, **props: object) -> PutNode:
    return PutNode(label=Label.MEMORY, id=node_id, props=props)  # type: ignore[arg-type]


# --- look-ups -------------------------------------------------------------------------------------------------------


def test_every_node_is_found_by_label_and_id_and_back() -> None:
    catalogue = loaded(
        [put_record(memory("same")), put_record(Reflection(id="same", question="q", insight="i", recorded_at=NOW))]
    )
    for label in (Label.MEMORY, Label.REFLECTION):
        row = catalogue.view.row_of(ref("same", label))
        assert row is not None
        assert catalogue.view.ref_of(row) == ref("same", label)
    assert catalogue.view.row_of(ref("same", Label.EPISODE)) is None


def test_a_name_belongs_to_the_active_memory_of_its_scope() -> None:
    catalogue = loaded(
        [
            put_record(memory("old", name="n", status=Status.RETIRED)),
            put_record(memory("new", name="n")),
            put_record(memory("other", name="n", scope="p")),
        ]
    )
    assert catalogue.view.name_row("global", "n") == catalogue.view.row_of(ref("new"))
    assert catalogue.view.name_row("p", "n") == catalogue.view.row_of(ref("other"))
    assert catalogue.view.name_row("q", "n") is None
    catalogue.apply([changed("new", status="forgotten")])
    assert catalogue.view.name_row("global", "n") is None


def test_a_renamed_memory_answers_to_its_new_name_only() -> None:
    catalogue = loaded([put_record(memory("m", name="before"))])
    catalogue.apply([changed("m", name="after")])
    assert catalogue.view.name_row("global", "before") is None
    assert catalogue.view.name_row("global", "after") == 0


def test_a_source_is_found_by_label_and_scope() -> None:
    episode = Episode(id="e", content="c", recorded_at=NOW, occurred_at=NOW, scope="p", source="git:1")
    catalogue = loaded([put_record(episode), put_record(memory("m", source="git:1"))])
    assert catalogue.view.row_of_source("git:1") == catalogue.view.row_of(ref("e", Label.EPISODE))
    assert catalogue.view.row_of_source("git:1", label=Label.MEMORY) == catalogue.view.row_of(ref("m"))
    assert catalogue.view.row_of_source("git:1", scope="q") is None
    assert catalogue.view.row_of_source("git:2") is None


def test_entities_are_found_whatever_their_case_and_files_by_their_last_part() -> None:
    def entity(kind: EntityKind, name: str) -> Entity:
        return Entity(id=entity_id(kind, name), kind=kind, name=name)

    catalogue = loaded(
        [
            put_record(entity(EntityKind.FILE, "src/Lib/x.c")),
            put_record(entity(EntityKind.FILE, "src/*.h")),
            put_record(entity(EntityKind.ERROR, "ValueError")),
            put_record(entity(EntityKind.FILE, "app/[id].tsx")),
            put_record(entity(EntityKind.FILE, "*/x?.c")),
            put_record(entity(EntityKind.FILE, "lib/b[*].c")),
        ]
    )
    view = catalogue.view
    assert view.entities(EntityKind.ERROR, "valueerror") == [2]
    assert view.entities(EntityKind.SYMBOL, "ValueError") == []
    assert view.files_like("/home/me/X.C") == [0]
    assert view.files_like("SRC/y.c") == [1]
    assert view.files_like("a/x?.c") == [4]
    assert view.files_like("[ID].tsx") == [3]
    assert view.files_like("b*.c") == [5]
    assert view.files_like("i.tsx") == []


def test_of_very_many_patterns_the_newest_are_looked_at() -> None:
    kind = EntityKind.FILE
    names = [f"*{n}.c" for n in range(MOST_PATTERNS + 50)]
    view = loaded([put_record(Entity(id=entity_id(kind, name), kind=kind, name=name)) for name in names]).view
    assert view.files_like("src/x.c") == list(range(50, MOST_PATTERNS + 50))


def test_entity_ids_depend_on_kind_name_and_scope_and_on_nothing_else() -> None:
    first = entity_id(EntityKind.FILE, "A.c", "p")
    assert first == entity_id(EntityKind.FILE, "a.C", "p")
    assert len({first, entity_id(EntityKind.TEST, "a.c", "p"), entity_id(EntityKind.FILE, "a.c", "q")}) == 3


def test_counts_are_by_label_and_among_memories_by_status_kind_and_scope() -> None:
    catalogue = loaded(
        [
            put_record(memory("a", kind=Kind.FAILURE)),
            put_record(memory("b", kind=Kind.FAILURE, status=Status.ARCHIVED, scope="p")),
            put_record(Episode(id="e", content="c", recorded_at=NOW, occurred_at=NOW, scope="p")),
        ]
    )
    counts = catalogue.view.counts()
    assert (counts.labels[Label.MEMORY], counts.labels[Label.EPISODE]) == (2, 1)
    assert (counts.statuses["active"], counts.statuses["archived"]) == (1, 1)
    assert counts.kinds == {"failure": 1}
    assert counts.scopes == {"global": 1, "p": 1}
    assert catalogue.view.counts("p").labels[Label.EPISODE] == 1


def test_pages_of_the_newest_never_repeat_or_miss_a_row() -> None:
    moments = [NOW - timedelta(days=day) for day in (3, 1, 2, 1, 1, 5, 3)]
    view = loaded([put_record(memory(str(i), recorded_at=at)) for i, at in enumerate(moments)]).view
    mask = np.ones(view.count, np.bool_)
    seen: list[int] = []
    after = None
    while len(page := view.newest(mask, 2, after)):
        seen += page.tolist()
        after = int(page[-1])
    assert seen == sorted(range(len(moments)), key=lambda row: (moments[row], row), reverse=True)


# --- passages -------------------------------------------------------------------------------------------------------


def test_numbers_and_ids_lead_to_living_passages() -> None:
    catalogue = loaded([put_record(memory("m")), passage("a", 7, ref("m"), 1), passage("b", 9, ref("m"), 2)])
    passages = catalogue.view.passages
    assert passages.indexes(np.array([7, 9, 8, 100, -1])).tolist() == [0, 1, NO_INDEX, NO_INDEX, NO_INDEX]
    assert passages.indexes_of_ids(["b", "a", "?"]).tolist() == [1, 0, NO_INDEX]
    assert passages.of_rows(np.array([0]), 1).tolist() == [0, 1]
    assert passages.vectors.rows(np.array([1, 0])).argmax(axis=1).tolist() == [2, 1]
    assert catalogue.next_passage_number == 10


def test_a_replaced_passage_is_dead_and_its_successor_found() -> None:
    catalogue = loaded([put_record(memory("m")), passage("a", 1, ref("m"))])
    before = catalogue.view
    catalogue.apply([passage("a", 2, ref("m"), 3)])
    after = catalogue.view.passages
    assert (before.passages.alive.tolist(), after.alive.tolist()) == ([True], [False, True])
    assert after.indexes_of_ids(["a"]).tolist() == [1]
    catalogue.apply([DropPassage(id="a")])
    assert catalogue.view.passages.of_rows(np.array([0]), 1).tolist() == []


def test_a_passage_may_get_its_vector_later() -> None:
    catalogue = loaded([put_record(memory("m")), replace(passage("a", 1, ref("m")), vector=None)])
    before = catalogue.view.passages
    catalogue.apply([passage("a", 1, ref("m"), 2)])
    after = catalogue.view.passages
    assert (before.embedded.tolist(), after.embedded.tolist()) == ([False], [True])
    assert after.vectors.rows(np.array([0]))[0].tolist() == [0, 0, 1, 0]


def test_a_vector_of_another_dimension_is_refused_and_nothing_changes() -> None:
    catalogue = loaded([put_record(memory("m"))])
    wrong = replace(passage("a", 1, ref("m")), vector=np.zeros(3, np.float32).tobytes())
    with pytest.raises(EmbeddingSpaceError):
        catalogue.apply([put_record(memory("n")), wrong])
    assert catalogue.view.count == 1
    assert catalogue.view.row_of(ref("n")) is None


def test_a_store_without_vectors_holds_passages_all_the_same() -> None:
    catalogue = Catalogue(0)
    catalogue.load([put_record(memory("m")), passage("a", 1, ref("m"))])
    assert catalogue.view.passages.alive.tolist() == [True]
    assert catalogue.view.passages.embedded.tolist() == [False]


def test_unknown_codes_are_refused_by_name() -> None:
    with pytest.raises(InvalidInputError, match="kind 'wish'"):
        Catalogue(DIMENSION).apply([changed("m", kind="wish")])


# --- changes --------------------------------------------------------------------------------------------------------


def test_a_view_never_changes_whatever_is_written_after_it() -> None:
    catalogue = loaded([put_record(memory(str(i))) for i in range(10)])
    before = catalogue.view
    kept = {name: getattr(before.columns, name).copy() for name in ("status", "helped", "fades_at", "valid_to")}
    catalogue.apply([changed("3", status="archived", helped=2.0, importance=1.0, half_life_days=1.0, valid_to=5)])
    catalogue.apply([put_record(memory(f"new{i}")) for i in range(5000)])
    assert before.count == 10
    assert before.row_of(ref("new1")) is None
    for name, values in kept.items():
        assert (getattr(before.columns, name) == values).all()
    assert catalogue.view.columns.helped[3] == 2.0


def test_partial_properties_change_nothing_else_and_none_clears() -> None:
    catalogue = loaded([put_record(memory("m", importance=8.0, valid_to=NOW, helped=3.0))])
    catalogue.apply([changed("m", valid_to=None, failed=1.0)])
    columns = catalogue.view.columns
    assert columns.valid_to[0] > to_micros(NOW)
    assert (columns.importance[0], columns.helped[0], columns.failed[0]) == (8.0, 3.0, 1.0)


batches = st.lists(
    st.one_of(
        st.builds(
            lambda i, status, helped: changed(str(i), status=status.value, helped=helped, kind="fact", name=f"n{i}"),
            st.integers(0, 5),
            st.sampled_from(Status),
            st.floats(0, 5),
        ),
        st.builds(lambda i: DropPassage(id=f"p{i}"), st.integers(0, 5)),
        st.builds(lambda i: ("passage", i), st.integers(0, 5)),
    ),
    max_size=25,
)


def _numbered(steps: Sequence[object]) -> list[Operation]:
    """Give each passage step the next number, and make sure that its owner is there."""
    operations: list[Operation] = [put_record(memory(str(i))) for i in range(6)]
    for number, step in enumerate(steps, 1):
        if isinstance(step, tuple):
            operations.append(passage(f"p{step[1]}", number, ref(str(step[1])), number))
        else:
            operations.append(step)  # type: ignore[arg-type]
    return operations


def _state(view: CatalogueView) -> tuple[object, ...]:
    columns = view.columns
    passages = view.passages
    living = np.flatnonzero(passages.alive)
    return (
        [view.ref_of(row).id for row in range(view.count)],
        columns.status.tolist(),
        columns.helped.tolist(),
        sorted(zip(passages.numbers[living].tolist(), passages.owner[living].tolist(), strict=True)),
    )


@settings(max_examples=draws(15), deadline=None)
@given(steps=batches, cut=st.integers(0, 31), again=st.integers(0, 31))
def test_loading_applying_and_replaying_end_in_the_same_state(steps: list[object], cut: int, again: int) -> None:
    operations = _numbered(steps)
    at_once = loaded(operations)
    in_parts = loaded(operations[:cut])
    for operation in operations[cut:]:
        in_parts.apply([operation])
    replayed = loaded(operations)
    for operation in operations[again:]:
        replayed.apply([operation])
    assert _state(at_once.view) == _state(in_parts.view) == _state(replayed.view)


def test_loading_anew_replaces_everything_and_marks_it() -> None:
    catalogue = loaded([put_record(memory("a")), put_record(memory("b"))])
    before = catalogue.view
    catalogue.load([put_record(memory("b"))], dimension=2)
    assert (before.count, catalogue.view.count, catalogue.view.dimension) == (2, 1, 2)
    assert before.generation != catalogue.view.generation
    assert before.row_of(ref("a")) == 0


@pytest.mark.soak
def test_readers_see_whole_changes_only_while_a_writer_writes() -> None:
    catalogue = loaded([put_record(memory("m", helped=0.0, failed=0.0))])
    torn: list[tuple[float, float]] = []
    done = threading.Event()

    def read() -> None:
        while not done.is_set():
            view = catalogue.view
            helped, failed = float(view.columns.helped[0]), float(view.columns.failed[0])
            owners = view.passages.owner
            if helped != failed or (len(owners) and int(owners.max()) >= view.count):
                torn.append((helped, failed))

    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    for i in range(400):
        catalogue.apply(
            [
                changed("m", helped=float(i), failed=float(i)),
                put_record(memory(f"n{i}")),
                passage(f"p{i}", i + 1, ref(f"n{i}")),
            ]
        )
    done.set()
    for reader in readers:
        reader.join()
    assert not torn


# --- filters --------------------------------------------------------------------------------------------------------


def random_nodes(seed: int, count: int) -> list[Memory | Episode | Reflection]:
    """Return nodes of every label and status with times scattered around NOW, many of their fields absent."""
    rng = np.random.default_rng(seed)

    def moment(chance: float = 1.0) -> datetime | None:
        return NOW + timedelta(days=float(rng.integers(-400, 40)), hours=1) if rng.random() < chance else None

    nodes: list[Memory | Episode | Reflection] = []
    for i in range(count):
        recorded = moment() or NOW
        scope = str(rng.choice(["global", "p", "q"]))
        status = Status(rng.choice([s.value for s in Status], p=[0.5, 0.15, 0.1, 0.1, 0.15]))
        times = {"valid_from": moment(0.5), "valid_to": moment(0.4), "last_used_at": moment(0.3)}
        retired = recorded + timedelta(days=30) if status is Status.RETIRED else None
        which = rng.random()
        if which < 0.6:
            nodes.append(
                memory(
                    str(i),
                    kind=Kind(rng.choice([k.value for k in Kind])),
                    scope=scope,
                    status=status,
                    recorded_at=recorded,
                    retired_at=retired,
                    importance=float(rng.integers(1, 11)),
                    half_life_days=float(rng.choice([0.0, 7.0, 90.0, float("inf")])),
                    provenance=Provenance(trust=Trust(rng.choice([trust.value for trust in Trust]))),
                    **times,
                )
            )
        elif which < 0.85:
            nodes.append(
                Episode(id=str(i), content="c", recorded_at=recorded, occurred_at=moment() or NOW, scope=scope)
            )
        else:
            nodes.append(
                Reflection(
                    id=str(i),
                    question="q",
                    insight="i",
                    recorded_at=recorded,
                    retired_at=retired,
                    scope=scope,
                    status=status,
                    **times,  # type: ignore[arg-type]
                )
            )
    return nodes


def passes(node: Memory | Episode | Reflection, query: RecallQuery) -> bool:
    """The filters of a query, said once more, one node at a time."""
    label = {Memory: Label.MEMORY, Episode: Label.EPISODE, Reflection: Label.REFLECTION}[type(node)]
    if label not in query.labels or (query.scope is not None and node.scope not in {query.scope, "global"}):
        return False
    if query.kinds and not (isinstance(node, Memory) and node.kind in query.kinds):
        return False
    if query.trust and node.provenance.trust not in query.trust:
        return False
    known = query.known_at or NOW
    valid = query.as_of or known
    if query.known_at is not None and node.recorded_at > known:
        return False
    if isinstance(node, Episode):
        if query.status and Status.ACTIVE not in query.status:
            return False
        if query.as_of is not None and node.occurred_at > valid:
            return False
        happened, half_life, importance, used = node.occurred_at, 7.0, node.importance, None
    else:
        was_active = node.status is Status.ACTIVE or (
            query.known_at is not None and node.retired_at is not None and node.retired_at > known
        )
        allowed = query.status or (Status.ACTIVE, *([Status.ARCHIVED] if query.deep else []))
        if node.status in {Status.FORGOTTEN, Status.QUARANTINED}:
            return False
        if not (was_active and Status.ACTIVE in allowed) and not (
            node.status is Status.ARCHIVED and Status.ARCHIVED in allowed
        ):
            return False
        if node.valid_from is not None and node.valid_from > valid:
            return False
        if node.valid_to is not None and node.valid_to <= valid:
            return False
        happened, used = node.valid_from or node.recorded_at, node.last_used_at
        half_life = node.half_life_days if isinstance(node, Memory) else 0.0
        importance = node.importance if isinstance(node, Memory) else 5.0
    counted = node.recorded_at if query.time is TimeKind.RECORDED else happened
    if (query.since is not None and counted < query.since) or (query.until is not None and counted > query.until):
        return False
    if query.deep or Status.ARCHIVED in query.status or half_life in {0.0, float("inf")}:
        return True
    days = max((known - max(node.recorded_at, used or node.recorded_at)).total_seconds() / 86_400, 0.0)
    return bool(importance * 2 ** (-days / half_life) >= FLOOR)


moments = st.none() | st.integers(-420, 60).map(lambda days: NOW + timedelta(days=days))
queries = st.builds(
    RecallQuery,
    query=st.just("x"),
    scope=st.sampled_from([None, "p", "global", "unheard-of"]),
    kinds=st.lists(st.sampled_from(Kind), max_size=3).map(tuple),
    labels=st.sampled_from([(Label.MEMORY, Label.EPISODE, Label.REFLECTION), (Label.MEMORY,), (Label.EPISODE,)]),
    trust=st.lists(st.sampled_from(Trust), max_size=2).map(tuple),
    as_of=moments,
    known_at=moments,
    since=moments,
    until=moments,
    time=st.sampled_from(TimeKind),
    status=st.sampled_from([(), (Status.ACTIVE,), (Status.ARCHIVED,), (Status.ACTIVE, Status.ARCHIVED)]),
    deep=st.booleans(),
)


@settings(max_examples=draws(15), deadline=None)
@given(seed=st.integers(0, 5), query=queries)
def test_the_mask_is_what_a_full_scan_of_the_nodes_says(seed: int, query: RecallQuery) -> None:
    nodes = random_nodes(seed, 120)
    catalogue = loaded([put_record(node) for node in nodes])
    expected = [passes(node, query) for node in nodes]
    assert catalogue.view.mask(query, NOW).tolist() == expected


def test_imported_history_has_not_faded_when_it_arrives() -> None:
    old = Episode(id="e", content="c", recorded_at=NOW, occurred_at=NOW - timedelta(days=4000))
    view = loaded([put_record(old)]).view
    query = RecallQuery(query="x")
    assert view.mask(query, NOW + timedelta(days=15))[0]
    assert not view.mask(query, NOW + timedelta(days=25))[0]
    assert view.mask(replace(query, deep=True), NOW + timedelta(days=25))[0]


def test_verified_use_brings_a_faded_memory_back() -> None:
    catalogue = loaded(
        [put_record(memory("m", importance=2.0, half_life_days=7.0, recorded_at=NOW - timedelta(days=30)))]
    )
    assert not catalogue.view.mask(RecallQuery(query="x"), NOW)[0]
    catalogue.apply([changed("m", last_used_at=to_micros(NOW - timedelta(days=1)))])
    assert catalogue.view.mask(RecallQuery(query="x"), NOW)[0]


def test_a_walk_stops_at_what_was_forgotten_and_at_other_projects() -> None:
    statuses = (Status.ACTIVE, Status.RETIRED, Status.ARCHIVED, Status.FORGOTTEN, Status.QUARANTINED)
    nodes = [memory(status.value, status=status) for status in statuses] + [memory("q", scope="q")]
    view = loaded([put_record(node) for node in nodes]).view
    assert view.walkable("p").tolist() == [True, True, True, False, False, False]
    assert view.walkable(None)[-1]
