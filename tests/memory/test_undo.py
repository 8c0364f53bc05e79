"""Undoing a job restores what it touched exactly, or writes nothing and says what stands in the way."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from helix import settings as configuration
from helix.errors import ConflictError, NotFoundError
from helix.journal import effects
from helix.memory.change.compose import Composer, ReadText, prepare
from helix.memory.job_run.run import Run
from helix.memory.worker import undo as undoing
from helix.memory.worker.undo import undo
from helix.model.edge import Edge, Label, Ref, Relation
from helix.model.episode import Episode
from helix.model.memory import Kind, Memory, Status
from helix.model.operations import Change, DropEdge, DropNode, DropPassage, Operation, PutNode, PutPassage, drop_of
from helix.model.records import edge_from, node_from, put_edge, put_record
from helix.model.reports import UndoReport
from helix.providers.fakes import HashEmbedder
from helix.store import doctor
from helix.store.store import Store
from helix.store.writer import Decision
from tests.sampling import draws
from tests.waiting import UNHURRIED

NOW = datetime(2026, 1, 1, tzinfo=UTC)
STORED, NEW = 4, 3
REFS = tuple(Ref.memory(f"m{i}") for i in range(STORED + NEW))
OLD_EPISODE = Ref.episode("old")

State = dict[object, object]
Step = tuple[str, int, int, float]


def memory(number: int, **fields: Any) -> Memory:
    base = {"id": f"m{number}", "name": f"name{number}", "kind": Kind.FACT, "trigger": f"t{number}"}
    return Memory(**{**base, "resolution": "r", "recorded_at": NOW, **fields})


def store_at(home: Path) -> Store:
    given_settings = {"home": home, "max_db_gb": 1}
    return Store(configuration.load(given_settings, environ=UNHURRIED, cwd=home), embedder=HashEmbedder())


def write(store: Store, kind: str, operations: Sequence[Operation], **note: str) -> None:
    change = Change(kind=kind, operations=tuple(operations), note=note)
    store.writer.submit(lambda: Decision((change,) if operations else (), None))


def furnish(store: Store) -> None:
    """Write memories with passages and edges, and an episode as a Helix wrote it that knew no status of episodes."""
    operations: list[Operation] = [put_record(memory(number)) for number in range(STORED)]
    operations += [edge(0, 1, 1.0), edge(1, 2, 0.5), edge(3, 0, 2.0)]
    operations += [passage(store, number, 0, number + 1, "kappa7") for number in range(STORED)]
    episode = put_record(Episode(id="old", content="c", recorded_at=NOW, occurred_at=NOW))
    early = {name: value for name, value in episode.props.items() if name != "status"}
    write(store, "test", [*operations, PutNode(label=Label.EPISODE, id="old", props=early)])


def edge(source: int, target: int, weight: float) -> Operation:
    return put_edge(
        Edge(type=Relation.SIMILAR, source=REFS[source], target=REFS[target], created_at=NOW, weight=weight)
    )


def passage(store: Store, number: int, place: int, at: int, word: str) -> PutPassage:
    text = f"{word} text {number} {place}"
    (vector,) = store.embed([text])
    return PutPassage(id=f"m{number}#{place}", number=at, owner=REFS[number], text=text, vector=vector)


def state_of(store: Store) -> State:
    """Return everything the journal's state holds, as domain objects, without the numbers of passages."""
    with store.journal.snapshot() as (_, snapshot):
        held: State = {("node", op.label, op.id): node_from(op.label, op.id, op.props) for op in snapshot.nodes()}
        held |= {("edge", op.type, op.source, op.target): edge_from(op) for op in snapshot.edges()}
        held |= {("passage", op.id): (op.owner, op.text, op.vector) for op in snapshot.passages()}
    return held


def operations_of(store: Store, steps: Sequence[Step], word: str) -> list[Operation]:
    """Return operations that make sense in the present state: they speak of what is there by then."""
    there = {ref.id for ref in REFS if ref in store.index}
    number, made = store.catalogue.next_passage_number, list[Operation]()
    for what, one, other, value in steps:
        ends_there = {f"m{one}", f"m{other}"} <= there
        match what:
            case "put":
                there.add(f"m{one}")
                made.append(
                    put_record(memory(one, helped=value, status=Status.ARCHIVED if other % 2 else Status.ACTIVE))
                )
            case "patch" if f"m{one}" in there:
                made.append(PutNode(label=Label.MEMORY, id=f"m{one}", props={"confidence": value, "uses": other}))
            case "drop" if f"m{one}" in there:
                there.discard(f"m{one}")
                made.append(DropNode(label=Label.MEMORY, id=f"m{one}"))
            case "edge" if ends_there and one != other:
                made.append(edge(one, other, value))
            case "unedge" if one != other:
                made.append(DropEdge(type=Relation.SIMILAR, source=REFS[one], target=REFS[other]))
            case "passage" if f"m{one}" in there:
                made.append(passage(store, one, other % 2, number, f"{word} {value}"))
                number += 1
            case "unpassage":
                made.append(DropPassage(id=f"m{one}#{other % 2}"))
            case "quarantine":
                made.append(PutNode(label=Label.EPISODE, id="old", props={"status": "quarantined"}))
    return made


