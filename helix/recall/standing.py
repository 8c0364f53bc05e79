"""Standing: whether what an item tells still holds, and whether anything disputes it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from helix.model.dispute import DisputeStatus, dispute_status
from helix.model.edge import Label, Ref, Relation
from helix.model.memory import SUMMARY_SOURCE, Status
from helix.model.operations import PutEdge
from helix.model.records import edge_from
from helix.store.catalogue import CatalogueView
from helix.store.node_columns import LABEL_CODE, STATUS_CODE, BoolArray
from helix.store.projection import GraphSnapshot

EdgesAt = Callable[[Ref], Sequence[PutEdge]]
"""Returns the edges at a node, as they are stored."""

Ended = tuple[tuple[int, int], ...]
"""Memories that have ceased to hold: the row of each, and when (microseconds)."""

_MEMORY = LABEL_CODE[Label.MEMORY]
_SILENT = [STATUS_CODE[Status.FORGOTTEN], STATUS_CODE[Status.QUARANTINED]]
_RETIRED = STATUS_CODE[Status.RETIRED]


def ended(view: CatalogueView, graph: GraphSnapshot, rows: Sequence[int], moment: int) -> dict[int, Ended]:
    """Return for each row of an episode its memories that have ceased to hold by the moment (microseconds).

    Summaries claim nothing of their own, a version that was replaced without an end says nothing of it, and what is
    told after the end is told anew.
    """
    columns = view.columns
    found = graph.neighbours(rows, Relation.GROUNDED_IN)
    found = found.where(~found.outgoing & (columns.label[found.rows] == _MEMORY))
    found = found.where((columns.valid_to[found.rows] <= moment) & ~np.isin(columns.status[found.rows], _SILENT))
    over: dict[int, Ended] = {}
    for origin, row in sorted(zip(found.origin.tolist(), found.rows.tolist(), strict=True)):
        episode, end = rows[origin], int(columns.valid_to[row])
        if columns.occurred_at[episode] < end and not view.lookups.origins[row].startswith(SUMMARY_SOURCE):
            over[episode] = (*over.get(episode, ()), (row, end))
    return over


def disputed(
    view: CatalogueView, graph: GraphSnapshot, rows: Sequence[int], shown: BoolArray, edges_at: EdgesAt
) -> dict[int, str]:
    """Return for each row that an open contradiction disputes the name of what does, of `shown` rows alone."""
    found = graph.neighbours(rows, Relation.CONTRADICTS)
    found = found.where(shown[found.rows] & (view.columns.status[found.rows] != _RETIRED))
    names: dict[int, str] = {}
    for origin, other in sorted(zip(found.origin.tolist(), found.rows.tolist(), strict=True)):
        here, there = view.ref_of(rows[origin]), view.ref_of(other)
        between = (edge for edge in edges_at(here) if {edge.source, edge.target} == {here, there})
        if any(edge.type is Relation.CONTRADICTS and _is_open(edge) for edge in between):
            names.setdefault(rows[origin], view.name_of(other) or there.id)
    return names


def _is_open(edge: PutEdge) -> bool:
    return dispute_status(edge_from(edge).attributes) is DisputeStatus.OPEN
