"""Nearby: the nodes within a few steps of one over the store's edges, and the edges among some nodes."""

from __future__ import annotations

from collections.abc import Iterable
from heapq import nlargest
from itertools import islice

import numpy as np

from helix.model.edge import Ref
from helix.model.memory import GLOBAL_SCOPE, Status
from helix.model.operations import DropEdge
from helix.store.csr import RELATIONS
from helix.store.index import StoreIndex

MOST_EDGES = 2_000


def edges_among(index: StoreIndex, refs: Iterable[Ref], most: int = MOST_EDGES) -> list[DropEdge]:
    """Return at most so many edges of the store that lead from one of the nodes to another, by their ends."""
    rows = [row for ref in refs if (row := index.row_of(ref)) is not None]
    held = np.zeros(index.count, np.bool_)
    held[rows] = True
    found = index.graph.neighbours(rows)
    found = found.where(found.outgoing & (found.rows < index.count))
    found = found.where(held[found.rows])
    ends = zip(found.origin.tolist(), found.rows.tolist(), found.relations.tolist(), strict=True)
    return [
        DropEdge(type=RELATIONS[code], source=index.ref_of(rows[origin]), target=index.ref_of(row))
        for origin, row, code in islice(ends, most)
    ]


def nodes_near(
    index: StoreIndex, ref: Ref, *, steps: int, scope: str | None, limit: int
) -> tuple[dict[Ref, int], bool]:
    """Return the store's nodes nearest to one by the edges to them, at most `limit`, and whether there are more.

    What is quarantined is no step of a way; with a scope, a way stays within it and `global`.
    """
    centre, away = index.row_of(ref), dict[int, int]()
    seen = index.of_status(Status.QUARANTINED).mask.copy()
    if scope is not None:
        seen |= ~(index.of_scope(scope) | index.of_scope(GLOBAL_SCOPE)).mask
    ring = np.array([] if centre is None else [centre], np.int64)
    for step in range(1, steps + 1):
        seen[ring] = True
        ring = np.unique(index.graph.neighbours(ring).rows)
        ring = ring[ring < index.count]
        ring = ring[~seen[ring]]
        nearest = nlargest(limit + 1 - len(away), ring.tolist(), key=index.id_of)
        away |= dict.fromkeys(nearest, step)
        if len(away) > limit:
            break
    return {index.ref_of(row): step for row, step in islice(away.items(), limit)}, len(away) > limit
