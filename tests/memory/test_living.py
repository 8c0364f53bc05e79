"""What ends when follows from the memories that are there: who goes opens what it had ended, who comes back ends it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from itertools import count

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from working import job

from helix.memory.contradiction.disputes import contradictions, reopen_contradiction, resolve_contradiction
from helix.memory.erasure.hard_forget import hard_forget, plan_hard_forget
from helix.memory.remember.request import StoreRequest
from helix.memory.upkeep.maintenance import prune
from helix.memory.worker.undo import undo
from helix.model.dispute import DisputeStatus
from helix.model.edge import Label
from helix.model.memory import Memory, Status
from helix.model.operations import Change, PutNode
from helix.model.provenance import Trust
from helix.model.recall import RecallQuery
from helix.operations import memories, review
from helix.service import Helix
from helix.store.store import Store
from helix.store.writer import Decision
from tests.memory.conftest import START, Moment
from tests.sampling import draws

BEGIN = START - timedelta(days=100)
_SCOPES = count()


def claim(helix: Helix, place: int, scope: str = "global", **fields: object) -> str:
    """Store what contradicts every other claim of the scope, and began ten days after the one before it."""
    began = BEGIN + timedelta(days=10 * place)
    words = f"the api listens on port {8000 + place}"
    told = {"trust": Trust.AGENT_INFERRED, **fields}
    return memories.store(
        helix, StoreRequest(trigger=words, resolution="", kind="fact", scope=scope, valid_from=began, **told)
    ).id


def ends(store: Store, scope: str = "global") -> dict[str, datetime | None]:
    """Until when each active claim of a scope holds."""
    held = [memory for memory in store.index.memories(Status.ACTIVE) if memory.scope == scope]
    return {memory.trigger: memory.valid_to for memory in held}


def served(helix: Helix, known_at: datetime | None = None) -> set[str]:
    answer = helix.recall(RecallQuery(query="which port does the api listen on", known_at=known_at))
    return {item.node.trigger for item in answer.items if isinstance(item.node, Memory)}


def pruned(helix: Helix, memory: str) -> str:
    """Archive a memory as one that failed; return the job."""
    for _ in range(3):
        memories.feedback(helix, [memory], delta=-1.0)
    return prune(helix.store, 0.25, 3, dry_run=False).job


def erase(store: Store, memory: str) -> None:
    job(store, lambda ticket: hard_forget(store, plan_hard_forget(store, memory), ticket))


GOING: dict[str, Callable[[Helix, str], object]] = {
    "forgotten": lambda helix, memory: memories.forget(helix, memory),
    "pruned": pruned,
    "erased": lambda helix, memory: erase(helix.store, memory),
}


@pytest.mark.parametrize("how", GOING)
def test_a_loser_holds_again_when_its_winner_goes(living: Helix, store: Store, moment: Moment, how: str) -> None:
    old, new = claim(living, 0), claim(living, 1)
    assert served(living) == {"the api listens on port 8001"}
    between = moment.forward(days=1)
    moment.forward(days=1)
    GOING[how](living, new)
    assert served(living) == {"the api listens on port 8000"}
    former = memories.get(living, old)
    assert isinstance(former, Memory) and former.valid_to is None and former.status is Status.ACTIVE
    if how != "erased":
        assert served(living, known_at=between) <= {"the api listens on port 8001"}, "what was believed is kept"
        (dispute,) = contradictions(store.index, status=None)
        assert dispute.status is DisputeStatus.SETTLED, "that the two contradict each other stays known"


def test_it_ends_again_when_the_winner_comes_back(living: Helix, store: Store) -> None:
    claim(living, 0)
    new = claim(living, 1)
    ended = ends(store)
    memories.forget(living, new)
    memories.restore(living, new)
    assert ends(store) == ended
    again = pruned(living, new)
    assert ends(store) == {"the api listens on port 8000": None}
    undo(store, again)
    assert ends(store) == ended


def test_it_ends_where_the_next_of_those_that_are_left_begins(living: Helix, store: Store) -> None:
    first, second, third = (claim(living, place) for place in range(3))
    memories.forget(living, second)
    left = {"the api listens on port 8000": BEGIN + timedelta(days=20), "the api listens on port 8002": None}
    assert ends(store) == left
    erase(store, third)
    assert ends(store) == {"the api listens on port 8000": None}
    memories.restore(living, second)
    assert ends(store)["the api listens on port 8000"] == BEGIN + timedelta(days=10)
    assert first in {memory.id for memory in store.index.memories(Status.ACTIVE)}


def test_what_came_in_while_it_was_away_ends_a_memory_that_comes_back(living: Helix, store: Store) -> None:
    old = claim(living, 0)
    memories.forget(living, old)
    claim(living, 1)
    memories.restore(living, old)
    assert ends(store)["the api listens on port 8000"] == BEGIN + timedelta(days=10)


def test_undo_of_a_prune_sets_what_comes_back_against_what_came_in(living: Helix, store: Store) -> None:
    done = pruned(living, claim(living, 0))
    claim(living, 1)
    undo(store, done)
    assert ends(store)["the api listens on port 8000"] == BEGIN + timedelta(days=10)


def test_an_end_that_was_stated_stays(living: Helix, store: Store) -> None:
    stated = BEGIN + timedelta(days=15)
    claim(living, 0, valid_to=stated)
    memories.forget(living, claim(living, 1))
    assert ends(store) == {"the api listens on port 8000": stated}


def test_what_a_person_decided_stays_when_the_winner_goes(living: Helix, store: Store, moment: Moment) -> None:
    old, later = claim(living, 0), claim(living, 2)
    memories.restore(living, memories.forget(living, later).id)
    near = BEGIN + timedelta(hours=1)
    told = memories.store(
        living, StoreRequest(trigger="the api listens on port 9000", resolution="", kind="fact", valid_from=near)
    ).id
    resolve_contradiction(store, old, told, told, "somebody mistook the port")
    for gone in (told, later):
        memories.forget(living, gone)
        assert ends(store)["the api listens on port 8000"] == near
    for back in (told, later):
        memories.restore(living, back)
    reopen_contradiction(store, old, told)
    assert ends(store)["the api listens on port 8000"] == BEGIN + timedelta(days=20)


def test_a_claim_that_a_person_says_never_held_opens_what_it_had_ended(living: Helix, store: Store) -> None:
    first, second, third = (claim(living, place) for place in range(3))
    resolve_contradiction(store, second, third, "neither")
    assert ends(store) == {"the api listens on port 8000": None}
    reopen_contradiction(store, second, third)
    assert ends(store)["the api listens on port 8000"] == BEGIN + timedelta(days=10)
    assert memories.get(living, first).id == first


def test_what_a_person_accepts_is_set_against_what_is_there(living: Helix, store: Store) -> None:
    held = claim(living, 1)
    quarantine = PutNode(label=Label.MEMORY, id=held, props={"status": Status.QUARANTINED.value})
    store.writer.submit(lambda: Decision((Change(kind="test", operations=(quarantine,)),), None))
    claim(living, 0)
    assert ends(store) == {"the api listens on port 8000": None}
    review.accept(living, held)
    assert ends(store)["the api listens on port 8000"] == BEGIN + timedelta(days=10)
    memories.forget(living, held)
    assert ends(store) == {"the api listens on port 8000": None}


@settings(max_examples=draws(12), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(st.tuples(st.sampled_from(["go", "come"]), st.integers(0, 3)), max_size=12))
def test_whoever_came_and_went_in_whatever_order_those_left_end_as_if_they_alone_had_been_stored(
    living: Helix, store: Store, steps: list[tuple[str, int]]
) -> None:
    scope, known, gone = f"lived-{next(_SCOPES)}", dict[int, str](), set[int]()
    for what, place in steps:
        if what == "go" and place in known and place not in gone:
            memories.forget(living, known[place])
            gone.add(place)
        elif what == "come" and place not in known:
            known[place] = claim(living, place, scope)
        elif what == "come" and place in gone:
            memories.restore(living, known[place])
            gone.discard(place)
    fresh = f"fresh-{scope}"
    for place in sorted(known.keys() - gone):
        claim(living, place, fresh)
    assert ends(store, scope) == ends(store, fresh)
