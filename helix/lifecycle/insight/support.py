"""Support: what stands on what, read from the graph in memory: memories on episodes, reflections on all three."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from helix.model.edge import Label, Relation
from helix.model.memory import Status
from helix.store.catalogue import CatalogueView
from helix.store.columns import LABEL_CODE, STATUS_CODE, BoolArray, IndexArray
from helix.store.projection import GraphSnapshot, Projection
from helix.store.store import Store


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


def findable_episodes(view: CatalogueView, scope: str | None) -> BoolArray:
    """Return for every row whether it is a standing episode of the scope (None: of any) that has a passage of its own.

    For an episode without one a memory speaks already.
    """
    columns = view.columns
    speaks = np.zeros(view.count, np.bool_)
    speaks[view.passages.owner[view.passages.alive]] = True
    mask: BoolArray = speaks & (columns.label == LABEL_CODE[Label.EPISODE]) & standing(view)
    if scope is not None:
        mask &= columns.scope == view.lookups.scopes.code(scope)
    return mask
