"""Eligibility: the one rule of which rows a query may be answered with, for a whole table or a few rows of it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import numpy as np

from helix.model.clock import to_micros
from helix.model.edge import Label
from helix.model.memory import Status, TimeKind, scopes_seen
from helix.model.recall import RecallQuery
from helix.store.node_columns import (
    KIND_CODE,
    LABEL_CODE,
    NO_CODE,
    NO_END,
    NO_START,
    STATUS_CODE,
    TRUST_CODE,
    BoolArray,
    CodeArray,
    IndexArray,
    MicrosArray,
    NodeColumns,
    RowArray,
    Vocabulary,
)

_MEMORY = LABEL_CODE[Label.MEMORY]
_EPISODE = LABEL_CODE[Label.EPISODE]
_RETIRED = STATUS_CODE[Status.RETIRED]
_HIDDEN = (STATUS_CODE[Status.FORGOTTEN], STATUS_CODE[Status.QUARANTINED])


def eligible(
    columns: NodeColumns, scopes: Vocabulary, query: RecallQuery, now: datetime, rows: IndexArray | None = None
) -> BoolArray:
    """Return for every row of the catalogue (or for `rows`) whether it passes every filter of the query.

    Valid time is read at `as_of`, else at `known_at`, else now. With `known_at` a row counts from its recording until
    its retirement, and whether it had faded is judged then; without it the present status counts. `as_of` also hides
    episodes that occurred later; without it they stay, so that a source with a fast clock loses nothing.
    """
    moment = to_micros(now)
    known = moment if query.known_at is None else to_micros(query.known_at)
    valid = known if query.as_of is None else to_micros(query.as_of)
    view = columns if rows is None else columns.at(rows)
    mask = _of_labels(view, query) & _of_scope(view, scopes, query.scope) & _of_status(view, query)
    mask &= (view.valid_from <= valid) & (view.valid_to > valid)
    if query.as_of is not None:
        mask &= (view.label != _EPISODE) | (view.occurred_at <= valid)
    if query.known_at is not None:
        mask &= view.recorded_at <= known
    if query.trust:
        mask &= any_of(view.trust, [TRUST_CODE[trust] for trust in query.trust])
    if query.since is not None or query.until is not None:
        mask &= _within(view, query)
    if not query.deep and Status.ARCHIVED not in query.status:
        mask &= view.fades_at >= known
    return mask


def walkable(columns: NodeColumns, scopes: Vocabulary, scope: str | None) -> BoolArray:
    """Return for every row of the catalogue whether a walk on behalf of a scope may pass through it.

    Time, kind and label do not stop a walk (what is superseded still connects), but another project's rows and what
    was forgotten or quarantined do.
    """
    mask = _of_scope(columns, scopes, scope)
    for code in _HIDDEN:
        mask &= columns.status != code
    return mask


def event_times(columns: NodeColumns) -> MicrosArray:
    """Return when what each catalogue row tells of happened: its own time, else its validity's start or recording."""
    own = np.maximum(columns.occurred_at, columns.valid_from)
    return np.where(own == NO_START, columns.recorded_at, own)


def _within(columns: NodeColumns, query: RecallQuery) -> BoolArray:
    times = columns.recorded_at if query.time is TimeKind.RECORDED else event_times(columns)
    first = NO_START if query.since is None else to_micros(query.since)
    last = NO_END if query.until is None else to_micros(query.until)
    return (times >= first) & (times <= last)


def _of_labels(columns: NodeColumns, query: RecallQuery) -> BoolArray:
    if not query.kinds:
        return any_of(columns.label, [LABEL_CODE[label] for label in query.labels])
    if Label.MEMORY not in query.labels:
        return np.zeros(len(columns.label), np.bool_)
    mask: BoolArray = (columns.label == _MEMORY) & any_of(columns.kind, [KIND_CODE[kind] for kind in query.kinds])
    return mask


def any_of(column: CodeArray | RowArray, codes: Sequence[int]) -> BoolArray:
    """Return where the column has one of a few codes: comparing is several times faster than looking each value up."""
    mask = np.zeros(len(column), np.bool_)
    for code in codes:
        mask |= column == code
    return mask


def _of_scope(columns: NodeColumns, scopes: Vocabulary, scope: str | None) -> BoolArray:
    if scope is None:
        return np.ones(len(columns.scope), np.bool_)
    codes = {scopes.code(one) for one in scopes_seen(scope)} - {NO_CODE}
    return any_of(columns.scope, sorted(codes))


def _of_status(columns: NodeColumns, query: RecallQuery) -> BoolArray:
    allowed = query.status or ((Status.ACTIVE, Status.ARCHIVED) if query.deep else (Status.ACTIVE,))
    mask = any_of(columns.status, [STATUS_CODE[status] for status in allowed])
    if query.known_at is not None:
        known = to_micros(query.known_at)
        if Status.ACTIVE in allowed:
            mask |= (columns.status == _RETIRED) & (columns.retired_at != NO_END)
        mask &= columns.retired_at > known
    return mask
