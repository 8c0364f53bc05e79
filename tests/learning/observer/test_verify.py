"""The health of the learning loop: what is wrong with it is said in sentences, with the counts behind them."""

from __future__ import annotations

from datetime import UTC, datetime

from helix.learning.observer.queue import enqueue
from helix.learning.observer.verify import verify
from helix.learning.orchestration.board import TaskSighting, inject, mirror
from helix.model.candidate import Candidate
from helix.model.injection import Shown
from helix.model.memory import Kind
from helix.service import Helix
from helix.store.store import Store
from tests.lifecycle.conftest import Moment


def shown(helix: Helix, trigger: str) -> Shown:
    stored = helix.store(trigger=trigger, resolution="so", kind="pattern")
    return Shown(memory_id=stored.id, name=stored.name, kind="pattern", rank=1, score=0.5)


def test_an_empty_loop_is_well(store: Store) -> None:
    report = verify(store)
    assert (report.status, report.issues) == ("ok", ())
    assert report.stats["tasks"] == report.stats["injected"] == 0


def test_what_was_shown_and_never_judged_is_told_of(living: Helix, store: Store) -> None:
    task = mirror(store, TaskSighting(session="s", key="1", status="in_progress"))
    inject(store, task.id, [shown(living, "tests hang")], held_back=False)
    assert verify(store).status == "ok", "it is still at work"
    mirror(store, TaskSighting(session="s", key="1", status="completed", outcome="delivered"))
    report = verify(store)
    assert report.status == "degraded"
    assert any("never judged" in issue for issue in report.issues)
    assert (report.stats["injected"], report.stats["unjudged"]) == (1, 1)


def test_what_was_held_back_is_not_to_be_judged(living: Helix, store: Store) -> None:
    task = mirror(store, TaskSighting(session="s", key="1", status="completed", outcome="delivered"))
    inject(store, task.id, [shown(living, "tests hang")], held_back=True)
    report = verify(store)
    assert (report.status, report.stats["withheld"], report.stats["injected"]) == ("ok", 1, 0)


def test_tasks_left_at_work_and_plans_that_are_gone_are_told_of(moment: Moment, store: Store) -> None:
    mirror(store, TaskSighting(session="s", key="1", status="in_progress", attributes={"plan": "lost"}))
    moment.forward(days=2)
    told = " / ".join(verify(store).issues)
    assert "more than a day" in told
    assert "plans that are not here: lost" in told


def test_a_task_that_is_over_without_an_outcome_is_told_of(store: Store) -> None:
    mirror(store, TaskSighting(session="s", key="1", status="completed"))
    assert any("do not say whether they were delivered" in issue for issue in verify(store).issues)


def test_memories_that_evidence_speaks_against_are_told_of(living: Helix, store: Store) -> None:
    living.feedback([shown(living, "tests hang").name], -4.0)
    report = verify(store)
    assert report.stats["ineffective"] == 1
    assert any("helix prune" in issue for issue in report.issues)


def test_candidates_that_wait_long_are_told_of(moment: Moment, store: Store) -> None:
    one = Candidate(id="", kind=Kind.FACT, trigger="where it is", resolution="here", recorded_at=datetime.now(UTC))
    enqueue(store, [one])
    assert verify(store).status == "ok"
    moment.forward(days=15)
    assert any("waited" in issue for issue in verify(store).issues)


def test_each_scope_is_verified_for_itself(living: Helix, store: Store) -> None:
    mirror(store, TaskSighting(scope="shop", session="s", key="1", status="completed"))
    assert verify(store, "shop").status == "degraded"
    assert verify(store, "other").status == "ok"
