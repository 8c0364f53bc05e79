"""A verdict falls only on what was shown before the action it is judged by, and not for what is unrelated."""

from __future__ import annotations

from datetime import datetime

import pytest

from helix.agents.outcomes.noting import note_evidence, note_repeats, note_use
from helix.agents.outcomes.task_end import settle_task
from helix.agents.tasks.board import SESSION_KEY, TaskSighting, inject, mirror
from helix.memory.remember.request import StoreRequest
from helix.model.evidence import Evidence, EvidenceKind
from helix.model.task import ACTION, ON_ERROR, RECALL, Shown
from helix.operations import memories
from helix.service import Helix
from helix.store.store import Store
from tests.memory.conftest import Moment

FIXED = "edit `src/colour.py` and run `make colours`"


def fix(living: Helix, kind: str = "failure") -> str:
    return memories.store(living, StoreRequest(trigger="the palette is missing", resolution=FIXED, kind=kind)).id


def begun(store: Store, key: str = "1") -> str:
    return mirror(store, TaskSighting(session="s", key=key, objective="paint it")).id


def show(store: Store, task: str, memory: str, arm: str = ON_ERROR, at: datetime | None = None) -> None:
    inject(store, task, [Shown(memory_id=memory, name="", kind="", rank=1, score=1, arm=arm)], held_back=False, at=at)


def ran(
    store: Store, task: str, passed: bool, at: datetime, kind: EvidenceKind = EvidenceKind.TEST, commit: str = ""
) -> None:
    one = Evidence(kind=kind, command="pytest", passed=passed, id=f"{kind}{at}", commit=commit, at=at)
    note_evidence(store, task, one)


def worth(living: Helix, memory: str) -> tuple[float, float]:
    held = memories.get(living, memory)
    return held.helped, held.failed


@pytest.mark.parametrize("key", ["1", SESSION_KEY])
def test_what_failed_before_a_fix_was_shown_is_not_its_failure(
    living: Helix, store: Store, moment: Moment, key: str
) -> None:
    memory, task = fix(living), begun(store, key)
    for _ in range(3):
        ran(store, task, False, moment())
        note_repeats(store, task, [memory], moment())
    show(store, task, memory)
    note_use(store, task, files=["src/colour.py"], edited_at=moment())
    settle_task(store, task)
    assert worth(living, memory) == (0, 0)
    ran(store, task, True, moment())
    assert worth(living, memory) == (0.5, 0)


def test_what_failed_again_after_a_fix_was_shown_and_used_is_its_failure(
    living: Helix, store: Store, moment: Moment
) -> None:
    memory = fix(living)
    task = begun(store, SESSION_KEY)
    show(store, task, memory)
    note_use(store, task, files=["src/colour.py"], edited_at=moment())
    at = moment()
    ran(store, task, False, at)
    note_repeats(store, task, [memory], at)
    settle_task(store, task)
    assert worth(living, memory) == (0, 0.3)


def test_what_was_done_before_a_memory_was_shown_is_no_use_of_it(living: Helix, store: Store, moment: Moment) -> None:
    memory, task = fix(living), begun(store)
    done = moment()
    show(store, task, memory)
    note_use(store, task, files=["src/colour.py"], edited_at=done)
    note_use(store, task, commands=["make colours"], at=done)
    note_use(store, task, earlier=["src/colour.py"], utilized=["another"])
    ran(store, task, False, moment())
    assert [gain.signs for gain in settle_task(store, task, outcome="blocked").gains] == [()]
    assert worth(living, memory) == (0, 0)


@pytest.mark.parametrize("kind", ["pattern", "failure"])
def test_what_passed_before_a_memory_was_shown_says_nothing_of_it(
    living: Helix, store: Store, moment: Moment, kind: str
) -> None:
    memory, task = fix(living, kind), begun(store)
    note_use(store, task, files=["a.py"], edited_at=moment())
    ran(store, task, True, moment())
    show(store, task, memory, RECALL)
    gains = settle_task(store, task, outcome="delivered").gains
    assert [(gain.failed, gain.quality) for gain in gains] == [(0, None)]


@pytest.mark.parametrize(("key", "expected"), [(SESSION_KEY, (0.5, 0)), ("1", (0, 0.3))])
def test_in_a_session_without_a_task_what_fails_later_is_other_work(
    living: Helix, store: Store, moment: Moment, key: str, expected: tuple[float, float]
) -> None:
    memory, task = fix(living), begun(store, key)
    show(store, task, memory)
    note_use(store, task, files=["src/colour.py"], edited_at=moment())
    ran(store, task, True, moment())
    settle_task(store, task)
    assert worth(living, memory) == (0.5, 0)
    note_use(store, task, files=["src/other.py"], edited_at=moment())
    ran(store, task, False, moment())
    settle_task(store, task)
    assert worth(living, memory) == expected


def test_an_old_showing_is_not_blamed_for_an_unrelated_failure(living: Helix, store: Store, moment: Moment) -> None:
    memory, task = fix(living), begun(store, SESSION_KEY)
    show(store, task, memory)
    note_use(store, task, files=["src/colour.py"], edited_at=moment())
    moment.forward(days=1)
    ran(store, task, False, moment(), EvidenceKind.BUILD)
    settle_task(store, task)
    assert worth(living, memory) == (0, 0)


def test_what_passes_between_a_showing_and_its_use_is_not_the_help_of_it(
    living: Helix, store: Store, moment: Moment
) -> None:
    memory, task = fix(living), begun(store, SESSION_KEY)
    show(store, task, memory)
    ran(store, task, True, moment())
    note_use(store, task, files=["src/colour.py"], edited_at=moment())
    settle_task(store, task)
    assert worth(living, memory) == (0, 0)


def test_a_commit_that_is_taken_back_counts_where_it_landed_after_the_showing(
    living: Helix, store: Store, moment: Moment
) -> None:
    before, after, task = fix(living), fix(living, "pattern"), begun(store)
    assert before != after
    show(store, task, before)
    note_use(store, task, files=["src/colour.py"], edited_at=moment())
    ran(store, task, True, moment(), EvidenceKind.COMMIT, commit="abcdef1")
    show(store, task, after)
    note_use(store, task, commands=["make colours"], at=moment())
    ran(store, task, False, moment(), EvidenceKind.REVERT, commit="abcdef1")
    settle_task(store, task)
    assert (worth(living, before), worth(living, after)) == ((0, 0.3), (0, 0))


def test_a_warning_whose_failure_came_up_before_it_was_shown_was_not_in_vain(
    living: Helix, store: Store, moment: Moment
) -> None:
    memory, task = fix(living), begun(store)
    note_repeats(store, task, [memory], moment())
    show(store, task, memory, ACTION)
    note_use(store, task, commands=["make all"], at=moment())
    ran(store, task, True, moment())
    assert [gain.use for gain in settle_task(store, task).gains] == ["unknown"]
    again = begun(store, "2")
    show(store, again, memory, ACTION)
    note_repeats(store, again, [memory], moment())
    note_use(store, again, commands=["make all"], at=moment())
    ran(store, again, True, moment())
    assert [gain.use for gain in settle_task(store, again).gains] == ["unused"]
