"""Tasks of a saved plan that a dead session left in progress go back to those that can be begun."""

from __future__ import annotations

import json

from helix.learning.orchestration.board import TaskSighting, find_task, mirror
from helix.learning.orchestration.plans import PlanRequest, ready_tasks, save_plan
from helix.service import Helix
from helix.store.store import Store

PLAN = """```json
{"tasks": [{"seq": "001", "slug": "a", "objective": "a", "verify": "true", "budget": 5},
           {"seq": "002", "slug": "b", "objective": "b", "verify": "true", "budget": 5}]}
```
TASK_MAPPING:
001 -> 1
002 -> 2

PLAN_COMPLETE: 2 tasks"""


def test_what_was_left_in_progress_can_be_begun_again(living: Helix, store: Store) -> None:
    plan = save_plan(store, PlanRequest(answer=PLAN, session="dead")).plan
    mirror(store, TaskSighting(session="dead", key="1", status="in_progress"))
    assert [task.seq for task in ready_tasks(store, plan.id)] == ["002"]
    cleared, listed = living.dag_clear(plan=plan.id)
    assert cleared == ["001"]
    assert {task["status"] for task in listed} == {"pending"}
    assert [task.seq for task in ready_tasks(store, plan.id)] == ["001", "002"]
    assert living.dag_ready(plan=plan.id) == ["001", "002"]
    assert living.dag_clear(plan=plan.id)[0] == []


def test_what_is_over_and_what_the_living_session_works_on_stays(living: Helix, store: Store) -> None:
    plan = save_plan(store, PlanRequest(answer=PLAN, session="alive")).plan
    working = mirror(store, TaskSighting(session="alive", key="1", status="in_progress"))
    mirror(store, TaskSighting(session="alive", key="2", status="completed", outcome="blocked"))
    assert living.dag_clear(plan=plan.id, session="alive")[0] == []
    assert find_task(store, working.id) == working
    assert living.dag_stalled(plan=plan.id) is None


def test_the_objective_survives_a_round_through_json(living: Helix, store: Store) -> None:
    plan = save_plan(store, PlanRequest(answer=json.dumps({"objective": "o", "tasks": [{"seq": 1, "objective": "a"}]})))
    assert living.dag_ready(plan=plan.plan.id) == ["001"]
