"""A builder's task is the client's, however its prompt or the plan spells the client's id of it."""

from __future__ import annotations

import json

import pytest

from helix.agents.observer.queue import Keeping
from helix.agents.outcomes.ledger import ledger_of
from helix.agents.tasks.board import find_task, injections, tasks_of
from helix.agents.tasks.plans import PlanRequest, cascade_status, ready_tasks, save_plan
from helix.errors import InvalidInputError
from helix.model.task import CLIENT_TASK
from helix.model.task_answers import PlanReport, Progress
from helix.operations import learning
from helix.operations import tasks as tasks_operations
from tests.agents.hook_events.agent_client import AgentSession
from tests.agents.hook_events.test_hooks_loop import keep, scope_of, task_of

OBJECTIVE = "add retries to the payment client"


def created(session: AgentSession, ident: str, seq: str, slug: str) -> None:
    made = {"subject": f"{seq}: {slug}", "description": OBJECTIVE, "metadata": {"seq": seq, "slug": slug}}
    answer = {"task": {"id": ident, "subject": made["subject"]}}
    session.tell("PostToolUse", tool_name="TaskCreate", tool_input=made, tool_response=answer)


def built(
    session: AgentSession, named: str, subject: str, said: str = "DELIVERED: retries are in", failed: int = 0
) -> None:
    """Have a builder do a task: a memory is shown, its verify command is run, and it says what came of it."""
    command = "pytest tests"
    session.agent_call(f"TASK_ID: {named}\nTASK: {subject}\nOBJECTIVE: {OBJECTIVE}\nVERIFY: {command}")
    session.tell("SubagentStart", "a1", "helix:builder")
    session.task(named, "in_progress", "a1")
    session.run(command, failed, f"{failed} failed, {5 - failed} passed", agent="a1")
    session.agent_ends("a1", f"{said}\nUTILIZED: []")


def planned(session: AgentSession, mapping: str) -> PlanReport:
    """Save a plan of two tasks, the second of which waits for the first."""
    tasks = [
        {"seq": seq, "slug": "s", "objective": OBJECTIVE, "verify": "pytest tests", "budget": 5, "depends": depends}
        for seq, depends in (("001", []), ("002", ["Task 001"]))
    ]
    answer = f"{json.dumps(tasks)}\n{mapping}"
    request = PlanRequest(answer=answer, objective="o", scope=scope_of(session), session=session.name)
    return save_plan(session.settled().store, request)


@pytest.mark.parametrize(
    "named",
    ["4", "#4", "Task 4", "task #4", "**4** (retries)", "`4`", "T4", "001", "\uff14", "retries", "", "<clientTask>"],
)
def test_what_a_builder_does_is_told_of_the_clients_task_however_it_is_named(session: AgentSession, named: str) -> None:
    keep(session, OBJECTIVE, "use the retry decorator", kind="pattern")
    created(session, "4", "001", "retries")
    created(session, "5", "002", "docs")
    session.settled()
    built(session, named, "001: retries")
    store = session.settled().store
    worked = [
        task
        for task in tasks_of(store.index, session=session.name)
        if task.verification or injections(store.index, task.id)
    ]
    assert [task.id for task in worked] == [task_of(session, "4")]
    assert (worked[0].outcome, worked[0].verification, worked[0].attributes[CLIENT_TASK]) == (
        "delivered",
        "passed",
        "4",
    )


def test_an_id_that_the_session_has_no_task_of_is_kept_as_it_was_said(session: AgentSession) -> None:
    created(session, "4", "001", "retries")
    session.settled()
    built(session, "#9", "something else")
    store = session.settled().store
    assert find_task(store.index, task_of(session, "9")) is not None
    untouched = find_task(store.index, task_of(session, "4"))
    assert untouched is not None
    assert untouched.verification == ""


