"""An attempt at a task begins with what memory has for it, and what it comes to is told of those memories."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from helix.agents.answers.prompt import BuilderParams
from helix.agents.observer.verify import verify
from helix.agents.tasks import board, workspaces
from helix.agents.tasks.board import find_task, injections
from helix.agents.tasks.plan_end import complete_plan
from helix.agents.tasks.plans import PlanRequest, load_plan, ready_tasks, save_plan
from helix.agents.tasks.workspaces import Ending, WorkspaceRequest, block_workspace, complete_workspace, list_workspaces
from helix.errors import ConflictError, InvalidInputError, NotFoundError
from helix.memory.remember.request import StoreRequest
from helix.model.task import Shown
from helix.model.task_answers import PlanReport, WorkspaceReport
from helix.operations import graph, memories
from helix.operations import tasks as tasks_operations
from helix.service import Helix
from helix.store.store import Store
from tests.sampling import draws

Treat = Callable[[str], str]


@dataclass(frozen=True)
class Block:
    """What a builder is given."""

    text: str
    shown: tuple[Shown, ...]


@dataclass
class Around:
    """What a workspace asks of the parts around it, and what it told them."""

    memories: tuple[Shown, ...] = ()
    asked: list[BuilderParams] = field(default_factory=list)
    settled: list[tuple[str, str, tuple[str, ...]]] = field(default_factory=list)

    def give(self, params: BuilderParams, scope: str, with_memory: bool) -> Block:
        self.asked.append(params)
        shown = self.memories if with_memory else ()
        return Block(text=f"{scope}: {', '.join(one.name for one in shown)}", shown=shown)

    def settle(self, task: str, outcome: str, utilized: Sequence[str]) -> None:
        self.settled.append((task, outcome, tuple(utilized)))


@pytest.fixture
def around(living: Helix) -> Around:
    memories.store(
        living,
        StoreRequest(kind="pattern", trigger="logging in", resolution="ask twice", name="ask-twice", scope="shop"),
    )
    memory = memories.get(living, "ask-twice")
    return Around((Shown(memory_id=memory.id, name=memory.name, kind="pattern", rank=1, score=0.9, tokens=7),))


@pytest.fixture
def plan(store: Store) -> PlanReport:
    tasks: list[dict[str, Any]] = [
        {
            "seq": "001",
            "slug": "form",
            "objective": "Make the form",
            "verify": "pytest",
            "delta": ["a.py"],
            "budget": 5,
        },
        {"seq": "002", "slug": "login", "objective": "Log in", "depends": ["001"], "relevant_files": ["b.py"]},
    ]
    return save_plan(store, PlanRequest(answer=json.dumps({"objective": "o", "tasks": tasks}), scope="shop"))


def begun(
    store: Store, around: Around, task: str = "001", treat: str = "memory", scope: str = "shop", **said: Any
) -> WorkspaceReport:
    request = WorkspaceRequest(task=task, scope=scope, **said)
    return workspaces.create_workspace(store, request, give=around.give, treatment=lambda _: treat)


def test_an_attempt_is_given_what_memory_has_for_its_task(store: Store, around: Around, plan: PlanReport) -> None:
    report = begun(store, around, warning="mind the gap", limit=3)
    assert (report.prompt, report.injected, report.held_back) == ("shop: ask-twice", around.memories, False)
    assert (report.task.seq, report.task.status, report.workspace.status) == ("001", "in_progress", "active")
    (asked,) = around.asked
    assert (asked.objective, asked.verify, asked.relevant_files) == ("Make the form", "pytest", ("a.py",))
    assert (asked.warning, asked.memory_limit, asked.task_id) == ("mind the gap", 3, plan.tasks[0].id)
    assert [(one.name, one.held_back) for one in injections(store.index, report.task.id)] == [("ask-twice", False)]


def test_what_is_held_back_is_recorded_and_not_shown(store: Store, around: Around, plan: PlanReport) -> None:
    report = begun(store, around, treat="held_back")
    assert (report.prompt, report.injected, report.held_back) == ("shop: ", (), True)
    assert [(one.name, one.held_back) for one in injections(store.index, report.task.id)] == [("ask-twice", True)]


def test_a_task_cannot_begin_before_what_it_waits_for_was_delivered(
    store: Store, around: Around, plan: PlanReport
) -> None:
    with pytest.raises(InvalidInputError, match="task 002 waits for 001"):
        begun(store, around, "002")
    first = begun(store, around)
    complete_workspace(store, first.workspace.id, Ending(delivered="a form"), settle=around.settle)
    board.note(store, first.task.id, outcome="delivered")
    second = begun(store, around, "002")
    assert second.task.depends == ("001",)
    assert [dict(one) for one in around.asked[-1].lineage] == [{"seq": "001", "slug": "form", "delivered": "a form"}]


def test_delivering_tells_the_task_and_what_settles_it_once(store: Store, around: Around, plan: PlanReport) -> None:
    ident = begun(store, around).workspace.id
    ending = Ending(delivered="a form", utilized=["ask-twice"])
    done = complete_workspace(store, ident, ending, settle=around.settle)
    assert done.workspace.status == "complete"
    assert done.workspace.ended_at is not None
    assert done.workspace.attributes == {"delivered": "a form", "utilized": ["ask-twice"]}
    assert (done.task.status, done.task.delivered) == ("completed", "a form")
    assert around.settled == [(done.task.id, "delivered", ("ask-twice",))]
    seq = store.journal.last_seq
    assert complete_workspace(store, ident, ending, settle=around.settle) == done
    assert (store.journal.last_seq, len(around.settled)) == (seq, 1)
    with pytest.raises(ConflictError, match="is complete"):
        block_workspace(store, ident, Ending(reason="changed my mind"), settle=around.settle)


def test_being_blocked_says_why_and_another_attempt_may_follow(store: Store, around: Around, plan: PlanReport) -> None:
    first = begun(store, around)
    ending = Ending(reason="no network", tried="twice", error="ECONNREFUSED")
    blocked = block_workspace(store, first.workspace.id, ending, settle=around.settle)
    assert around.settled == [(first.task.id, "blocked", ())]
    assert blocked.workspace.status == "blocked"
    task = find_task(store.index, first.task.id)
    assert task is not None
    told = {name: task.attributes[name] for name in ("blocked_reason", "tried", "error")}
    assert told == {"blocked_reason": "no network", "tried": "twice", "error": "ECONNREFUSED"}
    second = begun(store, around)
    assert second.workspace.id != first.workspace.id
    assert [one.workspace.status for one in list_workspaces(store.index, plan=plan.plan.id)] == ["active", "blocked"]


def test_workspaces_are_listed_by_plan_scope_and_status(store: Store, around: Around, plan: PlanReport) -> None:
    one = begun(store, around)
    other = save_plan(store, PlanRequest(answer='{"tasks": [{"seq": "001", "objective": "o"}]}', scope="barn"))
    two = begun(store, around, "001", plan=other.plan.id)
    ids = lambda **asked: [found.workspace.id for found in list_workspaces(store.index, **asked)]  # noqa: E731
    assert ids() == [two.workspace.id, one.workspace.id]
    first = list_workspaces(store.index, first=1)
    assert ids(first=1) == [two.workspace.id]
    assert ids(first=1, after=first.next_cursor) == [one.workspace.id]
    assert ids(plan=plan.plan.id) == ids(scope="shop") == [one.workspace.id]
    assert ids(status="complete") == []
    with pytest.raises(InvalidInputError, match="not a status"):
        ids(status="lost")
    with pytest.raises(NotFoundError):
        ids(plan="nonsense")


def test_a_task_is_named_by_its_id_or_its_number(store: Store, around: Around, plan: PlanReport) -> None:
    named = [begun(store, around, name, scope="shop").task.id for name in ("001", "1", plan.tasks[0].id)]
    assert named == [plan.tasks[0].id] * 3
    with pytest.raises(NotFoundError, match="no task '009'"):
        begun(store, around, "009")


def test_another_attempt_at_a_task_supersedes_the_one_that_nobody_ended(
    store: Store, around: Around, plan: PlanReport
) -> None:
    first, second = begun(store, around), begun(store, around)
    assert first.problems == ()
    assert second.problems == (f"attempt {first.workspace.id} had not been ended: it is superseded",)
    listed = list_workspaces(store.index, plan=plan.plan.id)
    assert [one.workspace.status for one in listed] == ["active", "superseded"]
    assert listed.items[1].workspace.ended_at is not None
    with pytest.raises(ConflictError, match="is superseded"):
        complete_workspace(store, first.workspace.id, Ending(delivered="late"), settle=around.settle)
    assert around.settled == []


def test_nothing_begins_that_was_delivered_or_whose_plan_is_complete(
    store: Store, around: Around, plan: PlanReport
) -> None:
    board.note(store, plan.tasks[0].id, status="completed", outcome="delivered")
    with pytest.raises(ConflictError, match="task 001 was delivered already"):
        begun(store, around)
    complete_plan(store, plan.plan.id)
    with pytest.raises(ConflictError, match="the plan of task 002 is complete"):
        begun(store, around, "002")
    assert not list_workspaces(store.index).items


def test_memories_that_were_never_shown_are_told_back(store: Store, around: Around, plan: PlanReport) -> None:
    ident = begun(store, around).workspace.id
    ending = Ending(delivered="a form", utilized=["ask-twice", "made-up"])
    done = complete_workspace(store, ident, ending, settle=around.settle)
    assert done.problems == ("made-up was not shown to this task: nothing is credited for it",)


def test_a_task_is_not_looked_for_in_the_plans_of_other_projects(
    store: Store, around: Around, plan: PlanReport
) -> None:
    with pytest.raises(NotFoundError, match="no plan was saved yet in global"):
        workspaces.create_workspace(store, WorkspaceRequest(task="001"), give=around.give, treatment=lambda _: "memory")
    assert find_task(store.index, plan.tasks[0].id).status == "pending"  # type: ignore[union-attr]  # the fixture's


def test_attempts_that_were_left_are_named_when_the_plan_is_closed_and_by_verify(
    store: Store, around: Around, plan: PlanReport
) -> None:
    left = begun(store, around).workspace.id
    assert f"attempts that nobody has ended: {left}" in complete_plan(store, plan.plan.id).problems
    assert not any("never ended" in issue for issue in verify(store).issues)
    board.note(store, plan.tasks[0].id, status="completed", outcome="delivered")
    assert any("1 attempts at tasks" in issue for issue in verify(store).issues)


@settings(max_examples=draws(12), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(st.tuples(st.sampled_from(["create", "complete", "block"]), st.integers(0, 4)), max_size=8))
def test_of_the_attempts_at_a_task_only_the_last_is_open_whatever_is_done(
    store: Store, around: Around, steps: list[tuple[str, int]]
) -> None:
    """Held against the obvious account: an attempt ends once, and the next one ends what is open."""
    saved = save_plan(store, PlanRequest(answer='{"tasks": [{"seq": "1", "objective": "o"}]}', scope="model"))
    kept: dict[str, str] = {}
    for step, place in steps:
        if step == "create":
            kept = {ident: "superseded" if status == "active" else status for ident, status in kept.items()}
            kept[begun(store, around, plan=saved.plan.id).workspace.id] = "active"
        elif kept:
            ident = list(kept)[place % len(kept)]
            status = "complete" if step == "complete" else "blocked"
            end = complete_workspace if step == "complete" else block_workspace
            if kept[ident] in ("active", status):
                end(store, ident, Ending(delivered="d", reason="r"), settle=around.settle)
                kept[ident] = status
            else:
                with pytest.raises(ConflictError):
                    end(store, ident, Ending(delivered="d", reason="r"), settle=around.settle)
        listed = list_workspaces(store.index, plan=saved.plan.id)
        assert {one.workspace.id: one.workspace.status for one in listed} == kept


def test_the_service_gives_recalled_memories_and_credits_them(living: Helix, store: Store, around: Around) -> None:
    memories.store(
        living,
        StoreRequest(
            kind="failure", trigger="Make the form", resolution="escape the names", name="escape", scope="shop"
        ),
    )
    answer = json.dumps({"tasks": [{"seq": "001", "slug": "form", "objective": "Make the form"}]})
    plan = tasks_operations.save_plan(living, answer, scope="shop")
    board.note(store, plan.tasks[0].id, treatment="memory")
    report = tasks_operations.create_workspace(living, "001", scope="shop")
    assert "escape the names" in report.prompt
    assert "escape" in [one.name for one in report.injected]
    tasks_operations.complete_workspace(living, report.workspace.id, "a form", ["escape"])
    assert load_plan(store.index, scope="shop").tasks[0].outcome == "delivered"
    assert ready_tasks(store.index, scope="shop") == ()
    assert memories.get(living, "escape").helped > 0
    asked = (
        "MATCH (:Workspace)-[:FOR_TASK]->(t:Task)-[i:INJECTED]->(:Memory {name: 'escape'}) RETURN t.outcome, i.outcome"
    )
    ((outcome, came_to),) = graph.cypher(living, asked).rows
    assert (outcome, bool(came_to)) == ("delivered", True)


def test_the_service_holds_memories_back_and_says_so(living: Helix, store: Store) -> None:
    memories.store(
        living,
        StoreRequest(
            kind="failure", trigger="Make the form", resolution="escape the names", name="escape", scope="shop"
        ),
    )
    answer = json.dumps({"tasks": [{"seq": "001", "slug": "form", "objective": "Make the form"}]})
    plan = tasks_operations.save_plan(living, answer, scope="shop")
    board.note(store, plan.tasks[0].id, treatment="held_back")
    report = tasks_operations.create_workspace(living, "001", scope="shop", warning="mind the gap")
    assert report.held_back
    assert "mind the gap" in report.prompt
    assert "escape" not in report.prompt
    tasks_operations.complete_workspace(living, report.workspace.id, "a form")
    assert (memories.get(living, "escape").helped, memories.get(living, "escape").failed) == (0.0, 0.0)
