"""Consolidation recognises the same thing and a refinement, and keeps apart what only looks alike."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helix.lifecycle.consolidate import Newcomer, Thresholds, Verdict, decide, same_subject
from helix.model.memory import Kind, Memory
from helix.model.provenance import Provenance, Trust

AT = Thresholds(duplicate=0.93, update=0.85)


def stored(
    trigger: str, resolution: str = "", kind: Kind = Kind.CONVENTION, trust: Trust = Trust.USER_ASSERTED
) -> Memory:
    return Memory(
        id=trigger,
        name=trigger,
        kind=kind,
        trigger=trigger,
        resolution=resolution,
        recorded_at=datetime(2026, 1, 1, tzinfo=UTC),
        provenance=Provenance(trust=trust),
    )


def new(
    trigger: str, resolution: str = "", kind: Kind = Kind.CONVENTION, trust: Trust = Trust.USER_ASSERTED
) -> Newcomer:
    return Newcomer(kind=kind, trigger=trigger, resolution=resolution, trust=trust)


def verdict(newcomer: Newcomer, memory: Memory, cosine: float) -> Verdict:
    return decide(newcomer, [(memory, cosine)], AT)[0]


def test_the_same_words_are_the_same_thing_even_without_vectors() -> None:
    assert verdict(new("Run  the TESTS first"), stored("run the tests first"), 0.0) is Verdict.NOOP


def test_a_near_paraphrase_is_the_same_thing() -> None:
    assert (
        verdict(new("activate the venv before tests"), stored("before tests activate the venv"), 0.95) is Verdict.NOOP
    )


@pytest.mark.parametrize(
    ("old", "fresh"),
    [
        ("use tabs in makefiles", "never use tabs in makefiles"),
        ("the api listens on port 8080", "the api listens on port 9090"),
        ("needs kuzu 0.11.3", "needs kuzu 0.12.0"),
    ],
)
def test_a_negation_or_another_number_is_never_swallowed(old: str, fresh: str) -> None:
    assert verdict(new(fresh), stored(old), 0.99) is not Verdict.NOOP


@pytest.mark.parametrize(
    ("old", "fresh"),
    [
        ("the upload job fails on Linux with a timeout", "the upload job fails on Windows with a timeout"),
        ("the redis cache needs a restart after a deploy", "the memcached cache needs a restart after a deploy"),
        ("call flush_pages before close", "call flush_index before close"),
    ],
)
def test_words_that_stand_in_each_others_place_say_different_things(old: str, fresh: str) -> None:
    assert verdict(new(fresh), stored(old), 0.99) is Verdict.ADD
    assert verdict(new(old), stored(fresh), 0.99) is Verdict.ADD


def test_another_kind_is_another_thing() -> None:
    assert verdict(new("x y z", kind=Kind.FACT), stored("x y z", kind=Kind.FAILURE), 1.0) is Verdict.ADD


def test_the_same_subject_with_more_to_say_is_a_refinement() -> None:
    old = stored("database pool size", "keep it at 10")
    assert verdict(new("database pool size", "keep it at 20 since the move to postgres"), old, 0.88) is Verdict.UPDATE
    assert verdict(new("log rotation schedule", "weekly"), old, 0.88) is Verdict.ADD


def test_a_weaker_source_never_replaces_a_stronger_ones_words() -> None:
    old = stored("database pool size", "keep it at 10", trust=Trust.USER_ASSERTED)
    claim = new("database pool size", "keep it at 99", trust=Trust.WEB)
    assert verdict(claim, old, 0.9) is Verdict.ADD


def test_the_nearest_fitting_memory_is_meant() -> None:
    far, near = stored("run tests with uv"), stored("run the tests with uv")
    found = decide(new("do run the tests with uv"), [(far, 0.94), (near, 0.97)], AT)
    assert found == (Verdict.NOOP, near)


@given(st.text(max_size=60), st.text(max_size=60))
def test_sameness_of_subject_is_symmetric(left: str, right: str) -> None:
    assert same_subject(left, right) == same_subject(right, left)