@pytest.mark.parametrize("right", ["#{}", "Task #{}: docs", "**{}** (created)", "task {}"])
def test_a_plan_moves_with_the_clients_tasks_however_they_are_mapped(session: AgentSession, right: str) -> None:
    created(session, "4", "001", "retries")
    created(session, "5", "002", "docs")
    store, scope = session.settled().store, scope_of(session)
    report = planned(session, f"TASK_MAPPING:\n001 -> {right.format(4)}\n002 -> {right.format(5)}\nPLAN_COMPLETE: 2")
    assert ([task.client_task for task in report.tasks], report.problems) == (["4", "5"], ())
    built(session, report.tasks[0].client_task, "001: retries")
    session.task("4", "completed", helix_outcome="delivered")
    session.settled()
    assert [task.seq for task in ready_tasks(store.index, report.plan.id, scope)] == ["002"]


@pytest.mark.parametrize(
    ("said", "failed", "outcome", "ready", "status"),
    [
        ("DELIVERED: retries are in", 0, "delivered", ["002"], Progress.IN_PROGRESS),
        ("DELIVERED: retries are in", 1, "blocked", [], Progress.ALL_BLOCKED),
        ("BLOCKED: no server\nTRIED: twice\nERROR: refused", 1, "blocked", [], Progress.ALL_BLOCKED),
    ],
)
def test_a_plan_goes_on_though_a_builder_had_no_task_list_to_say_that_it_ended(
    session: AgentSession, said: str, failed: int, outcome: str, ready: list[str], status: Progress
) -> None:
    created(session, "4", "001", "retries")
    created(session, "5", "002", "docs")
    plan = planned(session, "TASK_MAPPING:\n001 -> 4\n002 -> 5\nPLAN_COMPLETE: 2").plan
    built(session, "4", "001: retries", said, failed)
    session.run("make lint", 1, "2 errors")
    store = session.settled().store
    task = find_task(store.index, task_of(session, "4"))
    assert task is not None and (task.status, task.outcome) == ("completed", outcome)
    assert [one.command for one in ledger_of(task).evidence] == ["pytest tests"]
    assert [one.seq for one in ready_tasks(store.index, plan.id, plan.scope)] == ready
    assert cascade_status(store.index, plan.id, plan.scope).status is status
    session.task("4", "in_progress")  # another attempt
    session.settled()
    assert cascade_status(store.index, plan.id, plan.scope).in_progress == ("001",)


def test_a_mapping_to_what_is_no_task_of_the_session_is_told(session: AgentSession) -> None:
    created(session, "4", "001", "retries")
    store = session.settled().store
    task = {"seq": "001", "slug": "s", "objective": OBJECTIVE, "verify": "pytest tests", "budget": 5}
    answer = f"{json.dumps([task])}\nTASK_MAPPING:\n001 -> 7\nPLAN_COMPLETE: 1"
    request = PlanRequest(answer=answer, objective="o", scope=scope_of(session), session=session.name)
    assert save_plan(store, request).problems == (
        "TASK_MAPPING leads from 001 to 7, which is not a task of the client's",
    )


def test_what_a_session_came_to_is_told_by_the_tasks_that_are_kept_of_it(session: AgentSession) -> None:
    created(session, "4", "001", "retries")
    created(session, "5", "002", "docs")
    session.task("4", "completed", helix_outcome="delivered")
    helix = session.settled()
    (seen,) = learning.observe_session(helix, Keeping(scope=scope_of(session), session=session.name), "ship").candidates
    assert (seen.trigger, seen.resolution) == ("ship", "delivered: retries")
    with pytest.raises(InvalidInputError, match="neither tasks nor a session"):
        learning.observe_session(helix, Keeping(scope=scope_of(session)), "ship")


def test_an_outcome_may_be_told_by_any_spelling_of_the_clients_id(session: AgentSession) -> None:
    created(session, "4", "001", "retries")
    helix = session.settled()
    assert tasks_operations.task_outcome(helix, "Task #4", "blocked").outcome == "blocked"
    assert tasks_operations.task_outcome(helix, "#4", "delivered").outcome == "delivered"
