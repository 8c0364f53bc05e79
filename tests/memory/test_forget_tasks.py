"""The words of a memory that is hard forgotten are in no plan, task, workspace or candidate either."""

from __future__ import annotations

import sqlite3
import zlib
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from working import copied, job

from helix.agents.tasks.board import TaskSighting, find_task, inject, injections, mirror
from helix.journal.erase import tombstones
from helix.memory.erasure.hard_forget import hard_forget, plan_hard_forget
from helix.memory.erasure.scan import scan
from helix.memory.remember.remember import remember
from helix.memory.remember.request import StoreRequest
from helix.model.candidate import Candidate
from helix.model.edge import Label, Ref, Relation
from helix.model.erasure_report import EraseReport
from helix.model.memory import Kind
from helix.model.operations import Change, Operation, PutEdge
from helix.model.records import Node, label_of, put_record
from helix.model.task import Exploration, Plan, Shown, Workspace
from helix.model.tombstone import is_erased
from helix.store.backup import back_up, restore
from helix.store.store import Store
from helix.store.writer import Decision

SENTENCE = "The quaxlotl harvester refuses beetroot on Thursdays"
WORD = b"quaxlotl"
SECRET = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"


@pytest.fixture
def store(lone_store: Store) -> Store:
    return lone_store


def write(store: Store, *operations: Operation) -> None:
    store.writer.submit(lambda: Decision((Change(kind="test", operations=operations),), None))


def forget(store: Store, name_or_id: str) -> EraseReport:
    return job(store, lambda ticket: hard_forget(store, plan_hard_forget(store, name_or_id), ticket))


def memory(store: Store, trigger: str) -> str:
    return remember(store, StoreRequest(trigger=trigger, resolution="", kind="failure")).id


def shown(ident: str) -> Shown:
    return Shown(memory_id=ident, name="m", kind="failure", rank=1, score=1.0, tokens=3)


def seen(key: str, **said: object) -> TaskSighting:
    return TaskSighting(session="s", key=key, scope="farm", **said)  # type: ignore[arg-type]


def works(store: Store, said: str) -> list[Node]:
    now = store.runtime.clock()
    return [
        Plan(id="plan", objective=f"Go. {said}.", recorded_at=now),
        Exploration(id="found", objective="look", recorded_at=now, attributes={"memory": {"known": [f"{said}!"]}}),
        Workspace(id="room", recorded_at=now, attributes={"delivered": said}),
        Candidate(id="maybe", kind=Kind.FAILURE, trigger=said, resolution="", recorded_at=now),
    ]


def holds(store: Store, word: bytes) -> list[str]:
    """Return where the word stands in the store's files and copies, the packed rows of their logs included."""
    with copied(store.path) as files:
        found = [file.name for file in files if word in file.read_bytes()]
    for file in store.path.glob("*.db"):
        with closing(sqlite3.connect(file)) as journal:
            rows = journal.execute("SELECT seq, CAST(payload AS BLOB) FROM log WHERE payload IS NOT NULL")
            found += [f"{file.name}, row {seq}" for seq, payload in rows if word in zlib.decompress(payload)]
    return found


@pytest.mark.file
def test_tasks_and_their_like_lose_the_words_of_a_memory_that_is_forgotten(store: Store) -> None:
    ident = memory(store, SENTENCE)
    write(store, *map(put_record, works(store, SENTENCE)))
    task = mirror(store, seen("1", objective="harvest", attributes={"tried": [f"First. {SENTENCE}."]}))
    report = forget(store, ident)
    assert report.complete
    refs = {Ref(label=label_of(node), id=node.id) for node in works(store, "")} | {Ref.task(task.id)}
    assert refs <= set(report.erased)
    assert all(is_erased(store.records.node(ref)) for ref in refs)
    assert {(left.label, left.id) for left in tombstones(store.journal)} >= {(ref.label, ref.id) for ref in refs}
    assert holds(store, WORD) == []


@pytest.mark.file
def test_a_task_that_said_it_once_and_says_it_no_more_leaves_no_trace_of_it(store: Store) -> None:
    ident = memory(store, SENTENCE)
    task = mirror(store, seen("1", attributes={"error": SENTENCE, "summary": SENTENCE}))
    mirror(store, seen("1", attributes={"error": "", "summary": "fine"}))
    copy = store.path / "copy.db"
    job(store, lambda ticket: back_up(store, copy, ticket))
    assert any(copy.name in place for place in holds(store, WORD))
    report = forget(store, ident)
    assert Ref.task(task.id) in report.erased
    assert [Path(each.path).name for each in report.copies if each.erased] == [copy.name]
    assert holds(store, WORD) == []


