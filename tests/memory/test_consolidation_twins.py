"""Twins: what somebody stored and what episodes ask for is one memory, the stored one; one run derives at a time."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from saying import LONG_AGO, PROJECT, embed, job, learned, said_in, say

from helix.memory.capture.episodes import EpisodeRequest, record
from helix.memory.change.compose import Composer
from helix.memory.extraction.consolidation import consolidate, rederive
from helix.memory.job_run.run import Run
from helix.memory.remember.curate import EditRequest, edit, forget
from helix.memory.remember.remember import remember
from helix.memory.remember.request import StoreRequest
from helix.memory.worker.undo import undo
from helix.model.edge import Ref
from helix.model.memory import Memory, Status
from helix.model.provenance import Trust
from helix.model.reports import StoreStatus
from helix.service import Helix
from helix.settings import Settings
from helix.store.store import Store
from helix.store.writer import Decision

HERE = {"scope": PROJECT}
LINTER = "Always run the linter before pushing."
AS_A_CONVENTION = StoreRequest(trigger=LINTER, resolution="", kind="convention", scope=PROJECT)


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Settings with which the background worker consolidates nothing by itself, beside the runs of a test."""
    return dataclasses.replace(settings, consolidation_budget=0.0)


@pytest.fixture
def wordy(settings: Settings, tmp_path: Path) -> Iterator[Store]:
    """A store without an embedding model."""
    with Helix.open(dataclasses.replace(settings, home=tmp_path / "wordy"), embedder=None) as service:
        yield service.store


def patch(store: Store, ref: Ref, **fields: object) -> None:
    """Change a node behind everybody's back."""

    def decision() -> Decision[None]:
        composer = Composer(store, store.runtime.clock())
        composer.patch(ref, **fields)
        return Decision((composer.change("test"),), None)

    store.writer.submit(decision)


def only(store: Store) -> Memory:
    """The one active memory there is."""
    (memory,) = store.index.memories(Status.ACTIVE)
    return memory


def derived_once(store: Store, trust: Trust = Trust.AGENT_INFERRED) -> Memory:
    """Say a thing, have it derived, and return what was."""
    say(store, LINTER, trust=trust)
    consolidate(job(store, "first"), HERE)
    return only(store)


@pytest.mark.parametrize("trust", [Trust.USER_ASSERTED, Trust.AGENT_INFERRED])
def test_what_a_person_stores_takes_over_what_was_derived(store: Store, trust: Trust) -> None:
    before = derived_once(store, trust)

    answer = remember(store, AS_A_CONVENTION)

    stored = only(store)
    assert (answer.status, answer.id, stored.name) == (StoreStatus.UPDATED, stored.id, before.name)
    assert stored.provenance.trust is Trust.USER_ASSERTED and learned(store) == []


def test_what_a_weaker_voice_stores_is_a_sighting_of_what_was_derived(store: Store) -> None:
    before = derived_once(store, Trust.USER_ASSERTED)

    answer = remember(store, dataclasses.replace(AS_A_CONVENTION, agent="a", trust=Trust.AGENT_INFERRED))

    assert (answer.status, only(store).id) == (StoreStatus.MERGED, before.id)


def test_no_twin_is_derived_again_and_the_grounding_grows(store: Store) -> None:
    derived_once(store)
    stored = remember(store, AS_A_CONVENTION)
    say(store, LINTER, LINTER, first=1)

    consolidate(job(store, "second"), HERE)
    counts = rederive(job(store, "third"), HERE)

    assert only(store).id == stored.id and learned(store) == []
    assert len(said_in(store, only(store))) == 4, "the three episodes, and that of the store itself"
    assert counts["stored memories unchanged"] == 1


def test_deriving_anew_changes_nothing_after_that(store: Store) -> None:
    derived_once(store)
    remember(store, AS_A_CONVENTION)
    rederive(job(store, "second"), HERE)
    rows = store.journal.last_seq

    rederive(job(store, "third"), HERE)

    assert store.journal.last_seq == rows


def test_an_earlier_episode_that_comes_late_derives_no_twin(store: Store) -> None:
    derived_once(store)
    stored = remember(store, dataclasses.replace(AS_A_CONVENTION, trigger=LINTER.rstrip(".")))
    earlier = EpisodeRequest(content=LINTER, scope=PROJECT, role="user", occurred_at=LONG_AGO - timedelta(days=1))
    record(store, earlier)
    embed(store)

    consolidate(job(store, "second"), HERE)

    assert only(store).id == stored.id and len(said_in(store, only(store))) == 3


