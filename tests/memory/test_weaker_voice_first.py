"""What a weaker voice said first decides nothing of what the user says then: not when it holds, nor what it weighs."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from helix.memory.capture.episodes import EpisodeRequest
from helix.memory.remember.request import StoreRequest
from helix.model.provenance import Trust
from helix.model.recall import RecallQuery
from helix.operations import capture, memories
from helix.service import Helix

LATER = datetime(2099, 1, 1, tzinfo=UTC)
SAID = StoreRequest(
    trigger="always run the linter before pushing", resolution="with make lint", kind="convention", scope="p"
)


@pytest.mark.parametrize("trust", [Trust.AGENT_INFERRED, Trust.TOOL_OUTPUT, Trust.WEB])
@pytest.mark.parametrize("words", ["with make lint", "with MAKE  lint"])
def test_the_user_s_memory_holds_from_when_the_user_says(living: Helix, trust: Trust, words: str) -> None:
    theirs = {"command": "rm -rf build", "by": "them"}
    memories.store(living, replace(SAID, trust=trust, valid_from=LATER, importance=10, attributes=theirs))
    stored = memories.store(living, replace(SAID, resolution=words, importance=4))
    memory = memories.get(living, stored.id)
    assert (memory.provenance.trust, memory.valid_from, memory.importance) == (Trust.USER_ASSERTED, None, 4)
    assert not {"command", "by"} & {*memory.attributes}
    found = living.recall(RecallQuery(query="linter before pushing", scope="p")).items
    assert [item.node.id for item in found] == [stored.id]


def test_what_was_to_hold_later_and_is_said_without_a_time_holds_now(living: Helix) -> None:
    first = memories.store(living, replace(SAID, valid_from=LATER))
    again = memories.store(living, SAID)
    assert again.name == first.name
    assert memories.get(living, again.id).valid_from is None
    assert living.recall(RecallQuery(query="linter before pushing", scope="p")).items


def test_what_the_user_said_keeps_its_time_whatever_a_weaker_voice_says_then(living: Helix) -> None:
    first = memories.store(living, replace(SAID, valid_from=LATER))
    memories.store(living, replace(SAID, trust=Trust.WEB))
    assert memories.get(living, first.id).valid_from == LATER


def test_nothing_that_is_recorded_has_happened_later_than_now(living: Helix) -> None:
    capture.record_episode(living, EpisodeRequest(content="the build broke", occurred_at=LATER))
    (episode,) = capture.episodes(living).items
    assert episode.occurred_at == episode.recorded_at
