"""Metrics: recall at a depth and nDCG of a ranking, and bootstrap intervals over the questions."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Values = npt.NDArray[np.float64]

MEASURES = ("recall@5", "recall@10", "recall@20", "ndcg@10")
DEPTHS = (5, 10, 20)
_GAIN_DEPTH = 10
_LOWER, _UPPER = 2.5, 97.5
_CHUNK = 250


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean with the bounds of its 95 % percentile bootstrap interval."""

    value: float
    lower: float
    upper: float


def of_ranking(ranked: Sequence[str], relevant: Collection[str]) -> list[float]:
    """Return the measures of one ranking, in the order of MEASURES; gains are binary, `relevant` is not empty.

    nDCG as in Järvelin and Kekäläinen 2002 with log2(rank + 1), against the best ranking of as many relevant ones.
    """
    recalls = [len(set(relevant).intersection(ranked[:depth])) / len(relevant) for depth in DEPTHS]
    gain = sum(_discount(place) for place, name in enumerate(ranked[:_GAIN_DEPTH]) if name in relevant)
    best = sum(_discount(place) for place in range(min(_GAIN_DEPTH, len(relevant))))
    return [*recalls, gain / best]


def estimates(values: Values, *, resamples: int, seed: int) -> list[Estimate]:
    """Return the mean over the questions of each column of `values`, shape (questions, columns)."""
    return _estimates(values.mean(0), _resampled(values, resamples, seed))


def macro(sets: Sequence[Values], *, resamples: int, seed: int) -> list[Estimate]:
    """Return the mean over the sets of their means; questions are drawn anew within each set."""
    means = np.mean([_resampled(values, resamples, seed + place) for place, values in enumerate(sets)], axis=0)
    return _estimates(np.mean([values.mean(0) for values in sets], axis=0), means)


def _discount(place: int) -> float:
    return 1.0 / math.log2(place + 2)


def _resampled(values: Values, resamples: int, seed: int) -> Values:
    """Return the means of `resamples` draws of as many questions, shape (resamples, columns)."""
    return np.concatenate(list(_draws(values, resamples, np.random.default_rng(seed))))


def _draws(values: Values, resamples: int, rng: np.random.Generator) -> Iterator[Values]:
    for start in range(0, resamples, _CHUNK):
        drawn = rng.integers(0, len(values), (min(_CHUNK, resamples - start), len(values)))
        yield values[drawn].mean(1)


def _estimates(means: Values, resampled: Values) -> list[Estimate]:
    lower, upper = np.percentile(resampled, (_LOWER, _UPPER), axis=0)
    return [Estimate(*map(float, row)) for row in zip(means, lower, upper, strict=True)]
