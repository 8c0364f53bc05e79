"""A plan asks no language model, spends and keeps nothing, gives way, and takes no longer than a request may."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from saying import PROJECT, VENV, embed

from helix.errors import QueryTimeoutError
from helix.memory.capture.episodes import EpisodeRequest, record
from helix.memory.job_run.foreground import Foreground, Pace
from helix.memory.job_run.run import Run
from helix.memory.remember.curate import EditRequest
from helix.memory.remember.request import StoreRequest
from helix.memory.worker.kinds import ASKING, KINDS, plan
from helix.operations import background_work, memories
from helix.providers.fakes import HashEmbedder, ScriptedModel
from helix.providers.llm import Absence
from helix.service import Helix
from helix.settings import Settings
from helix.store.store import Store

ALL = {"roll_up": {"older_than_days": 0}}
"""Payloads by which the kinds that look at old episodes look at those recorded just now."""


def a_day_of_work(living: Helix, store: Store) -> ScriptedModel:
    """Record what every kind of work that asks a model would ask it about; return that model, which has no answer."""
    background_work.pause_worker(living, True)
    for content in VENV:
        record(store, EpisodeRequest(content=f"{content} It was in `scripts/run_all.py`.", scope=PROJECT))
    embed(store)
    model = store.runtime.language_model = ScriptedModel(lambda question, text: Absence.FAILED)
    return model


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_no_plan_asks_a_language_model(kind: str, store: Store, living: Helix) -> None:
    model = a_day_of_work(living, store)
    before = store.journal.last_seq
    found = background_work.work_plan(living, kind, {**ALL.get(kind, {})})
    assert model.asked == []
    assert store.journal.last_seq == before
    assert found.without_model is (kind in ASKING)


@pytest.mark.parametrize("kind", sorted(ASKING - {"find_contradictions"}))
def test_the_work_itself_asks_one(kind: str, store: Store, living: Helix) -> None:
    model = a_day_of_work(living, store)
    KINDS[kind](Run(store, "job", kind), {"scope": PROJECT, **ALL.get(kind, {})})
    assert model.asked, "or the silence of its plan would prove nothing"


def test_contradictions_are_looked_for_by_the_work_alone(store: Store, living: Helix) -> None:
    for text in ("the billing service reads its prices from the tables", "the billing service computes its prices"):
        stored = memories.store(
            living, StoreRequest(trigger=f"{text} of the catalogue every night", resolution="", scope=text, kind="fact")
        )
        memories.edit(living, stored.id, EditRequest(scope="global"))
    model = a_day_of_work(living, store)
    background_work.work_plan(living, "find_contradictions")
    assert model.asked == []
    KINDS["find_contradictions"](Run(store, "job", "find_contradictions"), {})
    assert model.asked


def test_a_plan_of_a_store_without_a_model_is_what_the_work_does(store: Store, living: Helix) -> None:
    assert store.runtime.language_model is None
    assert not background_work.work_plan(living, "consolidate").without_model


def test_a_plan_ends_when_its_time_is_over(settings: Settings) -> None:
    rested = 0

    def endless(run: Run, payload: Mapping[str, Any]) -> Mapping[str, Any]:
        nonlocal rested
        while not run.cancelled:
            rested += 1
            time.sleep(0.001)
        return {}

    store = Store(replace(settings, request_timeout_ms=50), embedder=HashEmbedder())
    try:
        with pytest.raises(QueryTimeoutError) as told:
            plan(store, "endless", endless, {}, foreground=Foreground(), pace=Pace())
    finally:
        store.close()
    assert rested
    assert "0.05 s" in told.value.message
    assert "one scope at a time" in told.value.hint


def test_a_plan_gives_way_to_whoever_waits(store: Store) -> None:
    waits: list[float] = []

    class Watched(Foreground):
        def give_way(self, quiet: float, patience: float, *_: Any) -> None:
            waits.append(patience)

    def twice(run: Run, payload: Mapping[str, Any]) -> Mapping[str, Any]:
        for step in range(2):
            run.progress(step, 2)
        return {"steps": 2}

    found = plan(store, "twice", twice, {}, foreground=Watched(), pace=Pace(rests=1.0, patience=0.5))
    assert found.counts == {"steps": 2}
    assert len(waits) == 2
    assert all(0 <= wait <= 0.5 for wait in waits)
