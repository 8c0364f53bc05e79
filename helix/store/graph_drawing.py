"""Graph drawing: nodes and edges as a picture of the graph needs them, read from the records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from helix.model.edge import Ref
from helix.model.edge_reason import reason_of
from helix.model.entity import Entity
from helix.model.episode import Episode
from helix.model.graph_answers import GraphEdge, GraphNode
from helix.model.memory import Memory, Status
from helix.model.operations import DropEdge
from helix.model.records import Node, edge_from
from helix.model.reflection import Reflection
from helix.store.csr import RELATIONS
from helix.store.index import Index

MOST_EDGES = 2_000
_TITLE = 80


def drawn_nodes(index: Index, refs: Iterable[Ref]) -> dict[Ref, GraphNode]:
    """Return each node as it is drawn, in the order given; one that is gone by now is left out."""
    wanted = list(dict.fromkeys(refs))
    held = zip(wanted, index.records.present(wanted), strict=True)
    return {ref: _drawn(index, ref, node) for ref, node in held if node is not None}


def drawn_edges(index: Index, edges: Sequence[DropEdge], nodes: Mapping[Ref, GraphNode]) -> tuple[GraphEdge, ...]:
    """Return each edge as it is drawn, of those whose two ends are drawn; one that is gone by now is left out."""
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
        )
        for edge in found
    )


def edges_among(index: Index, refs: Iterable[Ref]) -> list[DropEdge]:
    """Return at most MOST_EDGES of the edges that lead from one of the nodes to another of them, by their ends."""
    rows = [row for ref in refs if (row := index.row_of(ref)) is not None]
    found = index.graph.neighbours(rows)
    held = set(rows)
    ends = zip(
        found.origin.tolist(), found.rows.tolist(), found.relations.tolist(), found.outgoing.tolist(), strict=True
    )
    among = [
        DropEdge(type=RELATIONS[code], source=index.ref_of(rows[origin]), target=index.ref_of(row))
        for origin, row, code, outgoing in ends
        if outgoing and row in held
    ]
    return among[:MOST_EDGES]


def _drawn(index: Index, ref: Ref, node: Node) -> GraphNode:
    row = index.row_of(ref)
    return GraphNode(
        ref=ref,
        title=title(node),
        scope=node.scope,
        said_by=getattr(node, "said_by", ""),
        kind=node.kind if isinstance(node, Memory) else None,
        status=node.status if isinstance(node, Memory | Episode | Reflection) else None,
        at=getattr(node, "recorded_at", None) or getattr(node, "started_at", None),
        degree=0 if row is None else index.degree_of(row),
    )


def title(node: Node) -> str:
    """Return what a node is called: its name, or how its text begins; of what is quarantined neither."""
    if getattr(node, "status", None) is Status.QUARANTINED:
        return "(quarantined)"
    match node:
        case Memory() | Entity():
            return node.name
        case Episode():
            text = node.content
        case Reflection():
            text = node.insight
        case _:
            text = getattr(node, "objective", "") or getattr(node, "trigger", "") or node.id
    line = " ".join(text.strip().partition("\n")[0][: 4 * _TITLE].split())
    return line if len(line) <= _TITLE else line[: _TITLE - 1] + "…"
