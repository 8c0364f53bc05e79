"""Background work whose language model fails in every way there is: the deterministic path, and nothing lost."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import cast

import pytest
from scripted_provider import Reply, ScriptedProvider, fails, packed, says

from helix.journal.kept_results import Answers
from helix.memory.capture.episodes import EpisodeRequest, record
from helix.memory.extraction.consolidation import consolidate
from helix.memory.job_run.run import Run
from helix.memory.llm.llm_reviews import upgrade_importance
from helix.model.edge import Label
from helix.model.episode import Episode
from helix.model.memory import Memory, Status
from helix.providers.litellm_calls import LiteLLMCalls
from helix.providers.litellm_router import Router
from helix.providers.llm import Absence, Provider
from helix.settings import Settings
from helix.store.store import Store
from tests.waiting import MOST_SECONDS

NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)
TOLD = (
    "The build failed with ECONNREFUSED in src/cache.py.",
    "We always run the linter before we push to main.",
    "Maybe we should never import kuzu outside of the engine.",
    "The deploy crashed with TimeoutError in scripts/deploy.sh again.",
)
CHAOS = (
    (fails(500, Retry_After="0"), Absence.FAILED),
    (fails(429, Retry_After="3600"), Absence.RATE_LIMITED),
    (fails(401), Absence.DENIED),
    (Reply(drop=True), Absence.UNREACHABLE),
    (says("{"), Absence.BROKEN),
    (says(None, refusal="no"), Absence.REFUSED),
    (says(packed({"importance": 99})), Absence.MISFIT),
    (
        says(packed({"memories": [{"kind": "fact", "trigger": "the moon", "resolution": "cheese", "confidence": 1}]})),
        Absence.MISFIT,
    ),
    (Reply(delay=1.5), Absence.TIMEOUT),
)
"""What a provider does, and what that is called."""


@pytest.fixture(scope="module")
def calls() -> Iterator[LiteLLMCalls]:
    made = LiteLLMCalls()
    yield made
    made.close()


@pytest.fixture
def provider() -> Iterator[ScriptedProvider]:
    made = ScriptedProvider()
    yield made
    made.close()


def lived(
    settings: Settings, name: str, model: Callable[[Store], Router | None]
) -> tuple[list[str], list[tuple[str, ...]], set[str]]:
    """Return what a store remembers, the texts of its episodes and its memories, after a run of every job.

    With it goes why its model gave no answers.
    """
    ids = iter(range(1, 1_000_000))
    own = Settings(home=settings.home / name, heuristic_confidence_cutoff=1.0)
    store = Store(own, embedder=None, clock=lambda: NOW, make_id=lambda _: f"{next(ids):032x}")
    try:
        store.runtime.language_model = router = model(store)
        for number, text in enumerate(TOLD):
            record(store, EpisodeRequest(content=text, role="user", source=f"told:{number}"))
        upgrade_importance(Run(store, "job-1", "upgrade_importance"), {})
        consolidate(Run(store, "job-2", "consolidate"), {})
        texts = [
            cast(Episode, node).content
            for node in store.index.nodes(store.index.from_sources(Label.EPISODE, "told:", "global"))
        ]
        usage = router.usage() if router is not None else None
        assert usage is None or usage.spend, "what was asked is counted"
        return texts, sorted(map(_said, store.index.memories(Status.ACTIVE))), set(usage.absences if usage else ())
    finally:
        store.close()


def _said(memory: Memory) -> tuple[str, ...]:
    return (memory.kind.value, memory.trigger, memory.resolution, f"{memory.confidence:.6f}", f"{memory.importance}")


@pytest.mark.soak
def test_a_model_that_fails_in_every_way_changes_nothing(
    settings: Settings, provider: ScriptedProvider, calls: LiteLLMCalls
) -> None:
    limit = MOST_SECONDS

    def router(store: Store) -> Router:
        asked = Provider(name="openai/x", model="openai/gpt-4o-mini", free=True, url=f"{provider.url}/v1")
        ledger = Answers(store.journal.database)
        return Router([asked], ledger, calls, clock=store.runtime.clock, timeout_s=limit, wait_s=0.0)

    texts, memories, _ = lived(settings, "without", lambda store: None)
    assert texts == list(TOLD)
    assert memories, "the rules find something on their own"
    for number, (reply, absence) in enumerate(CHAOS):
        provider.otherwise, limit = reply, 0.5 if reply.delay else MOST_SECONDS
        *found, absences = lived(settings, f"with-{number}", router)
        assert found == [texts, memories], reply
        assert absences - {Absence.RESTING} == {absence}, reply
