"""An attempt at a task begins with what memory has for it, and what it comes to is told of those memories."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from helix.errors import ConflictError, InvalidInputError, NotFoundError
from helix.learning.contracts.prompt import BuilderParams
from helix.learning.orchestration import board, workspaces
from helix.learning.orchestration.board import find_task, injections
from helix.learning.orchestration.plans import PlanRequest, load_plan, ready_tasks, save_plan
from helix.learning.orchestration.workspaces import (
    Ending,
    WorkspaceRequest,
    block_workspace,
    complete_workspace,
    list_workspaces,
)
from helix.model.injection import Shown
from helix.model.planned import PlanReport, WorkspaceReport
from helix.service import Helix
from helix.store.store import Store

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
    settled: list[tuple[str, str, tuple[str, ...], str]] = field(default_factory=list)

    def give(self, params: BuilderParams, scope: str, with_memory: bool) -> Block:
        self.asked.append(params)
        shown = self.memories if with_memory else ()
        return Block(text=f"{scope}: {', '.join(one.name for one in shown)}", shown=shown)

    def settle(self, task: str, outcome: str, utilized: Sequence[str], said: str) -> None:
        self.settled.append((task, outcome, tuple(utilized), said))


@pytest.fixture
def around(living: Helix) -> Around:
    living.store(kind="pattern", trigger="logging in", resolution="ask twice", name="ask-twice", scope="shop")
    memory = living.get("ask-twice")
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


def begun(store: Store, around: Around, task: str = "001", treat: str = "memory", **said: Any) -> WorkspaceReport:
    request = WorkspaceRequest(task=task, **said)
    return workspaces.create_workspace(store, request, give=around.give, treatment=lambda _: treat)


def test_an_attempt_is_given_what_memory_has_for_its_task(store: Store, around: Around, plan: PlanReport) -> None:
    report = begun(store, around, warning="mind the gap", limit=3)
    assert (report.prompt, report.injected, report.held_back) == ("shop: ask-twice", around.memories, False)
    assert (report.task.seq, report.task.status, report.workspace.status) == ("001", "in_progress", "active")
    (asked,) = around.asked
    assert (asked.objective, asked.verify, asked.relevant_files) == ("Make the form", "pytest", ("a.py",))
    assert (asked.warning, asked.memory_limit, asked.task_id) == ("mind the gap", 3, plan.tasks[0].id)
    assert [(one.name, one.held_back) for one in injections(store, report.task.id)] == [("ask-twice", False)]


def test_what_is_held_back_is_recorded_and_not_shown(store: Store, around: Around, plan: PlanReport) -> None:
    report = begun(store, around, treat="held_back")
    assert (report.prompt, report.injected, report.held_back) == ("shop: ", (), True)
    assert [(one.name, one.held_back) for one in injections(store, report.task.id)] == [("ask-twice", True)]


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
    assert around.settled == [(done.task.id, "delivered", ("ask-twice",), "a form")]
    seq = store.journal.last_seq
    assert complete_workspace(store, ident, ending, settle=around.settle) == done
    assert (store.journal.last_seq, len(around.settled)) == (seq, 1)
    with pytest.raises(ConflictError, match="is complete"):
        block_workspace(store, ident, Ending(reason="changed my mind"), settle=around.settle)


def test_being_blocked_says_why_and_another_attempt_may_follow(store: Store, around: Around, plan: PlanReport) -> None:
    first = begun(store, around)
    ending = Ending(reason="no network", tried="twice", error="ECONNREFUSED")
    blocked = block_workspace(store, first.workspace.id, ending, settle=around.settle)
    assert around.settled == [(first.task.id, "blocked", (), "no network")]
    assert blocked.workspace.status == "blocked"
    task = find_task(store, first.task.id)
    assert task is not None
    told = {name: task.attributes[name] for name in ("blocked_reason", "tried", "error")}
    assert told == {"blocked_reason": "no network", "tried": "twice", "error": "ECONNREFUSED"}
    second = begun(store, around)
    assert second.workspace.id != first.workspace.id
    assert [one.workspace.status for one in list_workspaces(store, plan=plan.plan.id)] == ["blocked", "active"]


def test_workspaces_are_listed_by_plan_scope_and_status(store: Store, around: Around, plan: PlanReport) -> None:
    one = begun(store, around)
    other = save_plan(store, PlanRequest(answer='{"tasks": [{"seq": "001", "objective": "o"}]}', scope="barn"))
    two = begun(store, around, "001", plan=other.plan.id)
    ids = lambda **asked: [found.workspace.id for found in list_workspaces(store, **asked)]  # noqa: E731
    assert ids() == [one.workspace.id, two.workspace.id]
    assert ids(limit=1) == [two.workspace.id]
    assert ids(plan=plan.plan.id) == ids(scope="shop") == [one.workspace.id]
    assert ids(status="complete") == []
    with pytest.raises(InvalidInputError, match="no status"):
        ids(status="lost")
    with pytest.raises(NotFoundError):
        ids(plan="nonsense")


def test_a_task_is_named_by_its_id_or_its_number(store: Store, around: Around, plan: PlanReport) -> None:
    named = [begun(store, around, name, scope="shop").task.id for name in ("001", "1", plan.tasks[0].id)]
    assert named == [plan.tasks[0].id] * 3
    with pytest.raises(NotFoundError, match="no task '009'"):
        begun(store, around, "009")


def test_the_service_gives_recalled_memories_and_credits_them(living: Helix, store: Store, around: Around) -> None:
    living.store(kind="failure", trigger="Make the form", resolution="escape the names", name="escape", scope="shop")
    answer = json.dumps({"tasks": [{"seq": "001", "slug": "form", "objective": "Make the form"}]})
    plan = living.save_plan(PlanRequest(answer=answer, scope="shop"))
    board.note(store, plan.tasks[0].id, treatment="memory")
    report = living.create_workspace(WorkspaceRequest(task="001"))
    assert "escape the names" in report.prompt
    assert "escape" in [one.name for one in report.injected]
    living.complete_workspace(report.workspace.id, Ending(delivered="a form", utilized=["escape"]))
    assert load_plan(store).tasks[0].outcome == "delivered"
    assert ready_tasks(store) == ()
    assert living.get("escape").helped > 0
    asked = (
        "MATCH (:Workspace)-[:FOR_TASK]->(t:Task)-[i:INJECTED]->(:Memory {name: 'escape'}) RETURN t.outcome, i.outcome"
    )
    ((outcome, came_to),) = living.cypher(asked).rows
    assert (outcome, bool(came_to)) == ("delivered", True)


def test_the_service_holds_memories_back_and_says_so(living: Helix, store: Store) -> None:
    living.store(kind="failure", trigger="Make the form", resolution="escape the names", name="escape", scope="shop")
    answer = json.dumps({"tasks": [{"seq": "001", "slug": "form", "objective": "Make the form"}]})
    plan = living.save_plan(PlanRequest(answer=answer, scope="shop"))
    board.note(store, plan.tasks[0].id, treatment="held_back")
    report = living.create_workspace(WorkspaceRequest(task="001", warning="mind the gap"))
    assert report.held_back
    assert "mind the gap" in report.prompt
    assert "escape" not in report.prompt
    living.complete_workspace(report.workspace.id, Ending(delivered="a form"))
    assert (living.get("escape").helped, living.get("escape").failed) == (0.0, 0.0)
