"""A plan is kept as tasks and their order, refused where nobody could work through it, and loads as it was saved."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from helix.agents.answers.planner_answer import PlannedTask
from helix.agents.outcomes.task_end import tell_outcome
from helix.agents.tasks import board
from helix.agents.tasks.board import TaskSighting, mirror
from helix.agents.tasks.explorations import ExplorationRequest, save_exploration
from helix.agents.tasks.plan_end import complete_plan
from helix.agents.tasks.plans import PlanRequest, cascade_status, load_plan, ready_tasks, save_plan
from helix.errors import InvalidInputError, NotFoundError
from helix.memory.capture.sessions import SessionRequest, open_session
from helix.model.task_answers import PlanReport, Progress
from helix.operations import graph
from helix.service import Helix
from helix.store.store import Store
from tests.sampling import draws


def task(seq: str, *depends: str, **said: Any) -> dict[str, Any]:
    return {
        "seq": seq,
        "slug": f"task-{seq}",
        "objective": f"Do {seq}",
        "delta": ["src/a.py"],
        "verify": "pytest -q",
        "depends": list(depends),
        "budget": 7,
        "relevant_files": ["src/b.py"],
        **said,
    }


def answer(*tasks: dict[str, Any], **said: Any) -> str:
    return json.dumps({"decision": "PROCEED", "plan": {"objective": "Log in", "tasks": tasks, **said}})


def saved(store: Store, *tasks: dict[str, Any], **said: Any) -> PlanReport:
    return save_plan(store, PlanRequest(answer=answer(*tasks, **said), scope="shop"))


def finish(store: Store, plan: PlanReport, seq: str, outcome: str = "delivered") -> None:
    ident = next(task.id for task in plan.tasks if task.seq == seq)
    assert board.note(store, ident, status="completed", outcome=outcome) is not None


def test_a_plan_becomes_tasks_that_wait_for_each_other(living: Helix, store: Store) -> None:
    plan = saved(store, task("001"), task("002", "001"), framework="pytest", idioms={"errors": "typed"})
    assert (plan.plan.objective, plan.plan.status, plan.plan.scope, plan.task_count) == ("Log in", "open", "shop", 2)
    assert plan.plan.attributes == {"framework": "pytest", "idioms": {"errors": "typed"}}
    assert plan.problems == ("there is no TASK_MAPPING", "there is no PLAN_COMPLETE")
    first, second = plan.tasks
    assert (first.slug, first.delta, first.verify, first.budget) == ("task-001", ("src/a.py",), "pytest -q", 7)
    assert (second.depends, second.relevant_files, second.status) == (("001",), ("src/b.py",), "pending")
    asked = "MATCH (p:Plan)-[:HAS_TASK]->(t:Task)-[:BLOCKED_BY]->(b:Task) RETURN p.objective, t.objective, b.objective"
    assert graph.cypher(living, asked).rows == (("Log in", "Do 002", "Do 001"),)


@pytest.mark.parametrize(
    ("tasks", "why"),
    [
        ([task("001", "002"), task("002", "001")], "these tasks wait for each other: 001 -> 002 -> 001"),
        ([task("001", "001")], "these tasks wait for each other: 001 -> 001"),
        ([task("001", "009")], "task 001 waits for 009, which is not a task"),
        ([task("001"), task("001")], "two tasks have the number 001"),
        ([task("001"), task("1")], "two tasks have the number 001"),
        ([], "there is no task in the plan"),
    ],
)
def test_a_plan_that_nobody_could_work_through_is_refused_and_leaves_nothing(
    store: Store, tasks: list[dict[str, Any]], why: str
) -> None:
    seq = store.journal.last_seq
    with pytest.raises(InvalidInputError, match=why):
        saved(store, *tasks)
    assert store.journal.last_seq == seq


def test_a_planner_that_asks_has_no_plan(store: Store) -> None:
    asking = json.dumps({"decision": "CLARIFY", "questions": ["Which database?"]})
    with pytest.raises(InvalidInputError, match="Which database"):
        save_plan(store, PlanRequest(answer=asking))


def test_what_is_not_as_asked_for_but_possible_is_told(store: Store) -> None:
    plan = saved(store, task("001", budget=90, verify=""))
    assert plan.problems == (
        "there is no TASK_MAPPING",
        "there is no PLAN_COMPLETE",
        "task 001 has no command that verifies it",
        "the budget of task 001 is 90, not 5 to 9",
    )


def test_the_clients_own_tasks_become_the_plans_and_it_is_saved_once(store: Store) -> None:
    for key, waits in (("7", ()), ("9", ("7",))):
        seen = TaskSighting(session="s", key=key, scope="shop", objective=f"client's {key}", blocked_by=waits)
        mirror(store, seen)
    text = "PLAN\nTASK_MAPPING:\n001 -> 7\n002 -> 9\nPLAN_COMPLETE: 2 tasks"
    request = PlanRequest(answer=text, objective="Log in", scope="shop", session="s")
    plan = save_plan(store, request)
    assert [(one.id, one.seq, one.objective, one.depends) for one in plan.tasks] == [
        (board.task_id("shop", "s", "7"), "001", "client's 7", ()),
        (board.task_id("shop", "s", "9"), "002", "client's 9", ("001",)),
    ]
    seq = store.journal.last_seq
    assert save_plan(store, request).plan == plan.plan
    assert store.journal.last_seq == seq


def test_a_mapping_to_tasks_that_nobody_has_seen_is_refused(store: Store) -> None:
    with pytest.raises(InvalidInputError, match="is mapped to one of the client's"):
        save_plan(store, PlanRequest(answer="TASK_MAPPING:\n001 -> 7\nPLAN_COMPLETE: 1 tasks"))


def test_two_tasks_are_never_one_of_the_clients(store: Store) -> None:
    mirror(store, TaskSighting(session="s", key="7"))
    text = "TASK_MAPPING:\n001 -> 7\n002 -> 7\nPLAN_COMPLETE: 2 tasks"
    with pytest.raises(InvalidInputError, match="mapped to the client's task 7"):
        save_plan(store, PlanRequest(answer=text, session="s"))


def test_what_is_ready_follows_what_was_delivered(store: Store) -> None:
    plan = saved(store, task("001"), task("002", "001"), task("003", "001"), task("004", "002", "003"))
    ready = lambda: [one.seq for one in ready_tasks(store.index, plan.plan.id)]  # noqa: E731
    assert ready() == ["001"]
    finish(store, plan, "001")
    assert ready() == ["002", "003"]
    assert cascade_status(store.index, plan.plan.id).status is Progress.IN_PROGRESS
    finish(store, plan, "002", "blocked")
    finish(store, plan, "003")
    assert ready() == []
    stuck = cascade_status(store.index, plan.plan.id)
    assert (stuck.status, stuck.unreachable, stuck.blocked) == (Progress.STUCK, ("004",), ("002",))


def test_what_was_said_to_be_delivered_is_not_ready_again(store: Store) -> None:
    plan = saved(store, task("001"), task("002", "001"))
    ident = next(one.id for one in plan.tasks if one.seq == "001")
    tell_outcome(store, ident, "delivered")
    assert [one.seq for one in ready_tasks(store.index, plan.plan.id)] == ["002"]
    tell_outcome(store, ident, "")
    assert [one.seq for one in ready_tasks(store.index, plan.plan.id)] == ["001"]


def test_a_plan_whose_every_task_was_delivered_is_complete_and_can_be_closed(store: Store) -> None:
    plan = saved(store, task("001"), task("002"))
    finish(store, plan, "001")
    finish(store, plan, "002")
    assert cascade_status(store.index, plan.plan.id).status is Progress.COMPLETE
    assert complete_plan(store, plan.plan.id).plan.status == "complete"
    seq = store.journal.last_seq
    assert complete_plan(store, plan.plan.id).plan.status == "complete"
    assert store.journal.last_seq == seq


def test_a_plan_that_was_blocked_at_its_first_task_is_all_blocked(store: Store) -> None:
    plan = saved(store, task("001"), task("002", "001"))
    finish(store, plan, "001", "blocked")
    assert cascade_status(store.index, plan.plan.id).status is Progress.ALL_BLOCKED


def test_without_an_id_the_newest_plan_of_the_scope_is_meant(store: Store) -> None:
    first = saved(store, task("001"))
    second = save_plan(store, PlanRequest(answer=answer(task("001")), scope="barn"))
    assert load_plan(store.index, scope="shop").plan == first.plan
    assert load_plan(store.index, scope="barn").plan == second.plan
    with pytest.raises(NotFoundError, match="in global"):
        load_plan(store.index)
    for ident in ("", "nonsense"):
        with pytest.raises(NotFoundError):
            load_plan(store.index, ident, scope="elsewhere")


def test_a_plan_is_based_on_an_exploration(living: Helix, store: Store) -> None:
    text = '{"targets": {"files": ["a"]}}'
    found = save_exploration(store, ExplorationRequest(answer=text, objective="look")).exploration
    plan = save_plan(store, PlanRequest(answer=answer(task("001")), exploration=found.id))
    assert load_plan(store.index, plan.plan.id).exploration == found.id
    asked = "MATCH (p:Plan)-[:BASED_ON]->(e:Exploration) RETURN p.objective, e.objective"
    assert graph.cypher(living, asked).rows == (("Log in", "look"),)
    with pytest.raises(NotFoundError):
        save_plan(store, PlanRequest(answer=answer(task("001")), exploration="nonsense"))


def explored(store: Store, objective: str, scope: str = "shop") -> str:
    text = '{"targets": {"files": ["a"]}}'
    return save_exploration(store, ExplorationRequest(answer=text, objective=objective, scope=scope)).exploration.id


def planned(store: Store, objective: str = "", scope: str = "shop") -> PlanReport:
    text = json.dumps({"tasks": [task("001")]})
    return save_plan(store, PlanRequest(answer=text, objective=objective, scope=scope))


def test_a_plan_is_based_on_the_newest_exploration_of_its_objective(store: Store) -> None:
    found = explored(store, "Log  in")
    assert planned(store, "log in").exploration == found
    assert planned(store, "log out").exploration == ""
    assert planned(store, "log in", scope="barn").exploration == ""


def test_a_plan_without_an_objective_takes_that_of_an_exploration_nobody_has_planned_for(store: Store) -> None:
    found = explored(store, "Log in")
    first, second = planned(store), planned(store)
    assert (first.plan.objective, first.exploration) == ("Log in", found)
    assert (second.plan.objective, second.exploration) == ("", "")
    assert "the plan has no objective" in second.problems
    assert "the plan has no objective" not in first.problems


@pytest.mark.parametrize(
    ("said", "problems"),
    [
        ("TASK_MAPPING:\n001 -> 1\n002 -> 2\nPLAN_COMPLETE: 2 tasks", ()),
        (
            "TASK_MAPPING:\n001 -> 1\n002 -> 2\nPLAN_COMPLETE: 5 tasks",
            ("PLAN_COMPLETE says 5 tasks, TASK_MAPPING has 2", "PLAN_COMPLETE says 5 tasks, there are 2"),
        ),
        (
            "TASK_MAPPING:\n001 -> 1\n009 -> 2\nPLAN_COMPLETE: 2 tasks",
            ("TASK_MAPPING names 009, which is not a task", "TASK_MAPPING leaves out 002"),
        ),
        ("", ("there is no TASK_MAPPING", "there is no PLAN_COMPLETE")),
    ],
)
def test_where_an_answer_does_not_fit_its_own_tasks_is_told(store: Store, said: str, problems: tuple[str, ...]) -> None:
    text = f"```json\n{json.dumps({'objective': 'o', 'tasks': [task('001'), task('002')]})}\n```\n{said}"
    plan = save_plan(store, PlanRequest(answer=text, session="s"))
    assert plan.problems == problems


def test_the_clients_own_id_of_a_task_is_told_with_it(store: Store) -> None:
    text = json.dumps({"objective": "o", "tasks": [task("001"), task("002")]}) + "\nTASK_MAPPING:\n001 -> 11"
    plan = save_plan(store, PlanRequest(answer=text, session="s"))
    assert [one.client_task for one in load_plan(store.index, plan.plan.id).tasks] == ["11", ""]
    assert [one.client_task for one in ready_tasks(store.index)] == ["11", ""]


def test_saving_the_clients_tasks_again_says_that_nothing_was_changed(store: Store) -> None:
    text = json.dumps({"objective": "o", "tasks": [task("001")]}) + "\nTASK_MAPPING:\n001 -> 1\nPLAN_COMPLETE: 1 task"
    request = PlanRequest(answer=text, session="s")
    assert save_plan(store, request).problems == ()
    assert save_plan(store, request).problems == (
        "a plan of the same tasks of the client was saved before and stays as it was",
    )


def test_closing_a_plan_says_what_is_left_of_it(store: Store) -> None:
    plan = saved(store, task("001"), task("002"), task("003", "001"))
    finish(store, plan, "001", "blocked")
    board.note(store, plan.tasks[1].id, status="in_progress")
    assert complete_plan(store, plan.plan.id).problems == (
        "tasks pending: 003",
        "tasks in progress: 002",
        "tasks over and not delivered: 001 blocked",
    )


def test_no_plan_of_a_private_session_is_kept(store: Store) -> None:
    open_session(store, SessionRequest(name="quiet", private=True))
    with pytest.raises(InvalidInputError, match="private"):
        save_plan(store, PlanRequest(answer=answer(task("001")), session="quiet"))


def test_no_secret_reaches_a_plan(store: Store) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    plan = saved(store, task("001", objective=f"use {secret}", verify=f"TOKEN={secret} pytest"), framework=secret)
    assert secret not in repr(load_plan(store.index, plan.plan.id))


_WORDS = st.text(st.sampled_from("abcdef gh"), max_size=12).map(lambda text: " ".join(text.split())).filter(bool)


@st.composite
def _plans(draw: st.DrawFn) -> list[PlannedTask]:
    """Draw tasks that wait only for earlier ones, in any order."""
    count = draw(st.integers(1, 6))
    tasks = [
        PlannedTask(
            seq=f"{number:03}",
            slug=draw(_WORDS),
            objective=draw(_WORDS),
            delta=tuple(draw(st.lists(_WORDS, max_size=2))),
            verify=draw(_WORDS),
            depends=tuple(sorted(draw(st.sets(st.sampled_from([f"{n:03}" for n in range(1, number)]), max_size=3))))
            if number > 1
            else (),
            budget=draw(st.integers(5, 9)),
            relevant_files=tuple(draw(st.lists(_WORDS, max_size=2))),
        )
        for number in range(1, count + 1)
    ]
    return draw(st.permutations(tasks))


@settings(max_examples=draws(12), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(tasks=_plans())
def test_a_saved_plan_loads_as_it_was(store: Store, tasks: list[PlannedTask]) -> None:
    names = [*PlannedTask.__slots__]
    given = [{name: getattr(task, name) for name in names} for task in tasks]
    plan = save_plan(store, PlanRequest(answer=json.dumps({"objective": "o", "tasks": given})))
    loaded = load_plan(store.index, plan.plan.id)
    assert loaded == replace(plan, problems=())
    ordered = sorted(tasks, key=lambda one: one.seq)
    assert [[getattr(one, name) for name in names] for one in loaded.tasks] == [
        [getattr(one, name) for name in names] for one in ordered
    ]
    ready = [task.seq for task in ordered if not task.depends]
    assert [task.seq for task in ready_tasks(store.index, plan.plan.id)] == ready
