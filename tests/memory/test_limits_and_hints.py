"""What a caller asks for wrongly is refused with the command that helps, and a time without a zone is UTC."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from functools import partial

import pytest

from helix.errors import HelixError, InvalidInputError
from helix.memory.capture.episodes import EpisodeRequest
from helix.memory.remember.curate import EditRequest
from helix.memory.remember.request import StoreRequest
from helix.model.work_item import WorkItem, WorkState
from helix.operations import background_work, capture, learning, memories, review, tasks, upkeep
from helix.service import Helix

NOON = datetime(2026, 1, 2, 12)  # naive on purpose
LATER = datetime(2026, 1, 3, 12, tzinfo=timezone(timedelta(hours=2)))

WRONG_LIMITS: list[Callable[[Helix, int], object]] = [
    lambda helix, limit: background_work.background(helix, limit),
    lambda helix, limit: capture.sessions(helix, first=limit),
    lambda helix, limit: capture.episodes(helix, first=limit),
    lambda helix, limit: memories.memories(helix, first=limit),
    lambda helix, limit: learning.learning_queue(helix, first=limit),
    lambda helix, limit: review.contradictions(helix, first=limit),
    lambda helix, limit: tasks.workspaces(helix, first=limit),
    lambda helix, limit: upkeep.jobs(helix, first=limit),
    lambda helix, limit: review.review(helix, first=limit),
    lambda helix, limit: review.reflections(helix, first=limit),
    lambda helix, limit: memories.edges(helix, first=limit),
    lambda helix, limit: memories.similar_recent(helix, "anything", limit=limit),
    lambda helix, limit: memories.suggest_edges(helix, "known", limit=limit),
    lambda helix, limit: background_work.begin_work(helix, "upgrade_importance", {"limit": limit}),
]


@pytest.mark.parametrize("name", ["mem-a", "fix-the", "step_on.2", "one-two-three-four-five-six-seven"])
def test_a_name_that_somebody_gives_is_the_one_it_has(name: str, living: Helix) -> None:
    stored = memories.store(living, StoreRequest(trigger="something known", resolution="", kind="fact", name=name))
    assert (stored.name, memories.get(living, name).id, memories.get(living, name.upper()).id) == (
        name,
        stored.id,
        stored.id,
    )
    assert memories.edit(living, name, EditRequest(name=f"{name}-of")).name == f"{name}-of"


def test_what_is_no_name_is_refused(living: Helix) -> None:
    with pytest.raises(InvalidInputError, match="is not a name"):
        memories.store(living, StoreRequest(trigger="something known", resolution="", kind="fact", name="?!"))


def test_a_limit_out_of_range_is_refused_everywhere_with_what_may_be_asked_for(living: Helix) -> None:
    memories.store(
        living, StoreRequest(trigger="something known", resolution="to suggest edges of", kind="fact", name="known")
    )
    hints = {
        (place, limit): hint_of(InvalidInputError, partial(ask, living, limit))
        for place, ask in enumerate(WRONG_LIMITS)
        for limit in (-1, 0, 1_000_000)
    }
    assert [asked for asked, hint in hints.items() if not any(digit in hint for digit in "0123456789")] == []


def hint_of(kind: type[HelixError], ask: Callable[[], object]) -> str:
    """Return the hint of what is refused; no hint where it is not, or otherwise."""
    try:
        ask()
    except kind as error:
        return error.hint or ""
    return ""


REFUSED: list[tuple[Callable[[Helix], object], str]] = [
    (lambda helix: review.insight_tree(helix, "nope"), "helix reflections"),
    (lambda helix: background_work.undo(helix, "nope"), "helix work"),
    (lambda helix: background_work.cancel_work(helix, "nope"), "helix work"),
    (lambda helix: background_work.work(helix, "nope"), "helix work"),
    (lambda helix: review.accept(helix, "nope"), "helix review list"),
    (lambda helix: review.reject(helix, "nope"), "helix review list"),
    (lambda helix: capture.record_episode(helix, EpisodeRequest(content="x", importance=11.0)), "omit it"),
    (lambda helix: memories.feedback(helix, ["x"], 0.0), "helix feedback"),
    (lambda helix: memories.decay(helix, unused_days=-1), "30 is a month"),
]


def test_every_refusal_names_the_command_that_helps(living: Helix) -> None:
    hints = [
        (place, command, hint_of(HelixError, partial(ask, living))) for place, (ask, command) in enumerate(REFUSED)
    ]
    assert [told for told in hints if told[1] not in told[2]] == []


def test_what_was_undone_already_says_so_with_a_hint(living: Helix) -> None:
    for day in range(3):
        content = "Remember: always activate the virtual environment before running the tests"
        capture.record_episode(living, EpisodeRequest(content=content, source=f"day {day}", trust="user_asserted"))
    done = living.worker.flush()
    assert living.worker.settle(20)
    background_work.undo(living, done.id)
    with pytest.raises(HelixError) as told:
        background_work.undo(living, done.id)
    assert "helix work" in told.value.hint


def test_a_moment_without_a_zone_is_utc_and_one_with_another_is_turned_into_it(living: Helix) -> None:
    recorded = capture.record_episode(living, EpisodeRequest(content="lunch at the harbour", occurred_at=NOON)).episode
    assert recorded is not None
    assert recorded.occurred_at == NOON.replace(tzinfo=UTC)
    assert recorded.occurred_at.tzinfo is UTC
    stored = memories.store(
        living, StoreRequest(trigger="the harbour", resolution="is open", kind="fact", valid_from=NOON, valid_to=LATER)
    )
    memory = memories.get(living, stored.name)
    assert (memory.valid_from, memory.valid_to) == (NOON.replace(tzinfo=UTC), LATER)
    assert (memory.valid_from.tzinfo, memory.valid_to.tzinfo) == (UTC, UTC)  # type: ignore[union-attr]  # both are set
    edited = memories.edit(living, stored.name, EditRequest(valid_to=NOON + timedelta(days=9)))
    assert edited.valid_to == datetime(2026, 1, 11, 12, tzinfo=UTC)


def test_work_that_only_looked_changed_nothing(living: Helix) -> None:
    capture.record_episode(living, EpisodeRequest(content="Hello there, good morning!"))
    read = living.worker.flush()
    assert living.worker.settle(20)
    read = background_work.work(living, read.id)
    assert (read.state, read.result["episodes read"], read.changed) == (WorkState.DONE, 1, False)
    gate = background_work.background(living).gate
    assert (gate.read, gate.dropped, gate.drop_rate) == (1, 1, 1.0)


def test_work_that_wrote_a_memory_changed_something(living: Helix) -> None:
    now = capture.record_episode(
        living, EpisodeRequest(content="Remember: always activate the virtual environment first")
    )
    assert now.episode is not None
    item: WorkItem = living.worker.flush()
    assert living.worker.settle(20)
    assert background_work.background(living).gate.drop_rate == 0.0
    result = background_work.work(living, item.id)
    assert result.changed is bool(memories.memories(living).items)
    assert background_work.work(living, living.worker.flush().id).changed is False, "not begun yet"
