"""How sure a memory is goes by who says it; a stronger voice takes a weaker one's memory over, on its own evidence."""

from __future__ import annotations

import json
from typing import cast

import pytest

from helix.memory.capture.episodes import EpisodeRequest
from helix.memory.change.versions import files_of
from helix.memory.extraction.consolidation import consolidate
from helix.memory.remember.request import StoreRequest
from helix.memory.scores import FIRST_CERTAINTY, MOST_CERTAIN, bounded_confidence
from helix.memory.worker.undo import undo
from helix.model.edge import Ref, Relation
from helix.model.episode import Episode
from helix.model.memory import Memory, Status
from helix.model.provenance import Trust
from helix.model.recall import RecallQuery
from helix.model.reports import StoreResult, StoreStatus
from helix.operations import capture, ingest, memories
from helix.service import Helix
from helix.store.store import Store
from tests.memory.conftest import Moment
from tests.memory.saying import job, say

APPLE = "The staging host is called apple"


def told(helix: Helix, trust: Trust, trigger: str = APPLE, **more: object) -> StoreResult:
    return memories.store(helix, StoreRequest(trigger=trigger, resolution="", kind="fact", trust=trust, **more))


def evidence(store: Store, memory_id: str) -> list[Episode]:
    ref = Ref.memory(memory_id)
    ends = [op.target for op in store.records.edges_at(ref) if op.type is Relation.GROUNDED_IN and op.source == ref]
    return [cast(Episode, node) for node in store.records.nodes(ends)]


def test_every_class_starts_below_what_it_may_come_to_and_a_weaker_one_is_never_surer() -> None:
    assert set(FIRST_CERTAINTY) == set(MOST_CERTAIN) == set(Trust)
    assert all(FIRST_CERTAINTY[trust] < MOST_CERTAIN[trust] for trust in Trust)
    for figures in (FIRST_CERTAINTY, MOST_CERTAIN):
        assert list(figures.values()) == sorted(figures.values(), reverse=True)
        assert list(figures) == sorted(Trust, key=lambda trust: trust.rank)


@pytest.mark.parametrize("trust", list(Trust))
def test_a_memory_is_as_sure_as_its_class_unless_it_is_said_and_never_above_that_class(
    living: Helix, trust: Trust
) -> None:
    assert memories.get(living, told(living, trust).id).confidence == FIRST_CERTAINTY[trust]
    for number, said in enumerate((0.1, 1.0)):
        stored = told(living, trust, f"host number {number} sits in room {number}", confidence=said)
        assert memories.get(living, stored.id).confidence == bounded_confidence(said, trust)


def test_repeating_raises_once_for_each_source_and_never_above_the_class(living: Helix, store: Store) -> None:
    first = told(living, Trust.WEB, source="https://one.example").id
    told(living, Trust.WEB, source="https://two.example")
    once = memories.get(living, first).confidence
    assert once > FIRST_CERTAINTY[Trust.WEB]
    for _ in range(5):
        told(living, Trust.WEB, source="https://two.example")
    assert memories.get(living, first).confidence == once
    for number in range(20):
        told(living, Trust.WEB, source=f"https://{number}.example")
    memory = memories.get(living, first)
    assert memory.confidence == MOST_CERTAIN[Trust.WEB]
    assert memory.attributes["helix:seen"] == 27


def test_a_stronger_voice_takes_a_memory_over_on_its_own_words_and_evidence(living: Helix, store: Store) -> None:
    weak = told(living, Trust.WEB, source="https://one.example")
    memories.feedback(living, [weak.name], 1.0)
    strong = told(living, Trust.USER_ASSERTED, trigger=APPLE.upper())
    assert (strong.status, strong.name) == (StoreStatus.UPDATED, weak.name)
    after = memories.get(living, strong.name)
    assert (after.id, after.trigger, after.provenance.trust) == (strong.id, APPLE.upper(), Trust.USER_ASSERTED)
    assert (after.confidence, after.helped, after.attributes["helix:seen"]) == (
        FIRST_CERTAINTY[Trust.USER_ASSERTED],
        1.0,
        2,
    )
    assert [one.provenance.trust for one in evidence(store, strong.id)] == [Trust.USER_ASSERTED]
    assert [one.provenance.trust for one in evidence(store, weak.id)] == [Trust.WEB]
    assert memories.get(living, weak.id).status is Status.RETIRED
    assert files_of(store.records, after) == ()


def test_what_a_tool_says_later_does_not_overrule_what_a_user_said_after_the_web(living: Helix, moment: Moment) -> None:
    told(living, Trust.WEB)
    moment.forward(days=1)
    ours = told(living, Trust.USER_ASSERTED)
    moment.forward(days=3)
    tool = told(living, Trust.TOOL_OUTPUT, "The staging host is called banana")
    assert tool.contradicts == (ours.name,)
    kept = memories.get(living, ours.id)
    assert (kept.valid_to, kept.status, kept.confidence) == (None, Status.ACTIVE, FIRST_CERTAINTY[Trust.USER_ASSERTED])


