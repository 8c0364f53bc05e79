"""What a memory is charged for taking room: little, never for warning, and enough to lose its place in time."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from helix.agents.answers.prompt import BuilderParams
from helix.agents.context.relevant import PATIENCE, Sources, is_worth_its_room
from helix.agents.context.role_contexts import builder_context
from helix.agents.outcomes.noting import note_evidence, note_repeats, note_use
from helix.agents.outcomes.task_end import settle_task
from helix.agents.tasks.board import TaskSighting, inject, injections, mirror
from helix.memory.remember.request import StoreRequest
from helix.model.evidence import Evidence, EvidenceKind
from helix.model.memory import Memory, room_of
from helix.model.recall import RecallQuery
from helix.model.task import ACTION, RECALL, Shown
from helix.operations import memories
from helix.service import Helix
from helix.store.store import Store
from tests.memory.conftest import START
from tests.sampling import draws

LATER = START + timedelta(days=1)
USELESS = "The logo was drawn by Ines with `make logo`."
OBJECTIVE = "releasing the payments service"


def kept(living: Helix, kind: str, resolution: str, trigger: str = OBJECTIVE) -> str:
    return memories.store(living, StoreRequest(trigger=trigger, resolution=resolution, kind=kind, scope="shop")).id


def begun(store: Store, key: str, ids: Sequence[str], arm: str = RECALL) -> str:
    task = mirror(store, TaskSighting(scope="shop", session="s", key=key, objective=OBJECTIVE)).id
    shown = [Shown(memory_id=one, name="", kind="", rank=n, score=0.5, arm=arm) for n, one in enumerate(ids, 1)]
    inject(store, task, shown, held_back=False)
    return task


def passed(store: Store, task: str, *, well: bool = True, used: bool = False) -> None:
    note_use(store, task, commands=["python release.py", *(["make logo"] if used else [])])
    note_evidence(store, task, Evidence(kind=EvidenceKind.TEST, command="pytest", passed=well, id="1", at=LATER))
    settle_task(store, task, outcome="delivered" if well else "blocked")


def told(living: Helix, number: int) -> tuple[str, ...]:
    """Return the ids of what a builder is shown who is to do the same again."""
    params = BuilderParams(objective=f"{OBJECTIVE}, version {number}")
    names = builder_context(Sources(living.recall, floor=0.05), params, "shop").injected
    return tuple(memories.get(living, name).id for name in names)


def test_a_warning_that_is_heeded_stays_shown_and_a_fact_of_no_use_loses_its_place(living: Helix, store: Store) -> None:
    warning = kept(living, "failure", "Never force-push the release branch: the deploy breaks.")
    useless = kept(living, "fact", USELESS)
    places = []
    for number in range(30):
        ids = told(living, number)
        places.append((warning in ids, useless in ids))
        passed(store, begun(store, str(number), ids))
        assert memories.get(living, warning).label == memories.get(living, useless).label == "", (
            "no verdict has said anything"
        )
    assert [heeded for heeded, _ in places] == [True] * 30
    assert [shown for _, shown in places] == [True] * PATIENCE + [False] * (30 - PATIENCE)
    assert (memories.get(living, warning).failed, memories.get(living, useless).failed) == (0, 0.2)
    assert useless in [item.node.id for item in living.recall(RecallQuery(query=OBJECTIVE, scope="shop")).items], (
        "who asks still finds it"
    )


@pytest.mark.parametrize(
    ("kind", "resolution", "charged"),
    [
        ("fact", USELESS, 0.1),
        ("pattern", "Bump the version in setup.cfg.", 0.1),
        ("pattern", "Don't bump the version by hand.", 0),
        ("fact", "The staging key must not be rotated.", 0),
        ("failure", "Bump the version.", 0),
        ("convention", "Tags begin with v.", 0),
        ("decision", "Releases are cut on Mondays.", 0),
    ],
)
def test_room_is_charged_to_what_would_leave_a_trace_if_it_were_followed(
    living: Helix, store: Store, kind: str, resolution: str, charged: float
) -> None:
    memory = kept(living, kind, resolution)
    task = begun(store, "1", [memory])
    passed(store, task)
    assert memories.get(living, memory).failed == charged
    (one,) = injections(store.index, task)
    assert (one.outcome, one.credited.failed if one.credited else 0) == ("unused", charged)


def test_a_verdict_outweighs_all_the_room_a_memory_ever_took(living: Helix, store: Store) -> None:
    memory = kept(living, "fact", USELESS)
    for number in range(PATIENCE):
        passed(store, begun(store, str(number), [memory]))
    held = memories.get(living, memory)
    assert not is_worth_its_room(held)
    assert (held.failed, room_of(held)) == (0.2, (PATIENCE, 0.2))
    passed(store, begun(store, "used", [memory]), used=True)
    held = memories.get(living, memory)
    assert (held.helped, held.label, is_worth_its_room(held)) == (0.5, "", True)


@pytest.mark.parametrize(("again", "quality"), [(False, 3), (True, None)])
def test_a_warning_at_the_very_command_that_then_passes_is_not_unused(
    living: Helix, store: Store, again: bool, quality: int | None
) -> None:
    warning = kept(living, "failure", "Never force-push.", trigger="`python release.py` fails")
    task = begun(store, "1", [warning], ACTION)
    if again:
        note_repeats(store, task, [warning])
    passed(store, task)
    (one,) = injections(store.index, task)
    assert (one.credited.quality if one.credited else None) == quality
    assert (one.outcome, memories.get(living, warning).failed) == ("unused" if again else "", 0)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=draws(10))
@given(st.lists(st.tuples(st.integers(0, 4), st.sampled_from(["unused", "used", "failed", "skipped"])), max_size=12))
def test_what_is_charged_goes_by_how_many_tasks_it_was_in_not_by_their_order(
    living: Helix, store: Store, steps: list[tuple[int, str]]
) -> None:
    """Against the obvious way: count the tasks as they stand in the end."""
    memory = kept(living, "fact", USELESS, f"case {store.journal.last_seq}")
    before, last, used = f"{store.journal.last_seq}", dict[int, str](), set[int]()
    for number, end in steps:
        task = begun(store, f"{before} {number}", [memory])
        if end == "skipped":
            settle_task(store, task, outcome="skipped")
        else:
            passed(store, task, well=end != "failed", used=end == "used")
        last[number] = end
        # What shows use once goes on to show it.
        used |= {number} if end == "used" else set()
    held = memories.get(living, memory)
    fine = {number for number, end in last.items() if end in ("used", "unused")}
    room, helped = len(fine - used), len(fine & used)
    failed = sum(end == "failed" and number in used for number, end in last.items())
    assert room_of(held) == (room, 0.1 * min(2, room))
    assert (held.helped, held.failed) == pytest.approx((0.5 * helped, 0.3 * failed + 0.1 * min(2, room)))


def test_an_unreadable_account_of_room_is_none(living: Helix) -> None:
    held = memories.get(living, kept(living, "fact", USELESS))
    assert isinstance(held, Memory)
    assert room_of(held) == (0, 0.0)
