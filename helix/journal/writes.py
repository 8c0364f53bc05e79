"""Writes: the state after a run of operations, collected in memory and written at once, a statement for each table."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator

from helix.errors import ConflictError
from helix.journal import state
from helix.journal.state import EdgeKey, edge_drop, edge_key
from helix.model.edge import Label, Ref
from helix.model.operations import (
    Drop,
    DropEdge,
    DropNode,
    DropPassage,
    Operation,
    Props,
    Put,
    PutEdge,
    PutNode,
    PutPassage,
)


class Writes:
    """Takes operations in one by one; belongs to one transaction of the writer's connection."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._nodes: dict[tuple[Label, str], Props | None] = {}
        self._edges: dict[EdgeKey, PutEdge | None] = {}
        self._passages: dict[str, PutPassage | None] = {}
        self._attached: dict[Ref, list[EdgeKey]] = {}

    def foresee(self, operations: Iterable[Operation]) -> None:
        """Find the edges of all nodes that the operations drop in one pass over the edges, before any is ingested."""
        doomed = {Ref(label=op.label, id=op.id) for op in operations if isinstance(op, DropNode)}
        if doomed:
            self._attached = state.attached(self._connection, doomed)

    def spelled_out(self, op: Operation) -> Iterator[Operation]:
        """Yield the operation, a DropNode behind the drops of all that is attached to the node by now."""
        if isinstance(op, DropNode):
            ref = Ref(label=op.label, id=op.id)
            yield from map(edge_drop, self._edges_at(ref))
            yield from (DropPassage(id=passage_id) for passage_id in self._passages_of(ref))
        yield op

    def _edges_at(self, ref: Ref) -> list[EdgeKey]:
        stored = [key for key in self._attached.get(ref, ()) if key not in self._edges]
        end = (ref.label, ref.id)
        return stored + [key for key, held in self._edges.items() if held and end in (key[1:3], key[3:5])]

    def _passages_of(self, ref: Ref) -> list[str]:
        stored = [name for name in state.owned(self._connection, ref) if name not in self._passages]
        return stored + [name for name, held in self._passages.items() if held is not None and held.owner == ref]

    def held(self, drop: Drop, space: int | None) -> Put | None:
        """Return what there is by now of a node, edge or passage (with its vector in the space), or None."""
        match drop:
            case DropNode() if (drop.label, drop.id) in self._nodes:
                props = self._nodes[drop.label, drop.id]
                return None if props is None else PutNode(label=drop.label, id=drop.id, props=props)
            case DropEdge() if edge_key(drop) in self._edges:
                return self._edges[edge_key(drop)]
            case DropPassage() if drop.id in self._passages:
                return self._passages[drop.id]
            case _:
                return state.held(self._connection, drop, space)

    def check(self, op: Operation) -> None:
        """Raise ConflictError for a passage that would take the place of another node's.

        Passages are known by the id of their node. Only somebody who made it up has one id for two nodes.
        """
        if isinstance(op, PutPassage):
            there = self.held(DropPassage(id=op.id), None)
            if isinstance(there, PutPassage) and there.owner != op.owner:
                raise ConflictError(f"{op.owner.id!r:.100} is the id of a {there.owner.label.lower()} here")

    def add(self, op: Operation) -> Operation:
        """Take an operation in; return it with complete properties."""
        match op:
            case PutNode():
                key = (op.label, op.id)
                before = self._nodes[key] if key in self._nodes else state.node_props(self._connection, *key)
                props = self._nodes[key] = {**(before or {}), **op.props}
                return PutNode(label=op.label, id=op.id, props=props)
            case DropNode():
                self._nodes[op.label, op.id] = None
            case PutEdge():
                self._edges[edge_key(op)] = op
            case DropEdge():
                self._edges[edge_key(op)] = None
            case PutPassage():
                self._passages[op.id] = op
            case DropPassage():
                self._passages[op.id] = None
        return op

    def flush(self) -> list[PutPassage]:
        """Write what was collected, in the caller's transaction; return the passages, whose index is not written."""
        state.write_nodes(self._connection, self._nodes)
        state.write_edges(self._connection, {key: held.props if held else None for key, held in self._edges.items()})
        state.write_passages(self._connection, self._passages)
        passages = [op for op in self._passages.values() if op is not None]
        self._nodes, self._edges, self._passages = {}, {}, {}
        return passages
