"""Worth: of what may be shown, what is worth most by itself, whatever is asked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

import numpy as np

from helix.model.clock import DAY_MICROS, to_micros
from helix.model.memory import GLOBAL_SCOPE, Kind
from helix.model.provenance import Trust
from helix.model.recall import RecallQuery
from helix.recall.scoring import TRUST_VALUE, recency_half_lives
from helix.store.eligibility import eligible, event_times
from helix.store.index import Rows, StoreIndex
from helix.store.node_columns import KIND_CODE, KINDS, TRUST_CODE, TRUSTS, BoolArray, IndexArray, shrunk_effectiveness

SPOKEN_AGAINST = 0.3
"""Effectiveness, (helped + 1/2) / (helped + failed + 1), below which evidence speaks against a memory."""
_ELSEWHERE = 0.5
"""What a memory of `global` is worth beside one of the project itself."""


def answerable_rows(index: StoreIndex, rows: Iterable[int], query: RecallQuery, now: datetime) -> list[int]:
    """Return those of the rows that a recall query may be answered with, ascending.

    What outcomes speak against is not among them, unless the user stands for it.
    """
    array = np.flatnonzero(rows.mask) if isinstance(rows, Rows) else np.unique(np.fromiter(rows, np.int64))
    return [int(row) for row in _heard(index, array, query, now)]


def _heard(index: StoreIndex, rows: IndexArray, query: RecallQuery, now: datetime) -> IndexArray:
    view = index.view
    rows = rows[rows < view.count]
    rows = rows[eligible(view.columns, view.lookups.scopes, query, now, rows)]
    columns = view.columns.at(rows)
    users: BoolArray = columns.trust == TRUST_CODE[Trust.USER_ASSERTED]
    fit: IndexArray = rows[users | (shrunk_effectiveness(columns.helped, columns.failed) >= SPOKEN_AGAINST)]
    return fit


def worthiest(
    index: StoreIndex, query: RecallQuery, trusts: Sequence[Trust], now: datetime, limit: int
) -> list[tuple[int, float]]:
    """Return the rows of a recall query's kinds and of these classes of trust that are worth most, and their worth.

    What the user said comes first. The worth, 0 to 1, is importance/10 * confidence * trust * effectiveness *
    (1 + recency)/2, halved for what is not the project's own.
    """
    view = index.view
    of_kind = np.isin(view.columns.kind, [KIND_CODE[kind] for kind in query.kinds])
    of_trust = np.isin(view.columns.trust, [TRUST_CODE[trust] for trust in trusts])
    rows = _heard(index, np.flatnonzero(of_kind & of_trust), query, now)
    columns = view.columns.at(rows)
    idle = np.maximum(to_micros(now) - np.maximum(event_times(columns), columns.last_used_at), 0)
    recency = np.exp2(-idle / DAY_MICROS / recency_half_lives(columns))
    trust = np.array([TRUST_VALUE[one] for one in TRUSTS])[columns.trust]
    elsewhere = columns.scope == view.lookups.scopes.code(GLOBAL_SCOPE)
    own = np.where(elsewhere & (query.scope not in (None, GLOBAL_SCOPE)), _ELSEWHERE, 1.0)
    effectiveness = shrunk_effectiveness(columns.helped, columns.failed)
    worth = columns.importance / 10 * columns.confidence * trust * effectiveness * (1 + recency) / 2 * own
    derived = columns.trust != TRUST_CODE[Trust.USER_ASSERTED]
    best = np.lexsort((rows, -worth, derived))[:limit]
    return [(int(rows[place]), float(worth[place])) for place in best]


def by_exactness(index: StoreIndex, levels: Mapping[int, int], order: Sequence[Kind]) -> list[int]:
    """Return recalled rows by level (0 is the most exact), those of the first kind of `order` before all.

    Of one level, kinds come by `order`, then what has helped more, what is worth more, what was recorded later. Right
    behind the first of several of the first kind stands the best of the others.
    """
    rows, columns = np.array(sorted(levels), np.int64), index.view.columns
    rank = {kind: place for place, kind in enumerate(order)}
    kinds = np.array([rank.get(kind, len(order)) for kind in KINDS])[columns.kind[rows]]
    effectiveness = shrunk_effectiveness(columns.helped[rows], columns.failed[rows])
    worth = columns.importance[rows] * columns.confidence[rows]
    level = np.array([levels[row] for row in rows.tolist()])
    ranked = np.lexsort((-rows, -columns.recorded_at[rows], -worth, -effectiveness, kinds, level, kinds > 0))
    first = int(np.count_nonzero(kinds == 0))
    if 1 < first < len(ranked):
        ranked[1 : first + 1] = np.roll(ranked[1 : first + 1], 1)
    return [int(row) for row in rows[ranked]]
