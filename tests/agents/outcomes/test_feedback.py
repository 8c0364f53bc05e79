"""Holds that feedback is bounded where agents give it, and that what was given can be taken back exactly."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from helix.agents.context.relevant import is_worth_its_room
from helix.agents.outcomes.feedback import AGENTS_SAY, feedback, undo_feedback
from helix.errors import ConflictError, InvalidInputError
from helix.memory.remember.remember import StoreRequest, remember
from helix.model.memory import Memory
from helix.store.store import Store
from tests.sampling import draws

WORTH = ("helped", "failed", "uses", "easiness", "half_life_days", "last_used_at", "label", "attributes")


def add(store: Store, trigger: str = "deploys need the tunnel") -> str:
    return remember(store, StoreRequest(trigger=trigger, resolution="open it", kind="fact", scope="house")).name


def worth(memory: Memory) -> list[object]:
    return [getattr(memory, name) for name in WORTH]


def test_agents_in_a_loop_neither_bury_a_memory_nor_lift_it(store: Store) -> None:
    name = add(store)
    for delta in (-0.3, 0.3):
        feedback(store, [name], delta, claimed=True)
        with pytest.raises(InvalidInputError, match="agents may say"):
            feedback(store, [name], delta, claimed=True)
    (memory,) = feedback(store, [name], -(AGENTS_SAY - 0.3), claimed=True)
    assert (memory.helped, memory.failed, memory.label) == (0.3, AGENTS_SAY, "")
    assert is_worth_its_room(memory)


def test_of_a_refused_claim_nothing_is_written(store: Store) -> None:
    full, other = add(store), add(store, "the parser reads dates twice")
    feedback(store, [full], AGENTS_SAY, claimed=True)
    with pytest.raises(InvalidInputError):
        feedback(store, [other, full], 0.1, claimed=True)
    (memory,) = feedback(store, [other], 0.1)
    assert memory.helped == 0.1


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=draws(7), deadline=None)
@given(st.lists(st.sampled_from([(0.5, 5), (1.0, None), (-0.3, None), (-1.0, 1), (4.0, None)]), max_size=6))
def test_what_was_given_last_is_taken_back_exactly(store: Store, said: Sequence[tuple[float, int | None]]) -> None:
    name = add(store, f"a fact on {len(said)} things {abs(hash(tuple(said)))}")
    states = [worth(memory) for memory in feedback(store, [name], 0.25)]
    for delta, quality in said:
        states += [worth(memory) for memory in feedback(store, [name], delta, quality)]
    while len(states) > 1:
        states.pop()
        (memory,) = undo_feedback(store, [name])
        assert worth(memory) == states[-1]


def test_an_agent_takes_back_what_agents_said_alone_and_nothing_twice(store: Store) -> None:
    name = add(store)
    feedback(store, [name], -0.5, claimed=True)
    feedback(store, [name], 1.0)
    (memory,) = undo_feedback(store, [name], claimed=True)
    assert (memory.helped, memory.failed) == (1.0, 0.0)
    with pytest.raises(ConflictError, match="no feedback"):
        undo_feedback(store, [name], claimed=True)
    (memory,) = undo_feedback(store, [name])
    assert (memory.helped, memory.failed, memory.uses) == (0.0, 0.0, 0)
    with pytest.raises(ConflictError):
        undo_feedback(store, [name])
    feedback(store, [name], 0.5, claimed=True)


def test_one_word_does_not_settle_a_memory_for_good(store: Store) -> None:
    name = add(store)
    with pytest.raises(InvalidInputError, match=r"within -10\.\.10"):
        feedback(store, [name], 99.0)
