"""Support: what stands on what, read from the graph in memory: memories on episodes, reflections on all three."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from helix.model.edge import Label, Relation
from helix.model.memory import SUMMARY_SOURCE, Status
from helix.model.provenance import GIT
from helix.store.catalogue import CatalogueView
from helix.store.node_columns import LABEL_CODE, STATUS_CODE, BoolArray, IndexArray
from helix.store.projection import GraphSnapshot, Projection
from helix.store.store import Store

_RETIRED = STATUS_CODE[Status.RETIRED]
_HISTORY = f"{GIT}:"


def present(store: Store) -> tuple[GraphSnapshot, CatalogueView]:
    """Return graph and catalogue as they are, an empty graph while the two are being read anew."""
    graph = store.projection.snapshot  # first, so that every row of it is in the view
    view = store.catalogue.view
    return (graph if graph.generation == view.generation else Projection().snapshot), view


def supports_of(graph: GraphSnapshot, rows: Sequence[int] | IndexArray, relation: Relation) -> list[list[int]]:
    """Return, for each row, the rows that it is grounded in or cites, ascending."""
    found = graph.neighbours(rows, relation)
    supports: list[list[int]] = [[] for _ in rows]
    for origin, row, outgoing in zip(found.origin, found.rows, found.outgoing, strict=True):
        if outgoing:
            supports[int(origin)].append(int(row))
    return [sorted(held) for held in supports]


def standing(view: CatalogueView) -> BoolArray:
    """Return for every row whether it can be evidence: neither forgotten nor quarantined nor retired."""
    columns = view.columns
    gone = [STATUS_CODE[status] for status in (Status.FORGOTTEN, Status.QUARANTINED, Status.RETIRED)]
    mask: BoolArray = ~np.isin(columns.status, gone)
    return mask


def ended(graph: GraphSnapshot, view: CatalogueView, now: int) -> BoolArray:
    """Return for every row whether it tells what does not hold any more at `now` (microseconds).

    Those are memories whose time is over or against which a person decided, and the episodes that any of them is
    grounded in. Summaries claim nothing of their own; a version that another replaced says nothing of an end.
    """
    columns = view.columns
    over: BoolArray = (columns.label == LABEL_CODE[Label.MEMORY]) & standing(view) & (columns.valid_to <= now)
    retired = np.flatnonzero((columns.label == LABEL_CODE[Label.MEMORY]) & (columns.status == _RETIRED))
    over[retired[graph.neighbours(retired, Relation.CONTRADICTS).origin]] = True
    claims = [row for row in np.flatnonzero(over).tolist() if not view.lookups.origins[row].startswith(SUMMARY_SOURCE)]
    found = graph.neighbours(claims, Relation.GROUNDED_IN)
    over[found.rows[found.outgoing]] = True
    return over


def findable_episodes(view: CatalogueView, scope: str | None) -> BoolArray:
    """Return for every row whether something can be made of it: a standing episode of the scope (None: of any).

    It has a passage of its own: for an episode without one a memory speaks already. It is no commit: what a history
    says of why is made a memory when it is imported, and all else that is made of it says what was changed.
    """
    columns = view.columns
    speaks = np.zeros(view.count, np.bool_)
    speaks[view.passages.owner[view.passages.alive]] = True
    mask: BoolArray = speaks & (columns.label == LABEL_CODE[Label.EPISODE]) & standing(view)
    if scope is not None:
        mask &= columns.scope == view.lookups.scopes.code(scope)
    found = np.flatnonzero(mask)
    mask[[row for row in found.tolist() if view.lookups.origins[row].startswith(_HISTORY)]] = False
    return mask
