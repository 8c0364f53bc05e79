"""Holds that trust never rises above its source, whatever is stored, met again, edited, merged and consolidated."""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import count

import hypothesis
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helix.agents.context.brief import brief
from helix.api.carrying_out import as_said_by
from helix.errors import HelixError
from helix.memory.capture.episodes import EpisodeRequest
from helix.memory.extraction.consolidation import consolidate
from helix.memory.job_run.run import Run
from helix.memory.remember.curate import EditRequest
from helix.memory.remember.request import StoreRequest
from helix.memory.scores import MOST_CERTAIN
from helix.memory.upkeep.merge import merge_similar
from helix.model.edge import Ref, Relation
from helix.model.episode import Episode
from helix.model.memory import Memory, Status
from helix.model.provenance import Trust
from helix.operations import OPERATIONS, capture, ingest, memories
from helix.service import Helix
from helix.store.store import Store
from tests.memory.saying import embed, job
from tests.sampling import draws

SUBJECTS = ("deploys run from the release branch", "tests need the virtual environment", "the cache lives in redis")
VOICES: dict[Trust, tuple[str, ...]] = {
    Trust.USER_ASSERTED: ("with make ship", "with MAKE  ship"),
    Trust.AGENT_INFERRED: ("with make ship", "with agents script agent-word"),
    Trust.TOOL_OUTPUT: ("with make ship", "with tools script tool-word"),
    Trust.WEB: ("with make ship", "with webs script web-word"),
}
WORD_OF = {"agent-word": Trust.AGENT_INFERRED, "tool-word": Trust.TOOL_OUTPUT, "web-word": Trust.WEB}


@dataclass(frozen=True)
class Step:
    """One thing that somebody does: what, about which subject, whose voice, in which of its wordings."""

    what: str
    subject: int
    trust: Trust
    wording: int


steps = st.builds(
    Step,
    st.sampled_from(("store", "line", "say", "agent edits", "merge", "consolidate")),
    st.integers(0, len(SUBJECTS) - 1),
    st.sampled_from(tuple(VOICES)),
    st.integers(0, 1),
)


def done(helix: Helix, step: Step, scope: str, number: int) -> None:
    subject, words, store = SUBJECTS[step.subject], VOICES[step.trust][step.wording], helix.store
    match step.what:
        case "store":
            memories.store(
                helix, StoreRequest(trigger=subject, resolution=words, kind="convention", trust=step.trust, scope=scope)
            )
        case "line":
            line = {"trigger": subject, "resolution": words, "kind": "convention", "trust": step.trust.value}
            ingest.ingest_jsonl(
                helix, [json.dumps({**line, "id": str(number)})], source=f"{scope} {number}", scope=scope
            )
        case "say":
            said = f"Remember: {subject} {words}."
            capture.record_episode(
                helix, EpisodeRequest(content=said, role="user", trust=step.trust, scope=scope, session=f"s{number}")
            )
        case "agent edits":
            held = [one for one in store.index.memories(Status.ACTIVE) if (one.scope, one.trigger) == (scope, subject)]
            for one in held[:1]:
                request = EditRequest(resolution="with agents script agent-word")
                asked = as_said_by("claude-code", OPERATIONS["edit"], {"name_or_id": one.id, "request": request})
                memories.edit(helix, **asked)
        case "merge":
            run = Run(store, f"merge {scope} {number}", "merge_similar")
            merge_similar(run, {"threshold": 0.6, "scope": scope})
        case "consolidate":
            embed(store)
            consolidate(job(store, f"learn {scope} {number}"), {"scope": scope})


def weakest_allowed(memory: Memory) -> Trust:
    """Return the strongest class that a memory may have by the words that it holds."""
    text = f"{memory.trigger} {memory.resolution}"
    found = [trust for word, trust in WORD_OF.items() if word in text]
    return max(found, key=lambda trust: trust.rank, default=Trust.USER_ASSERTED)


