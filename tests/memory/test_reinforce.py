"""Reinforcement follows SM-2's published figures."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helix.memory.scores import LEAST_EASINESS, LONGEST_HALF_LIFE_DAYS, easiness_after, reinforced
from helix.model.memory import Kind, Memory

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def memory(half_life: float = 90.0) -> Memory:
    return Memory(
        id="m", name="m", kind=Kind.PATTERN, trigger="t", resolution="r", recorded_at=NOW, half_life_days=half_life
    )


@pytest.mark.parametrize(("quality", "expected"), [(5, 2.6), (4, 2.5), (3, 2.36), (2, 2.18), (1, 1.96), (0, 1.7)])
def test_easiness_moves_as_published(quality: int, expected: float) -> None:
    assert easiness_after(2.5, quality) == pytest.approx(expected)


@given(st.floats(LEAST_EASINESS, 10), st.integers(0, 5))
def test_easiness_never_falls_below_its_floor_and_rises_with_quality(easiness: float, quality: int) -> None:
    assert easiness_after(easiness, quality) >= LEAST_EASINESS
    if quality:
        assert easiness_after(easiness, quality) >= easiness_after(easiness, quality - 1)


def test_a_passing_use_lengthens_the_half_life_and_resets_the_clock() -> None:
    later = NOW + timedelta(days=3)
    after = reinforced(memory(), 5, later)
    assert (after.half_life_days, after.last_used_at) == (pytest.approx(90 * 2.6), later)


def test_a_failed_use_changes_the_easiness_only() -> None:
    after = reinforced(memory(), 1, NOW)
    assert (after.easiness, after.half_life_days, after.last_used_at) == (pytest.approx(1.96), 90.0, None)


def test_the_half_life_is_capped_and_one_that_never_fades_stays_so() -> None:
    strong = memory()
    for _ in range(20):
        strong = reinforced(strong, 5, NOW)
    assert strong.half_life_days == LONGEST_HALF_LIFE_DAYS
    assert reinforced(memory(0.0), 5, NOW).half_life_days == 0.0
