"""What a language model calls a contradiction is flagged for a person, and ends nothing; through the real client."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from scripted_provider import ScriptedProvider, packed, says

from helix.journal.kept_results import Answers
from helix.memory.job_run.run import Run
from helix.memory.llm.llm_reviews import find_contradictions
from helix.memory.remember.curate import EditRequest
from helix.memory.remember.request import StoreRequest
from helix.model.dispute import DisputeStatus
from helix.model.memory import Memory
from helix.operations import background_work, memories, review
from helix.providers.fakes import HashEmbedder
from helix.providers.litellm_calls import LiteLLMCalls
from helix.providers.litellm_router import Router
from helix.providers.llm import Provider
from helix.service import Helix
from helix.settings import Settings

NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)
OLD = "the billing service of the shop reads all its prices from the catalogue tables every night"
NEW = "the billing service of the shop computes all its prices by the catalogue tables every night"
CONTRADICT = {"verdict": "contradict", "left": "computes", "right": "reads"}


@pytest.fixture
def provider() -> Iterator[ScriptedProvider]:
    made = ScriptedProvider()
    yield made
    made.close()


@pytest.mark.soak
def test_what_a_model_finds_is_flagged_and_ends_nothing_though_a_month_lies_between(
    settings: Settings, provider: ScriptedProvider
) -> None:
    provider.otherwise = says(packed(CONTRADICT))
    calls, seconds = LiteLLMCalls(), itertools.count()  # what comes later is the first of the two that are asked about
    with Helix.open(
        settings, embedder=HashEmbedder(256), clock=lambda: NOW + timedelta(seconds=next(seconds))
    ) as helix:
        background_work.pause_worker(helix, True)
        for scope, text, days in (("one", OLD, 60), ("other", NEW, 30)):
            told = memories.store(
                helix,
                StoreRequest(
                    trigger=text, resolution="", kind="fact", scope=scope, valid_from=NOW - timedelta(days=days)
                ),
            )
            memories.edit(helix, told.id, EditRequest(scope="global"))  # past the look for duplicates
        store = helix.store
        asked = Provider(name="openai/x", model="openai/gpt-4o-mini", free=True, url=f"{provider.url}/v1")
        store.runtime.language_model = Router(
            [asked], Answers(store.journal.database), calls, clock=store.runtime.clock, timeout_s=30
        )
        found = find_contradictions(Run(store, "job", "find_contradictions"), {})
        (dispute,) = review.contradictions(helix)
        held = [node for node in (dispute.first, dispute.second) if isinstance(node, Memory)]
    calls.close()

    assert found == {"asked": 1, "unanswered": 0, "found": 1} and len(provider.requests) == 1
    assert (dispute.status, dispute.ground) == (DisputeStatus.OPEN, "model")
    assert [memory.valid_to for memory in held] == [None, None], "only words that a rule reads may end a claim"
    assert [memory.confidence for memory in held] == [pytest.approx(0.7 * 0.75)] * 2, "both are lowered"
