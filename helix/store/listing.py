"""Listing: pages over memories and episodes, with a cursor that new rows do not shift."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import reduce
from operator import and_, or_
from typing import Annotated, Any, cast

from helix.errors import InvalidInputError
from helix.model.clock import to_micros
from helix.model.edge import Label, Ref
from helix.model.memory import Kind, MemoryOrder, Status, TimeKind
from helix.model.paging import cursor_of, cut, key_of, no_cursor
from helix.model.provenance import Trust
from helix.model.reports import Page
from helix.store.index import Rows, StoreIndex
from helix.store.ordering import first_by
from helix.store.runtime import Runtime
from helix.store.store import Store

_MOST_WORDS = 32
_VALUES: Mapping[MemoryOrder, str | float] = {MemoryOrder.NAME: "", MemoryOrder.LEAST_EFFECTIVE: 0.0}
"""What the values of an order are like; of the others they are whole numbers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryFilter:
    """Which memories are meant; what is left out narrows nothing."""

    scope: Annotated[str | None, "Only of this scope."] = None
    kinds: Sequence[Kind] = ()
    status: Annotated[Sequence[Status], "Only memories of these statuses."] = (Status.ACTIVE,)
    any_status: bool = False
    trust: Annotated[Sequence[Trust], "Only memories of these classes of trust; by default all."] = ()
    since: Annotated[datetime | None, "Only what is of this moment or later."] = None
    until: Annotated[datetime | None, "Only what is of this moment or earlier."] = None
    time: TimeKind = TimeKind.RECORDED
    text: Annotated[
        str, "Only what has each of these words in its trigger, its resolution or its name, in any case and inflection."
    ] = ""


EVERYTHING_ACTIVE = MemoryFilter()


def check_limit(runtime: Runtime, limit: int) -> None:
    """Raise InvalidInputError where `limit` is no number of items that may be asked for at once."""
    most = runtime.settings.page_size
    if not 1 <= limit <= most:
        raise InvalidInputError(
            f"limit must be between 1 and {most}, not {limit}",
            hint=f"ask for at most {most} at a time; the setting 'page_size' allows more",
        )


def memories(
    store: Store, wanted: MemoryFilter, limit: int, after: str | None, order: MemoryOrder = MemoryOrder.NEWEST
) -> Page[Any]:
    """Return a page of the memories that are meant; of those that are equal in an order the oldest come first."""
    index = store.index
    rows = reduce(and_, parts(index, wanted).values(), index.where(Label.MEMORY))
    return _ordered(store, rows, Label.MEMORY, order, wanted.time, limit, after)


def _ordered(
    store: Store, rows: Rows, label: Label, order: MemoryOrder, time: TimeKind, limit: int, after: str | None
) -> Page[Any]:
    """Return a page of the rows, which have the label, in an order; NEWEST and OLDEST go by the time."""
    if order is MemoryOrder.NEWEST and time is TimeKind.RECORDED:
        return page(store, rows, (label,), limit, after)
    check_limit(store.runtime, limit)
    index, last = store.index, None
    if after is not None:
        value, ident = key_of(after, (_VALUES.get(order, 0), ""))
        last = value, cast(int, index.row_of(_behind(index, str(ident), (label,))))
    found = first_by(index, order, time, rows, limit + 1, last)
    values = {row: value for value, row in found}
    return _read(store, cut(list(values), limit, len(rows), lambda row: cursor_of((values[row], index.id_of(row)))))


def parts(index: StoreIndex, wanted: MemoryFilter) -> dict[str, Rows]:
    """Return what each part of a filter that narrows anything leaves, by the name of its dimension.

    Dimensions are `scope`, `kind`, `status`, `trust`, `time` and `text`. Raises InvalidInputError for too many words.
    """
    found: dict[str, Rows] = {}
    if wanted.scope is not None:
        found["scope"] = index.of_scope(wanted.scope)
    if wanted.kinds:
        found["kind"] = index.where(Label.MEMORY, kinds=wanted.kinds)
    if not wanted.any_status:
        found["status"] = index.of_statuses(wanted.status)
    if wanted.trust:
        found["trust"] = reduce(or_, map(index.of_trust, wanted.trust))
    if bounds := _within(index, wanted):
        found["time"] = reduce(and_, bounds)
    if words := wanted.text.split():
        if len(words) > _MOST_WORDS:
            raise InvalidInputError(f"`text` may have {_MOST_WORDS} words, not {len(words)}")
        found["text"] = reduce(and_, map(index.with_word, dict.fromkeys(words)))
    return found


def _within(index: StoreIndex, wanted: MemoryFilter) -> list[Rows]:
    """Return what each bound that is given leaves."""
    times, since, until = index.times(wanted.time), wanted.since, wanted.until
    bounds = [Rows(times >= to_micros(since))] if since is not None else []
    return bounds + ([Rows(times <= to_micros(until))] if until is not None else [])


def episodes(
    store: Store, wanted: MemoryFilter, session: str | None, order: MemoryOrder, limit: int, after: str | None
) -> Page[Any]:
    """Return a page of episodes of a session (None: of any); of what is wanted their scope and time count."""
    parts = _within(store.index, wanted)
    if session is not None:
        parts.append(store.index.of_session(session))
    rows = reduce(and_, parts, store.index.where(Label.EPISODE, scope=wanted.scope))
    return _ordered(store, rows, Label.EPISODE, order, wanted.time, limit, after)


def page(store: Store, rows: Rows, labels: Sequence[Label], limit: int, after: str | None) -> Page[Any]:
    """Return a page of the rows, which have one of the labels, newest first, behind the node of the id `after`."""
    check_limit(store.runtime, limit)
    index = store.index
    behind = None if after is None else _behind(index, after, labels)
    return _read(store, cut(index.newest(rows, limit + 1, behind), limit, len(rows), index.id_of))


def _behind(index: StoreIndex, ident: str, labels: Sequence[Label]) -> Ref:
    found = index.with_id(ident, labels)
    if found is None:
        raise no_cursor(ident)
    return found


def _read(store: Store, rows: Page[int]) -> Page[Any]:
    """Return the nodes of a page's rows, without those that were dropped since they were found."""
    held = store.records.present([store.index.ref_of(row) for row in rows])
    return rows.each(dict(zip(rows, held, strict=True)).__getitem__)
