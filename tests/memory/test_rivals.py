"""What ends when follows from what was said, not from the order in which it was heard or compared."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest
from saying import disputed, embed, job, shown

from helix.memory.capture.episodes import EpisodeRequest, record
from helix.memory.contradiction.disputes import contradictions, reopen_contradiction
from helix.memory.extraction.consolidation import consolidate, rederive
from helix.memory.remember.request import StoreRequest
from helix.memory.worker.undo import undo
from helix.model.dispute import DisputeStatus
from helix.model.memory import Memory, Status
from helix.model.provenance import Trust
from helix.operations import background_work, memories
from helix.service import Helix
from helix.settings import Settings
from helix.store.store import Store
from tests.memory.conftest import Moment

APRIL = datetime(2025, 4, 1, 9, tzinfo=UTC)
UBUNTU = {1: "20.04", 10: "24.04", 12: "26.04"}


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Settings with which the background worker consolidates nothing by itself."""
    return dataclasses.replace(settings, consolidation_budget=0.0)


@pytest.fixture
def store(living: Helix) -> Store:
    background_work.pause_worker(living, True)
    return living.store


def hear(store: Store, scope: str, days: Sequence[int], words: str = "the staging server runs version") -> None:
    """Record what somebody said on days of April."""
    for day in days:
        content = f"Remember: {words} {UBUNTU[day]}."
        at = APRIL + timedelta(days=day - 1)
        record(
            store,
            EpisodeRequest(content=content, scope=scope, role="user", occurred_at=at, trust=Trust.USER_ASSERTED),
        )
    embed(store)


def ends(store: Store, scope: str) -> dict[str, int | None]:
    """The day of April on which each version ends."""
    held = [one for one in store.index.memories(Status.ACTIVE) if one.scope == scope]
    return {one.trigger.rstrip(".").split()[-1]: one.valid_to.day if one.valid_to else None for one in held}


@pytest.mark.parametrize("order", list(itertools.permutations(UBUNTU)))
def test_each_claim_ends_where_the_next_one_begins_in_whatever_order_they_are_heard(
    store: Store, order: tuple[int, ...]
) -> None:
    hear(store, "once", sorted(UBUNTU))
    consolidate(job(store, "once"), {"scope": "once"})
    for night in order:
        hear(store, "nightly", [night])
        consolidate(job(store, f"nightly-{night}"), {"scope": "nightly"})

    assert ends(store, "once") == ends(store, "nightly") == {"20.04": 10, "24.04": 12, "26.04": None}
    assert disputed(store, "once") == disputed(store, "nightly") and len(disputed(store, "once")) == 3
    assert shown(store, "once") == shown(store, "nightly")


def test_what_was_undone_and_is_derived_again_ends_as_it_did(store: Store) -> None:
    for night in UBUNTU:
        hear(store, "x", [night])
        consolidate(job(store, f"night-{night}"), {"scope": "x"})
    before, edges = shown(store, "x"), disputed(store, "x")

    for night in reversed(UBUNTU):
        assert undo(store, f"night-{night}").conflicts == ()
    rederive(job(store, "again"), {"scope": "x"})

    assert shown(store, "x") == before and disputed(store, "x") == edges and ends(store, "x")["20.04"] == 10
    rows = store.journal.last_seq
    rederive(job(store, "third"), {"scope": "x"})
    assert store.journal.last_seq == rows


def test_a_claim_that_turns_out_to_be_older_ends_its_predecessor_earlier(store: Store) -> None:
    hear(store, "x", [1, 12])
    consolidate(job(store, "first"), {"scope": "x"})
    assert ends(store, "x")["20.04"] == 12
    at = APRIL + timedelta(days=5)
    content = f"Remember: the staging server runs version {UBUNTU[12]}."
    record(store, EpisodeRequest(content=content, scope="x", role="user", occurred_at=at, trust=Trust.USER_ASSERTED))
    embed(store)
    consolidate(job(store, "second"), {"scope": "x"})

    assert ends(store, "x") == {"20.04": 6, "26.04": None}
    assert len(disputed(store, "x")) == 1


def test_what_is_stored_is_set_against_all_that_it_contradicts(living: Helix, store: Store, moment: Moment) -> None:
    names = []
    for port in (8080, 8081, 8082):
        names.append(
            memories.store(living, StoreRequest(trigger=f"the api listens on port {port}", resolution="", kind="fact"))
        )
        moment.forward(hours=1)
    assert set(names[2].contradicts) == {names[0].name, names[1].name}
    assert len(contradictions(store.index)) == 3
    sure = [memories.get(living, one.id).confidence for one in names]
    assert sure == [pytest.approx(0.7 * 0.75**2)] * 3, "each is doubted by both others"


def test_taking_one_ruling_back_leaves_what_another_one_ended(living: Helix, store: Store, moment: Moment) -> None:
    names = []
    for port in (8080, 8081, 8082):
        names.append(
            memories.store(living, StoreRequest(trigger=f"the api listens on port {port}", resolution="", kind="fact"))
        )
        moment.forward(days=10)
    reopen_contradiction(store, names[0].id, names[1].id)
    first, _, third = (memories.get(living, one.id) for one in names)
    assert isinstance(first, Memory) and isinstance(third, Memory)
    assert first.valid_to == third.valid_from


def test_how_sure_what_was_derived_is_does_not_overrule_what_the_same_class_stored(
    living: Helix, store: Store, moment: Moment
) -> None:
    memories.store(
        living, StoreRequest(trigger="Use spaces for indentation.", resolution="", kind="convention", scope="x")
    )
    moment.forward(minutes=5)
    content = "Remember: use tabs for indentation."
    record(store, EpisodeRequest(content=content, scope="x", role="user", trust=Trust.USER_ASSERTED))
    embed(store)
    consolidate(job(store, "night"), {"scope": "x"})

    (dispute,) = contradictions(store.index, "x")
    assert dispute.status is DisputeStatus.OPEN
    assert dispute.first.valid_to is None and dispute.second.valid_to is None


def test_what_cannot_both_hold_is_no_repetition_of_one_thing(store: Store) -> None:
    for number, owner in enumerate(("Alice", "Bob")):
        at = APRIL + timedelta(days=number * 30)
        content = f"Remember: {owner} owns the billing service."
        request = EpisodeRequest(content=content, scope="x", role="user", occurred_at=at, trust=Trust.USER_ASSERTED)
        record(store, request)
    embed(store)
    consolidate(job(store, "night"), {"scope": "x"})

    (dispute,) = contradictions(store.index, "x")
    assert (dispute.ground, dispute.left, dispute.right) == ("value", "bob", "alice")
    assert dispute.status is DisputeStatus.OPEN, "they may own it together: a person is asked, a month apart or not"


def test_another_subject_with_another_number_ends_nothing(store: Store) -> None:
    for number, told in enumerate(("API server listens on port 8081", "admin server listens on port 9091")):
        at = APRIL + timedelta(days=number * 30)
        content = f"Remember: the {told}."
        request = EpisodeRequest(content=content, scope="x", role="user", occurred_at=at, trust=Trust.USER_ASSERTED)
        record(store, request)
        embed(store)
        consolidate(job(store, f"night-{number}"), {"scope": "x"})

    assert disputed(store, "x") == set()
    assert [one[3].endswith("None") for one in shown(store, "x")] == [True, True]
