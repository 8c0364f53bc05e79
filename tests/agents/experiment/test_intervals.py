"""Intervals hold the true value about as often as they say, and agree with figures from the literature."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helix.agents.experiment.effect import newcombe, wilson


@pytest.mark.parametrize(
    ("hits", "cases", "low", "high"),
    [(0, 10, 0.0, 0.2775), (10, 10, 0.7225, 1.0), (81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605)],
)
def test_wilson_gives_the_known_figures(hits: int, cases: int, low: float, high: float) -> None:
    assert wilson(hits, cases) == pytest.approx((low, high), abs=5e-5)


@pytest.mark.parametrize(
    ("counts", "low", "high"),
    [
        ((56, 70, 48, 80), 0.0524, 0.3339),
        ((9, 10, 3, 10), 0.1705, 0.8090),
        ((5, 56, 0, 29), -0.0381, 0.1926),
        ((10, 10, 0, 20), 0.6791, 1.0),
    ],
)
def test_newcombe_gives_the_figures_of_his_paper(counts: tuple[int, int, int, int], low: float, high: float) -> None:
    assert newcombe(*counts) == pytest.approx((low, high), abs=5e-5)


@given(st.integers(0, 60), st.integers(0, 60), st.integers(0, 60), st.integers(0, 60))
def test_an_interval_holds_its_estimate_and_turns_with_its_sides(a: int, b: int, c: int, d: int) -> None:
    hits, cases, other_hits, other_cases = min(a, b), b, min(c, d), d
    low, high = wilson(hits, cases)
    assert 0.0 <= low <= high <= 1.0
    below, above = newcombe(hits, cases, other_hits, other_cases)
    assert -1.0 <= below <= above <= 1.0
    turned = newcombe(other_hits, other_cases, hits, cases)
    assert turned == pytest.approx((-above, -below))
    if cases and other_cases:
        assert low <= hits / cases <= high
        assert below <= hits / cases - other_hits / other_cases <= above


@pytest.mark.parametrize(
    ("share", "other", "cases", "other_cases"), [(0.8, 0.6, 90, 30), (0.5, 0.5, 40, 40), (0.95, 0.9, 200, 30)]
)
def test_the_truth_is_within_as_often_as_it_is_said_to_be(
    share: float, other: float, cases: int, other_cases: int
) -> None:
    """2,000 draws: 95 % of them hold the truth, within 1.5 points, three standard errors of such a count."""
    draw = random.Random(7)
    inside = 0
    for _ in range(2_000):
        hits = sum(draw.random() < share for _ in range(cases))
        other_hits = sum(draw.random() < other for _ in range(other_cases))
        low, high = newcombe(hits, cases, other_hits, other_cases)
        inside += low <= share - other <= high
    assert 0.935 <= inside / 2_000 <= 0.985
