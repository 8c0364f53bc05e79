"""Intervals: how far a share, or the difference of two, is known from so many cases."""

from __future__ import annotations

from math import sqrt

Z95 = 1.959963984540054
"""Standard normal quantile of a two-sided interval of 95 %."""


def wilson(hits: int, cases: int, z: float = Z95) -> tuple[float, float]:
    """Return the score interval of a share, within 0..1; (0, 1) where there are no cases.

    E. B. Wilson, Probable inference, the law of succession, and statistical inference, J. Am. Stat. Assoc. 22 (1927).
    """
    if cases == 0:
        return 0.0, 1.0
    share, spread = hits / cases, z * z / cases
    middle = (share + spread / 2) / (1 + spread)
    half = z * sqrt(share * (1 - share) / cases + spread / (4 * cases)) / (1 + spread)
    # At the ends the bound is the share itself; rounding must not put it a hair off.
    return 0.0 if hits == 0 else max(0.0, middle - half), 1.0 if hits == cases else min(1.0, middle + half)


def newcombe(hits: int, cases: int, other_hits: int, other_cases: int, z: float = Z95) -> tuple[float, float]:
    """Return the interval of the first share less the second, within -1..1; (-1, 1) where either has no cases.

    R. G. Newcombe, Interval estimation for the difference between independent proportions: comparison of eleven
    methods, Stat. Med. 17 (1998), method 10: the two score intervals, without continuity correction, put together.
    """
    if cases == 0 or other_cases == 0:
        return -1.0, 1.0
    here, there = hits / cases, other_hits / other_cases
    low, high = wilson(hits, cases, z)
    other_low, other_high = wilson(other_hits, other_cases, z)
    below = sqrt((here - low) ** 2 + (other_high - there) ** 2)
    above = sqrt((high - here) ** 2 + (there - other_low) ** 2)
    return here - there - below, here - there + above
