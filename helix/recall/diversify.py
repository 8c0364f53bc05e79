"""Diversify: maximal marginal relevance, so that one thing said ten times does not fill the answer."""

from __future__ import annotations

import numpy as np

from helix.store.matrix import VectorArray
from helix.store.node_columns import BoolArray, FloatArray, IndexArray

REDUNDANT_FROM = 0.9
"""Cosine at which two texts begin to say the same thing; it belongs to the embedding space.

Plain cosine as redundancy pushed relevant answers about one subject apart (up to 4 points of recall@5 lost on multi-hop
questions); counted from here, it costs nothing and still removes repetition.
"""


def redundancy(vectors: VectorArray, known: BoolArray) -> FloatArray:
    """Return 0..1 for each pair of rows: 0 up to a cosine of REDUNDANT_FROM, 1 at 1; 0 where a vector is missing."""
    cosines = (vectors @ vectors.T).astype(np.float64)
    scaled = np.clip((cosines - REDUNDANT_FROM) / (1.0 - REDUNDANT_FROM), 0.0, 1.0)
    scaled[~known] = 0.0
    scaled[:, ~known] = 0.0
    return scaled


def maximal_marginal_relevance(relevance: FloatArray, similar: FloatArray, trade_off: float) -> IndexArray:
    """Return all places in the order of greedy selection (Carbonell and Goldstein 1998).

    Each step takes the place with the highest trade_off * relevance - (1 - trade_off) * (its largest similarity to what
    was taken before); of equals the first. `relevance` is in 0..1, `similar` a square matrix in 0..1. O(n²).
    """
    count = len(relevance)
    order = np.empty(count, np.int64)
    nearest = np.zeros(count)
    gain = trade_off * relevance
    left = np.ones(count, np.bool_)
    for step in range(count):
        worth = np.where(left, gain - (1.0 - trade_off) * nearest, -np.inf)
        chosen = int(np.argmax(worth))
        order[step] = chosen
        left[chosen] = False
        np.maximum(nearest, similar[chosen], out=nearest)
    return order


def diversified(scores: FloatArray, vectors: VectorArray, known: BoolArray, trade_off: float) -> IndexArray:
    """Return the places of candidates, given best first, reordered; relevance is the score over the best one."""
    if len(scores) < 2 or scores[0] <= 0 or trade_off >= 1.0:
        return np.arange(len(scores))
    return maximal_marginal_relevance(scores / scores[0], redundancy(vectors, known), trade_off)
