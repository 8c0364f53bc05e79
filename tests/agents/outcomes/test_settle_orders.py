"""The end of a task does not depend on the order in which its evidence, work, claims and a person's word came in."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from helix.agents.outcomes.noting import note_evidence, note_use
from helix.agents.outcomes.task_end import override, settle_task
from helix.agents.tasks.board import TaskSighting, find_task, inject, injections, mirror
from helix.memory.remember.request import StoreRequest
from helix.model.evidence import Evidence, EvidenceKind
from helix.model.task import Shown
from helix.operations import memories
from helix.service import Helix
from helix.store.store import Store
from tests.memory.conftest import START
from tests.sampling import draws

Step = Callable[[Store, str, list[str]], object]


def _evidence(minute: int, passed: bool) -> Step:
    at = START + timedelta(hours=1, minutes=minute)
    one = Evidence(kind=EvidenceKind.TEST, command="pytest", passed=passed, id=str(minute), at=at)
    return lambda store, task, ids: note_evidence(store, task, one)


def _edit(minute: int) -> Step:
    at = START + timedelta(hours=1, minutes=minute)
    return lambda store, task, ids: note_use(store, task, files=["a.py"], edited_at=at)


def _claim(outcome: str) -> Step:
    return lambda store, task, ids: settle_task(store, task, outcome=outcome)


def _said(delta: float) -> Step:
    return lambda store, task, ids: override(store, task, ids[:1], delta)


def _used(store: Store, task: str, ids: list[str]) -> None:
    note_use(store, task, commands=["uv sync --frozen"])


def _claimed_use(store: Store, task: str, ids: list[str]) -> None:
    note_use(store, task, utilized=ids[1:])


def _again(store: Store, task: str, ids: list[str]) -> object:
    return settle_task(store, task)


@st.composite
def _histories(draw: st.DrawFn) -> tuple[list[Step], list[Step]]:
    """Return the same steps in two orders; of an agent's and a person's word there is one, as the last one counts."""
    minutes = draw(st.lists(st.integers(0, 20), unique=True, max_size=4))
    steps = [_evidence(minute, draw(st.booleans())) for minute in minutes]
    steps += [_edit(draw(st.integers(0, 20)))] * draw(st.integers(0, 1))
    steps += [_used] * draw(st.integers(0, 2)) + [_claimed_use] * draw(st.integers(0, 1))
    steps.append(_claim(draw(st.sampled_from(["", "delivered", "blocked", "skipped"]))))
    steps += [_said(draw(st.sampled_from([1.0, 0.25, -1.0])))] * draw(st.integers(0, 1))
    steps += [_again] * draw(st.integers(0, 2))
    return steps, draw(st.permutations(steps))


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    deadline=None,
    max_examples=draws(12),
)
@given(_histories())
def test_two_orders_of_one_history_come_to_the_same_and_all_of_it_can_be_taken_back(
    living: Helix, store: Store, histories: tuple[list[Step], list[Step]]
) -> None:
    ends = [_end(living, store, steps) for steps in histories]
    assert ends[0] == ends[1]


def _end(living: Helix, store: Store, steps: list[Step]) -> Any:
    scope = f"scope-{store.journal.last_seq}"
    ids = [
        memories.store(
            living, StoreRequest(trigger=f"{what} of {scope}", resolution=does, kind="pattern", scope=scope)
        ).id
        for what, does in (("modules are missing", "run `uv sync --frozen`"), ("colours look odd", "ask Mira"))
    ]
    task = mirror(store, TaskSighting(scope=scope, session="s", key="1", objective="fix it")).id
    shown = [Shown(memory_id=one, name="", kind="", rank=rank, score=0.5) for rank, one in enumerate(ids, 1)]
    inject(store, task, shown, held_back=False)
    for step in steps:
        step(store, task, ids)
    settle_task(store, task)
    seq = store.journal.last_seq
    settle_task(store, task)
    assert store.journal.last_seq == seq, "what is settled stays as it is"
    held, node = [memories.get(living, one) for one in ids], find_task(store.index, task)
    assert node is not None
    worth = [(one.helped, one.failed, one.uses) for one in held]
    outcomes = [one.outcome for one in injections(store.index, task)]
    settle_task(store, task, outcome="skipped")
    left = [(one.helped, one.failed) for one in (memories.get(living, ident) for ident in ids)]
    assert left[1] == (0, 0)
    assert left[0] in ((0, 0), (1, 0), (0.25, 0), (0, 1)), "only a person's word is left"
    return worth, outcomes, node.outcome, node.verification, left
