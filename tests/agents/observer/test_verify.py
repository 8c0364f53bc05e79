"""The health of the learning loop: what is wrong with it is said in sentences, with the counts behind them."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from helix.agents.observer.queue import enqueue
from helix.agents.observer.verify import verify
from helix.agents.outcomes.noting import note_evidence, note_use
from helix.agents.outcomes.task_end import settle_task
from helix.agents.tasks.board import SESSION_KEY, TaskSighting, inject, mirror
from helix.memory.remember.request import StoreRequest
from helix.model.candidate import Candidate
from helix.model.evidence import Evidence, EvidenceKind
from helix.model.memory import Kind
from helix.model.task import Shown
from helix.operations import memories
from helix.service import Helix
from helix.store.store import Store
from tests.memory.conftest import Moment
from tests.sampling import draws


def shown(helix: Helix, trigger: str) -> Shown:
    stored = memories.store(helix, StoreRequest(trigger=trigger, resolution="so", kind="pattern"))
    return Shown(memory_id=stored.id, name=stored.name, kind="pattern", rank=1, score=0.5)


def test_an_empty_loop_is_well(store: Store) -> None:
    report = verify(store)
    assert (report.status, report.issues) == ("ok", ())
    assert report.stats.tasks == report.stats.injected == 0


def test_what_was_shown_and_never_judged_is_told_of(living: Helix, store: Store) -> None:
    task = mirror(store, TaskSighting(session="s", key="1", status="in_progress"))
    inject(store, task.id, [shown(living, "tests hang")], held_back=False)
    assert verify(store).status == "ok", "it is still at work"
    mirror(store, TaskSighting(session="s", key="1", status="completed", outcome="delivered"))
    report = verify(store)
    assert report.status == "degraded"
    assert any("never judged" in issue for issue in report.issues)
    assert (report.stats.injected, report.stats.unjudged) == (1, 1)


def test_what_was_held_back_is_not_to_be_judged(living: Helix, store: Store) -> None:
    task = mirror(store, TaskSighting(session="s", key="1", status="completed", outcome="delivered"))
    inject(store, task.id, [shown(living, "tests hang")], held_back=True)
    report = verify(store)
    assert (report.status, report.stats.withheld, report.stats.injected) == ("ok", 1, 0)


def test_a_session_without_a_task_is_judged_by_what_it_ran_or_left_out_and_says_why(
    living: Helix, store: Store
) -> None:
    for name, runs in (("silent", []), ("green", [True]), ("red", [False]), ("open", None)):
        task = mirror(store, TaskSighting(session=name, key=SESSION_KEY, status="in_progress")).id
        memory = shown(living, f"tests of {name} hang")
        inject(store, task, [memory], held_back=False)
        if name == "green":
            note_use(store, task, utilized=[memory.name], files=["a.py"])
        for passed in runs or []:
            evidence = Evidence(
                kind=EvidenceKind.TEST, command="pytest", passed=passed, id=name, at=store.runtime.clock()
            )
            note_evidence(store, task, evidence)
        if runs is not None:
            settle_task(store, task)
            mirror(store, TaskSighting(session=name, key=SESSION_KEY, status="completed"))
    report = verify(store)
    said = {line.split()[1]: line.partition(": ")[2] for line in report.stats.sessions_without_task}
    assert said["green"].startswith("judged by what it ran: of 1 memories 1 helped")
    assert "no test, build, lint or commit" in said["silent"]
    assert "what it ran failed" in said["red"]
    assert "still going" in said["open"]
    assert report.issues == (), "what is left out is no fault of the loop"


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
    memories.feedback(living, [shown(living, "tests hang").name], -4.0)
    assert verify(store).stats.ineffective == 0, "prune leaves what the user said alone"
    said = StoreRequest(trigger="builds hang", resolution="so", kind="pattern", agent="helper")
    memories.feedback(living, [memories.store(living, said).name], -4.0)
    report = verify(store)
    assert report.stats.ineffective == 1
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


def test_honest_verdicts_that_nothing_was_used_are_no_alarm(living: Helix, store: Store) -> None:
    warning = memories.store(living, StoreRequest(trigger="release", resolution="never force-push", kind="failure"))
    one = Shown(memory_id=warning.id, name=warning.name, kind="failure", rank=1, score=0.5)
    for number, arm in enumerate(("recall", "action")):
        task = mirror(store, TaskSighting(session="s", key=str(number), status="completed"))
        inject(store, task.id, [replace(one, arm=arm)], held_back=False)
        note_use(store, task.id, commands=["make release"])
        note_evidence(store, task.id, Evidence(kind=EvidenceKind.TEST, command="pytest", passed=True, id="1"))
        settle_task(store, task.id, outcome="delivered")
    report = verify(store)
    assert (report.status, report.issues) == ("ok", ())
    assert (report.stats.judged, report.stats.credited, report.stats.with_feedback) == (2, 0, 0)


_TASKS = st.lists(
    st.tuples(
        st.sampled_from(["pending", "in_progress", "completed"]), st.booleans(), st.booleans(), st.integers(0, 2)
    ),
    max_size=6,
)


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    deadline=None,
    max_examples=draws(10),
)
@given(_TASKS)
def test_what_it_counts_is_what_there_is(living: Helix, store: Store, tasks: list[tuple[str, bool, bool, int]]) -> None:
    """Against the obvious way: count while making it."""
    scope = f"scope-{store.journal.last_seq}"
    ids = [
        memories.store(living, StoreRequest(trigger=f"{one} of {scope}", resolution="so", kind="pattern")).id
        for one in ("this", "that")
    ]
    injected = withheld = judged = unjudged = unsaid = 0
    for number, (status, held, settled, count) in enumerate(tasks):
        seen = TaskSighting(scope=scope, session="s", key=str(number), status=status)
        task = mirror(store, seen).id
        some = [Shown(memory_id=one, name="", kind="", rank=n, score=0.5) for n, one in enumerate(ids[:count], 1)]
        inject(store, task, some, held_back=held)
        if settled:
            note_use(store, task, commands=["make"])
            settle_task(store, task, outcome="delivered")
        withheld += count if held else 0
        injected += 0 if held else count
        judged += count if settled and not held else 0
        unjudged += count if status == "completed" and not settled and not held else 0
        unsaid += status == "completed" and not settled
    report = verify(store, scope)
    stats = report.stats
    assert (stats.tasks, stats.injected, stats.withheld) == (len(tasks), injected, withheld)
    assert (stats.judged, stats.unjudged) == (judged, unjudged)
    assert (report.status == "degraded") is bool(unjudged or unsaid)
