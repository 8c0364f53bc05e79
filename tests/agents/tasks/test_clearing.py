"""Tasks of a saved plan that a dead session left in progress go back to those that can be begun."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from helix.agents.tasks.board import TaskSighting, find_task, mirror
from helix.agents.tasks.plan_end import SILENT, Clearing, clear_plan
from helix.agents.tasks.plans import PlanRequest, load_plan, ready_tasks, save_plan
from helix.memory.capture.sessions import SessionRequest, close_session, open_session
from helix.memory.change.compose import Composer
from helix.model.task import Task
from helix.operations import tasks as tasks_operations
from helix.service import Helix
from helix.store.store import Store
from helix.store.writer import Decision
from tests.memory.conftest import Moment
from tests.sampling import draws

PLAN = """```json
{"tasks": [{"seq": "001", "slug": "a", "objective": "a", "verify": "true", "budget": 5},
           {"seq": "002", "slug": "b", "objective": "b", "verify": "true", "budget": 5}]}
```
TASK_MAPPING:
001 -> 1
002 -> 2

PLAN_COMPLETE: 2 tasks"""


def put(store: Store, task: Task) -> None:
    def decision() -> Decision[None]:
        composer = Composer(store, store.runtime.clock())
        composer.node(task)
        return Decision((composer.change("task"),), None)

    store.writer.submit(decision)


def test_what_was_left_in_progress_can_be_begun_again(living: Helix, store: Store) -> None:
    plan = save_plan(store, PlanRequest(answer=PLAN, session="dead")).plan
    mirror(store, TaskSighting(session="dead", key="1", status="in_progress"))
    assert [task.seq for task in ready_tasks(store.index, plan.id)] == ["002"]
    done = tasks_operations.dag_clear(living, plan=plan.id)
    assert done.cleared == ("001",)
    assert {task["status"] for task in done.tasks} == {"pending"}
    assert [task.seq for task in ready_tasks(store.index, plan.id)] == ["001", "002"]
    assert tasks_operations.dag_ready(living, plan=plan.id) == ["001", "002"]
    assert not tasks_operations.dag_clear(living, plan=plan.id).cleared


def test_what_is_over_and_what_the_living_session_works_on_stays(living: Helix, store: Store) -> None:
    plan = save_plan(store, PlanRequest(answer=PLAN, session="alive")).plan
    working = mirror(store, TaskSighting(session="alive", key="1", status="in_progress"))
    mirror(store, TaskSighting(session="alive", key="2", status="completed", outcome="blocked"))
    done = tasks_operations.dag_clear(living, plan=plan.id, session="alive")
    assert (done.cleared, done.kept) == ((), ())
    assert find_task(store.index, working.id) == working
    assert not tasks_operations.dag_stalled(living, plan=plan.id).stalled


def test_the_objective_survives_a_round_through_json(living: Helix, store: Store) -> None:
    plan = save_plan(store, PlanRequest(answer=json.dumps({"objective": "o", "tasks": [{"seq": 1, "objective": "a"}]})))
    assert tasks_operations.dag_ready(living, plan=plan.plan.id) == ["001"]


def test_what_a_living_session_works_on_is_left_to_it_until_it_ends(store: Store) -> None:
    plan = save_plan(store, PlanRequest(answer=PLAN, session="other")).plan
    open_session(store, SessionRequest(name="other"))
    mirror(store, TaskSighting(session="other", key="1", status="in_progress"))
    assert clear_plan(store, plan.id, session="mine") == Clearing(kept=("001",))
    assert [task.status for task in load_plan(store.index, plan.id).tasks] == ["in_progress", "pending"]
    close_session(store, "other")
    assert clear_plan(store, plan.id, session="mine") == Clearing(cleared=("001",))


def test_a_session_that_is_open_and_silent_counts_as_dead(store: Store, moment: Moment) -> None:
    plan = save_plan(store, PlanRequest(answer=PLAN, session="crashed")).plan
    open_session(store, SessionRequest(name="crashed"))
    mirror(store, TaskSighting(session="crashed", key="1", status="in_progress"))
    assert clear_plan(store, plan.id).kept == ("001",)
    moment.forward(seconds=(SILENT + timedelta(minutes=1)).total_seconds())
    assert clear_plan(store, plan.id).cleared == ("001",)


def test_by_force_what_a_living_session_works_on_is_given_back_too(store: Store) -> None:
    plan = save_plan(store, PlanRequest(answer=PLAN, session="other")).plan
    open_session(store, SessionRequest(name="other"))
    mirror(store, TaskSighting(session="other", key="1", status="in_progress"))
    assert clear_plan(store, plan.id, force=True) == Clearing(cleared=("001",))


def test_no_plan_of_another_project_is_touched(store: Store) -> None:
    plan = save_plan(store, PlanRequest(answer=PLAN, session="dead", scope="shop")).plan
    save_plan(store, PlanRequest(answer=PLAN, session="dead", scope="global"))
    mirror(store, TaskSighting(session="dead", key="1", scope="shop", status="in_progress"))
    assert clear_plan(store) == Clearing()
    assert [task.status for task in load_plan(store.index, plan.id).tasks] == ["in_progress", "pending"]
    assert clear_plan(store, scope="shop").cleared == ("001",)


@settings(max_examples=draws(12), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    tasks=st.lists(
        st.tuples(
            st.sampled_from(["pending", "in_progress", "completed"]), st.sampled_from(["open", "ended", "unknown"])
        ),
        min_size=1,
        max_size=5,
    ),
    mine=st.sampled_from(["", "open", "ended", "unknown"]),
    force=st.booleans(),
)
def test_exactly_what_nobody_can_be_at_work_on_is_given_back(
    store: Store, tasks: list[tuple[str, str]], mine: str, force: bool
) -> None:
    for name in ("open", "ended"):
        open_session(store, SessionRequest(name=name))
    close_session(store, "ended")
    asked = [{"seq": number, "objective": f"task {number}"} for number in range(1, len(tasks) + 1)]
    plan = save_plan(store, PlanRequest(answer=json.dumps({"objective": "o", "tasks": asked})))
    for planned, (status, session) in zip(plan.tasks, tasks, strict=True):
        task = find_task(store.index, planned.id)
        assert task is not None
        put(store, replace(task, status=status, session=session))
    at_work = [
        (f"{number:03}", session)
        for number, (status, session) in enumerate(tasks, 1)
        if status == "in_progress" and session != mine
    ]
    kept = tuple(seq for seq, session in at_work if session == "open" and not force)
    cleared = tuple(seq for seq, _ in at_work if seq not in kept)
    assert clear_plan(store, plan.plan.id, session=mine, force=force) == Clearing(cleared=cleared, kept=kept)
    still = [task.seq for task in load_plan(store.index, plan.plan.id).tasks if task.status == "in_progress"]
    assert still == [
        f"{n:03}" for n, (status, _) in enumerate(tasks, 1) if status == "in_progress" and f"{n:03}" not in cleared
    ]
