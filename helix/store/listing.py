"""Listing: pages over memories and episodes, newest first, with a cursor that new rows do not shift."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from helix.errors import InvalidInputError
from helix.model.edge import Label, Ref
from helix.model.memory import Kind, Status
from helix.model.reports import Page
from helix.store.index import Rows
from helix.store.runtime import Runtime
from helix.store.store import Store


def check_limit(runtime: Runtime, limit: int) -> None:
    """Raise InvalidInputError where `limit` is no number of items that may be asked for at once."""
    most = runtime.settings.page_size
    if not 1 <= limit <= most:
        raise InvalidInputError(
            f"limit must be between 1 and {most}, not {limit}",
            hint=f"ask for at most {most} at a time; the setting 'page_size' allows more",
        )


def memories(
    store: Store, *, scope: str | None, kinds: Sequence[Kind], status: Status | None, limit: int, after: str | None
) -> Page[Any]:
    """Return a page of memories of exactly this scope (None: every scope), these kinds and this status (None: any)."""
    statuses = () if status is None else (status,)
    rows = store.index.where(Label.MEMORY, scope=scope, statuses=statuses, kinds=kinds)
    return page(store, rows, (Label.MEMORY,), limit, after)


def episodes(store: Store, *, scope: str | None, session: str | None, limit: int, after: str | None) -> Page[Any]:
    """Return a page of episodes of exactly this scope and session (None: any)."""
    rows = store.index.where(Label.EPISODE, scope=scope)
    if session is not None:
        rows &= store.index.of_session(session)
    return page(store, rows, (Label.EPISODE,), limit, after)


def page(store: Store, rows: Rows, labels: Sequence[Label], limit: int, after: str | None) -> Page[Any]:
    """Return a page of the rows, which have one of the labels, newest first, behind the node of the id `after`."""
    check_limit(store.runtime, limit)
    index = store.index
    behind = None
    if after is not None:
        refs = (Ref(label=label, id=after) for label in labels)
        behind = next((ref for ref in refs if ref in index), None)
        if behind is None:
            raise InvalidInputError(
                f"{after!r} is no cursor of this list", hint="pass the cursor on as it came with the last page"
            )
    found = index.newest(rows, limit + 1, behind)
    held = store.records.present([index.ref_of(row) for row in found[:limit]])
    items = tuple(node for node in held if node is not None)
    cursor = items[-1].id if items and len(found) > limit else None
    return Page(items=items, total=len(rows), next_cursor=cursor)
