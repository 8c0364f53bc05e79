"""Ordering: the first rows of memories or episodes in an order, found without sorting all of them."""

from __future__ import annotations

from heapq import nsmallest
from typing import Any

import numpy as np

from helix.model.memory import MemoryOrder, TimeKind
from helix.store.index import Rows, StoreIndex
from helix.store.node_columns import FloatArray, IndexArray

Placed = tuple[Any, int]
"""What a row is ordered by, and the row."""


def first_by(
    index: StoreIndex, order: MemoryOrder, time: TimeKind, rows: Rows, most: int, after: Placed | None = None
) -> list[Placed]:
    """Return at most so many of the rows, behind `after` in an order, each with its value there."""
    here = np.flatnonzero(rows.mask)
    if order is MemoryOrder.NAME:
        names = [(index.view.lookups.names[row].casefold(), row) for row in here.tolist()]
        return nsmallest(most, names if after is None else [one for one in names if one > after])
    values = _values(index, order, time)[here]
    if after is not None:
        behind = (values > after[0]) | ((values == after[0]) & (here > after[1]))
        here, values = here[behind], values[behind]
    if len(here) > most:
        # Ties at the edge have to stay in, so that the sort below decides them the same way on every page.
        keep = values <= np.partition(values, most - 1)[most - 1]
        here, values = here[keep], values[keep]
    chosen = np.lexsort((here, values))[:most]
    return list(zip(values[chosen].tolist(), here[chosen].tolist(), strict=True))


def _values(index: StoreIndex, order: MemoryOrder, time: TimeKind) -> IndexArray | FloatArray:
    columns = index.view.columns
    match order:
        case MemoryOrder.MOST_USED:
            return -columns.uses.astype(np.int64)
        case MemoryOrder.LEAST_EFFECTIVE:
            return (columns.helped + 0.5) / (columns.helped + columns.failed + 1)
        case MemoryOrder.NEWEST:
            return -index.times(time)
    return index.times(time)
