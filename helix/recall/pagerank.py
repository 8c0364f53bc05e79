"""PageRank: a walk with restart from a few seeds, as synchronous push over the active rows only."""

from __future__ import annotations

import numpy as np

from helix.store.columns import BoolArray, FloatArray, IndexArray
from helix.store.projection import GraphSnapshot

DAMPING = 0.5
"""Chance that the walk goes on at each step: half of it stays within one edge of the seeds."""

EPSILON = 3e-6
"""Mass per edge, of a whole of 1, below which a row is left alone while pushing."""

DENSE_STEPS = 2
"""Steps over the whole graph that spread what pushing left behind, most of it at hubs."""

NEGLIGIBLE = 1e-3
"""Mass left behind that no step is worth."""

MAX_TOUCHED = 400_000
"""Bound on the edges that pushing looks at, which bounds its time whatever the graph."""


def personalised(
    graph: GraphSnapshot,
    seeds: IndexArray,
    mass: FloatArray,
    walkable: BoolArray,
    *,
    damping: float = DAMPING,
    epsilon: float = EPSILON,
) -> FloatArray:
    """Return the share of time a walk from the seeds spends at each row, shape (len(walkable),), summing to at most 1.

    Personalised PageRank p = (1 - d) s + d Pᵀ p with seeds s proportional to `mass` and P following edges by their
    walk weight. First by push (Andersen, Chung and Lang 2006), every active row at once: a row stops spreading once it
    holds less than `epsilon` per edge. Then a few dense steps for what waits at hubs. Rows that are not walkable absorb
    what reaches them and show 0.
    """
    row_count = len(walkable)
    settled = np.zeros(row_count)
    waiting = np.zeros(row_count)
    allowed = walkable[seeds] & (mass > 0)
    np.add.at(waiting, seeds[allowed], mass[allowed])
    total = waiting.sum()
    if total <= 0:
        return settled
    waiting /= total
    active = np.flatnonzero(waiting)
    touched = 0
    while len(active) and touched < MAX_TOUCHED:
        spread = waiting[active]
        settled[active] += (1 - damping) * spread
        waiting[active] = 0
        rows, shares = graph.spread(active, damping * spread)
        touched += len(rows)
        waiting += np.bincount(rows, shares, row_count)[:row_count]
        waiting *= walkable
        active = np.flatnonzero(waiting > epsilon)
        active = active[waiting[active] > epsilon * graph.degree_of(active)]
    for _ in range(DENSE_STEPS):
        if waiting.sum() < NEGLIGIBLE:
            break
        settled += (1 - damping) * waiting
        waiting = damping * graph.step(waiting) * walkable
    settled += (1 - damping) * waiting
    return settled
