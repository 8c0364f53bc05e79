"""Staging: reads a batch of operations into what has to be written, without touching what readers see."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from helix.model.edge import Label
from helix.model.operations import DropNode, DropPassage, Operation, PutNode, PutPassage
from helix.store.lookups import Lookups
from helix.store.matrix import Matrix
from helix.store.node_columns import RowLayout
from helix.store.passages import StagedPassage

_NAMED = frozenset({Label.MEMORY, Label.ENTITY})


@dataclass(slots=True)
class NewRow:
    """A node that has no row yet: its values in the order of the columns, and its texts."""

    label: Label
    id: str
    values: list[Any]
    name: str = ""
    source: str = ""


@dataclass(slots=True)
class StagedBatch:
    """What a batch of operations comes to, applied after `start` existing rows.

    `updates` maps a column's position to the new value of each existing row in it; `rows` gives the row that each new
    node will have. `holes` are the rows, existing or new, whose node is dropped.
    """

    start: int
    new: list[NewRow] = field(default_factory=list)
    rows: dict[tuple[Label, str], int] = field(default_factory=dict)
    updates: dict[int, dict[int, Any]] = field(default_factory=dict)
    renames: dict[int, str] = field(default_factory=dict)
    sources: dict[int, tuple[Label, str]] = field(default_factory=dict)
    passages: list[StagedPassage] = field(default_factory=list)
    dropped: set[str] = field(default_factory=set)
    holes: set[int] = field(default_factory=set)

    def row(self, lookups: Lookups, label: Label, node_id: str) -> int | None:
        """Return the catalogue row that a node has after a batch of the store so far, or None."""
        row = self.rows.get((label, node_id))
        if row is None:
            row = lookups.row(label, node_id)
        return None if row in self.holes else row


def stage(operations: Iterable[Operation], lookups: Lookups, layout: RowLayout, matrix: Matrix) -> StagedBatch:
    """Read a batch of operations in their order into what the store's tables have to be given.

    Raises InvalidInputError or EmbeddingSpaceError before anything was changed. A passage whose owner is no node is
    left out: nothing could be answered with it.
    """
    batch = StagedBatch(start=len(lookups.ids))
    passages: dict[str, PutPassage] = {}
    for op in operations:
        match op:
            case PutNode():
                _stage_node(op, batch, lookups, layout)
            case DropNode():
                row = batch.row(lookups, op.label, op.id)
                if row is not None:
                    batch.holes.add(row)
            case PutPassage():
                matrix.check(op.vector, op.id)
                known = passages.get(op.id)
                if known is None or known.number <= op.number:
                    passages[op.id] = op
                batch.dropped.discard(op.id)
            case DropPassage():
                passages.pop(op.id, None)
                batch.dropped.add(op.id)
            case _:
                continue
    for op in passages.values():
        owner = batch.row(lookups, op.owner.label, op.owner.id)
        if owner is not None:
            vector = op.vector if matrix.dimension else None
            batch.passages.append(
                StagedPassage(id=op.id, number=op.number, owner=owner, text=op.text, tokens=op.tokens, vector=vector)
            )
    return batch


def _stage_node(op: PutNode, batch: StagedBatch, lookups: Lookups, layout: RowLayout) -> None:
    changes = layout.changes(op.label, op.id, op.props)
    name = op.props.get("name") if op.label in _NAMED else None
    row = batch.row(lookups, op.label, op.id)
    if row is not None and row < batch.start:
        for position, value in changes:
            batch.updates.setdefault(position, {})[row] = value
        if name is not None and op.label is Label.MEMORY and str(name) != lookups.names[row]:
            batch.renames[row] = str(name)
        if "source" in op.props:
            told = str(op.props["source"] or "")
            if row in batch.sources or told != lookups.origins[row]:
                batch.sources[row] = op.label, told
        return
    new = _new_row(op, batch, layout) if row is None else batch.new[row - batch.start]
    for position, value in changes:
        new.values[position] = value
    if name is not None:
        new.name = str(name)
    if source := op.props.get("source"):
        new.source = str(source)


def _new_row(op: PutNode, batch: StagedBatch, layout: RowLayout) -> NewRow:
    batch.rows[op.label, op.id] = batch.start + len(batch.new)
    batch.new.append(NewRow(op.label, op.id, layout.blank(op.label)))
    return batch.new[-1]
