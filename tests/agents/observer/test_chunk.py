"""What worked becomes a pattern; what did not, does not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helix.agents.observer.chunking import ChunkRequest, chunk, succeeded
from helix.agents.tasks.board import TaskSighting, mirror
from helix.model.edge import Ref, Relation
from helix.model.memory import Kind
from helix.model.provenance import Trust
from helix.operations import memories, upkeep
from helix.service import Helix
from helix.store.store import Store


@pytest.mark.parametrize(
    "outcome",
    [
        *("success", "Success: all 12 tests pass", "delivered", "done, 0 failed", "works without errors", "no errors"),
        *("passed; fixed the failing test", "Fixed the failing import", "✅ 12 of 12", "passed, none failed"),
        *("the current important work is done", "solved a crash, merged"),
    ],
)
def test_these_outcomes_are_successes(outcome: str) -> None:
    assert succeeded(outcome)


@pytest.mark.parametrize(
    "outcome",
    [
        "",
        "failed",
        "blocked: no access",
        "skipped",
        "success? no, it did not",
        "2 passed, 1 failed",
        "unsuccessful",
        "who knows",
        "all tests pass but the build is red",
        "done, the docs are broken",
        "fixed one error, three fail",
        "success, except that it is slower",
        "passed. ❌ lint",
        "did not fix the failing test",
        "none of it works",
    ],
)
def test_these_are_not(outcome: str) -> None:
    assert not succeeded(outcome)


@given(st.text(), st.sampled_from(["failed", "blocked", "crashed", "not done"]))
def test_a_word_of_failure_outweighs_any_of_success(text: str, failure: str) -> None:
    assert not succeeded(f"success. {failure}. {text}")


def test_an_approach_that_worked_becomes_a_pattern_learned_in_its_task(living: Helix, store: Store) -> None:
    task = mirror(store, TaskSighting(session="s", key="1", objective="speed up"))
    request = ChunkRequest(
        task="make the slow test suite fast",
        outcome="success: 30 s instead of 300",
        approach="1. share one model\n2. run with two workers",
        task_id=task.id,
    )
    result = chunk(store, request)
    assert result is not None
    memory = memories.get(living, result.name)
    assert (memory.kind, memory.trigger) == (Kind.PATTERN, request.task)
    assert memory.attributes["steps"] == ["share one model", "run with two workers"]
    assert memory.provenance.trust is Trust.AGENT_INFERRED
    edges = [(edge.type, edge.target.id) for edge in store.records.edges_at(Ref.task(task.id))]
    assert edges == [(Relation.LEARNED, memory.id)]


def test_a_failed_outcome_gives_no_pattern(living: Helix, store: Store) -> None:
    assert chunk(store, ChunkRequest(task="make it fast", outcome="failed", approach="more threads")) is None
    assert upkeep.stats(living).total == 0
