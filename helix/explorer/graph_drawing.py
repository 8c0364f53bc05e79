"""Graph drawing: nodes and edges as a picture of the graph needs them, read from the records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from heapq import nlargest
from itertools import islice
from typing import cast

import numpy as np

from helix.model.clock import from_micros
from helix.model.edge import DRAWN, Edge, Ref, reason_of
from helix.model.entity import Entity
from helix.model.episode import Episode
from helix.model.graph_answers import GraphEdge, GraphNode
from helix.model.memory import GLOBAL_SCOPE, Memory, Status, TimeKind
from helix.model.operations import DropEdge
from helix.model.records import Node, edge_from
from helix.model.reflection import Reflection
from helix.store.csr import RELATIONS
from helix.store.index import StoreIndex
from helix.store.node_columns import NO_START, MicrosArray
from helix.text.about import RULED

MOST_EDGES = 2_000
_TITLE = 80


def drawn_nodes(index: StoreIndex, refs: Iterable[Ref]) -> dict[Ref, GraphNode]:
    """Return each node as the explorer draws it, in the order given; one that is gone by now is left out."""
    wanted = list(dict.fromkeys(refs))
    held, times = zip(wanted, index.records.present(wanted), strict=True), index.times(TimeKind.HAPPENED)
    return {ref: _drawn(index, ref, node, times) for ref, node in held if node is not None}


def drawn_edges(index: StoreIndex, edges: Sequence[DropEdge], nodes: Mapping[Ref, GraphNode]) -> tuple[GraphEdge, ...]:
    """Return each edge as the explorer draws it, of those with both ends drawn; one that is gone is left out."""
    wanted = [edge for edge in edges if edge.source in nodes and edge.target in nodes]
    found = (edge_from(op) for op in index.records.edges(wanted) if op is not None)
    return tuple(
        GraphEdge(
            type=edge.type,
            source=edge.source,
            target=edge.target,
            weight=edge.weight,
            relation=edge.relation or edge.type.value.lower(),
            created_at=edge.created_at,
            reason=reason_of(edge),
            drawn=DRAWN in edge.attributes,
            held_since=_began(edge),
            held_until=_ended(edge),
        )
        for edge in found
    )


def edges_among(index: StoreIndex, refs: Iterable[Ref], most: int = MOST_EDGES) -> list[DropEdge]:
    """Return at most so many edges of a drawn graph that lead from one of the nodes to another, by their ends."""
    rows = [row for ref in refs if (row := index.row_of(ref)) is not None]
    held = np.zeros(index.count, np.bool_)
    held[rows] = True
    found = index.graph.neighbours(rows)
    found = found.where(found.outgoing & (found.rows < index.count))
    found = found.where(held[found.rows])
    ends = zip(found.origin.tolist(), found.rows.tolist(), found.relations.tolist(), strict=True)
    return [
        DropEdge(type=RELATIONS[code], source=index.ref_of(rows[origin]), target=index.ref_of(row))
        for origin, row, code in islice(ends, most)
    ]


def nodes_near(
    index: StoreIndex, ref: Ref, *, steps: int, scope: str | None, limit: int
) -> tuple[dict[Ref, int], bool]:
    """Return the nodes of a drawing nearest to one by the edges to them, at most `limit`, and whether there are more.

    What is quarantined is no step of a way; with a scope, a way stays within it and `global`.
    """
    centre, away = index.row_of(ref), dict[int, int]()
    seen = index.of_status(Status.QUARANTINED).mask.copy()
    if scope is not None:
        seen |= ~(index.of_scope(scope) | index.of_scope(GLOBAL_SCOPE)).mask
    ring = np.array([] if centre is None else [centre], np.int64)
    for step in range(1, steps + 1):
        seen[ring] = True
        ring = np.unique(index.graph.neighbours(ring).rows)
        ring = ring[ring < index.count]
        ring = ring[~seen[ring]]
        nearest = nlargest(limit + 1 - len(away), ring.tolist(), key=index.id_of)
        away |= dict.fromkeys(nearest, step)
        if len(away) > limit:
            break
    return {index.ref_of(row): step for row, step in islice(away.items(), limit)}, len(away) > limit


def _began(edge: Edge) -> datetime | None:
    """Return when an edge began, where it did later than its ends; what Helix found in a text holds since that does."""
    if (at := edge.attributes.get("at")) is not None:
        return from_micros(cast(int, at))
    return edge.created_at if DRAWN in edge.attributes else None


def _ended(edge: Edge) -> datetime | None:
    """Return when two memories ceased to contradict each other: one held no longer, or a person decided."""
    ends = [edge.attributes[name] for name in ("until", "resolved_at") if edge.attributes.get(name)]
    return min(datetime.fromisoformat(str(end)) for end in ends) if ends else None


def _drawn(index: StoreIndex, ref: Ref, node: Node, times: MicrosArray) -> GraphNode:
    row = index.row_of(ref)
    at = NO_START if row is None or row >= len(times) else int(times[row])
    return GraphNode(
        ref=ref,
        title=title(node),
        scope=node.scope,
        said_by=getattr(node, "said_by", ""),
        kind=node.kind if isinstance(node, Memory) else None,
        status=node.status if isinstance(node, Memory | Episode | Reflection) else None,
        at=None if at == NO_START else from_micros(at),
        held_until=getattr(node, "valid_to", None),
        degree=0 if row is None else index.degree_of(row),
    )


def title(node: Node) -> str:
    """Return the title of a node in the explorer: its name, or how its text begins; of what is quarantined neither."""
    if getattr(node, "status", None) is Status.QUARANTINED:
        return "(quarantined)"
    match node:
        case Memory():
            return node.name
        case Entity():
            return f"rules of {node.name.removeprefix(RULED)}" if node.name.startswith(RULED) else node.name
        case Episode():
            text = node.content
        case Reflection():
            text = node.insight
        case _:
            text = getattr(node, "objective", "") or getattr(node, "trigger", "") or node.id
    line = " ".join(text.strip().partition("\n")[0][: 4 * _TITLE].split())
    return line if len(line) <= _TITLE else line[: _TITLE - 1] + "…"
