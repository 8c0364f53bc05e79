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
from helix.store.columns import LABEL_CODE, NO_END, STATUS_CODE, BoolArray, IndexArray
from helix.store.projection import GraphSnapshot

EdgesAt = Callable[[Ref], Sequence[PutEdge]]
"""Returns the edges at a node, as they are stored."""

_MEMORY, _EPISODE = LABEL_CODE[Label.MEMORY], LABEL_CODE[Label.EPISODE]
_SILENT = [STATUS_CODE[Status.FORGOTTEN], STATUS_CODE[Status.QUARANTINED]]
_RETIRED = STATUS_CODE[Status.RETIRED]


def ended(view: CatalogueView, graph: GraphSnapshot, rows: IndexArray, moment: int) -> dict[int, int]:
    """Return the rows of episodes all of whose memories have ceased to hold by the moment, each with when (µs).

    An episode that grounds nothing is as it was told. Summaries claim nothing of their own, and a version that was
    replaced before it ended says nothing of its end.
    """
    columns = view.columns
    episodes = rows[columns.label[rows] == _EPISODE]
    found = graph.neighbours(episodes, Relation.GROUNDED_IN)
    found = found.where(~found.outgoing & (columns.label[found.rows] == _MEMORY))
    until, status = columns.valid_to[found.rows], columns.status[found.rows]
    claims = ~np.isin(status, _SILENT) & ~((status == _RETIRED) & (until == NO_END))
    claiming = found.where(claims)
    last: dict[int, int] = {}
    for origin, row, end in zip(claiming.origin.tolist(), claiming.rows.tolist(), until[claims].tolist(), strict=True):
        if not view.lookups.origins[row].startswith(SUMMARY_SOURCE):
            episode = int(episodes[origin])
            last[episode] = max(end, last.get(episode, end))
    return {episode: end for episode, end in last.items() if end <= moment}


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