@pytest.mark.soak
@pytest.mark.file
def test_no_backup_that_was_out_of_reach_brings_the_words_of_a_task_back(store: Store, tmp_path: Path) -> None:
    ident = memory(store, SENTENCE)
    task = mirror(store, seen("1", objective="harvest", attributes={"error": SENTENCE}))
    mirror(store, seen("1", attributes={"error": "", "summary": "fine"}))
    copy, away = store.path / "copy.db", tmp_path / "away.db"
    job(store, lambda ticket: back_up(store, copy, ticket))
    copy.rename(away)
    forget(store, ident)
    job(store, lambda ticket: restore(store, away, ticket))
    left = find_task(store.index, task.id)
    assert left is not None
    assert (is_erased(left), left.objective) == (True, "")
    assert holds(store, WORD) == []


def test_a_task_whose_words_are_gone_still_says_what_it_came_to(store: Store) -> None:
    ident, other = memory(store, SENTENCE), memory(store, "Oil the gate before the winter comes")
    task = mirror(store, seen("1", objective=SENTENCE, status="completed", outcome="delivered", treatment="memory"))
    inject(store, task.id, [shown(ident), replace(shown(other), rank=2)], held_back=False)
    forget(store, ident)
    left = find_task(store.index, task.id)
    assert left is not None
    assert (left.objective, left.status, left.outcome, left.treatment) == ("", "completed", "delivered", "memory")
    assert (left.scope, left.session, left.ended_at) == (task.scope, task.session, task.ended_at)
    assert left.attributes["tokens_injected"] == 6
    assert [one.memory_id for one in injections(store.index, task.id)] == [other]


def test_no_words_come_back_to_it_from_the_clients_list(store: Store) -> None:
    ident = memory(store, SENTENCE)
    told = seen("1", objective=SENTENCE, attributes={"summary": SENTENCE})
    task = mirror(store, told)
    forget(store, ident)
    mirror(store, replace(told, status="completed", outcome="blocked"))
    left = find_task(store.index, task.id)
    assert left is not None
    assert (left.status, left.outcome, left.objective) == ("completed", "blocked", "")
    assert holds(store, WORD) == []


def test_what_shares_no_sentence_stays_as_it_is(store: Store) -> None:
    ident = memory(store, SENTENCE)
    task = mirror(store, seen("1", objective="Feed the quaxlotl", attributes={"slug": "feed-it"}))
    inject(store, task.id, [shown(ident)], held_back=False)
    before = find_task(store.index, task.id)
    forget(store, ident)
    assert find_task(store.index, task.id) == before
    assert injections(store.index, task.id) == []


@pytest.mark.soak
def test_a_candidate_goes_with_the_memory_it_became_and_a_task_can_be_named_itself(store: Store) -> None:
    ident = memory(store, SENTENCE)
    candidate = Candidate(
        id="c", kind=Kind.FAILURE, trigger="other words", resolution="", recorded_at=store.runtime.clock(), memory=ident
    )
    task = mirror(store, seen("1", objective="a quaxlotl of its own"))
    proposed = PutEdge(
        type=Relation.PROPOSED,
        source=Ref.task(task.id),
        target=Ref(label=Label.CANDIDATE, id="c"),
        props={"created_at": 1},
    )
    write(store, put_record(candidate), proposed)
    assert Ref(label=Label.CANDIDATE, id="c") in forget(store, ident).erased
    assert forget(store, task.id).erased == (Ref.task(task.id),)
    assert holds(store, WORD) == []
    assert [op.type for op in store.records.edges_at(Ref.task(task.id))] == [Relation.PROPOSED]


def test_a_scan_takes_secrets_out_of_tasks_and_their_like(store: Store) -> None:
    write(store, *map(put_record, works(store, f"the key is {SECRET}")))
    found = job(store, lambda ticket: scan(store, ticket, apply=True))
    assert {(one.ref.label, one.place) for one in found.found} == {
        (Label.PLAN, "objective"),
        (Label.EXPLORATION, "attributes"),
        (Label.WORKSPACE, "attributes"),
        (Label.CANDIDATE, "trigger"),
    }
    assert holds(store, SECRET.encode()) == []
