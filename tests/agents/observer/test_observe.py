"""What agents' work gives to learn: kinds and confidences by what happened, and never a failure of reading."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helix.agents.observer.observe import Origin, observe_builder, observe_explorer, observe_planner, observe_session
from helix.model.candidate import Candidate, Certainty
from helix.model.memory import Kind
from helix.model.provenance import Trust

ORIGIN = Origin(at=datetime(2026, 3, 2, tzinfo=UTC), scope="shop", session="s1", task="t1", agent="builder")
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(
    st.sampled_from(["scope", "findings", "status", "metadata", "learned", "helix_outcome", "summary", "objective"]),
    ANYTHING,
)


def told(candidates: tuple[Candidate, ...]) -> list[tuple[Kind, Certainty]]:
    return [(one.kind, one.confidence) for one in candidates]


@given(OBJECTS, OBJECTS, st.lists(OBJECTS, max_size=3), st.text(max_size=40))
def test_no_work_of_an_agent_is_an_error(
    task: dict[str, Any], other: dict[str, Any], tasks: list[Any], text: str
) -> None:
    seen = (
        *observe_explorer(other, ORIGIN),
        *observe_explorer(text, ORIGIN),
        *observe_planner(tasks, other, ORIGIN, [text]),
        *observe_builder(task, other, [], ORIGIN),
        *observe_builder(task, text, [text], ORIGIN),
        *observe_session(text, tasks, other, ORIGIN),
    )
    assert all(one.trigger and one.provenance.trust is Trust.AGENT_INFERRED for one in seen)


def test_an_explorer_gives_facts_and_weak_conventions() -> None:
    output = {
        "scope": "src/",
        "status": "success",
        "findings": [
            {"file": "src/a.py", "what": "routes", "action": "modify"},
            {"file": "src/b.py", "what": "to be made", "action": "create"},
        ],
        "framework": {"detected": "FastAPI", "confidence": "HIGH", "evidence": "imports"},
        "patterns_observed": ["dependency injection"],
    }
    seen = observe_explorer(output, ORIGIN)
    assert told(seen) == [
        (Kind.FACT, Certainty.MEDIUM),
        (Kind.FACT, Certainty.MEDIUM),
        (Kind.CONVENTION, Certainty.LOW),
    ]
    assert seen[1].attributes["files"] == ["src/a.py"]
    assert (seen[0].scope, seen[0].session, seen[0].task, seen[0].agent) == ("shop", "s1", "t1", "builder")
    failed = observe_explorer({**output, "status": "partial"}, ORIGIN)
    assert told(failed)[1] == (Kind.FACT, Certainty.LOW)
    assert observe_explorer(json.dumps(output), ORIGIN) == seen


def test_a_planner_gives_decisions() -> None:
    tasks = [
        {"seq": "1", "slug": "tokens", "objective": "use JWT instead of sessions", "delta": ["auth.py"]},
        {"seq": "2", "slug": "routes", "objective": "write the routes", "depends": ["1"]},
    ]
    seen = observe_planner(tasks, {"objective": "add a login"}, ORIGIN, ["passwords are hashed with argon2"])
    assert told(seen) == [
        (Kind.DECISION, Certainty.MEDIUM),
        (Kind.DECISION, Certainty.MEDIUM),
        (Kind.DECISION, Certainty.LOW),
    ]
    assert seen[1].resolution == "use JWT instead of sessions"
    assert seen[2].resolution == "001 tokens; 002 routes after 001"


TASK = {"id": "7", "subject": "002: routes", "description": "write the routes"}
DELIVERED = "DELIVERED: Added /login\nLEARNED: pattern: tests hang -> close the pool\nUTILIZED: []"
BLOCKED = "BLOCKED: main.py is not mine\nTRIED: a router\nERROR: ImportError: no routes\n  in main\nUTILIZED: []"


def test_a_delivery_is_an_evolution_that_happened_and_what_was_learned() -> None:
    seen = observe_builder(TASK, DELIVERED, ["api.py"], ORIGIN)
    assert told(seen) == [(Kind.EVOLUTION, Certainty.HIGH), (Kind.PATTERN, Certainty.MEDIUM)]
    assert seen[0].resolution == "Added /login (changed: api.py)"
    assert (seen[1].trigger, seen[1].resolution) == ("tests hang", "close the pool")
    assert told(observe_builder(TASK, DELIVERED, [], ORIGIN)) == [(Kind.PATTERN, Certainty.MEDIUM)]


def test_a_delivery_whose_verification_failed_is_none() -> None:
    task = {**TASK, "metadata": {"verification": "failed"}}
    assert told(observe_builder(task, DELIVERED, ["api.py"], ORIGIN)) == [(Kind.PATTERN, Certainty.LOW)]


def test_a_block_is_a_failure_surer_where_there_is_an_error() -> None:
    (failure,) = observe_builder(TASK, BLOCKED, [], ORIGIN)
    assert (failure.kind, failure.confidence) == (Kind.FAILURE, Certainty.HIGH)
    assert failure.trigger == "ImportError: no routes"
    assert "Tried without success: a router" in failure.resolution
    (vague,) = observe_builder(TASK, "BLOCKED: no access", [], ORIGIN)
    assert (vague.trigger, vague.confidence) == ("no access", Certainty.MEDIUM)


def test_the_metadata_of_the_task_says_what_the_last_message_leaves_out() -> None:
    task = {**TASK, "metadata": {"helix_outcome": "delivered", "summary": "routes are there"}}
    (change,) = observe_builder(task, "I am done.", ["api.py"], ORIGIN)
    assert change.resolution == "routes are there (changed: api.py)"
    assert observe_builder({"helix_outcome": "skipped"}, "", ["api.py"], ORIGIN) == ()


def test_a_session_is_what_became_of_its_tasks() -> None:
    tasks = [{"id": "11", "subject": "001: models"}, {"id": "12", "subject": "002: routes"}, {"id": "13"}]
    (seen,) = observe_session("add a login", tasks, {"11": "delivered", "002": "blocked"}, ORIGIN)
    assert (seen.kind, seen.confidence) == (Kind.EVOLUTION, Certainty.HIGH)
    assert (seen.trigger, seen.resolution) == ("add a login", "delivered: models; blocked: routes")
    assert observe_session("add a login", tasks, {}, ORIGIN) == ()


@pytest.mark.parametrize("kind", ["convention", "failure", "decision"])
def test_what_was_learned_keeps_the_kind_it_says_it_is(kind: str) -> None:
    learned = [{"type": kind, "trigger": "when so", "resolution": "do so"}]
    (seen,) = observe_builder({}, {"helix_outcome": "delivered", "learned": learned}, [], ORIGIN)
    assert seen.kind == kind


@pytest.mark.parametrize(
    ("stated", "sure"),
    [("HIGH", Certainty.MEDIUM), ("MEDIUM", Certainty.LOW), ("LOW", Certainty.LOW), ("", Certainty.LOW)],
)
def test_a_framework_is_as_sure_as_the_explorer_and_never_surer_than_medium(stated: str, sure: Certainty) -> None:
    output = {"scope": "src", "status": "success", "framework": {"detected": "flask", "confidence": stated}}
    assert told(observe_explorer(output, ORIGIN)) == [(Kind.FACT, sure)]


def test_the_answers_of_several_explorers_are_all_observed() -> None:
    one, two = ({"scope": "s", "status": "ok", "findings": [{"file": name, "what": "w"}]} for name in ("a.py", "b.py"))
    for text in (json.dumps([one, two]), f"{json.dumps(one)}\nand\n{json.dumps(two)}"):
        assert [each.trigger for each in observe_explorer(text, ORIGIN)] == ["what is in a.py", "what is in b.py"]
