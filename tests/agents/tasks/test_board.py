"""The board holds one node for a task and one edge for a memory it was shown, however often it is told."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from helix.agents.tasks import board
from helix.agents.tasks.board import TaskSighting, find_task, inject, injections, mirror, task_id, tasks_of
from helix.errors import InvalidInputError
from helix.memory.capture.sessions import SessionRequest, open_session
from helix.memory.change.compose import Composer
from helix.memory.remember.request import StoreRequest
from helix.model.edge import Ref, Relation
from helix.model.task import Credit, Shown
from helix.operations import graph, memories, upkeep
from helix.service import Helix
from helix.store.store import Store
from helix.store.writer import Decision
from tests.memory.working import job
from tests.sampling import draws

SEEN = TaskSighting(session="s", key="1", scope="shop", objective="Fix the login")


def shown(living: Helix, name: str, rank: int = 1, tokens: int = 10) -> Shown:
    memory = memories.get(living, name)
    return Shown(memory_id=memory.id, name=name, kind=memory.kind, rank=rank, score=0.5, tokens=tokens)


def remembered(living: Helix, *names: str) -> None:
    for name in names:
        memories.store(
            living,
            StoreRequest(kind="pattern", trigger=f"{name} trigger", resolution=f"{name} said", name=name, scope="shop"),
        )


def test_a_task_is_one_node_whoever_tells_of_it(store: Store) -> None:
    first = mirror(store, SEEN)
    assert first.id == task_id("shop", "s", "1")
    assert (first.status, first.objective, first.session, first.scope) == ("pending", "Fix the login", "s", "shop")
    seq = store.journal.last_seq
    assert mirror(store, SEEN) == first
    assert store.journal.last_seq == seq
    assert [task.id for task in tasks_of(store.index)] == [first.id]


def test_what_is_not_said_of_a_task_stays(store: Store) -> None:
    mirror(store, TaskSighting(session="s", key="1", objective="Fix it", attributes={"verify": "pytest", "seq": "001"}))
    done = mirror(store, TaskSighting(session="s", key="1", status="completed", attributes={"summary": "done"}))
    assert (done.objective, done.status) == ("Fix it", "completed")
    assert done.attributes == {"verify": "pytest", "seq": "001", "summary": "done"}
    assert done.ended_at is not None
    assert mirror(store, TaskSighting(session="s", key="1", outcome="delivered")).ended_at == done.ended_at
    assert mirror(store, TaskSighting(session="s", key="1", status="in_progress")).ended_at is None


def test_sessions_and_scopes_keep_tasks_of_one_key_apart(store: Store) -> None:
    keys = [("a", "s"), ("a", "t"), ("b", "s"), ("b", "t")]
    told = {mirror(store, TaskSighting(session=session, key="1", scope=scope)).id for scope, session in keys}
    assert len(told) == 4
    assert {task.scope for task in tasks_of(store.index, scope="a")} == {"a"}
    assert [(task.scope, task.session) for task in tasks_of(store.index, scope="b", session="s")] == [("b", "s")]


def test_tasks_come_newest_first_since_a_moment_and_no_more_than_asked_for(store: Store) -> None:
    told = [mirror(store, TaskSighting(session="s", key=str(n), attributes={"plan": f"p{n % 2}"})) for n in range(5)]
    newest = [task.id for task in reversed(told)]
    assert [task.id for task in tasks_of(store.index)] == newest
    assert [task.id for task in tasks_of(store.index, limit=2)] == newest[:2]
    assert [task.id for task in tasks_of(store.index, since=told[3].recorded_at)] == newest[:2]
    assert tasks_of(store.index, since=told[-1].recorded_at + timedelta(seconds=1)) == []


@pytest.mark.parametrize("field", ["status", "outcome", "treatment", "verification"])
def test_a_word_that_is_none_of_its_field_is_refused(store: Store, field: str) -> None:
    with pytest.raises(InvalidInputError, match=f"cannot be the {field}"):
        mirror(store, TaskSighting(session="s", key="1", **{field: "perhaps"}))  # type: ignore[arg-type]
    assert tasks_of(store.index) == []


def test_no_secret_reaches_a_task(store: Store) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    told = mirror(
        store, TaskSighting(session="s", key="1", objective=f"push with {secret}", attributes={"tried": [secret]})
    )
    assert secret not in repr(told)
    assert secret not in repr(find_task(store.index, told.id))


def test_an_objective_that_is_too_long_is_cut_between_two_words(store: Store) -> None:
    limit = store.runtime.settings.text_limit
    told = mirror(store, TaskSighting(session="s", key="1", objective="word " * limit))
    assert len(told.objective) <= limit
    assert set(told.objective.split()) == {"word"}


def test_nothing_is_kept_of_the_tasks_of_a_private_session(living: Helix, store: Store) -> None:
    remembered(living, "one")
    open_session(store, SessionRequest(name="quiet", private=True))
    seq = store.journal.last_seq
    told = mirror(store, TaskSighting(session="quiet", key="1", objective="hidden"))
    inject(store, told.id, [shown(living, "one")], held_back=False)
    board.learn(store, told.id, memories.get(living, "one").id)
    assert (find_task(store.index, told.id), injections(store.index, told.id)) == (None, [])
    assert store.journal.last_seq == seq


def test_ranks_go_on_and_a_memory_is_injected_once(living: Helix, store: Store) -> None:
    remembered(living, "one", "two", "three")
    task = mirror(store, SEEN)
    inject(store, task.id, [shown(living, "one"), shown(living, "two", 2)], held_back=False)
    inject(store, task.id, [shown(living, "two"), shown(living, "three", 2)], held_back=False)
    told = injections(store.index, task.id)
    assert [(one.name, one.rank, one.held_back) for one in told] == [
        ("one", 1, False),
        ("two", 2, False),
        ("three", 3, False),
    ]
    found = find_task(store.index, task.id)
    assert found is not None
    assert found.attributes["tokens_injected"] == 30


def test_what_was_held_back_took_no_room_and_counts_as_shown_once_it_is(living: Helix, store: Store) -> None:
    remembered(living, "one", "two")
    task = mirror(store, SEEN)
    both = [shown(living, "one"), shown(living, "two", 2)]
    inject(store, task.id, both, held_back=True)
    found = find_task(store.index, task.id)
    assert found is not None
    assert "tokens_injected" not in found.attributes
    assert [one.held_back for one in injections(store.index, task.id)] == [True, True]
    inject(store, task.id, both[:1], held_back=False)
    assert {one.name: one.held_back for one in injections(store.index, task.id)} == {"one": False, "two": True}
    inject(store, task.id, both[:1], held_back=True)
    assert {one.name: one.held_back for one in injections(store.index, task.id)} == {"one": False, "two": True}


def test_a_memory_that_is_gone_is_not_injected(living: Helix, store: Store) -> None:
    task = mirror(store, SEEN)
    inject(store, task.id, [Shown(memory_id="gone", name="g", kind="fact", rank=1, score=1.0)], held_back=False)
    assert injections(store.index, task.id) == []


def test_what_an_injection_came_to_is_kept_on_its_edge(living: Helix, store: Store) -> None:
    remembered(living, "one")
    task = mirror(store, SEEN)
    inject(store, task.id, [shown(living, "one")], held_back=False)
    (one,) = injections(store.index, task.id)
    credited = replace(one, outcome="helped", credited=Credit(helped=0.5, failed=0.0, quality=5, at=one.at))

    def decision() -> Decision[None]:
        composer = Composer(store, store.runtime.clock())
        board.put_injection(composer, task.id, credited)
        return Decision((composer.change("settle"),), None)

    store.writer.submit(decision)
    assert injections(store.index, task.id) == [credited]


def test_what_a_task_taught_is_linked_to_it_once(living: Helix, store: Store) -> None:
    remembered(living, "one")
    task, memory = mirror(store, SEEN), memories.get(living, "one")
    for _ in range(2):
        board.learn(store, task.id, memory.id)
    edges = store.records.edges_at(Ref.task(task.id))
    assert [(op.type, op.target.id) for op in edges] == [(Relation.LEARNED, memory.id)]


@pytest.mark.soak
def test_cypher_answers_whether_it_helped(living: Helix, store: Store) -> None:
    remembered(living, "one", "two")
    task = mirror(store, SEEN)
    inject(store, task.id, [shown(living, "one")], held_back=False)
    inject(store, task.id, [shown(living, "two")], held_back=True)
    mirror(store, TaskSighting(session="s", key="1", scope="shop", status="completed", outcome="delivered"))
    asked = "MATCH (t:Task)-[i:INJECTED]->(m:Memory) RETURN t.outcome, t.session, i.arm, i.rank, i.outcome, m.name"
    held_back = "MATCH (t:Task)-[i:WITHHELD]->(m:Memory) RETURN i.rank, m.name"
    for _ in ("as it was written", "as it is built anew"):
        assert graph.cypher(living, asked).rows == (("delivered", "s", "recall", 1, "", "one"),)
        assert graph.cypher(living, held_back).rows == ((2, "two"),)
        assert [finding for finding in upkeep.doctor(living).findings if not finding.ok] == []
        job(store, store.rebuild_graph)


_CALLS = st.lists(
    st.one_of(
        st.tuples(st.just("status"), st.sampled_from(["pending", "in_progress", "completed"]), st.booleans()),
        st.tuples(st.just("inject"), st.sets(st.sampled_from(["one", "two", "three"])), st.booleans()),
        st.tuples(st.just("note"), st.sampled_from(["summary", "verify"]), st.booleans()),
    ),
    max_size=8,
)


@settings(max_examples=draws(12), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(calls=_CALLS, number=st.integers(0, 10**9))
def test_telling_everything_a_second_time_changes_nothing(living: Helix, calls: list[Any], number: int) -> None:
    store = living.store
    if not store.index.memories_named("one"):
        remembered(living, "one", "two", "three")
    key = f"{number}-{store.journal.last_seq}"

    def tell(kind: str, what: object, flag: bool) -> None:
        if kind == "status":
            mirror(store, TaskSighting(session="s", key=key, scope="shop", status=str(what)))
        elif kind == "note":
            mirror(store, TaskSighting(session="s", key=key, scope="shop", attributes={str(what): flag}))
        else:
            assert isinstance(what, set)
            told = [shown(living, name, rank) for rank, name in enumerate(sorted(what), 1)]
            inject(store, task_id("shop", "s", key), told, held_back=flag)

    mirror(store, TaskSighting(session="s", key=key, scope="shop"))
    for call in calls:
        tell(*call)
        before = (store.journal.last_seq, injections(store.index, task_id("shop", "s", key)))
        tell(*call)
        assert (store.journal.last_seq, injections(store.index, task_id("shop", "s", key))) == before
    told = injections(store.index, task_id("shop", "s", key))
    assert len({one.memory_id for one in told}) == len(told)
    assert len({one.rank for one in told}) == len(told)
