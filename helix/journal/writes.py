"""Writes: the state after a run of operations, collected in memory and written at once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from helix.errors import ConflictError
from helix.journal import state, tables
from helix.journal.backend import DatabaseConnection
from helix.journal.state import edge_drop, edge_key
from helix.journal.tables import EdgeKey, FoundRows, NodeKey, RowBatch, WantedRows
from helix.model.edge import Ref
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
    """Takes operations in one by one; belongs to one transaction of the writer's connection.

    `foresee` reads what the operations need in one trip. What was not foreseen is read when it is asked for.
    """

    def __init__(self, connection: DatabaseConnection) -> None:
        self._connection = connection
        self._there = FoundRows()
        self._nodes: dict[NodeKey, Props | None] = {}
        self._edges: dict[EdgeKey, PutEdge | None] = {}
        self._passages: dict[str, PutPassage | None] = {}
        self._drawn: defaultdict[Ref, dict[EdgeKey, None]] = defaultdict(dict)
        self._owned: defaultdict[Ref, dict[str, None]] = defaultdict(dict)

    def foresee(self, operations: Iterable[Operation], *, effects: bool = False) -> None:
        """Read from the journal what operations need to know, before any; `effects` says to know edges, too."""
        wanted = WantedRows()
        for op in operations:
            match op:
                case PutNode():
                    wanted.nodes.add((op.label, op.id))
                case DropNode():
                    wanted.ends.add(Ref(label=op.label, id=op.id))
                    wanted.nodes.update({(op.label, op.id)} if effects else ())
                case PutPassage() | DropPassage():
                    wanted.passages.add(op.id)
                case PutEdge() | DropEdge() if effects:
                    wanted.edges.add(edge_key(op))
        self._read_before(wanted)
        if wanted.ends:
            gone = WantedRows(passages={one for owned in self._there.passages_of.values() for one in owned})
            gone.edges.update(key for keys in self._there.edges_at.values() for key in keys if effects)
            self._read_before(gone)

    def spelled_out(self, op: Operation) -> Iterator[Operation]:
        """Yield an operation for the journal, a DropNode behind the drops of all that is attached to the node."""
        if isinstance(op, DropNode):
            ref = Ref(label=op.label, id=op.id)
            if ref not in self._there.edges_at:
                self._read_before(WantedRows(ends={ref}))
            yield from map(edge_drop, self._edges_at(ref))
            yield from (DropPassage(id=passage_id) for passage_id in self._passages_of(ref))
        yield op

    def _edges_at(self, ref: Ref) -> list[EdgeKey]:
        stored = [key for key in self._there.edges_at[ref] if key not in self._edges]
        return stored + [key for key in self._drawn.get(ref, ()) if self._edges[key]]

    def _passages_of(self, ref: Ref) -> list[str]:
        stored = [name for name in self._there.passages_of[ref] if name not in self._passages]
        now = ((name, self._passages[name]) for name in self._owned.get(ref, ()))
        return stored + [name for name, held in now if held is not None and held.owner == ref]

    def held(self, drop: Drop) -> Put | None:
        """Return what the journal has by now of a node, edge or passage (with its vector), or None."""
        match drop:
            case DropNode() if (drop.label, drop.id) in self._nodes:
                props = self._nodes[drop.label, drop.id]
                return None if props is None else PutNode(label=drop.label, id=drop.id, props=props)
            case DropEdge() if edge_key(drop) in self._edges:
                return self._edges[edge_key(drop)]
            case DropPassage() if drop.id in self._passages:
                return self._passages[drop.id]
            case _:
                self._read_before(state.wanted([drop]))
                return state.put_of(drop, self._there)

    def check(self, op: Operation) -> None:
        """Raise ConflictError for a passage that would take the place of another node's in the journal.

        Passages are known by the id of their node. Only somebody who made it up has one id for two nodes.
        """
        if isinstance(op, PutPassage):
            there = self.held(DropPassage(id=op.id))
            if isinstance(there, PutPassage) and there.owner != op.owner:
                raise ConflictError(f"{op.owner.id!r:.100} is the id of a {there.owner.label.lower()} here")

    def add(self, op: Operation) -> Operation:
        """Take an operation into the journal; return it with complete properties."""
        match op:
            case PutNode():
                before = self.held(DropNode(label=op.label, id=op.id))
                props = {**(before.props if isinstance(before, PutNode) else {}), **op.props}
                self._nodes[op.label, op.id] = props
                return PutNode(label=op.label, id=op.id, props=props)
            case DropNode():
                self._nodes[op.label, op.id] = None
            case PutEdge():
                self._edges[edge_key(op)] = op
                for end in (op.source, op.target):
                    self._drawn[end][edge_key(op)] = None
            case DropEdge():
                self._edges[edge_key(op)] = None
            case PutPassage():
                self._passages[op.id] = op
                self._owned[op.owner][op.id] = None
            case DropPassage():
                self._passages[op.id] = None
        return op

    def batch(self) -> RowBatch:
        """Return what is to be written of the journal's state, and forget it."""
        self._read_before(WantedRows(passages=set(self._passages)))
        there = (self._there.passages[name] for name in self._passages)
        batch = RowBatch(
            nodes=self._nodes,
            edges={key: held.props if held else None for key, held in self._edges.items()},
            gone=[held.number for held in there if held is not None],
            passages=[op for op in self._passages.values() if op is not None],
        )
        self._nodes, self._edges, self._passages, self._there = {}, {}, {}, FoundRows()
        self._drawn.clear()
        self._owned.clear()
        return batch

    def _read_before(self, wanted: WantedRows) -> None:
        """Read what is wanted and not known yet."""
        there = self._there  # of a large change it has thousands, and one is wanted at a time: `-=` would look at all
        wanted.nodes = {one for one in wanted.nodes if one not in there.nodes}
        wanted.edges = {one for one in wanted.edges if one not in there.edges}
        wanted.passages = {one for one in wanted.passages if one not in there.passages}
        if wanted.nodes or wanted.edges or wanted.passages or wanted.ends:
            tables.read_before(self._connection, wanted, self._there)