steps = st.lists(
    st.tuples(
        st.sampled_from(["put", "patch", "drop", "edge", "unedge", "passage", "unpassage", "quarantine"]),
        st.integers(0, STORED + NEW - 1),
        st.integers(0, STORED + NEW - 1),
        st.floats(0.1, 1.0),
    ),
    max_size=8,
)
jobs = st.lists(steps, min_size=1, max_size=3)
one_store = settings(max_examples=draws(12), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture(scope="module")
def furnished(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    store = store_at(tmp_path_factory.mktemp("furnished"))
    furnish(store)
    yield store
    store.close()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = store_at(tmp_path)
    furnish(opened)
    yield opened
    opened.close()


def do(store: Store, job: str, job_steps: Sequence[Sequence[Step]]) -> None:
    for number, each in enumerate(job_steps):
        write(store, "tidy", operations_of(store, each, job), job=job, step=str(number))


def next_job(store: Store) -> str:
    return store.runtime.make_id(store.runtime.clock())


def undone(store: Store, job: str) -> None:
    if store.journal.effects.steps(job):
        assert undo(store, job).conflicts == ()


@one_store
@given(first=jobs, second=jobs, pieces=st.booleans())
def test_undo_restores_the_state_exactly_job_by_job(
    furnished: Store, first: list[list[Step]], second: list[list[Step]], pieces: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(undoing, "_NODES", 1 if pieces else 100)
    store, states, names = furnished, [state_of(furnished)], []
    for job_steps in (first, second):
        names.append(next_job(store))
        do(store, names[-1], job_steps)
        states.append(state_of(store))
    for name, before in zip(reversed(names), reversed(states[:-1]), strict=True):
        undone(store, name)
        assert state_of(store) == before
    assert store.journal.verify_chain().damaged == ()


@one_store
@given(job_steps=jobs, others=steps)
def test_undo_never_takes_away_what_somebody_else_did(
    furnished: Store, job_steps: list[list[Step]], others: list[Step]
) -> None:
    store, begin, job = furnished, state_of(furnished), next_job(furnished)
    do(store, job, job_steps)
    between = state_of(store)
    other = next_job(store) + "-other"
    write(store, "edit", operations_of(store, others, "other"), job=other, step="")
    after = state_of(store)
    theirs = {key for key in between.keys() | after.keys() if between.get(key) != after.get(key)}
    if store.journal.effects.steps(job):
        report = undo(store, job)
        now = state_of(store)
        if report.conflicts:
            assert now == after, "nothing is written"
            undone(store, other)
            undone(store, job)
            assert state_of(store) == begin, "the later one first, both go back"
        else:
            for key in begin.keys() | after.keys() | now.keys():
                expected = after if key in theirs else begin
                assert now.get(key) == expected.get(key)


@pytest.mark.soak
def test_a_restored_store_is_the_same_in_memory_in_the_graph_and_when_opened_or_built_again(tmp_path: Path) -> None:
    store = store_at(tmp_path)
    furnish(store)
    before = state_of(store)
    script: list[list[Step]] = [
        [("put", 5, 0, 0.5), ("edge", 5, 0, 1.0), ("edge", 1, 5, 1.0), ("passage", 5, 0, 0.1), ("drop", 2, 0, 0.1)],
        [("patch", 0, 3, 0.2), ("unedge", 3, 0, 1.0), ("unpassage", 1, 0, 1.0), ("passage", 3, 0, 0.5)],
    ]
    do(store, "job", script)
    assert undo(store, "job") == UndoReport(job="job", restored=11)

    def check(opened: Store) -> None:
        assert state_of(opened) == before
        opened.graph.settle()
        assert [finding for finding in doctor.examine(opened).findings if not finding.ok] == []
        view = opened.catalogue.view
        found, _ = view.words.search(["kappa7"])
        owners = sorted(view.ref_of(int(view.passages.owner[index])).id for index in found)
        assert owners == ["m0", "m1", "m2", "m3"]
        for number in range(STORED):
            (vector,) = opened.embed([f"kappa7 text {number} 0"])
            assert vector is not None
            ((nearest, cosine),) = opened.graph.vector_search(np.frombuffer(vector, np.float32).tolist(), 1)
            assert (nearest, cosine) == (f"m{number}#0", pytest.approx(1.0, abs=1e-4))
        assert opened.projection.snapshot.edge_count == 3

    check(store)
    store.close()
    store = store_at(tmp_path)
    check(store)
    store.writer.call(lambda: store.graph.swap(store.graph.build(lambda *_: None, threading.Event())))
    check(store)
    store.close()


def test_a_property_that_the_job_added_goes_again(store: Store) -> None:
    do(store, "job", [[("quarantine", 0, 0, 1.0)]])
    assert store.records.node(OLD_EPISODE) != Episode(id="old", content="c", recorded_at=NOW, occurred_at=NOW)
    undone(store, "job")
    assert store.records.node(OLD_EPISODE) == Episode(id="old", content="c", recorded_at=NOW, occurred_at=NOW)


def test_a_dry_run_says_what_would_be_restored_and_writes_nothing(store: Store) -> None:
    do(store, "job", [[("patch", 0, 1, 0.1), ("patch", 1, 1, 0.1)]])
    seq, state = store.journal.last_seq, state_of(store)
    report = undo(store, "job", dry_run=True)
    assert (report.restored, report.conflicts, report.dry_run) == (2, (), True)
    assert (store.journal.last_seq, state_of(store)) == (seq, state)
    assert undo(store, "job").restored == 2


def test_what_a_large_job_made_goes_in_changes_between_which_others_write_and_a_write_in_its_way_stops_it(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(undoing, "_NODES", 1)
    before, between = state_of(store), store.writer.submit
    do(store, "job", [[("put", 4, 0, 0.5), ("put", 5, 0, 0.5), ("put", 6, 0, 0.5), ("edge", 4, 5, 1.0)]])
    said: list[Operation] = [edge(5, 1, 1.0)]

    def submit(decide: Callable[[], Decision[Any]]) -> Any:
        done = between(decide)
        if said:
            between(lambda: Decision((Change(kind="edit", operations=(said.pop(),)),), None))
        return done

    monkeypatch.setattr(store.writer, "submit", submit)
    report = undo(store, "job")
    assert (report.restored, [conflict.by for conflict in report.conflicts]) == (2, ["edit"])
    assert {REFS[number] in store.index for number in (4, 5, 6)} == {False, True}
    between(lambda: Decision((Change(kind="edit", operations=(drop_of(edge(5, 1, 1.0)),)),), None))
    assert undo(store, "job") == UndoReport(job="job", restored=2)
    assert state_of(store) == before
    with pytest.raises(ConflictError, match="undone already"):
        undo(store, "job")


def test_undo_is_a_change_of_its_own_and_is_done_once(store: Store) -> None:
    do(store, "job", [[("patch", 0, 1, 0.1)]])
    undo(store, "job")
    (row,) = store.journal.rows(store.journal.last_seq - 1, 1)
    assert (row.change.kind, row.change.note) == ("undo", {"undo": "job"})
    with pytest.raises(ConflictError, match="job job was undone already"):
        undo(store, "job")


def test_a_job_that_is_not_known_or_too_long_ago_cannot_be_undone(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(NotFoundError, match="'nobody'"):
        undo(store, "nobody")
    monkeypatch.setattr(effects, "KEPT_JOBS", 2)
    for name in ("first", "second", "third"):
        do(store, name, [[("patch", 0, len(name), 0.1)]])
    with pytest.raises(NotFoundError, match="'first'"):
        undo(store, "first")
    undone(store, "third")
    undone(store, "second")


def test_the_steps_of_a_job_that_will_go_on_are_kept_however_many_jobs_come(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(effects, "KEPT_JOBS", 2)
    item = store.work.add("tidy")
    store.work.take(store.runtime.clock())
    do(store, item.id, [[("patch", 0, 1, 0.1)]])
    store.work.postpone(item.id, "later", store.runtime.clock() + timedelta(days=1))
    for name in ("a", "b", "c", "d"):
        do(store, name, [[("patch", 1, ord(name), 0.1)]])
    assert store.journal.effects.steps(item.id)
    with pytest.raises(ConflictError, match="has not ended yet"):
        undo(store, item.id)


def conflicts(store: Store, job: str) -> set[tuple[str, str]]:
    before = state_of(store)
    report = undo(store, job)
    assert state_of(store) == before
    assert report.restored == 0
    return {(conflict.what, conflict.by) for conflict in report.conflicts}


def test_a_later_change_is_named_by_its_kind(store: Store) -> None:
    do(store, "job", [[("patch", 0, 1, 0.1), ("patch", 1, 1, 0.1), ("edge", 0, 2, 1.0), ("passage", 3, 0, 0.5)]])
    later: list[Operation] = [PutNode(label=Label.MEMORY, id="m0", props={"helped": 7.0}), edge(0, 2, 0.25)]
    write(store, "feedback", [*later, DropPassage(id="m3#0")])
    assert conflicts(store, "job") == {
        ("memory name0", "feedback"),
        ("memory name0 SIMILAR memory name2", "feedback"),
        ("the text m3#0", "feedback"),
    }


def test_what_hangs_on_a_memory_that_the_job_made_stands_in_the_way(store: Store) -> None:
    do(store, "job", [[("put", 5, 0, 0.1), ("passage", 5, 0, 0.1)]])
    write(store, "edge", [edge(5, 0, 1.0), passage(store, 5, 1, 900, "more")])
    assert conflicts(store, "job") == {("memory name5 SIMILAR memory name0", "edge"), ("the text m5#1", "edge")}


def test_an_edge_does_not_come_back_to_a_node_that_is_gone(store: Store) -> None:
    do(store, "job", [[("unedge", 0, 1, 1.0), ("unpassage", 1, 0, 1.0)]])
    write(store, "other", [DropNode(label=Label.MEMORY, id="m1")])
    assert conflicts(store, "job") == {
        ("memory name0 SIMILAR memory m1", "memory m1 is gone"),
        ("the text m1#0", "memory m1 is gone"),
    }


def test_a_name_that_was_taken_since_is_not_taken_back(store: Store) -> None:
    do(store, "job", [[("put", 0, 1, 0.1)]])
    assert store.catalogue.view.name_row("global", "name0") is None, "the job archived it"
    write(store, "store", [put_record(memory(6, name="name0"))])
    assert conflicts(store, "job") == {("memory name0", "another memory is named 'name0' by now")}


def test_what_somebody_wrote_between_two_steps_is_not_lost(store: Store) -> None:
    write(store, "tidy", [PutNode(label=Label.MEMORY, id="m0", props={"helped": 1.0})], job="job", step="1")
    write(store, "feedback", [PutNode(label=Label.MEMORY, id="m0", props={"failed": 1.0})])
    write(store, "tidy", [PutNode(label=Label.MEMORY, id="m0", props={"helped": 2.0})], job="job", step="2")
    assert conflicts(store, "job") == {("memory name0", "feedback")}


def test_what_was_put_back_by_hand_stands_in_nobodys_way(store: Store) -> None:
    before = state_of(store)
    do(store, "job", [[("patch", 0, 9, 0.1), ("patch", 1, 9, 0.1)]])
    write(store, "restore", [put_record(memory(0))])
    assert undo(store, "job").restored == 1
    assert state_of(store) == before


def test_passages_come_back_without_a_vector_when_the_model_has_changed(store: Store) -> None:
    do(store, "job", [[("unpassage", 0, 0, 1.0)]])
    spaces = store.journal.spaces
    other = spaces.prepare(model="other", dimension=store.dimension or 0, digest="other")
    store.writer.call(lambda: spaces.activate(other))
    undo(store, "job")
    assert [text for _, text in spaces.missing(other, 10)][-1] == "kappa7 text 0 0"
    assert store.catalogue.view.words.search(["kappa7"])[0].size == STORED


def test_a_real_run_is_undone_too(store: Store) -> None:
    before = state_of(store)
    run = Run(store, "run", "consolidate")
    (prepared,) = prepare(store, [ReadText.of("always use `uv run pytest` in src/app.py")])

    def compose(composer: Composer) -> str:
        made = memory(6, trigger="always")
        ref = composer.node(made)
        composer.passages(ref, prepared)
        composer.mentions(ref, made.scope, prepared.mentions, made.provenance)
        composer.edge(Relation.SUPERSEDES, ref, REFS[0])
        composer.patch(REFS[0], status=Status.RETIRED, retired_at=NOW)
        return made.id

    assert run.write("one", compose) == "m6"
    assert store.journal.effects.steps("run").keys() == {"one"}
    assert undo(store, "run").conflicts == ()
    assert state_of(store) == before
