"""Listing: pages over memories and episodes in an order, with a cursor that new rows do not shift, and their counts.

The first rows in an order are found without sorting all. Facets are counts of memories by scope, kind, status, trust
and day, as a filter leaves them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import reduce
from heapq import nsmallest
from operator import and_, or_
from typing import Annotated, Any, cast

import numpy as np
import numpy.typing as npt

from helix.errors import InvalidInputError
from helix.model.clock import DAY_MICROS, from_micros, to_micros
from helix.model.edge import Label, Ref
from helix.model.facets import Day, Facet, Facets
from helix.model.memory import Kind, MemoryOrder, Status, TimeKind
from helix.model.paging import cursor_of, cut, key_of, no_cursor
from helix.model.provenance import Trust
from helix.model.reports import Page
from helix.store.index import Rows, StoreIndex
from helix.store.node_columns import KINDS, STATUSES, TRUSTS, FloatArray, IndexArray, MicrosArray
from helix.store.runtime import Runtime
from helix.store.store import Store
from helix.text.client_ids import kept_session

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
    """Raise InvalidInputError where the `limit` of a listing of the store is no number that may be asked for."""
    most = runtime.settings.page_size
    if not 1 <= limit <= most:
        raise InvalidInputError(
            f"limit must be between 1 and {most}, not {limit}",
            hint=f"ask for at most {most} at a time; the setting 'page_size' allows more",
        )


def memories(
    store: Store, wanted: MemoryFilter, limit: int, after: str | None, order: MemoryOrder = MemoryOrder.NEWEST
) -> Page[Any]:
    """Return a page of the store's memories by a filter and an order; of equal ones the oldest come first."""
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
    return _read_page(
        index, cut(list(values), limit, len(rows), lambda row: cursor_of((values[row], index.id_of(row))))
    )


def parts(index: StoreIndex, wanted: MemoryFilter) -> dict[str, Rows]:
    """Return the catalogue rows that each part of a listing's filter leaves, by the name of its dimension.

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
    """Return a page of the store's episodes of a session (None: of any), by their scope and time."""
    parts = _within(store.index, wanted)
    if session is not None:
        parts.append(store.index.of_session(kept_session(session)))
    rows = reduce(and_, parts, store.index.where(Label.EPISODE, scope=wanted.scope))
    return _ordered(store, rows, Label.EPISODE, order, wanted.time, limit, after)


def page(store: Store, rows: Rows, labels: Sequence[Label], limit: int, after: str | None) -> Page[Any]:
    """Return a page of catalogue rows that have one of the labels, newest first, behind the node of the id `after`."""
    check_limit(store.runtime, limit)
    index = store.index
    behind = None if after is None else _behind(index, after, labels)
    return _read_page(index, cut(index.newest(rows, limit + 1, behind), limit, len(rows), index.id_of))


def _behind(index: StoreIndex, ident: str, labels: Sequence[Label]) -> Ref:
    found = index.with_id(ident, labels)
    if found is None:
        raise no_cursor(ident)
    return found


def _read_page(index: StoreIndex, rows: Page[int]) -> Page[Any]:
    """Return the nodes of a page's rows, without those that were dropped since they were found."""
    held = index.records.present([index.ref_of(row) for row in rows])
    return rows.each(dict(zip(rows, held, strict=True)).__getitem__)


Placed = tuple[Any, int]
"""What a row is ordered by, and the row."""


def first_by(
    index: StoreIndex, order: MemoryOrder, time: TimeKind, rows: Rows, most: int, after: Placed | None = None
) -> list[Placed]:
    """Return at most so many rows of the store's catalogue behind `after` in a listing's order, with their values."""
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


_OF_EPISODES = ("scope", "status", "trust", "text")
"""What of a filter says anything of an episode's day."""


def count_facets(index: StoreIndex, wanted: MemoryFilter) -> Facets:
    """Count the store's memories by each value of a filter, each dimension with every filter but its own."""
    held, columns = parts(index, wanted), index.view.columns
    memories = index.where(Label.MEMORY)

    def others(dimension: str) -> Rows:
        return reduce(and_, (rows for name, rows in held.items() if name != dimension), memories)

    spoken = reduce(and_, (held[name] for name in _OF_EPISODES if name in held), index.where(Label.EPISODE))
    return Facets(
        total=len(others("")),
        scopes=_counted(columns.scope[others("scope").mask], index.view.lookups.scopes.word),
        kinds=_counted(columns.kind[others("kind").mask], KINDS.__getitem__),
        statuses=_counted(columns.status[others("status").mask], STATUSES.__getitem__),
        trusts=_counted(columns.trust[others("trust").mask], TRUSTS.__getitem__),
        days=_days(index.times(wanted.time), others("time"), spoken),
    )


def _counted(codes: npt.NDArray[np.signedinteger], word: Callable[[int], str]) -> tuple[Facet, ...]:
    values, counts = np.unique(codes, return_counts=True)
    held = zip(map(word, values.tolist()), counts.tolist(), strict=True)
    return tuple(
        Facet(value=str(value), count=count) for value, count in sorted(held, key=lambda one: (-one[1], one[0]))
    )


def _days(times: MicrosArray, memories: Rows, episodes: Rows) -> tuple[Day, ...]:
    ours, theirs = (_by_day(times, rows) for rows in (memories, episodes))
    return tuple(
        Day(day=from_micros(day * DAY_MICROS).date().isoformat(), memories=ours[day], episodes=theirs[day])
        for day in sorted({*ours, *theirs})
    )


def _by_day(times: MicrosArray, rows: Rows) -> Counter[int]:
    days, counts = np.unique(times[rows.mask] // DAY_MICROS, return_counts=True)
    return Counter(dict(zip(days.tolist(), counts.tolist(), strict=True)))
