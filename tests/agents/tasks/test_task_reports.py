"""A task is shown with its evidence, with what it was shown and what was learned in it; plans are listed by page."""

from __future__ import annotations

import json

from helix.agents.outcomes.noting import note_evidence, note_use
from helix.agents.outcomes.task_end import settle_task
from helix.agents.tasks.board import TaskSighting, inject, learn, mirror
from helix.agents.tasks.plans import PlanRequest, save_plan
from helix.memory.remember.request import StoreRequest
from helix.model.evidence import Evidence, EvidenceKind
from helix.model.task import Shown
from helix.operations import memories, tasks
from helix.service import Helix
from helix.store.store import Store
from tests.memory.conftest import Moment


def test_a_task_shows_what_proves_what_came_of_it(living: Helix, store: Store) -> None:
    asked = StoreRequest(trigger="releasing the shop", resolution="run `make release` first", kind="convention")
    memory = memories.store(living, asked)
    first = mirror(store, TaskSighting(session="s", key="1", objective="build")).id
    ident = mirror(store, TaskSighting(session="s", key="2", objective="release", blocked_by=["1"])).id
    inject(store, ident, [Shown(memory_id=memory.id, name="", kind="", rank=1, score=0.5)], held_back=False)
    note_use(store, ident, commands=["make release"])
    note_evidence(store, ident, Evidence(kind=EvidenceKind.TEST, command="pytest -q", passed=True, tests_passed=7))
    settle_task(store, ident, outcome="delivered")
    learn(store, ident, memory.id)
    found = tasks.task(living, ident)
    assert (found.task.objective, found.task.outcome, found.claimed) == ("release", "delivered", "delivered")
    assert found.waits_for == (first,)
    assert [(one.command, one.passed, one.tests_passed) for one in found.evidence] == [("pytest -q", True, 7)]
    assert [(one.name, one.outcome) for one in found.showings] == [(memory.name, "helped")]
    assert [one.id for one in found.learned] == [memory.id]
    bare = tasks.task(living, first)
    assert (bare.evidence, bare.showings, bare.learned, bare.claimed, bare.plan) == ((), (), (), "", "")


def test_plans_come_page_by_page_newest_first(living: Helix, store: Store, moment: Moment) -> None:
    for scope, objective in (("shop", "one"), ("shop", "two"), ("mill", "three")):
        moment.forward(days=1)
        steps = [{"seq": "001", "slug": "a", "objective": "do it", "delta": ["a.py"], "verify": "pytest"}]
        answer = json.dumps({"decision": "PROCEED", "plan": {"objective": objective, "tasks": steps}})
        save_plan(store, PlanRequest(answer=answer, scope=scope))
    page = tasks.plans(living, first=2)
    assert ([one.objective for one in page.items], page.total) == (["three", "two"], 3)
    assert [one.objective for one in tasks.plans(living, after=page.next_cursor).items] == ["one"]
    assert [one.objective for one in tasks.plans(living, scope="shop").items] == ["two", "one"]
    (step,) = tasks.plan(living, page.items[0].id, "mill").tasks
    assert tasks.task(living, step.id).plan == page.items[0].id
