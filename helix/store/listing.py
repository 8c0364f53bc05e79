"""Listing: pages over memories and episodes, newest first, with a cursor that new rows do not shift."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from helix.errors import InvalidInputError
from helix.model.edge import Label, Ref
from helix.model.memory import Kind, Status
from helix.model.reports import Page
from helix.store.catalogue import CatalogueView
from helix.store.node_columns import KIND_CODE, LABEL_CODE, STATUS_CODE, BoolArray
from helix.store.store import Store


def check_limit(store: Store, limit: int) -> None:
    """Raise InvalidInputError where `limit` is no number of items that may be asked for at once."""
    most = store.settings.page_size
    if not 1 <= limit <= most:
        raise InvalidInputError(
            f"limit must be between 1 and {most}, not {limit}",
            hint=f"ask for at most {most} at a time; the setting 'page_size' allows more",
        )


def memories(
    store: Store, *, scope: str | None, kinds: Sequence[Kind], status: Status | None, limit: int, after: str | None
) -> Page[Any]:
    """Return a page of memories of exactly this scope (None: every scope), these kinds and this status (None: any)."""
    view = store.catalogue.view
    columns = view.columns
    mask = columns.label == LABEL_CODE[Label.MEMORY]
    if status is not None:
        mask &= columns.status == STATUS_CODE[status]
    if kinds:
        mask &= np.isin(columns.kind, [KIND_CODE[kind] for kind in kinds])
    return _page(store, view, Label.MEMORY, mask, scope, limit, after)


def episodes(store: Store, *, scope: str | None, session: str | None, limit: int, after: str | None) -> Page[Any]:
    """Return a page of episodes of exactly this scope and session (None: any)."""
    view = store.catalogue.view
    mask = view.columns.label == LABEL_CODE[Label.EPISODE]
    if session is not None:
        mask &= view.columns.session == view.lookups.sessions.code(session)
    return _page(store, view, Label.EPISODE, mask, scope, limit, after)


def _page(
    store: Store,
    view: CatalogueView,
    label: Label,
    mask: BoolArray,
    scope: str | None,
    limit: int,
    after: str | None,
) -> Page[Any]:
    check_limit(store, limit)
    if scope is not None:
        mask = mask & (view.columns.scope == view.lookups.scopes.code(scope))
    behind = None
    if after is not None:
        behind = view.row_of(Ref(label=label, id=after))
        if behind is None:
            raise InvalidInputError(
                f"{after!r} is no cursor of this list", hint="pass the cursor on as it came with the last page"
            )
    rows = view.newest(mask, limit + 1, behind)
    held = store.records.present([view.ref_of(int(row)) for row in rows[:limit]])
    items = tuple(node for node in held if node is not None)
    cursor = items[-1].id if items and len(rows) > limit else None
    return Page(items=items, total=int(np.count_nonzero(mask)), next_cursor=cursor)