def test_what_was_edited_since_stays_the_only_one_and_gets_no_evidence_for_what_it_says_no_longer(store: Store) -> None:
    derived_once(store)
    stored = remember(store, AS_A_CONVENTION)
    edited = edit(store, stored.id, EditRequest(trigger="Never run the linter before pushing."))
    before = said_in(store, edited)
    say(store, LINTER, first=1)

    consolidate(job(store, "second"), HERE)

    assert only(store).id == edited.id and said_in(store, edited) == before


def test_what_a_person_stored_and_forgot_is_not_derived_again(store: Store) -> None:
    derived_once(store)
    stored = remember(store, AS_A_CONVENTION)
    forget(store, stored.id)
    say(store, LINTER, first=1)

    consolidate(job(store, "second"), HERE)
    rederive(job(store, "third"), HERE)

    assert list(store.index.memories(Status.ACTIVE)) == [] and learned(store) == []


def test_undoing_the_consolidation_keeps_what_was_stored(store: Store) -> None:
    derived_once(store)
    stored = remember(store, AS_A_CONVENTION)
    say(store, LINTER, first=1)
    consolidate(job(store, "second"), HERE)

    grown = undo(store, "second")
    derived = undo(store, "first")

    assert grown.restored > 0 and derived.conflicts, "what the stored one stands in the place of is not dropped"
    assert only(store).id == stored.id


def test_it_stays_when_all_the_episodes_are_gone(store: Store) -> None:
    (said,) = say(store, LINTER)
    consolidate(job(store, "first"), HERE)
    stored = remember(store, AS_A_CONVENTION)
    patch(store, Ref.episode(said), status=Status.FORGOTTEN)

    consolidate(job(store, "second"), HERE)

    assert only(store).id == stored.id


def test_what_leaves_quarantine_gives_way_to_what_was_stored_meanwhile(store: Store) -> None:
    say(store, *[LINTER] * 3, trust=Trust.WEB)
    consolidate(job(store, "first"), HERE)
    (held,) = learned(store)
    stored = remember(store, AS_A_CONVENTION)
    say(store, LINTER, first=3, trust=Trust.WEB)

    consolidate(job(store, "second"), HERE)
    rederive(job(store, "third"), HERE)

    assert held.status is Status.QUARANTINED and learned(store) == []
    assert only(store).id == stored.id and len(said_in(store, only(store))) == 5


def test_what_comes_back_gives_way_to_what_was_stored_meanwhile(store: Store) -> None:
    (said,) = say(store, LINTER)
    consolidate(job(store, "first"), HERE)
    patch(store, Ref.episode(said), status=Status.FORGOTTEN)
    consolidate(job(store, "second"), HERE)
    stored = remember(store, AS_A_CONVENTION)
    patch(store, Ref.episode(said), status=Status.ACTIVE)

    rederive(job(store, "third"), HERE)

    assert only(store).id == stored.id and learned(store) == []


def test_without_a_model_the_same_words_are_one_memory(wordy: Store) -> None:
    stored = remember(wordy, AS_A_CONVENTION)
    for _ in range(2):
        record(wordy, EpisodeRequest(content=LINTER, scope=PROJECT, role="user"))

    consolidate(job(wordy, "first"), HERE)

    assert only(wordy).id == stored.id and len(said_in(wordy, only(wordy))) == 3


def test_a_run_waits_for_the_one_before_it_and_finds_nothing_left_to_do(store: Store) -> None:
    say(store, LINTER, "I prefer tabs over spaces.")
    second = job(store, "second")
    waiting = threading.Thread(target=consolidate, args=(second, HERE))

    with store.deriving:
        waiting.start()
        look = job(store, "look", dry_run=True)
        consolidate(look, HERE)
        meanwhile = len(learned(store))
    waiting.join()
    third = consolidate(job(store, "third"), HERE)

    assert meanwhile == 0 and look.counts["memories added"] == 2, "a dry run waits for nobody"
    assert len(learned(store)) == 2 and second.counts["memories added"] == 2 and third["episodes read"] == 0


def test_two_runs_at_once_derive_each_memory_once(store: Store) -> None:
    say(store, *(f"We decided to use library number {number} for parsing." for number in range(6)))
    runs = [job(store, "one"), job(store, "two")]
    threads = [threading.Thread(target=consolidate, args=(run, HERE)) for run in runs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    added = [run.counts["memories added"] for run in runs]
    assert sorted(added)[0] == 0 and sum(run.counts["episodes read"] for run in runs) == 6


class Ending:
    """A watch that asks to stop."""

    cancelled = True

    def progress(self, done: int, total: int, message: str = "") -> None:
        """Take no notice."""


def test_a_run_that_waits_can_be_stopped(store: Store) -> None:
    say(store, LINTER)

    with store.deriving:
        counts = consolidate(Run(store, "second", "consolidate", watch=Ending()), HERE)

    assert counts == {} and learned(store) == []
