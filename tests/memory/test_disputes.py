"""Contradicting memories are flagged, settled or resolved, on both time lines, and all of it can be taken back."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from helix.errors import ConflictError, InvalidInputError, NotFoundError
from helix.memory.contradiction.disputes import contradictions, reopen_contradiction, resolve_contradiction
from helix.memory.remember.curate import EditRequest
from helix.memory.remember.request import StoreRequest
from helix.model.dispute import DisputeStatus, Outcome
from helix.model.edge import Relation
from helix.model.memory import Status
from helix.model.provenance import Trust
from helix.model.recall import RecallQuery
from helix.model.reports import StoreResult, StoreStatus
from helix.operations import memories
from helix.service import Helix
from helix.store.store import Store
from tests.memory.conftest import START, Moment

OLD, NEW = "the api listens on port 8080", "the api listens on port 9090"


def said(helix: Helix, text: str, **fields: Any) -> StoreResult:
    return memories.store(helix, StoreRequest(trigger=text, resolution="", kind="fact", **fields))


def served(helix: Helix, **fields: Any) -> set[str]:
    """What recall answers the question for the port with."""
    answer = helix.recall(RecallQuery(query="which port does the api listen on", **fields))
    return {item.node.trigger for item in answer.items if hasattr(item.node, "trigger")}


def pair(helix: Helix, moment: Moment) -> tuple[StoreResult, StoreResult]:
    """Two statements an hour apart, as sure and as trusted: too close to call."""
    old = said(helix, OLD)
    moment.forward(hours=1)
    return old, said(helix, NEW)


def test_two_claims_too_close_to_call_are_flagged_and_both_less_sure(
    living: Helix, store: Store, moment: Moment
) -> None:
    old, new = pair(living, moment)
    assert (new.status, new.contradicts) == (StoreStatus.ADDED, (old.name,))
    (dispute,) = contradictions(store.index)
    assert (dispute.first.id, dispute.second.id, dispute.status) == (new.id, old.id, DisputeStatus.OPEN)
    assert (dispute.ground, dispute.left, dispute.right) == ("number", "9090", "8080")
    assert [memories.get(living, one.id).confidence for one in (old, new)] == [pytest.approx(0.7 * 0.75)] * 2
    assert served(living) == {OLD, NEW}, "neither is silently overwritten"


def test_the_same_contradiction_again_is_not_flagged_twice(living: Helix, store: Store, moment: Moment) -> None:
    pair(living, moment)
    before = [memories.get(living, dispute.first.id).confidence for dispute in contradictions(store.index)]
    assert said(living, OLD).status is StoreStatus.MERGED
    assert len(contradictions(store.index)) == len(before) == 1


@pytest.mark.parametrize("turned", [False, True])
def test_an_edit_after_which_both_say_the_same_ends_what_was_open_between_them(
    living: Helix, store: Store, moment: Moment, turned: bool
) -> None:
    old, new = pair(living, moment)
    one, words = (new, OLD) if turned else (old, NEW)
    edited = memories.edit(living, one.id, EditRequest(trigger=words))
    assert contradictions(store.index, status=None) == []
    other = new if one is old else old
    assert [memories.get(living, ident).confidence for ident in (edited.id, other.id)] == [0.7, 0.7]


def test_an_edit_that_words_a_claim_otherwise_ends_nothing(living: Helix, store: Store, moment: Moment) -> None:
    _, new = pair(living, moment)
    words = "the api of the shop takes its requests at port 9090 in production and nowhere else"
    memories.edit(living, new.id, EditRequest(trigger=words))
    assert [dispute.status for dispute in contradictions(store.index)] == [DisputeStatus.OPEN]


def test_a_later_claim_ends_what_held_before_and_both_times_answer(living: Helix, store: Store, moment: Moment) -> None:
    old = said(living, OLD)
    moment.forward(days=10)
    new = said(living, NEW)
    after = moment.forward(days=10)
    assert (new.status, contradictions(store.index)) == (StoreStatus.UPDATED, [])
    assert [one.status for one in contradictions(store.index, status=None)] == [DisputeStatus.SETTLED]
    assert memories.get(living, old.id).confidence == 0.7
    assert served(living) == {NEW}
    assert served(living, as_of=START + timedelta(days=5)) == {OLD}
    assert served(living, known_at=START + timedelta(days=5)) == {OLD}
    assert served(living, known_at=after) == {NEW}


def test_a_claim_told_late_leaves_what_was_believed_meanwhile_to_be_asked_for(living: Helix, moment: Moment) -> None:
    said(living, OLD, valid_from=START - timedelta(days=100))
    moment.forward(days=10)
    between = moment.now
    moment.forward(days=10)
    said(living, NEW, valid_from=START + timedelta(days=5))
    assert served(living) == {NEW}
    assert served(living, as_of=between) == {NEW}, "as we know it now, it held already"
    assert served(living, known_at=between) == {OLD}, "but it was not known then"
    assert served(living, as_of=START) == {OLD}
    assert served(living, as_of=START + timedelta(days=1), known_at=between) == {OLD}


def test_history_that_comes_in_late_is_closed_where_the_known_begins(living: Helix, store: Store) -> None:
    said(living, NEW, valid_from=START - timedelta(days=10))
    assert said(living, OLD, valid_from=START - timedelta(days=100)).status is StoreStatus.ADDED
    assert served(living) == {NEW}
    assert served(living, as_of=START - timedelta(days=50)) == {OLD}
    assert contradictions(store.index) == []


def test_a_weaker_source_is_flagged_and_costs_a_better_founded_memory_nothing(
    living: Helix, store: Store, moment: Moment
) -> None:
    old = said(living, OLD)
    moment.forward(days=30)
    new = said(living, NEW, trust=Trust.WEB)
    assert [one.status for one in contradictions(store.index)] == [DisputeStatus.OPEN]
    assert memories.get(living, old.id).confidence == 0.7
    assert memories.get(living, new.id).confidence < 0.7
    assert OLD in served(living)


@pytest.mark.parametrize("by_id", [True, False])
def test_a_later_winner_ends_the_losers_time_and_gets_its_confidence_back(
    living: Helix, store: Store, moment: Moment, by_id: bool
) -> None:
    old, new = pair(living, moment)
    began = memories.get(living, new.id).recorded_at
    resolved_at = moment.forward(days=5)
    dispute = resolve_contradiction(store, old.name, new.name, new.id if by_id else new.name, "the proxy moved")
    assert (dispute.status, dispute.outcome, dispute.note) == (DisputeStatus.RESOLVED, Outcome.FIRST, "the proxy moved")
    assert memories.get(living, new.id).confidence == pytest.approx(0.7)
    moment.forward(days=5)
    assert served(living) == {NEW}
    assert served(living, as_of=began - timedelta(minutes=1)) == {OLD}
    assert served(living, as_of=began + timedelta(minutes=1)) == {NEW}
    assert served(living, known_at=resolved_at - timedelta(days=1)) == {OLD, NEW}
    assert served(living, known_at=moment.now) == {NEW}
    assert contradictions(store.index) == []
    assert said(living, NEW).status is StoreStatus.MERGED


def test_an_earlier_winner_means_the_other_never_held(living: Helix, store: Store, moment: Moment) -> None:
    old, new = pair(living, moment)
    before = moment.forward(days=1)
    moment.forward(days=1)
    resolve_contradiction(store, old.id, new.id, old.name)
    assert memories.get(living, new.id).status is Status.RETIRED
    assert served(living) == served(living, as_of=before) == {OLD}
    assert served(living, known_at=before) == {OLD, NEW}


def test_both_may_stay_or_neither(living: Helix, store: Store, moment: Moment) -> None:
    old, new = pair(living, moment)
    resolve_contradiction(store, old.id, new.id, "both", "two listeners")
    assert served(living) == {OLD, NEW}
    assert [memories.get(living, one.id).confidence for one in (old, new)] == [pytest.approx(0.7)] * 2
    reopen_contradiction(store, old.id, new.id)
    resolve_contradiction(store, old.id, new.id, "neither")
    assert served(living) == set()


@pytest.mark.parametrize("winner", ["first", "second", "both", "neither"])
def test_taking_a_resolution_back_leaves_it_open_as_it_was(
    living: Helix, store: Store, moment: Moment, winner: str
) -> None:
    old, new = pair(living, moment)
    before = [memories.get(living, one.id) for one in (old, new)]
    moment.forward(days=1)
    resolve_contradiction(store, old.id, new.id, {"first": new.id, "second": old.id}.get(winner, winner))
    between = moment.forward(days=1)
    moment.forward(days=1)
    assert reopen_contradiction(store, old.id, new.id).status is DisputeStatus.OPEN
    after = [memories.get(living, one.id) for one in (old, new)]
    for was, now in zip(before, after, strict=True):
        assert (now.status, now.valid_to, now.name) == (was.status, was.valid_to, was.name)
        assert now.confidence == pytest.approx(was.confidence)
    assert served(living) == {OLD, NEW}
    assert (
        served(living, known_at=between)
        == {
            "first": {NEW},
            "second": {OLD},
            "both": {OLD, NEW},
            "neither": set(),
        }[winner]
    ), "what was decided meanwhile is known too"


def test_what_was_decided_and_taken_back_may_be_decided_again_as_if_for_the_first_time(
    living: Helix, store: Store, moment: Moment
) -> None:
    old, new = pair(living, moment)
    began = memories.get(living, new.id).recorded_at
    for winner in (new.id, old.id, "neither"):
        resolve_contradiction(store, old.id, new.id, winner)
        moment.forward(days=1)
        reopen_contradiction(store, old.id, new.id)
        moment.forward(days=1)
    resolve_contradiction(store, old.id, new.id, new.id)
    assert served(living) == {NEW}
    assert served(living, as_of=began - timedelta(minutes=1)) == {OLD}
    assert memories.get(living, new.id).confidence == pytest.approx(0.7)


def test_a_person_may_overrule_the_rule(living: Helix, store: Store, moment: Moment) -> None:
    old = said(living, OLD)
    moment.forward(days=10)
    new = said(living, NEW)
    moment.forward(days=1)
    resolve_contradiction(store, old.id, new.id, old.id)
    assert served(living) == {OLD}
    assert memories.get(living, old.id).valid_to is None
    assert not [
        edge for edge in memories.edges(living, old.id, "supersedes") if new.id in (edge.source.id, edge.target.id)
    ]


def test_what_cannot_be_resolved_is_refused(living: Helix, store: Store, moment: Moment) -> None:
    old, new = pair(living, moment)
    third = said(living, "the moon is made of basalt")
    with pytest.raises(NotFoundError):
        resolve_contradiction(store, old.id, third.id, "both")
    with pytest.raises(InvalidInputError):
        resolve_contradiction(store, old.id, new.id, "the third")
    with pytest.raises(ConflictError):
        reopen_contradiction(store, old.id, new.id)
    resolve_contradiction(store, old.id, new.id, "both")
    with pytest.raises(ConflictError):
        resolve_contradiction(store, old.id, new.id, new.id)


def test_contradictions_are_listed_by_scope_and_not_where_a_side_is_forgotten(
    living: Helix, store: Store, moment: Moment
) -> None:
    old, _ = pair(living, moment)
    said(living, OLD, scope="shop")
    said(living, NEW, scope="shop")
    assert [len(contradictions(store.index, scope)) for scope in (None, "global", "shop", "other")] == [2, 1, 1, 0]
    memories.forget(living, old.id)
    assert [len(contradictions(store.index, scope)) for scope in (None, "global")] == [1, 0]
    assert memories.edges(living, old.id, Relation.CONTRADICTS.value), "the evidence stays"


@pytest.mark.parametrize(
    ("earlier", "later", "sides"),
    [
        ("the gateway listens on port 8080", "the gateway listens on port 9090", ("9090", "8080")),
        ("the cache keeps 10 items", "the cache keeps 20 items", ("20", "10")),
        ("flags are read from `flags.yaml`", "flags are not read from `flags.yaml`", ("denied", "said")),
    ],
)
def test_each_side_is_told_what_in_it_stands_against_the_other(
    living: Helix, store: Store, moment: Moment, earlier: str, later: str, sides: tuple[str, str]
) -> None:
    said(living, earlier)
    moment.forward(minutes=1)
    said(living, later)
    (found,) = contradictions(store.index)
    assert (found.first.trigger, found.second.trigger) == (later, earlier)
    assert (found.left, found.right) == sides
