"""The vector arm: an exact scan where that is as fast or the filter is narrow, else the index, checked for losses."""

from __future__ import annotations

import math

import numpy as np

from helix.errors import EmbeddingSpaceError, EngineError, GraphUnavailableError
from helix.recall.arms import ARM_LIMIT, RankedList, by_owner
from helix.store.catalogue import CatalogueView
from helix.store.engine import VectorSearch
from helix.store.matrix import VectorArray
from helix.store.node_columns import BoolArray, FloatArray, IndexArray
from helix.store.passages import NO_INDEX

EXACT_BELOW = 1_000_000
"""Passages up to which all are scanned: the codes of 100,000 take 1.5 ms, Kuzu's index 13 to 20 ms at any size."""

LOOKED_AT = 4
"""How many of the best by their codes are looked at themselves, as a multiple of the limit: none of the best hundred of
100,000 was ever below the two-hundredth (measured)."""

NARROW_SHARE = 0.5
"""Share of passages that pass the filter below which only those are scanned, however large the store is."""

OVER_FETCH = 1.5
"""How many more than needed are asked of the index, for passages of one owner and for chance."""


def check_dimension(view: CatalogueView, vector: VectorArray) -> None:
    """Raise EmbeddingSpaceError unless a recall query's vector has the dimension of the store's."""
    if vector.shape != (view.dimension,):
        raise EmbeddingSpaceError(
            f"the query's vector has shape {vector.shape}, the store's have {view.dimension} numbers",
            hint="`helix reembed` brings a store to another model",
        )


def candidates(view: CatalogueView, mask: BoolArray) -> IndexArray:
    """Return the indexes, ascending, of the embedded passages whose owners pass a recall's mask."""
    passages = view.passages
    return np.flatnonzero(mask[passages.owner] & passages.alive & passages.embedded)


def scan(view: CatalogueView, indexes: IndexArray, vector: VectorArray, limit: int = ARM_LIMIT) -> RankedList:
    """Scan the passages at `indexes` (ascending) for the rows nearest to a recall question's vector by cosine.

    All are compared by their codes, and so many of the best as `limit` rows take by themselves.
    """
    vectors, take = view.passages.vectors, LOOKED_AT * limit
    estimates = vectors.estimates_of(indexes, vector) if len(indexes) > take else None
    while True:
        looked_at = indexes
        if estimates is not None and take < len(indexes):
            looked_at = indexes[estimates >= np.partition(estimates, -take)[-take]]
        ranked = by_owner("vector", view, looked_at, vectors.products_of(looked_at, vector), limit)
        if len(ranked.rows) == limit or len(looked_at) == len(indexes):
            return ranked
        take *= 4


def vector_arm(
    view: CatalogueView,
    mask: BoolArray,
    index: VectorSearch,
    vector: VectorArray,
    *,
    limit: int = ARM_LIMIT,
    exact_below: int = EXACT_BELOW,
) -> tuple[RankedList, str]:
    """Return the recall arm of rows nearest to the vector, and a note where the index could not be asked (or "").

    What the filter leaves of the index's answer is used only if it is as many rows as were wanted, or as there are.
    """
    indexes = candidates(view, mask)
    alive = view.words.living
    note = ""
    if alive > exact_below and len(indexes) > NARROW_SHARE * alive:
        try:
            found = _from_index(view, mask, index, vector, math.ceil(limit * OVER_FETCH * alive / len(indexes)))
        except (GraphUnavailableError, EngineError) as error:
            note = f"vectors were scanned one by one: {error.message}"
        else:
            ranked = by_owner("vector", view, *found, limit)
            if len(ranked.rows) == limit:
                return ranked, note
    return scan(view, indexes, vector, limit), note


def cosines(view: CatalogueView, rows: IndexArray, vector: VectorArray) -> tuple[FloatArray, IndexArray]:
    """Return each row's best cosine with a recall question's vector and that passage's index (NaN, NO_INDEX: none)."""
    best, passages = np.full(len(rows), np.nan), np.full(len(rows), NO_INDEX, np.int64)
    indexes = view.passages.of_rows(rows, view.count)
    indexes = indexes[view.passages.embedded[indexes]]
    if not len(indexes):
        return best, passages
    scores = view.passages.vectors.products_of(indexes, vector)
    ranked = by_owner("vector", view, indexes, scores, len(rows))
    place = np.full(view.count, NO_INDEX, np.int64)
    place[rows] = np.arange(len(rows))
    best[place[ranked.rows]] = ranked.scores
    passages[place[ranked.rows]] = ranked.passages
    return best, passages


def _from_index(
    view: CatalogueView, mask: BoolArray, index: VectorSearch, vector: VectorArray, k: int
) -> tuple[IndexArray, FloatArray]:
    found = index.vector_search(vector.tolist(), k)
    indexes = view.passages.indexes_of_ids([passage_id for passage_id, _ in found])
    scores = np.array([cosine for _, cosine in found], np.float64)
    held = indexes != NO_INDEX
    indexes, scores = indexes[held], scores[held]
    passes = mask[view.passages.owner[indexes]] & view.passages.embedded[indexes]
    return indexes[passes], scores[passes]
