"""Near pairs: memories of one kind and scope whose texts are nearly the same, found once and remembered.

All are compared with each other once. After that only what is new, or has changed its place, is compared with the rest.
"""

from __future__ import annotations

import threading

import numpy as np

from helix.store.index import Rows, StoreIndex
from helix.store.matrix import VectorArray
from helix.store.node_columns import KINDS, IndexArray

MOST_PAIRED = 20_000
"""Memories of one kind in one scope that are compared with each other at most: their squares are what it takes."""
_BLOCK = 1_024
_NONE = -1


class NearPairs:
    """The pairs of one store that are at least so similar. Safe from any thread."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._begin(_NONE, 1.0)

    def of(self, index: StoreIndex, rows: Rows, least: float) -> list[tuple[int, int, float]]:
        """Return (row, row, cosine) of the pairs among the store's rows whose cosine is at least that.

        A long text is known by the vectors of its pieces and has no pair. Of more than MOST_PAIRED of a kind in a scope
        the last are compared. What is remembered is what was asked last: ask for the same cosine and kind of rows.
        """
        with self._guard:
            if (self._generation, self._least) != (index.generation, least):
                self._begin(index.generation, least)
            self._follow(index, _groups(index, rows))
            owners = index.view.passages.owner[self._pairs].T.tolist()
            return list(zip(*owners, self._cosines.tolist(), strict=True))

    def _begin(self, generation: int, least: float) -> None:
        self._generation, self._least = generation, least
        self._groups: IndexArray = np.empty(0, np.int64)
        self._pairs: IndexArray = np.empty((0, 2), np.int64)
        self._cosines: VectorArray = np.empty(0, np.float32)

    def _follow(self, index: StoreIndex, now: IndexArray) -> None:
        """Take away the pairs of passages that are in another group than before, and compare these in their new one."""
        size = max(len(now), len(self._groups))  # a reader may come late, with fewer passages than the one before
        before, now = (np.pad(groups, (0, size - len(groups)), constant_values=_NONE) for groups in (self._groups, now))
        moved = before != now
        stays = ~moved[self._pairs].any(axis=1)
        pairs, cosines = [self._pairs[stays]], [self._cosines[stays]]
        for group in np.unique(now[moved & (now != _NONE)]).tolist():
            known, new = (np.flatnonzero((now == group) & (moved == fresh)) for fresh in (False, True))
            members = np.concatenate((known, new))
            vectors = index.view.passages.vectors.rows(members)
            for start in range(len(known), len(members), _BLOCK):
                products = vectors[start : start + _BLOCK] @ vectors[: start + _BLOCK].T
                here, there = np.nonzero(np.tril(products >= self._least, start - 1))
                pairs.append(np.stack((members[start + here], members[there]), axis=1))
                cosines.append(products[here, there])
        self._pairs, self._cosines, self._groups = np.concatenate(pairs), np.concatenate(cosines), now


def _groups(index: StoreIndex, rows: Rows) -> IndexArray:
    """Return for every passage which others it is compared with, as a number of their kind and scope; -1 for none."""
    columns, passages = index.view.columns, index.view.passages
    owned = passages.of_rows(np.flatnonzero(rows.mask), index.count)
    _, first, pieces = np.unique(passages.owner[owned], return_index=True, return_counts=True)
    single = np.sort(owned[first[pieces == 1]])
    single = single[passages.embedded[single]]
    owner = passages.owner[single]
    found = np.full(passages.count, _NONE, np.int64)
    found[single] = columns.scope[owner].astype(np.int64) * len(KINDS) + columns.kind[owner]
    groups, counts = np.unique(found[single], return_counts=True)
    for group in groups[counts > MOST_PAIRED].tolist():
        found[np.flatnonzero(found == group)[:-MOST_PAIRED]] = _NONE
    return found
