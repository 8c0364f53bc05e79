"""Communities: things that share more with each other than chance would have it, by modularity (Louvain). Pure."""

from __future__ import annotations

from collections.abc import Sequence, Set

import numpy as np

from helix.store.node_columns import FloatArray, IndexArray

_LEAST_GAIN = 1e-12
_MOST_ROUNDS = 50


def shared(features: Sequence[Set[str]]) -> FloatArray:
    """Return, for recall's communities, how many features each pair of things shares, (n, n), zeros on the diagonal.

    Each feature two of them share counts ln((n + 1) / how many have it): what all have says next to nothing.
    """
    count = len(features)
    names = sorted(set().union(*features)) if features else []
    column = {name: place for place, name in enumerate(names)}
    table = np.zeros((count, len(names)))
    for row, held in enumerate(features):
        table[row, [column[name] for name in held]] = 1.0
    having = table.sum(axis=0)
    table = table[:, having > 1]
    weights = np.log((count + 1) / having[having > 1])
    common: FloatArray = (table * weights) @ table.T
    np.fill_diagonal(common, 0.0)
    return common


def weighty_communities(features: Sequence[Set[str]]) -> list[list[int]]:
    """Return the places of things in recall's communities by what they share, those with most in common first."""
    weights = shared(features)
    found = communities(weights)
    return sorted(found, key=lambda held: (-round(float(weights[np.ix_(held, held)].sum()), 6), held))


def communities(weights: FloatArray) -> list[list[int]]:
    """Return the places of things in recall's communities of greatest modularity (Blondel et al. 2008).

    `weights` is symmetric, not negative. Places are visited in order and of equal gains the first counts, so that the
    same weights always give the same communities. A place without any weight is a community of its own.
    """
    count = len(weights)
    members = [[place] for place in range(count)]
    while True:
        labels = _moved(weights)
        kept = sorted(set(labels.tolist()))
        if len(kept) == len(weights):
            return sorted(members, key=lambda held: held[0])
        indicator = (labels[None, :] == np.array(kept)[:, None]).astype(np.float64)
        members = [sorted(each for place in np.flatnonzero(labels == one) for each in members[place]) for one in kept]
        weights = indicator @ weights @ indicator.T


def _moved(weights: FloatArray) -> IndexArray:
    """Return the label of each place after moving single places for as long as that gains modularity."""
    count = len(weights)
    labels = np.arange(count)
    strength = weights.sum(axis=1)
    whole = strength.sum()
    if whole <= 0:
        return labels
    for _ in range(_MOST_ROUNDS):
        moved = False
        for place in range(count):
            own = labels[place]
            labels[place] = -1
            linked = np.bincount(labels + 1, weights[place], count + 1)[1:]
            heavy = np.bincount(labels + 1, strength, count + 1)[1:]
            gains = linked - strength[place] * heavy / whole
            best = int(np.argmax(gains))
            if gains[best] <= gains[own] + _LEAST_GAIN * whole:
                best = int(own)
            labels[place] = best
            moved |= best != own
        if not moved:
            break
    return labels
