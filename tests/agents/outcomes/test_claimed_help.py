"""What agents only claim counts half, and is no part of the label, which speaks of what was verified."""

from __future__ import annotations

from datetime import timedelta

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from helix.agents.outcomes.feedback import feedback
from helix.agents.outcomes.noting import note_evidence, note_use
from helix.agents.outcomes.task_end import settle_task
from helix.agents.tasks.board import TaskSighting, inject, mirror
from helix.memory.remember.request import StoreRequest
from helix.model.evidence import Evidence, EvidenceKind
from helix.model.memory import claimed_of
from helix.model.task import Shown
from helix.operations import memories
from helix.service import Helix
from helix.store.store import Store
from tests.memory.conftest import START, Moment
from tests.sampling import draws


def used(living: Helix, store: Store, key: str, memory: str) -> str:
    """Have a task be shown a memory that its agent says it used; return the task."""
    task = mirror(store, TaskSighting(session="s", key=key, objective="fix it")).id
    inject(store, task, [Shown(memory_id=memory, name="", kind="", rank=1, score=0.5)], held_back=False)
    note_use(store, task, utilized=[memories.get(living, memory).name], files=["a.py"])
    return task


def ran(store: Store, task: str, *, passed: bool) -> None:
    """Verify a task, as its last run does."""
    note_evidence(
        store,
        task,
        Evidence(kind=EvidenceKind.TEST, command="pytest", passed=passed, id="1", at=START + timedelta(days=1)),
    )


def lesson(living: Helix, about: str = "modules are missing") -> str:
    return memories.store(
        living, StoreRequest(trigger=about, resolution="ask Mira for the lock file", kind="pattern")
    ).id


def test_help_that_is_only_claimed_is_unproven_until_something_verifies_it(living: Helix, store: Store) -> None:
    memory = lesson(living)
    fresh = memories.get(living, memory)
    task = used(living, store, "1", memory)
    settle_task(store, task, outcome="delivered")
    held = memories.get(living, memory)
    assert (held.helped, held.effectiveness, held.label, claimed_of(held)) == (0.25, 1.0, "", 0.25)
    ran(store, task, passed=True)
    held = memories.get(living, memory)
    assert (held.helped, held.label, claimed_of(held)) == (0.5, "", 0.0)
    ran(store, task, passed=False)
    assert (memories.get(living, memory).helped, memories.get(living, memory).failed > 0) == (0.0, True)
    settle_task(store, task, outcome="skipped")
    assert memories.get(living, memory) == fresh


def test_a_claim_outweighs_nothing_that_was_verified_and_what_a_person_says_counts(living: Helix, store: Store) -> None:
    memory = lesson(living)
    settle_task(store, used(living, store, "1", memory), outcome="delivered")
    for number in range(2, 20):
        settle_task(store, used(living, store, str(number), memory), outcome="blocked")
    assert memories.get(living, memory).failed == 0, "however often an agent says that it was blocked with it"
    failed = used(living, store, "20", memory)
    ran(store, failed, passed=False)
    settle_task(store, failed, outcome="blocked")
    assert memories.get(living, memory).label == ""
    feedback(store, [memory], 0.9)
    assert (memories.get(living, memory).label, memories.get(living, memory).helped) == (
        "[75% of 1.2]",
        1.15,
    )


def test_what_is_claimed_grows_less_with_age_as_all_evidence_does(living: Helix, store: Store, moment: Moment) -> None:
    memory = lesson(living)
    settle_task(store, used(living, store, "1", memory), outcome="delivered")
    moment.forward(days=40)
    memories.decay(living)
    held = memories.get(living, memory)
    assert (held.helped, claimed_of(held), held.label) == (0.125, 0.125, "")


_ENDS = st.lists(
    st.tuples(st.integers(0, 3), st.sampled_from(["claimed", "passed", "failed", "skipped", "told"])), max_size=10
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=draws(10))
@given(_ENDS)
def test_the_label_is_the_share_of_verified_help_whatever_came_before(
    living: Helix, store: Store, ends: list[tuple[int, str]]
) -> None:
    """Against adding up what every task came to in the end."""
    here = str(store.journal.last_seq)
    memory = lesson(living, f"case {here}")
    tasks, last, runs = dict[int, str](), dict[int, str](), dict[int, str]()
    for number, end in ends:
        task = tasks.get(number) or tasks.setdefault(number, used(living, store, f"{here} {number}", memory))
        if end in ("passed", "failed"):
            ran(store, task, passed=end == "passed")
            runs[number] = end
        settle_task(store, task, outcome="skipped" if end == "skipped" else "blocked" if end == "told" else "delivered")
        last[number] = end
    good = bad = claimed = 0.0
    for number, end in last.items():
        verified = runs.get(number)
        if verified == "failed" and end != "skipped":
            bad += 0.3
        elif end not in ("skipped", "told"):
            good += 0.5 if verified == "passed" else 0.0
            claimed += 0.25 if verified is None else 0.0
    held = memories.get(living, memory)
    assert round(held.helped, 6) == round(good + claimed, 6)
    assert round(claimed_of(held), 6) == round(claimed, 6)
    assert held.label == (f"[{round(100 * good / (good + bad))}% of {good + bad:.3g}]" if good + bad >= 1 else "")
