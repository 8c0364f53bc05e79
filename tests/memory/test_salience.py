"""Fading and worth follow the published formulas, agree with the catalogue, and stay within their bounds."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helix.memory.scoring.salience import (
    decay_rate,
    effectiveness,
    faded,
    recency,
    salience,
    salience_of,
    tier_half_life,
)
from helix.model.clock import DAY_MICROS, to_micros
from helix.model.memory import Kind, Memory
from helix.store.node_columns import NO_END, fading_moments, shrunk_effectiveness

START = datetime(2026, 1, 1, tzinfo=UTC)
importances = st.floats(1, 10)
half_lives = st.floats(0.5, 3650)
spans = st.floats(0, 10_000)


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


def test_the_rates_are_those_published() -> None:
    assert decay_rate(7) == pytest.approx(0.099, abs=5e-4)
    assert decay_rate(90) == pytest.approx(0.0077, abs=5e-5)
    assert decay_rate(0) == decay_rate(math.inf) == 0.0


@pytest.mark.parametrize(
    ("kind", "days"),
    [
        (Kind.EVOLUTION, 7.0),
        (Kind.FAILURE, 90.0),
        (Kind.PATTERN, 90.0),
        (Kind.SYSTEMIC, 90.0),
        (Kind.SNIPPET, 90.0),
        (Kind.FACT, math.inf),
        (Kind.CONVENTION, math.inf),
        (Kind.GAP, math.inf),
    ],
)
def test_each_kind_fades_as_its_tier_does(kind: Kind, days: float) -> None:
    assert tier_half_life(kind) == days


def test_an_episode_nobody_uses_is_near_the_floor_within_two_to_three_weeks() -> None:
    assert salience(3, 0, 7) == 3
    assert salience(3, 7, 7) == pytest.approx(1.5)
    one = memory(Kind.EVOLUTION, 3, 7)
    assert not faded(one, START + timedelta(days=14)) and faded(one, START + timedelta(days=21))
    assert not faded(memory(Kind.FAILURE, 3, 90), START + timedelta(days=200))
    assert not any(faded(memory(Kind.FACT, 3, span), START + timedelta(days=36_500)) for span in (0.0, math.inf))


@pytest.mark.parametrize(
    ("kind", "days"),
    [
        (Kind.FAILURE, 7),
        (Kind.PATTERN, 7),
        (Kind.SYSTEMIC, 14),
        (Kind.FACT, 30),
        (Kind.CONVENTION, 14),
        (Kind.DECISION, 30),
        (Kind.EVOLUTION, 7),
    ],
)
def test_recency_halves_after_the_kinds_own_half_life(kind: Kind, days: float) -> None:
    assert (recency(0, kind), recency(days, kind), recency(2 * days, kind)) == (1.0, 0.5, 0.25)


def test_effectiveness_is_the_ratio_and_one_half_without_feedback() -> None:
    assert (effectiveness(0, 0), effectiveness(3, 1), effectiveness(0, 2)) == (0.5, 0.75, 0.0)
    helped, failed = np.array([0.0, 1.0, 0.0]), np.array([0.0, 0.0, 1.0])
    assert shrunk_effectiveness(helped, failed).tolist() == [0.5, 0.75, 0.25]


def test_the_clock_counts_from_the_later_of_recording_and_use() -> None:
    used = memory(Kind.EVOLUTION, 4.0, 7.0, used=START + timedelta(days=7))
    assert salience_of(used, START + timedelta(days=14)) == pytest.approx(2.0)
    imported = memory(Kind.EVOLUTION, 4.0, 7.0, used=START - timedelta(days=400))
    assert salience_of(imported, START) == 4.0


@given(importances, spans, spans, half_lives)
def test_salience_is_bounded_by_importance_and_never_rises_with_time(
    importance: float, days: float, more: float, half_life: float
) -> None:
    now, later = salience(importance, days, half_life), salience(importance, days + more, half_life)
    assert 0.0 <= later <= now <= importance
    assert salience(importance, days, half_life * 2) >= now
    assert salience(min(10.0, importance + 1), days, half_life) >= now


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
    assert faded(one, now, floor) == (to_micros(now) > fades_at)


@given(st.floats(0, 100), st.floats(0, 100))
def test_effectiveness_is_bounded_and_rises_with_what_helped(helped: float, failed: float) -> None:
    for ratio in (effectiveness, lambda good, bad: float(shrunk_effectiveness(np.array(good), np.array(bad)))):
        assert 0.0 <= ratio(helped, failed) <= 1.0
        assert ratio(helped + 1, failed) >= ratio(helped, failed) >= ratio(helped, failed + 1)
