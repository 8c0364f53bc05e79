"""Staging: reads a batch of operations into what has to be written, without touching what readers see."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from helix.model.edge import Label
from helix.model.operations import DropPassage, Operation, PutNode, PutPassage
from helix.store.columns import RowLayout
from helix.store.lookups import Lookups
from helix.store.matrix import Matrix
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
class Batch:
    """What a batch of operations comes to, applied after `start` existing rows.

    `updates` maps a column's position to the new value of each existing row in it; `rows` gives the row that each new
    node will have.
    """

    start: int
    new: list[NewRow] = field(default_factory=list)
    rows: dict[tuple[Label, str], int] = field(default_factory=dict)
    updates: dict[int, dict[int, Any]] = field(default_factory=dict)
    renames: dict[int, str] = field(default_factory=dict)
    passages: list[StagedPassage] = field(default_factory=list)
    dropped: set[str] = field(default_factory=set)


def stage(operations: Iterable[Operation], lookups: Lookups, layout: RowLayout, matrix: Matrix) -> Batch:
    """Read the operations in their order.

    Raises InvalidInputError or EmbeddingSpaceError before anything was changed. A passage whose owner is no node is
    left out: nothing could be answered with it.
    """
    batch = Batch(start=len(lookups.ids))
    passages: dict[str, PutPassage] = {}
    for op in operations:
        match op:
            case PutNode():
                _stage_node(op, batch, lookups, layout)
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
        row = lookups.row(op.owner.label, op.owner.id)
        owner = batch.rows.get((op.owner.label, op.owner.id)) if row is None else row
        if owner is not None:
            vector = op.vector if matrix.dimension else None
            batch.passages.append(
                StagedPassage(id=op.id, number=op.number, owner=owner, text=op.text, tokens=op.tokens, vector=vector)
            )
    return batch


def _stage_node(op: PutNode, batch: Batch, lookups: Lookups, layout: RowLayout) -> None:
    changes = layout.changes(op.label, op.id, op.props)
    name = op.props.get("name") if op.label in _NAMED else None
    row = lookups.row(op.label, op.id)
    if row is not None:
        for position, value in changes:
            batch.updates.setdefault(position, {})[row] = value
        if name is not None and op.label is Label.MEMORY and str(name) != lookups.names[row]:
            batch.renames[row] = str(name)
        return
    new = _new_row(op, batch, layout)
    for position, value in changes:
        new.values[position] = value
    if name is not None:
        new.name = str(name)
    if source := op.props.get("source"):
        new.source = str(source)


def _new_row(op: PutNode, batch: Batch, layout: RowLayout) -> NewRow:
    key = (op.label, op.id)
    row = batch.rows.get(key)
    if row is None:
        row = batch.rows[key] = batch.start + len(batch.new)
        batch.new.append(NewRow(op.label, op.id, layout.blank(op.label)))
    return batch.new[row - batch.start]
