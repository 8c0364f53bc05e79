"""Graph drawing: nodes and edges as a picture of the graph needs them, read from the records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import cast

from helix.model.clock import from_micros
from helix.model.edge import DRAWN, Edge, Ref, reason_of
from helix.model.entity import Entity
from helix.model.episode import Episode
from helix.model.graph_answers import GraphEdge, GraphNode
from helix.model.memory import Memory, Status
from helix.model.operations import DropEdge
from helix.model.records import Node, edge_from
from helix.model.reflection import Reflection
from helix.store.index import StoreIndex
from helix.text.about import RULED

_TITLE = 80
_TIMES = ("occurred_at", "valid_from", "recorded_at", "started_at")
"""When what a node tells of happened: the first of these that it has."""


def drawn_nodes(index: StoreIndex, refs: Iterable[Ref]) -> dict[Ref, GraphNode]:
    """Return each node as the explorer draws it, in the order given; one that is gone by now is excluded."""
    wanted = list(dict.fromkeys(refs))
    held = zip(wanted, index.records.present(wanted), strict=True)
    return {ref: _drawn(index, ref, node) for ref, node in held if node is not None}


def drawn_edges(index: StoreIndex, edges: Sequence[DropEdge], nodes: Mapping[Ref, GraphNode]) -> tuple[GraphEdge, ...]:
    """Return each edge as the explorer draws it, of those with both ends drawn; one that is gone is excluded."""
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


def _began(edge: Edge) -> datetime | None:
    """Return when an edge began, where it did later than its ends; what Helix found in a text holds since that does."""
    if (at := edge.attributes.get("at")) is not None:
        return from_micros(cast(int, at))
    return edge.created_at if DRAWN in edge.attributes else None


def _ended(edge: Edge) -> datetime | None:
    """Return when two memories ceased to contradict each other: one held no longer, or a person decided."""
    ends = [edge.attributes[name] for name in ("until", "resolved_at") if edge.attributes.get(name)]
    return min(datetime.fromisoformat(str(end)) for end in ends) if ends else None


def _drawn(index: StoreIndex, ref: Ref, node: Node) -> GraphNode:
    row = index.row_of(ref)
    times = (getattr(node, name, None) for name in _TIMES)
    return GraphNode(
        ref=ref,
        title=title(node),
        scope=node.scope,
        said_by=getattr(node, "said_by", ""),
        kind=node.kind if isinstance(node, Memory) else None,
        status=node.status if isinstance(node, Memory | Episode | Reflection) else None,
        at=next(filter(None, times), None),
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
