"""Batches: operations folded to the last word on every node, edge and passage, in an order the graph can take."""

from __future__ import annotations

import json
from array import array
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from helix.model.edge import Label, Relation
from helix.model.operations import DropEdge, DropNode, DropPassage, Operation, Props, PutEdge, PutNode, PutPassage
from helix.model.records import EDGE_DEFAULTS, NODE_DEFAULTS

MISFITS = (TypeError, ValueError, OverflowError, AttributeError)
"""What a value that is not of its column's type raises while it is made ready for Kuzu."""

EdgeTable = tuple[Relation, Label, Label]
EdgeEnds = tuple[str, str]

# Attributes of an injection that are columns of their own, so that Cypher can ask for them.
_INJECTIONS = frozenset({Relation.INJECTED, Relation.WITHHELD})
_INJECTED_COLUMNS = ("at", "rank", "score", "arm", "outcome")


def node_columns(label: Label, node_id: str, props: Props) -> dict[str, Any]:
    """Return the properties of a node as the columns of its Kuzu table."""
    return {**NODE_DEFAULTS.get(label, {}), **props, "id": node_id}


def edge_columns(relation: Relation, props: Props) -> dict[str, Any]:
    """Return the properties of an edge as the columns of its Kuzu table."""
    columns = {**EDGE_DEFAULTS, **props}
    if relation in _INJECTIONS:
        attributes = json.loads(str(columns["attributes"]))
        columns.update({name: attributes.get(name) for name in _INJECTED_COLUMNS})
    return columns


@dataclass(slots=True)
class GraphBatch:
    """What a run of operations comes to. None stands for "gone"."""

    nodes: dict[Label, dict[str, dict[str, Any] | None]] = field(default_factory=lambda: defaultdict(dict))
    edges: dict[EdgeTable, dict[EdgeEnds, dict[str, Any] | None]] = field(default_factory=lambda: defaultdict(dict))
    passages: dict[str, PutPassage | None] = field(default_factory=dict)

    def node_rows(self, label: Label) -> list[dict[str, Any]]:
        """Return the rows of a label as the Kuzu query for it wants them."""
        return [
            node_columns(label, node_id, props) for node_id, props in self.nodes[label].items() if props is not None
        ]

    def dropped_nodes(self, label: Label) -> list[dict[str, str]]:
        """Return the ids of the nodes that a batch drops from the Kuzu graph."""
        return [{"id": node_id} for node_id, props in self.nodes[label].items() if props is None]

    def edge_rows(self, table: EdgeTable) -> list[dict[str, Any]]:
        """Return the rows of the edges that a batch puts into the Kuzu graph."""
        return [
            {**edge_columns(table[0], props), "source": source, "target": target}
            for (source, target), props in self.edges[table].items()
            if props is not None
        ]

    def dropped_edges(self, table: EdgeTable) -> list[dict[str, str]]:
        """Return the ends of the edges to drop from the Kuzu graph, without those that go with a node of theirs."""
        _, sources, targets = table
        return [
            {"source": source, "target": target}
            for (source, target), props in self.edges[table].items()
            if props is None and not (self._drops(sources, source) or self._drops(targets, target))
        ]

    def _drops(self, label: Label, node_id: str) -> bool:
        return label in self.nodes and self.nodes[label].get(node_id, {}) is None

    def passage_rows(self) -> list[dict[str, Any]]:
        """Return the rows of the passages that have a vector for the Kuzu graph."""
        return [
            {"id": op.id, "owner": op.owner.id, "owner_kind": op.owner.label.value, "embedding": vector_of(op)}
            for op in self.passages.values()
            if op is not None and op.vector is not None
        ]


def vector_of(op: PutPassage) -> list[float]:
    """Return the vector of a passage for Kuzu, whose bytes are float32."""
    return array("f", op.vector or b"").tolist()


def fold_batch(operations: Iterable[Operation]) -> GraphBatch:
    """Fold a batch of operations for Kuzu, later ones over earlier ones; the rest may be applied in any order."""
    batch = GraphBatch()
    for op in operations:
        match op:
            case PutNode():
                batch.nodes[op.label][op.id] = {**(batch.nodes[op.label].get(op.id) or {}), **op.props}
            case DropNode():
                batch.nodes[op.label][op.id] = None
            case PutEdge():
                batch.edges[(op.type, op.source.label, op.target.label)][(op.source.id, op.target.id)] = dict(op.props)
            case DropEdge():
                batch.edges[(op.type, op.source.label, op.target.label)][(op.source.id, op.target.id)] = None
            case PutPassage():
                batch.passages[op.id] = op
            case DropPassage():
                batch.passages[op.id] = None
    return batch
