"""A cache of nodes as domain objects: the writer keeps it current, so that what was read once is not read again."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence

from helix.errors import StoreCorruptError
from helix.journal.decoding import node_of
from helix.model.edge import Ref
from helix.model.operations import DropNode, Operation, PutNode
from helix.model.records import Node

MOST_NODES = 4_096
"""Nodes that are kept, those that were used last: some megabytes."""


class NodeCache:
    """Nodes of the state by their names. Safe from any thread; one thread follows what is written."""

    def __init__(self, most: int = MOST_NODES) -> None:
        self._most = most
        self._held: OrderedDict[Ref, Node] = OrderedDict()
        self._guard = threading.Lock()
        self._era = 0

    def of(self, refs: Sequence[Ref]) -> dict[Ref, Node | None]:
        """Return those of the nodes that are known."""
        with self._guard:
            known: dict[Ref, Node | None] = {ref: self._held[ref] for ref in refs if ref in self._held}
            for ref in known:
                self._held.move_to_end(ref)
        return known

    def filled(
        self, refs: Sequence[Ref], read: Callable[[Sequence[Ref]], dict[Ref, Node | None]]
    ) -> dict[Ref, Node | None]:
        """Return what `read` finds of the nodes, and keep it, unless something was written meanwhile."""
        with self._guard:
            era = self._era
        found = read(refs)
        with self._guard:
            if era == self._era:
                for ref, node in found.items():
                    self._keep(ref, node)
        return found

    def follow(self, operations: Sequence[Operation]) -> None:
        """Have what complete operations put take the place of what was known. Many at once are read when needed."""
        last = {Ref(label=op.label, id=op.id): op for op in operations if isinstance(op, PutNode | DropNode)}
        known = {ref: _node(op) for ref, op in last.items() if len(last) <= self._most}
        with self._guard:
            self._era += 1
            for ref in last:
                self._held.pop(ref, None)
                self._keep(ref, known.get(ref))

    def forget(self) -> None:
        """Know nothing any more."""
        with self._guard:
            self._era += 1
            self._held.clear()

    def _keep(self, ref: Ref, node: Node | None) -> None:
        if node is None:
            return
        self._held[ref] = node
        self._held.move_to_end(ref)
        if len(self._held) > self._most:
            self._held.popitem(last=False)


def _node(op: PutNode | DropNode) -> Node | None:
    """Return the node that an operation leaves; None for none, and for one that cannot be read: its reader tells."""
    if isinstance(op, DropNode):
        return None
    try:
        return node_of(Ref(label=op.label, id=op.id), op.props)
    except StoreCorruptError:
        return None
