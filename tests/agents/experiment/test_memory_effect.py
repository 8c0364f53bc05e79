"""The effect of one memory: where it was shown, what came of it, over time, and page by page."""

from __future__ import annotations

from datetime import timedelta
from itertools import pairwise

import pytest

from helix.agents.outcomes.noting import note_evidence, note_use
from helix.agents.outcomes.task_end import settle_task
from helix.agents.tasks.board import TaskSighting, inject, mirror
from helix.errors import InvalidInputError
from helix.memory.remember.curate import EditRequest
from helix.memory.remember.request import StoreRequest
from helix.model.evidence import Evidence, EvidenceKind
from helix.model.task import ACTION, Shown
from helix.operations import learning, memories
from helix.service import Helix
from helix.store.store import Store
from tests.memory.conftest import Moment


def kept(living: Helix) -> str:
    asked = StoreRequest(trigger="releasing the shop", resolution="run `make release` first", kind="convention")
    return memories.store(living, asked).id


def worked(store: Store, key: str, memory: str, *, used: bool, well: bool, held_back: bool = False) -> str:
    task = mirror(store, TaskSighting(session="s", key=key, objective=f"release {key}")).id
    shown = Shown(memory_id=memory, name="", kind="", rank=1, score=0.5, arm=ACTION, tokens=12)
    inject(store, task, [shown], held_back=held_back)
    note_use(store, task, commands=["make release" if used else "ls"])
    note_evidence(store, task, Evidence(kind=EvidenceKind.TEST, command="pytest", passed=well, id="1"))
    settle_task(store, task, outcome="delivered" if well else "blocked")
    return task


def test_each_showing_counts_by_what_came_of_it_in_every_version(living: Helix, store: Store, moment: Moment) -> None:
    memory = kept(living)
    first = worked(store, "one", memory, used=True, well=True)
    moment.forward(days=2)
    worked(store, "two", memory, used=False, well=True)
    edited = memories.edit(living, memory, EditRequest(importance=9)).id
    worked(store, "three", edited, used=True, well=False)
    worked(store, "four", edited, used=False, well=True, held_back=True)
    found = learning.effect(living, edited)
    assert (found.shown, found.helped, found.failed, found.unused, found.withheld) == (3, 1, 1, 1, 1)
    assert [(one.shown, one.helped, one.failed, one.unused) for one in found.periods] == [
        (1, 1, 0, 0),
        (0, 0, 0, 0),
        (2, 0, 1, 1),
    ]
    told = learning.showings(living, edited).items
    assert [one.objective for one in told][-1] == "release one"
    (oldest,) = [one for one in told if one.task == first]
    assert (oldest.outcome, oldest.tokens, oldest.rank, oldest.session) == ("helped", 12, 1, "s")
    assert any("make release" in sign for sign in oldest.use)
    assert [one.withheld for one in told].count(True) == 1


def test_a_long_time_is_told_by_the_week(living: Helix, store: Store, moment: Moment) -> None:
    memory = kept(living)
    worked(store, "one", memory, used=True, well=True)
    moment.forward(days=60)
    worked(store, "two", memory, used=True, well=True)
    found = learning.effect(living, memory)
    assert found.days == 7
    assert found.periods[0].start.weekday() == 0
    assert sum(one.shown for one in found.periods) == 2
    assert {later.start - one.start for one, later in pairwise(found.periods)} == {timedelta(days=7)}


def test_showings_come_page_by_page(living: Helix, store: Store, moment: Moment) -> None:
    memory = kept(living)
    for number in range(3):
        moment.forward(days=1)
        worked(store, str(number), memory, used=True, well=True)
    page = learning.showings(living, memory, first=2)
    assert (len(page.items), page.total) == (2, 3)
    rest = learning.showings(living, memory, first=2, after=page.next_cursor)
    assert [one.objective for one in (*page.items, *rest.items)] == ["release 2", "release 1", "release 0"]
    assert rest.next_cursor is None
    with pytest.raises(InvalidInputError):
        learning.showings(living, memory, after="nonsense")


def test_a_memory_that_was_never_shown_has_no_effect(living: Helix) -> None:
    found = learning.effect(living, kept(living))
    assert (found.shown, found.periods) == (0, ())
