"""PageRank: a walk with restart from a few seeds, as synchronous push over the active rows only."""

from __future__ import annotations

import numpy as np

from helix.store.node_columns import BoolArray, FloatArray, IndexArray, distinct
from helix.store.projection import GraphSnapshot

DAMPING = 0.5
"""Chance that the walk goes on at each step: half of it stays within one edge of the seeds."""

EPSILON = 1e-5
"""Mass per edge, of a whole of 1, below which a row is left alone while pushing."""

ON_ITS_WAY = 1e-3
"""Mass of all active rows together that no more steps are worth."""

LAST_STEPS = 2
NEGLIGIBLE = 1e-6
"""At the end what was left alone is spread so many steps further, but for rows of less mass than this."""

CHEAP = 20_000
CHEAP_NEGLIGIBLE = 1e-12
"""Until so many edges were looked at, whatever is more than this is spread on: in a small graph the best hundred rows
are most of it, and those that hardly anything reaches are among them."""

MAX_TOUCHED = 400_000
"""Bound on the edges that pushing looks at, which bounds its time whatever the graph."""

DENSE_FROM = 1 / 32
"""Share of all rows from which adding up over all of them is faster than over those that were reached."""


def personalised(
    graph: GraphSnapshot,
    seeds: IndexArray,
    mass: FloatArray,
    walkable: BoolArray,
    *,
    damping: float = DAMPING,
    epsilon: float = EPSILON,
) -> FloatArray:
    """Return each row's share of recall's PageRank walk from the seeds, (len(walkable),), summing to at most 1.

    Personalised PageRank p = (1 - d) s + d Pᵀ p with seeds s proportional to `mass` and P following edges by their
    walk weight, by push (Andersen, Chung and Lang 2006), every active row at once: a row stops spreading once it holds
    less than `epsilon` per edge. What is left, most of it at hubs, is spread a little further at the end. Only rows
    that mass reaches are looked at. Rows that are not walkable absorb what reaches them and show 0.
    """
    settled, waiting = np.zeros(len(walkable)), np.zeros(len(walkable))
    allowed = walkable[seeds] & (mass > 0)
    total = mass[allowed].sum()
    if total <= 0:
        return settled
    held = _add(waiting, seeds[allowed], mass[allowed] / total)
    touched = 0
    while touched < MAX_TOUCHED:
        active = held[waiting[held] > epsilon * np.maximum(graph.degree_of(held), 1)]
        if waiting[active].sum() < ON_ITS_WAY:
            break
        edges, reached = _push(graph, active, settled, waiting, damping, walkable)
        touched += edges
        held = np.flatnonzero(waiting) if reached is None else distinct(np.concatenate((held, reached)))
    steps = 0
    while steps < LAST_STEPS or touched < CHEAP:
        left = held[waiting[held] > (CHEAP_NEGLIGIBLE if touched < CHEAP else NEGLIGIBLE)]
        if not len(left):
            break
        edges, reached = _push(graph, left, settled, waiting, damping, walkable)
        steps, touched = steps + 1, touched + edges
        held = np.flatnonzero(waiting) if reached is None else reached
    settled += (1 - damping) * waiting
    return settled


def _push(
    graph: GraphSnapshot,
    rows: IndexArray,
    settled: FloatArray,
    waiting: FloatArray,
    damping: float,
    walkable: BoolArray,
) -> tuple[int, IndexArray | None]:
    """Settle what waits at the rows and send the rest on; return the edges it took, and the rows it arrived at.

    None for the rows: there are so many that whoever wants them looks at all.
    """
    spread = waiting[rows]
    settled[rows] += (1 - damping) * spread
    waiting[rows] = 0
    to_rows, shares = graph.spread(rows, damping * spread)
    if len(to_rows) > DENSE_FROM * len(waiting):
        waiting += np.bincount(to_rows, shares, len(waiting)) * walkable
        return len(to_rows), None
    walked = walkable[to_rows]
    return len(to_rows), _add(waiting, to_rows[walked], shares[walked])


def _add(values: FloatArray, rows: IndexArray, shares: FloatArray) -> IndexArray:
    """Add the shares to the values of their rows, which may be named more than once; return the rows, each once."""
    np.add.at(values, rows, shares)
    return distinct(rows)
