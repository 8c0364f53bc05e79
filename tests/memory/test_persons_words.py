"""What a person says last: it is told, as theirs, and neither an agent nor what they said before takes it away."""

from __future__ import annotations

from datetime import timedelta

import pytest

from helix.errors import InvalidInputError
from helix.memory.remember.curate import EditRequest
from helix.memory.remember.request import StoreRequest
from helix.model.dispute import DisputeStatus
from helix.model.memory import Memory
from helix.model.provenance import Trust
from helix.model.recall import RecallQuery
from helix.operations import memories, review
from helix.service import Helix
from tests.memory.conftest import Moment

PORT = "the api listens on port"


def stored(helix: Helix, words: str, **more: object) -> Memory:
    request = StoreRequest(trigger=words, resolution="", **{"kind": "fact", **more})  # type: ignore[arg-type]
    return memories.get(helix, memories.store(helix, request).id)


def told(helix: Helix) -> list[str]:
    return [item.text for item in helix.recall(RecallQuery(query="which port does the api listen on")).items]


@pytest.mark.parametrize("trust", [Trust.AGENT_INFERRED, Trust.TOOL_OUTPUT, Trust.WEB])
def test_what_a_person_writes_in_an_edit_is_theirs(living: Helix, moment: Moment, trust: Trust) -> None:
    noted = stored(living, f"{PORT} 8001", agent="bot", trust=trust)
    mine = memories.edit(living, noted.id, EditRequest(trigger=f"{PORT} 9000"))
    assert mine.said_by == "you"
    moment.forward(days=3)
    stored(living, f"{PORT} 8001", agent="bot")
    assert f"{PORT} 9000" in told(living)
    renamed = memories.edit(living, stored(living, "the cache is redis", agent="bot").id, EditRequest(name="cache"))
    assert renamed.provenance.trust is Trust.AGENT_INFERRED


def test_what_a_person_says_is_not_ended_by_what_they_said_before(living: Helix, moment: Moment) -> None:
    memories.confirm(living, stored(living, f"{PORT} 8001").id)
    moment.forward(hours=3)
    stored(living, f"{PORT} 8002")
    assert f"{PORT} 8002" in told(living)
    assert [one.status for one in review.contradictions(living).items] == [DisputeStatus.OPEN]


def test_an_agents_edge_is_no_later_version(living: Helix) -> None:
    one, two = stored(living, f"{PORT} 8001"), stored(living, f"{PORT} 8002")
    remark = stored(living, "the printer is on the second floor", agent="bot")
    review.resolve_contradiction(living, one.id, two.id, one.id)
    memories.edge(living, remark.id, two.id, "supersedes", agent="bot")
    assert review.reopen_contradiction(living, one.id, two.id).status is DisputeStatus.OPEN


def test_an_edit_ends_nothing_before_it_begins(living: Helix) -> None:
    now = living.store.runtime.clock()
    one = stored(living, f"{PORT} 8001", valid_from=now)
    with pytest.raises(InvalidInputError, match="not later"):
        memories.edit(living, one.id, EditRequest(valid_to=now - timedelta(days=5)))


def test_an_end_that_is_told_of_what_a_rule_has_ended_is_kept(living: Helix, moment: Moment) -> None:
    noted = stored(living, f"{PORT} 8001", agent="bot")
    moment.forward(days=3)
    later = stored(living, f"{PORT} 8002", agent="bot")
    until = moment.now + timedelta(days=30)
    mine = memories.edit(living, noted.id, EditRequest(valid_to=until))
    assert mine.valid_to == until
    memories.forget(living, later.id)
    assert memories.get(living, mine.id).valid_to == until
    theirs = memories.edit(living, mine.id, EditRequest(trigger=f"{PORT} 9000"))
    assert memories.get(living, theirs.id).valid_to == until


def test_since_when_something_holds_may_be_told_of_what_a_rule_has_ended(living: Helix, moment: Moment) -> None:
    noted = stored(living, f"{PORT} 8001", agent="bot")
    moment.forward(days=3)
    later = stored(living, f"{PORT} 8002", agent="bot")
    moment.forward(days=3)
    since = moment.now - timedelta(hours=1)
    held = memories.get(living, memories.edit(living, noted.id, EditRequest(valid_from=since)).id)
    assert (held.valid_from, held.valid_to) == (since, None)
    assert memories.get(living, later.id).valid_to == since


def test_since_when_something_holds_is_not_told_of_later_than_the_person_decided(living: Helix, moment: Moment) -> None:
    noted = stored(living, f"{PORT} 8001", agent="bot")
    moment.forward(days=3)
    later = stored(living, f"{PORT} 8002", agent="bot")
    review.resolve_contradiction(living, noted.id, later.id, later.id)
    moment.forward(days=3)
    with pytest.raises(InvalidInputError, match="not later"):
        memories.edit(living, noted.id, EditRequest(valid_from=moment.now))