def test_a_weaker_voice_takes_nothing_over_and_raises_nothing(living: Helix) -> None:
    ours = told(living, Trust.USER_ASSERTED)
    again = told(living, Trust.WEB, source="https://one.example")
    assert (again.status, again.id) == (StoreStatus.MERGED, ours.id)
    kept = memories.get(living, ours.id)
    assert (kept.confidence, kept.provenance.trust) == (FIRST_CERTAINTY[Trust.USER_ASSERTED], Trust.USER_ASSERTED)


def test_consolidation_lets_what_users_say_take_over_what_the_web_said(living: Helix, store: Store) -> None:
    text = "Always rotate the signing key in March."
    weak = memories.store(
        living, StoreRequest(trigger=text, resolution="", kind="convention", trust=Trust.WEB, scope="project")
    )
    episodes = say(store, text, "Lunch was late.", text)
    run = job(store, "one")
    consolidate(run, {"scope": "project"})
    assert run.counts["stored memories taken over"] == 1
    after = memories.get(living, weak.name)
    assert (after.id != weak.id, after.provenance.trust, after.status) == (True, Trust.USER_ASSERTED, Status.ACTIVE)
    assert {one.id for one in evidence(store, after.id)} == {episodes[0], episodes[2]}
    again = job(store, "two")
    consolidate(again, {"scope": "project"})
    assert memories.get(living, weak.name) == after
    undo(store, "one")
    assert memories.get(living, weak.name).id == weak.id


def test_consolidation_only_counts_what_is_no_better_founded(living: Helix, store: Store) -> None:
    text = "Always rotate the signing key in March."
    ours = memories.store(
        living, StoreRequest(trigger=text, resolution="", kind="convention", trust=Trust.USER_ASSERTED, scope="project")
    )
    say(store, text, trust=Trust.WEB)
    consolidate(job(store, "one"), {"scope": "project"})
    kept = memories.get(living, ours.name)
    assert (kept.id, kept.provenance.trust, kept.confidence) == (ours.id, Trust.USER_ASSERTED, 0.7)


def test_an_import_of_a_better_source_takes_over_too(living: Helix, store: Store) -> None:
    said = {"trigger": APPLE, "resolution": "since May", "kind": "fact"}
    weak = memories.store(living, StoreRequest(**said, trust=Trust.WEB))
    name = weak.name
    line = {"id": "1", **said, "trust": "user_asserted", "name": name}
    report = ingest.ingest_jsonl(living, [json.dumps({**line, "confidence": 1.0})], scope="global")
    # A file's memory cannot claim more than a tool's word: nobody has checked who wrote it.
    assert (report.memories, report.problems) == (1, ())
    after = memories.get(living, name)
    assert (after.id != weak.id, after.provenance.trust) == (True, Trust.TOOL_OUTPUT)
    assert after.confidence == MOST_CERTAIN[Trust.TOOL_OUTPUT]
    assert [one.provenance.trust for one in evidence(store, after.id)] == [Trust.TOOL_OUTPUT]
    assert memories.get(living, weak.id).status is Status.RETIRED


def test_who_names_no_trust_is_a_person_or_the_agent_that_is_named(living: Helix) -> None:
    person = memories.store(living, StoreRequest(trigger="the kettle is in the hall", resolution="", kind="fact"))
    agent = memories.store(
        living, StoreRequest(trigger="the printer is on floor two", resolution="", kind="fact", agent="builder")
    )
    assert memories.get(living, person.id).provenance.trust is Trust.USER_ASSERTED
    assert memories.get(living, agent.id).provenance.trust is Trust.AGENT_INFERRED


@pytest.mark.parametrize(
    ("role", "trust"), [("tool", Trust.TOOL_OUTPUT), ("user", Trust.AGENT_INFERRED), ("", Trust.AGENT_INFERRED)]
)
def test_what_a_tool_prints_is_recorded_as_its_output(living: Helix, role: str, trust: Trust) -> None:
    episode = capture.record_episode(living, EpisodeRequest(content="3 passed, 1 failed", role=role)).episode
    assert episode is not None and episode.provenance.trust is trust
    stated = capture.record_episode(living, EpisodeRequest(content="4 passed", role=role, trust=Trust.WEB)).episode
    assert stated is not None and stated.provenance.trust is Trust.WEB


def test_a_memory_that_was_taken_over_is_answered_once(living: Helix) -> None:
    told(living, Trust.WEB)
    ours = told(living, Trust.USER_ASSERTED)
    found = [item.node.id for item in living.recall(RecallQuery(query="staging host")).items]
    assert found.count(ours.id) == 1
    assert [one for one in found if isinstance(memories.get(living, one), Memory)] == [ours.id]
