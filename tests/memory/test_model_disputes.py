"""A model finds contradictions that the words alone do not show."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from helix.memory.contradiction.detect import Ground, Statement, contradiction
from helix.memory.contradiction.disputes import contradictions
from helix.memory.job_run.run import Run
from helix.memory.llm.llm_reviews import find_contradictions
from helix.memory.remember.curate import EditRequest
from helix.memory.remember.request import StoreRequest
from helix.operations import memories
from helix.providers.fakes import ScriptedModel
from helix.providers.llm import Absence, ModelQuestion
from helix.service import Helix
from helix.store.store import Store

ONE = "the billing service of the shop reads all its prices from the catalogue tables every night"
OTHER = "the billing service of the shop computes all its prices by the catalogue tables every night"


def told(helix: Helix, text: str, kind: str = "fact") -> str:
    """Store past the look for duplicates: in a scope of its own, then edited into one."""
    stored = memories.store(helix, StoreRequest(trigger=text, resolution="", scope=f"for {text}", kind=kind))
    return memories.edit(helix, stored.id, EditRequest(scope="global")).id


def judge(question: ModelQuestion, text: str) -> Mapping[str, Any]:
    """Say that whatever reads prices contradicts what computes them."""
    pair = json.loads(text)
    if "computes" in pair["a"] and "reads" in pair["b"]:
        return {"verdict": "contradict", "left": "computes", "right": "reads"}
    return {"verdict": "compatible", "left": "", "right": ""}


def looked(store: Store, model: ScriptedModel | None, job: str = "job", **fields: Any) -> Mapping[str, Any]:
    store.runtime.language_model = model
    return find_contradictions(Run(store, job, "find_contradictions", **fields), {})


def test_what_a_model_finds_is_a_contradiction_like_any_other(living: Helix, store: Store) -> None:
    assert contradiction(Statement(trigger=ONE), Statement(trigger=OTHER)) is None
    known, newer = told(living, ONE), told(living, OTHER)
    model = ScriptedModel(judge)
    assert looked(store, model) == {"asked": 1, "unanswered": 0, "found": 1}
    (dispute,) = contradictions(store.index, status=None)
    assert (dispute.first.id, dispute.second.id, dispute.ground) == (newer, known, Ground.MODEL.value)
    assert looked(store, model, "again") == {"asked": 0, "unanswered": 0, "found": 0}


def test_nothing_changes_in_a_dry_run_or_without_an_answer(living: Helix, store: Store) -> None:
    told(living, ONE)
    told(living, OTHER)
    assert looked(store, None) == {"asked": 0, "unanswered": 0, "found": 0}
    late = ScriptedModel(lambda question, text: Absence.TIMEOUT)
    assert looked(store, late) == {"asked": 1, "unanswered": 1, "found": 0}
    looked(store, ScriptedModel(judge), "dry", dry_run=True)
    assert contradictions(store.index, status=None) == []


@pytest.mark.parametrize("absence", [Absence.RESTING, Absence.BUDGET, Absence.NO_PROVIDER])
def test_what_no_provider_was_sent_was_not_asked(living: Helix, store: Store, absence: Absence) -> None:
    told(living, ONE)
    told(living, OTHER)
    model = ScriptedModel(lambda question, text: absence)
    assert looked(store, model) == {"asked": 0, "unanswered": 1, "found": 0}


def test_events_and_what_lies_far_apart_are_not_asked_about(living: Helix, store: Store) -> None:
    told(living, ONE, kind="failure")
    told(living, OTHER)
    told(living, "tea is served at four in the kitchen on the second floor")
    model = ScriptedModel(judge)
    assert looked(store, model) == {"asked": 0, "unanswered": 0, "found": 0}
    assert not model.asked
