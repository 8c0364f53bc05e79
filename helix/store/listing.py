"""Listing: pages over memories and episodes, newest first, with a cursor that new rows do not shift."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import reduce
from operator import and_, or_
from typing import Annotated, Any

from helix.errors import InvalidInputError
from helix.model.clock import to_micros
from helix.model.edge import Label
from helix.model.memory import Kind, MemoryOrder, Status
from helix.model.paging import no_cursor, page_of
from helix.model.provenance import Trust
from helix.model.reports import Page
from helix.store.index import Index, Rows
from helix.store.runtime import Runtime
from helix.store.store import Store

_MOST_WORDS = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryFilter:
    """Which memories are meant; what is left out narrows nothing. The times are those of recording."""

    scope: Annotated[str | None, "Only of this scope."] = None
    kinds: Sequence[Kind] = ()
    status: Annotated[Status, "Only memories of this status."] = Status.ACTIVE
    any_status: bool = False
    trust: Annotated[Sequence[Trust], "Only memories of these classes of trust; by default all."] = ()
    since: Annotated[datetime | None, "Only what was recorded at this moment or later."] = None
    until: Annotated[datetime | None, "Only what was recorded at this moment or earlier."] = None
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
    if order is MemoryOrder.NEWEST:
        return page(store, rows, (Label.MEMORY,), limit, after)
    check_limit(store.runtime, limit)
    value = index.value_by(order)
    return _read(store, page_of(rows, lambda row: (value(row), index.id_of(row)), first=limit, after=after))


def parts(index: Index, wanted: MemoryFilter) -> dict[str, Rows]:
    """Return what each part of a filter that narrows anything leaves, by the name of its dimension.

    Dimensions are `scope`, `kind`, `status`, `trust`, `time` and `text`. Raises InvalidInputError for too many words.
    """
    found: dict[str, Rows] = {}
    if wanted.scope is not None:
        found["scope"] = index.of_scope(wanted.scope)
    if wanted.kinds:
        found["kind"] = index.where(Label.MEMORY, kinds=wanted.kinds)
    if not wanted.any_status:
        found["status"] = index.of_status(wanted.status)
    if wanted.trust:
        found["trust"] = reduce(or_, map(index.of_trust, wanted.trust))
    bounds = [index.recorded_since(to_micros(wanted.since))] if wanted.since is not None else []
    bounds += [index.recorded_until(to_micros(wanted.until))] if wanted.until is not None else []
    if bounds:
        found["time"] = reduce(and_, bounds)
    if words := wanted.text.split():
        if len(words) > _MOST_WORDS:
            raise InvalidInputError(f"`text` may have {_MOST_WORDS} words, not {len(words)}")
        found["text"] = reduce(and_, map(index.with_word, dict.fromkeys(words)))
    return found


def episodes(store: Store, *, scope: str | None, session: str | None, limit: int, after: str | None) -> Page[Any]:
    """Return a page of episodes of exactly this scope and session (None: any)."""
    rows = store.index.where(Label.EPISODE, scope=scope)
    if session is not None:
        rows &= store.index.of_session(session)
    return page(store, rows, (Label.EPISODE,), limit, after)


def page(store: Store, rows: Rows, labels: Sequence[Label], limit: int, after: str | None) -> Page[Any]:
    """Return a page of the rows, which have one of the labels, newest first, behind the node of the id `after`."""
    check_limit(store.runtime, limit)
    index, behind = store.index, None
    if after is not None:
        behind = index.with_id(after, labels)
        if behind is None:
            raise no_cursor(after)
    found = index.newest(rows, limit + 1, behind)
    cursors = tuple(map(index.id_of, found[:limit]))
    more = cursors[-1] if len(found) > limit else None
    return _read(store, Page(items=tuple(found[:limit]), total=len(rows), cursors=cursors, next_cursor=more))


def _read(store: Store, rows: Page[int]) -> Page[Any]:
    """Return the nodes of a page's rows, without those that were dropped since they were found."""
    held = store.records.present([store.index.ref_of(row) for row in rows])
    return rows.each(dict(zip(rows, held, strict=True)).__getitem__)