def check(store: Store, scope: str) -> None:
    for memory in store.index.memories(Status.ACTIVE):
        if memory.scope != scope:
            continue
        trust = memory.provenance.trust
        assert trust.rank >= weakest_allowed(memory).rank, memory
        assert memory.confidence <= MOST_CERTAIN[trust] + 1e-9, memory
        here = Ref.memory(memory.id)
        if memory.is_derived and trust.rank < Trust.WEB.rank:
            edges = store.records.edges_at(here)
            grounds = [edge.target for edge in edges if edge.type is Relation.GROUNDED_IN and edge.source == here]
            said = [node for node in store.records.nodes(grounds) if isinstance(node, Episode)]
            assert trust.rank >= min(one.provenance.trust.rank for one in said), memory


SCOPES = count(1)


@pytest.mark.parametrize("trust", [Trust.AGENT_INFERRED, Trust.TOOL_OUTPUT, Trust.WEB])
@pytest.mark.parametrize("before", [False, True])
def test_what_a_weaker_voice_says_too_takes_nothing_from_the_users_words(
    living: Helix, trust: Trust, before: bool
) -> None:
    """A page or a tool's text that a prompt or a history quoted had made it the page's, and put it out of the brief."""
    store, scope = living.store, "quoted"
    own = Step("say", 0, Trust.USER_ASSERTED, 0)
    for number, step in enumerate([Step("say", 0, trust, 0), own] if before else [own, Step("say", 0, trust, 0)] * 2):
        done(living, step, scope, number)
        done(living, Step("consolidate", 0, trust, 0), scope, number)
    (memory,) = [one for one in store.index.memories(Status.ACTIVE) if one.scope == scope]
    assert memory.provenance.trust is Trust.USER_ASSERTED
    assert memory.confidence > MOST_CERTAIN[Trust.WEB]
    assert memory.name in brief(store, scope).text


@hypothesis.settings(
    max_examples=draws(12), deadline=None, suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture]
)
@given(told=st.lists(steps, min_size=4, max_size=9))
def test_trust_never_rises_above_its_source(living: Helix, told: list[Step]) -> None:
    scope = f"scope-{next(SCOPES)}"
    for number, step in enumerate(told):
        try:
            done(living, step, scope, number)
        except HelixError as error:
            assert error.code in ("CONFLICT", "INVALID_INPUT"), error
        check(living.store, scope)


def test_new_evidence_does_not_make_an_agents_edit_of_it_the_users_words(living: Helix) -> None:
    store, scope = living.store, "edited"
    for number in range(2):
        done(living, Step("say", 0, Trust.USER_ASSERTED, 0), scope, number)
        done(living, Step("consolidate", 0, Trust.USER_ASSERTED, 0), scope, number)
        (memory,) = [one for one in store.index.memories(Status.ACTIVE) if one.scope == scope]
        if number == 0:
            assert memory.provenance.trust is Trust.USER_ASSERTED
            request = EditRequest(resolution="with agents script agent-word")
            asked = as_said_by("claude-code", OPERATIONS["edit"], {"name_or_id": memory.id, "request": request})
            memories.edit(living, **asked)
    assert "agent-word" in memory.resolution
    assert memory.provenance.trust is Trust.AGENT_INFERRED


def test_what_a_person_confirmed_stays_theirs_when_it_is_heard_again(living: Helix) -> None:
    store, scope = living.store, "confirmed"
    for number in range(2):
        done(living, Step("say", 0, Trust.AGENT_INFERRED, 0), scope, number)
        done(living, Step("consolidate", 0, Trust.AGENT_INFERRED, 0), scope, number)
        (memory,) = [one for one in store.index.memories(Status.ACTIVE) if one.scope == scope]
        if number == 0:
            assert memory.provenance.trust is Trust.AGENT_INFERRED
            memories.confirm(living, memory.name)
    assert memory.provenance.trust is Trust.USER_ASSERTED
