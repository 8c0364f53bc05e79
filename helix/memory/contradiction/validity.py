"""Validity: what a memory has ended holds on again when that memory goes, and ends again when it comes back."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from typing import cast

from helix.memory.change.compose import Composer
from helix.memory.change.versions import hold_until
from helix.memory.contradiction.resolve import held_beside
from helix.model.edge import Edge, Label, Ref, Relation
from helix.model.memory import Memory, Status
from helix.model.operations import DropEdge, DropNode, Operation, Props, PutEdge, PutNode
from helix.model.records import edge_from, node_from, put_record
from helix.store.store import Store


def recompute_validity(composer: Composer, store: Store, *, later: Collection[Ref] = ()) -> None:
    """End each memory whose contradiction a living winner won, and revive those whose winner ended.

    To be called when all else of the change is composed. The contradictions stay as they are; only active memories are
    ended or opened, any other when it comes back itself. Those that a change of the same job concerns `later` are left.
    """
    ahead = _Ahead(store, composer.pending)
    for ref in ahead.shaken():
        memory = ahead.memory(ref)
        if ref in later or memory is None or memory.status is not Status.ACTIVE:
            continue
        until = held_beside(store.records, memory, ahead.rivals(ref))
        if until != memory.valid_to:
            hold_until(composer, store.index, memory, until)


class _Ahead:
    """Memories and their contradictions as they will be once the operations are done."""

    def __init__(self, store: Store, operations: Sequence[Operation]) -> None:
        self._store = store
        self._props: dict[Ref, Props | None] = {}
        self._edges: defaultdict[Ref, dict[DropEdge, Edge | None]] = defaultdict(dict)
        for op in operations:
            match op:
                case PutNode(label=Label.MEMORY):
                    ref = Ref(label=op.label, id=op.id)
                    self._props[ref] = {**(self._props.get(ref) or {}), **op.props}
                case DropNode(label=Label.MEMORY):
                    self._props[Ref(label=op.label, id=op.id)] = None
                case PutEdge() | DropEdge() if _disputes(op):
                    for ref in (op.source, op.target):
                        self._edges[ref][_key(op)] = edge_from(op) if isinstance(op, PutEdge) else None

    def shaken(self) -> list[Ref]:
        """Return what goes or comes back, and all that it contradicts or contradicted."""
        moved = [ref for ref in self._props if self._moves(ref)]
        beside = [_other(edge, ref) for ref in moved for edge in (*self._present(ref), *self._coming(ref))]
        return list(dict.fromkeys((*moved, *beside)))

    def memory(self, ref: Ref) -> Memory | None:
        """Return a memory that is there now, or None."""
        props = self._props.get(ref, {})
        (held,) = self._store.records.present([ref])
        if props is None or held is None:
            return None
        return cast(Memory, node_from(ref.label, ref.id, {**put_record(held).props, **props}))

    def rivals(self, ref: Ref) -> Iterator[tuple[Edge, Status]]:
        """Yield the contradictions at a memory, each with where the other one stands."""
        for edge in self._coming(ref):
            yield edge, self._status(_other(edge, ref))

    def _moves(self, ref: Ref) -> bool:
        """Whether the change takes a memory out of recall that is there, or brings one back."""
        status, props = self._store.index.status_of(ref), self._props[ref]
        if status is None or (props is not None and "status" not in props):
            return False
        stays = props is not None and props["status"] == Status.ACTIVE.value
        return stays != (status is Status.ACTIVE)

    def _status(self, ref: Ref) -> Status:
        props = self._props.get(ref, {})
        if props is None:
            return Status.RETIRED
        if "status" in props:
            return Status(str(props["status"]))
        return cast(Memory, self._store.records.node(ref)).status

    def _present(self, ref: Ref) -> list[Edge]:
        return [edge_from(op) for op in self._store.records.edges_at(ref) if _disputes(op)]

    def _coming(self, ref: Ref) -> list[Edge]:
        """Return the contradictions at a memory as they will be."""
        present = {_key(edge): edge for edge in self._present(ref)}
        return [edge for edge in {**present, **self._edges.get(ref, {})}.values() if edge is not None]


def _disputes(op: PutEdge | DropEdge) -> bool:
    return op.type is Relation.CONTRADICTS and op.source.label is op.target.label is Label.MEMORY


def _key(edge: Edge | PutEdge | DropEdge) -> DropEdge:
    return DropEdge(type=edge.type, source=edge.source, target=edge.target)


def _other(edge: Edge, ref: Ref) -> Ref:
    return edge.target if edge.source == ref else edge.source
