"""A language model that turns a person's words round has said so itself: the person's words and class stay theirs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from test_rollup import TALK

from helix.memory.capture.episodes import EpisodeRequest
from helix.memory.extraction.consolidation import consolidate
from helix.memory.extraction.derived import EXTRACTOR
from helix.memory.insight.rollup import EXTRACTOR as ROLLED_UP
from helix.memory.insight.rollup import roll_up
from helix.memory.job_run.run import Run
from helix.model.memory import Memory, Status
from helix.model.provenance import Trust
from helix.operations import capture
from helix.providers.fakes import ScriptedModel
from helix.providers.llm import ModelQuestion
from helix.service import Helix
from helix.store.store import Store
from tests.memory.conftest import Moment
from tests.memory.saying import embed

SAID = "Review the branch before merge, and deploy after the feature flag is on."
TURNED = "Merge the branch before review, and deploy before the feature flag is on."
LINE = "Ann: My sister joined a pottery class in Lisbon, and the doctor said that I must rest until May."


def turned(question: ModelQuestion, text: str) -> Mapping[str, Any]:
    return {"memories": [{"kind": "convention", "trigger": TURNED, "resolution": "", "confidence": 0.9}]}


def made(store: Store, extractor: str) -> list[Memory]:
    return [one for one in store.index.memories(Status.ACTIVE) if one.provenance.extractor == extractor]


def test_the_user_s_rule_stays_in_the_user_s_words(living: Helix, store: Store) -> None:
    store.runtime.language_model = ScriptedModel(turned)
    for session in ("a", "b", "c"):
        request = EpisodeRequest(content=SAID, session=session, scope="shop", role="user", trust=Trust.USER_ASSERTED)
        capture.record_episode(living, request)
    embed(store)
    consolidate(Run(store, "night", "consolidate"), {"scope": "shop"})
    assert store.runtime.language_model.asked
    found = {f"{one.trigger}{one.resolution}": one.provenance for one in made(store, EXTRACTOR)}
    assert {words for words, told in found.items() if told.trust is Trust.USER_ASSERTED} == {SAID}
    assert all(told.model for told in found.values() if told.trust is not Trust.USER_ASSERTED)


def test_a_summary_in_a_model_s_words_is_an_agent_s(living: Helix, store: Store, moment: Moment) -> None:
    store.runtime.language_model = ScriptedModel(lambda question, text: {"lines": [LINE]})
    for text in TALK:
        moment.forward(minutes=1)
        request = EpisodeRequest(content=text, session="s", scope="home", agent="Ann", trust=Trust.USER_ASSERTED)
        capture.record_episode(living, request)
    embed(store)
    moment.forward(days=40)
    roll_up(Run(store, "night", "roll_up"), {})
    told = {LINE in one.resolution: (one.provenance.trust, one.provenance.model) for one in made(store, ROLLED_UP)}
    assert told == {True: (Trust.AGENT_INFERRED, "model"), False: (Trust.USER_ASSERTED, "")}
