"""Consolidation recognises the same thing and a refinement, and keeps apart what only looks alike."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helix.memory.contradiction.classify import (
    Claim,
    ContradictionVerdict,
    NewStatement,
    Ruling,
    Thresholds,
    decide,
    rule,
    same_subject,
)
from helix.model.memory import Kind, Memory
from helix.model.provenance import Provenance, Trust

AT = Thresholds(duplicate=0.93, update=0.85, related=0.6)
BEGIN = datetime(2026, 1, 1, tzinfo=UTC)


def stored(
    trigger: str, resolution: str = "", kind: Kind = Kind.CONVENTION, trust: Trust = Trust.USER_ASSERTED
) -> Memory:
    return Memory(
        id=trigger,
        name=trigger,
        kind=kind,
        trigger=trigger,
        resolution=resolution,
        recorded_at=BEGIN,
        provenance=Provenance(trust=trust),
    )


def new(
    trigger: str, resolution: str = "", kind: Kind = Kind.CONVENTION, trust: Trust = Trust.USER_ASSERTED
) -> NewStatement:
    return NewStatement(kind=kind, trigger=trigger, resolution=resolution, trust=trust)


def verdict(said: NewStatement, memory: Memory, cosine: float) -> ContradictionVerdict:
    return decide(said, [(memory, cosine)], AT)[0]


def test_the_same_words_are_the_same_thing_even_without_vectors() -> None:
    assert verdict(new("Run  the TESTS first"), stored("run the tests first"), 0.0) is ContradictionVerdict.NOOP


def test_a_near_paraphrase_is_the_same_thing() -> None:
    assert (
        verdict(new("activate the venv before tests"), stored("before tests activate the venv"), 0.95)
        is ContradictionVerdict.NOOP
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
    assert verdict(new(fresh), stored(old), 0.99) is not ContradictionVerdict.NOOP


@pytest.mark.parametrize(
    ("old", "fresh"),
    [
        ("the upload job fails on Linux with a timeout", "the upload job fails on Windows with a timeout"),
        ("the redis cache needs a restart after a deploy", "the memcached cache needs a restart after a deploy"),
        ("call flush_pages before close", "call flush_index before close"),
    ],
)
def test_words_that_stand_in_each_others_place_say_different_things(old: str, fresh: str) -> None:
    assert verdict(new(fresh), stored(old), 0.99) is ContradictionVerdict.ADD
    assert verdict(new(old), stored(fresh), 0.99) is ContradictionVerdict.ADD


@pytest.mark.parametrize(
    ("one", "other", "attributes"),
    [
        ("`npm run pack:api` fails: Error", "`npm run pack:api-docs` fails: Error", ({}, {})),
        ("`pytest tests/user` fails", "`pytest tests/user tests/order` fails", ({}, {})),
        ("the build fails", "the build fails", ({"command": "make -C api"}, {"command": ["make -C web"]})),
    ],
)
def test_what_befell_one_command_is_never_what_befell_another(
    one: str, other: str, attributes: tuple[dict[str, Any], dict[str, Any]]
) -> None:
    known = replace(stored(one, kind=Kind.FAILURE), attributes=attributes[0])
    fresh = replace(new(other, kind=Kind.FAILURE), attributes=attributes[1])
    assert verdict(fresh, known, 0.99) is ContradictionVerdict.ADD
    again = replace(new(one, kind=Kind.FAILURE), attributes=attributes[0])
    assert verdict(again, known, 0.99) is ContradictionVerdict.NOOP


def test_one_command_however_it_is_written_is_one() -> None:
    known = stored("`npm test` fails without the database", kind=Kind.FAILURE)
    fresh = new("`npm run test --silent` fails without the database", kind=Kind.FAILURE)
    assert verdict(fresh, known, 0.99) is ContradictionVerdict.NOOP


def test_another_kind_is_another_thing() -> None:
    assert verdict(new("x y z", kind=Kind.FACT), stored("x y z", kind=Kind.FAILURE), 1.0) is ContradictionVerdict.ADD


def test_the_same_subject_with_more_to_say_is_a_refinement() -> None:
    old = stored("database pool size", "keep it at 10")
    assert (
        verdict(new("database pool size", "keep it at 10 since the move to postgres"), old, 0.88)
        is ContradictionVerdict.UPDATE
    )
    assert verdict(new("log rotation schedule", "weekly"), old, 0.88) is ContradictionVerdict.ADD
    quick = stored("run pytest before each commit here")
    assert verdict(new("run pytest -x before each commit here"), quick, 0.88) is ContradictionVerdict.UPDATE
    parser = stored("the parser is written in C")
    assert verdict(new("the parser is written in C++"), parser, 0.92) is ContradictionVerdict.ADD


@pytest.mark.parametrize(
    ("old", "fresh"),
    [
        (("use tabs in makefiles", ""), ("never use tabs in makefiles", "")),
        (("database pool size", "keep it at 10"), ("database pool size", "keep it at 20 since the move")),
        (("the linter runs on save", ""), ("the linter does not run on save", "")),
    ],
)
def test_what_cannot_both_hold_supersedes_whatever_is_nearer(old: tuple[str, str], fresh: tuple[str, str]) -> None:
    known, beside = stored(*old), stored("quite another matter")
    assert decide(new(*fresh), [(beside, 0.9), (known, 0.7)], AT) == (ContradictionVerdict.SUPERSEDE, known)


def test_what_contradicts_in_words_but_is_far_off_is_news() -> None:
    assert verdict(new("never use tabs in makefiles"), stored("use tabs in makefiles"), 0.3) is ContradictionVerdict.ADD


def test_what_happened_twice_in_other_numbers_is_no_contradiction() -> None:
    old = stored("upgraded kuzu to 0.11.2", kind=Kind.EVOLUTION)
    assert verdict(new("upgraded kuzu to 0.11.3", kind=Kind.EVOLUTION), old, 0.9) is ContradictionVerdict.ADD


def test_a_weaker_source_never_replaces_a_stronger_ones_words() -> None:
    old = stored("database pool size", "keep it at 10", trust=Trust.USER_ASSERTED)
    more = new("database pool size", "keep it at 10 says the manual", trust=Trust.WEB)
    assert verdict(more, old, 0.9) is ContradictionVerdict.ADD


def claim(days: float = 0, confidence: float = 0.7, trust: Trust = Trust.USER_ASSERTED, derived: bool = False) -> Claim:
    return Claim(since=BEGIN + timedelta(days=days), confidence=confidence, trust=trust, derived=derived)


@pytest.mark.parametrize(
    ("first", "second", "ruling"),
    [
        (claim(days=2), claim(confidence=0.99), Ruling.FIRST),
        (claim(), claim(days=2), Ruling.SECOND),
        (claim(confidence=0.9), claim(days=-0.5), Ruling.FIRST),
        (claim(confidence=0.9), claim(days=0.5), Ruling.OPEN),
        (claim(confidence=0.9, trust=Trust.WEB), claim(days=0.5, trust=Trust.WEB), Ruling.FIRST),
        (claim(trust=Trust.AGENT_INFERRED), claim(), Ruling.SECOND),
        (claim(), claim(days=0.5, confidence=0.75), Ruling.OPEN),
        (claim(days=400, trust=Trust.WEB), claim(), Ruling.OPEN),
        (claim(confidence=0.85, derived=True), claim(confidence=0.7), Ruling.OPEN),
        (claim(confidence=0.85, derived=True), claim(confidence=0.7, derived=True), Ruling.FIRST),
        (claim(confidence=0.95, trust=Trust.TOOL_OUTPUT), claim(trust=Trust.VERIFIED_OUTCOME), Ruling.OPEN),
    ],
)
def test_time_decides_then_certainty_then_trust_and_a_weaker_class_never(
    first: Claim, second: Claim, ruling: Ruling
) -> None:
    assert rule(first, second) is ruling


claims = st.builds(
    claim, days=st.floats(0, 3), confidence=st.floats(0, 1, allow_nan=False), trust=st.sampled_from(list(Trust))
)


@given(claims, claims)
def test_a_ruling_does_not_depend_on_who_comes_first(first: Claim, second: Claim) -> None:
    turned = {Ruling.FIRST: Ruling.SECOND, Ruling.SECOND: Ruling.FIRST, Ruling.OPEN: Ruling.OPEN}
    assert rule(second, first) is turned[rule(first, second)]
    if (winner := rule(first, second)) is not Ruling.OPEN:
        won, lost = (first, second) if winner is Ruling.FIRST else (second, first)
        assert won.trust.rank <= lost.trust.rank


def test_the_nearest_fitting_memory_is_meant() -> None:
    far, near = stored("run tests with uv"), stored("run the tests with uv")
    found = decide(new("do run the tests with uv"), [(far, 0.94), (near, 0.97)], AT)
    assert found == (ContradictionVerdict.NOOP, near)


@given(st.text(max_size=60), st.text(max_size=60))
def test_sameness_of_subject_is_symmetric(left: str, right: str) -> None:
    assert same_subject(left, right) == same_subject(right, left)