def test_an_edit_of_what_has_ended_is_told(living: Helix, moment: Moment) -> None:
    noted = stored(living, f"{PORT} 8001", agent="bot")
    moment.forward(days=3)
    stored(living, f"{PORT} 8002", agent="bot")
    moment.forward(days=3)
    memories.edit(living, noted.id, EditRequest(trigger="the api reads its port from config.toml"))
    assert "the api reads its port from config.toml" in told(living)


def test_what_a_person_says_last_in_an_edit_is_not_ended_by_what_they_said_before(
    living: Helix, moment: Moment
) -> None:
    mine = stored(living, f"{PORT} 8001")
    moment.forward(days=3)
    stored(living, f"{PORT} 8002")
    moment.forward(days=3)
    memories.edit(living, mine.id, EditRequest(trigger=f"{PORT} 9000"))
    assert told(living) == [f"{PORT} 9000"]


def test_a_choice_of_the_persons_is_not_one_of_the_words_that_an_agent_puts_in_its_place(
    living: Helix, moment: Moment
) -> None:
    mine = stored(living, f"{PORT} 8003")
    moment.forward(minutes=5)
    theirs, other = stored(living, f"{PORT} 8002", agent="bot"), stored(living, f"{PORT} 8001")
    moment.forward(minutes=5)
    review.resolve_contradiction(living, other.id, theirs.id, theirs.id)
    moment.forward(minutes=5)
    memories.edit(living, theirs.id, EditRequest(trigger=f"{PORT} 6666", agent="bot"))
    assert memories.get(living, mine.id).valid_to is None
    assert memories.get(living, other.id).valid_to is not None, "it was decided against"


def test_that_both_hold_is_not_said_of_what_an_agent_says_instead(living: Helix, moment: Moment) -> None:
    mine, theirs = stored(living, f"{PORT} 8001"), stored(living, f"{PORT} 8002", agent="bot")
    review.resolve_contradiction(living, mine.id, theirs.id, "both")
    memories.edit(living, theirs.id, EditRequest(trigger=f"{PORT} 6666", agent="bot"))
    (open_one,) = review.contradictions(living).items
    assert {open_one.first.trigger, open_one.second.trigger} == {f"{PORT} 8001", f"{PORT} 6666"}


def test_what_a_person_says_now_holds_now_though_an_agent_said_it_of_later(living: Helix, moment: Moment) -> None:
    stored(living, "tests do not need docker", agent="bot", trust=Trust.TOOL_OUTPUT)
    moment.forward(days=3)
    stored(living, "tests need docker", agent="bot", valid_from=moment.now + timedelta(days=2))
    stored(living, "tests need docker")
    (held,) = [one.node for one in living.recall(RecallQuery(query="do tests need docker")).items[:1]]
    assert isinstance(held, Memory)
    assert (held.trigger, held.said_by) == ("tests need docker", "you")


def test_whatever_else_is_settled_with_it_a_person_is_not_ended_by_an_agent(living: Helix, moment: Moment) -> None:
    stored(living, "tests do not need docker", agent="bot", confidence=0.2)
    later = moment.now + timedelta(days=2)
    stored(living, "tests do not need docker", kind="convention", agent="bot", valid_from=later)
    stored(living, "tests need docker", agent="bot")
    mine = stored(living, "tests need docker")
    assert (mine.said_by, mine.valid_to) == ("you", None)


def test_an_edit_that_contradicts_another_memory_is_set_against_it(living: Helix, moment: Moment) -> None:
    stored(living, f"{PORT} 8001", agent="bot")
    stored(living, "the worker listens on port 7000")
    other = stored(living, "the api speaks json")
    moment.forward(days=3)
    mine = memories.edit(living, other.id, EditRequest(trigger=f"{PORT} 9000"))
    assert told(living) == [f"{PORT} 9000", "the worker listens on port 7000"]
    (settled,) = review.contradictions(living, status=DisputeStatus.SETTLED).items
    assert {settled.first.id, settled.second.id} > {mine.id}


def test_an_agents_edit_does_not_end_what_the_user_says(living: Helix, moment: Moment) -> None:
    own = stored(living, f"{PORT} 8001")
    other = stored(living, "the api speaks json", agent="bot")
    moment.forward(days=3)
    memories.edit(living, other.id, EditRequest(trigger=f"{PORT} 9000", agent="bot"))
    assert memories.get(living, own.id).valid_to is None
    assert [one.status for one in review.contradictions(living).items] == [DisputeStatus.OPEN]
