"""What a person chose is served whatever rules had said of it, and what they chose against ends in valid time."""

from __future__ import annotations

from datetime import datetime, timedelta
from itertools import combinations, count

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from helix.errors import ConflictError
from helix.memory.contradiction.disputes import contradictions, reopen_contradiction, resolve_contradiction
from helix.memory.remember.curate import EditRequest
from helix.memory.remember.request import StoreRequest
from helix.model.dispute import DisputeStatus
from helix.model.edge import Ref
from helix.model.memory import Memory, Status
from helix.model.recall import RecallQuery
from helix.operations import memories
from helix.service import Helix
from helix.store.store import Store
from tests.memory.conftest import START, Moment
from tests.sampling import draws

BEGIN = START - timedelta(days=100)
_SCOPES = count()


def claims(helix: Helix, number: int, scope: str = "global") -> list[str]:
    """Store claims that contradict each other, the next one ten days after the one before, and return their ids."""
    return [
        memories.store(
            helix,
            StoreRequest(
                trigger=f"the queue service listens on port {7410 + 1000 * place}",
                resolution="",
                kind="fact",
                scope=scope,
                valid_from=BEGIN + timedelta(days=10 * place),
            ),
        ).id
        for place in range(number)
    ]


def held(store: Store, ids: list[str], at: datetime) -> set[int]:
    """The places of the claims that hold at a time."""
    found = store.records.nodes([Ref.memory(one) for one in ids])
    return {
        place
        for place, memory in enumerate(found)
        if isinstance(memory, Memory)
        and memory.status is Status.ACTIVE
        and (memory.valid_from is None or memory.valid_from <= at)
        and (memory.valid_to is None or memory.valid_to > at)
    }


def served(helix: Helix, known_at: datetime | None = None) -> set[str]:
    answer = helix.recall(RecallQuery(query="which port does the queue service listen on", known_at=known_at))
    return {item.node.trigger[-4:] for item in answer.items if isinstance(item.node, Memory)}


def test_the_oldest_of_three_is_served_alone_once_a_person_chose_it_and_the_rule_again_when_that_is_taken_back(
    living: Helix, store: Store, moment: Moment
) -> None:
    ids = claims(living, 3)
    before = [memories.get(living, one).valid_to for one in ids]
    believed = moment.forward(days=1)
    resolve_contradiction(store, ids[0], ids[2], ids[0], "it is 7410, I looked")
    moment.forward(days=1)
    assert served(living) == {"7410"}
    assert served(living, known_at=believed) == {"9410"}, "what was believed before stays known"
    (between,) = (
        one for one in contradictions(store.index, status=None) if {one.first.id, one.second.id} == {ids[0], ids[1]}
    )
    assert (between.status, getattr(between, between.outcome or "").id) == (DisputeStatus.SETTLED, ids[0])

    reopen_contradiction(store, ids[0], ids[2])
    assert [memories.get(living, one).valid_to for one in ids] == [before[0], before[1], None]


@pytest.mark.soak
def test_history_told_late_does_not_end_what_a_person_chose_and_what_is_told_anew_does(
    living: Helix, store: Store, moment: Moment
) -> None:
    ids = claims(living, 2)
    resolve_contradiction(store, ids[0], ids[1], ids[0])
    moment.forward(days=5)
    began = BEGIN + timedelta(days=5)
    memories.store(
        living,
        StoreRequest(trigger="the queue service listens on port 5555", resolution="", kind="fact", valid_from=began),
    )
    assert served(living) == {"7410"}
    memories.store(living, StoreRequest(trigger="the queue service listens on port 6666", resolution="", kind="fact"))
    assert served(living) == {"6666"}


@pytest.mark.soak
def test_what_was_decided_against_cannot_stay_elsewhere(living: Helix, store: Store) -> None:
    ids = claims(living, 3)
    resolve_contradiction(store, ids[0], ids[1], ids[1])
    with pytest.raises(ConflictError, match="decided against"):
        resolve_contradiction(store, ids[0], ids[2], ids[0])
    reopen_contradiction(store, ids[0], ids[1])
    resolve_contradiction(store, ids[0], ids[2], ids[0])
    assert served(living) >= {"7410"}


@settings(max_examples=draws(3), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), number=st.integers(3, 4))
def test_after_any_decisions_in_any_order_exactly_what_was_chosen_last_holds(
    living: Helix, store: Store, moment: Moment, data: st.DataObject, number: int
) -> None:
    ids = claims(living, number, f"chain-{next(_SCOPES)}")
    refused, last = set[int](), number - 1
    for pair in data.draw(st.permutations(list(combinations(range(number), 2)))):
        winner = data.draw(st.sampled_from(pair))
        moment.forward(minutes=1)
        if winner in refused:
            with pytest.raises(ConflictError):
                resolve_contradiction(store, ids[pair[0]], ids[pair[1]], ids[winner])
            continue
        resolve_contradiction(store, ids[pair[0]], ids[pair[1]], ids[winner])
        refused |= set(pair) - {winner}
        last = winner
        assert held(store, ids, moment.forward(minutes=1)) == {last}


@pytest.mark.parametrize("winner", [0, 1, None])
def test_what_a_person_decides_against_ends_in_valid_time_and_holds_again_when_that_is_taken_back(
    living: Helix, store: Store, moment: Moment, winner: int | None
) -> None:
    ids = [
        memories.store(
            living, StoreRequest(trigger=f"the queue service listens on port {port}", resolution="", kind="fact")
        ).id
        for port in (7410, 8410)
    ]
    believed = moment.forward(days=1)
    moment.forward(days=1)
    resolve_contradiction(store, ids[0], ids[1], "neither" if winner is None else ids[winner])
    now = moment.forward(days=1)
    for place, one in enumerate(ids):
        until = memories.get(living, one).valid_to
        assert until is None if place == winner else until is not None and until <= now
    assert served(living, known_at=believed) == {"7410", "8410"}

    reopen_contradiction(store, ids[0], ids[1])
    assert [memories.get(living, one).valid_to for one in ids] == [None, None]
    assert served(living, known_at=believed) == {"7410", "8410"}


@pytest.mark.parametrize(
    ("words", "ends"),
    [
        ("Sensor B is sampled at 60 Hz", True),
        ("Sensor B is not sampled at 50 Hz", True),
        ("Sensor B is sampled at 50 Hz on the bench", False),
    ],
)
def test_an_edit_ends_what_was_said_only_where_it_says_something_else(
    living: Helix, moment: Moment, words: str, ends: bool
) -> None:
    old = memories.store(living, StoreRequest(trigger="Sensor B is sampled at 50 Hz", resolution="", kind="fact")).id
    edited_at = moment.forward(days=1)
    new = memories.edit(living, old, EditRequest(trigger=words))
    former = memories.get(living, old)
    assert (former.status, new.valid_to) == (Status.RETIRED, None)
    assert former.valid_to == (former.retired_at if ends else None)
    assert former.retired_at is not None and former.retired_at >= edited_at
