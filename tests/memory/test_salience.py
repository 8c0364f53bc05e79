"""Fading and worth follow the published formulas, agree with the catalogue, and stay within their bounds."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helix.memory.scores import half_life_of, last_access
from helix.model.clock import DAY_MICROS, to_micros
from helix.model.memory import Kind, Memory
from helix.store.node_columns import NO_END, fading_moments, shrunk_effectiveness

START = datetime(2026, 1, 1, tzinfo=UTC)
importances = st.floats(1, 10)
half_lives = st.floats(0.5, 3650)
spans = st.floats(0, 10_000)


def salience(memory: Memory, now: datetime) -> float:
    """Return importance * e^(-lambda * days) with lambda = ln 2 / half-life, as the catalogue reckons by the table."""
    days = max((now - last_access(memory)) / timedelta(days=1), 0.0)
    return memory.importance * math.exp(-math.log(2) / memory.half_life_days * days)


def memory(kind: Kind, importance: float = 5.0, half_life: float = 0.0, used: datetime | None = None) -> Memory:
    return Memory(
        id="m",
        name="m",
        kind=kind,
        trigger="t",
        resolution="r",
        recorded_at=START,
        importance=importance,
        half_life_days=half_life,
        last_used_at=used,
    )


@pytest.mark.parametrize(
    ("kind", "days"),
    [
        (Kind.EVOLUTION, 7.0),
        (Kind.FAILURE, 90.0),
        (Kind.PATTERN, 90.0),
        (Kind.SYSTEMIC, 90.0),
        (Kind.SNIPPET, 90.0),
        (Kind.FACT, 0.0),
        (Kind.CONVENTION, 0.0),
        (Kind.GAP, 0.0),
    ],
)
def test_each_kind_fades_as_its_tier_does(kind: Kind, days: float) -> None:
    assert half_life_of(kind) == days


def test_effectiveness_is_one_half_without_feedback_and_near_it_with_little() -> None:
    helped, failed = np.array([0.0, 1.0, 0.0]), np.array([0.0, 0.0, 1.0])
    assert shrunk_effectiveness(helped, failed).tolist() == [0.5, 0.75, 0.25]
    below = np.array([-1.0, -5.0])  # of a store that somebody else wrote
    assert shrunk_effectiveness(below, np.zeros(2)).tolist() == [0.5, 0.5]


@given(importances, st.one_of(st.just(0.0), half_lives), spans, st.none() | st.floats(-500, 500), st.floats(0.1, 2.0))
def test_the_catalogue_fades_what_the_formula_fades(
    importance: float, half_life: float, days: float, used: float | None, floor: float
) -> None:
    last_used = None if used is None else START + timedelta(days=used)
    one = memory(Kind.PATTERN, importance, half_life, last_used)
    fades_at = int(
        fading_moments(
            importance=np.array([importance]),
            half_life=np.array([half_life]),
            recorded_at=np.array([to_micros(START)]),
            last_used_at=np.array([np.iinfo(np.int64).min if last_used is None else to_micros(last_used)]),
            floor=floor,
        )[0]
    )
    now = START + timedelta(days=days)
    if fades_at != NO_END and abs(to_micros(now) - fades_at) < DAY_MICROS * 1e-6:
        return  # nearer than the two ways of rounding
    assert (half_life > 0 and salience(one, now) < floor) == (to_micros(now) > fades_at)


@given(st.floats(0, 100), st.floats(0, 100))
def test_effectiveness_is_bounded_and_rises_with_what_helped(helped: float, failed: float) -> None:
    good, bad = np.array([helped + 1, helped, helped]), np.array([failed, failed, failed + 1])
    more, now, less = shrunk_effectiveness(good, bad)
    assert 1.0 >= more >= now >= less >= 0.0
