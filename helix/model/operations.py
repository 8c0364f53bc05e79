"""Operations: the one language in which changes are journalled, replayed and applied.

An operation holds a result, never a request: absolute values, ids, times and decisions. Applying one twice leaves
what applying it once leaves, so a journal can be replayed from any row that is not newer than what was applied.
Property values are what every store can hold: text, numbers, booleans, microseconds, JSON strings and None.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from helix.model.edge import Label, Ref, Relation

MOST_PASSAGES = 1 << 26
"""Numbers that passages may have: far more than any store ever gave out."""

Scalar = str | int | float | bool | None
Props = Mapping[str, Scalar]


@dataclass(frozen=True, slots=True, kw_only=True)
class PutNode:
    """Create the node or overwrite the given properties of it."""

    label: Label
    id: str
    props: Props


@dataclass(frozen=True, slots=True, kw_only=True)
class DropNode:
    """Remove the node, if it is there, with everything attached to it: its edges and its passages.

    The journal names these before it, as DropEdge and DropPassage, so that no follower has to look for them.
    """

    label: Label
    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PutEdge:
    """Create the edge or overwrite the whole of it; an edge is known by its type and two ends.

    A property that is omitted has its default: there are many edges, and most of what they could say is not said.
    """

    type: Relation
    source: Ref
    target: Ref
    props: Props


@dataclass(frozen=True, slots=True, kw_only=True)
class DropEdge:
    """Remove the edge if it is there."""

    type: Relation
    source: Ref
    target: Ref


MOST_NUMBERS = 1 << 16
"""Numbers of a vector at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PutPassage:
    """Make `text` findable as its owner, replacing the passage of that id.

    `number` is given by the writer and never used for another text: it is the passage's row in the lexical index and
    its key in the catalogue; a passage that lacked a vector is written again under its number, with one. `vector`
    (float32 bytes, unit length) travels beside the journal row, keyed by embedding space; None where there is none
    (yet). `tokens` are the text's, joined by blanks, where they were made already; they travel beside the row too.
    """

    id: str
    number: int
    owner: Ref
    text: str
    vector: bytes | None = None
    tokens: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DropPassage:
    """Make the passage unfindable."""

    id: str


Operation = PutNode | DropNode | PutEdge | DropEdge | PutPassage | DropPassage
Put = PutNode | PutEdge | PutPassage
Drop = DropNode | DropEdge | DropPassage
"""What removes a node, edge or passage also names it: two operations that concern the same one have an equal Drop."""


def drop_of(op: Operation) -> Drop:
    """Return the record of an operation that drops the node, edge or passage that another one concerns."""
    match op:
        case PutNode():
            return DropNode(label=op.label, id=op.id)
        case PutEdge():
            return DropEdge(type=op.type, source=op.source, target=op.target)
        case PutPassage():
            return DropPassage(id=op.id)
        case _:
            return op


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One accepted change: one journal row. `kind` names what was asked for (`store`, `feedback`, `ingest`)."""

    kind: str
    operations: tuple[Operation, ...]
    note: Mapping[str, Scalar] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A journalled change: its sequence number and the moment (microseconds) it was accepted."""

    seq: int
    at: int
    change: Change


def encode(change: Change) -> dict[str, Any]:
    """Return a change of operations as JSON-able data, without vectors."""
    return {"kind": change.kind, "note": dict(change.note), "ops": [encode_operation(op) for op in change.operations]}


def decode(data: Mapping[str, Any]) -> Change:
    """Return the change, a record of operations, that `encode` wrote.

    Raises KeyError, TypeError or ValueError on anything else.
    """
    return Change(
        kind=data["kind"], note=data.get("note", {}), operations=tuple(decode_operation(op) for op in data["ops"])
    )


def _ref(ref: Ref) -> list[str]:
    return [ref.label.value, ref.id]


def encode_operation(op: Operation) -> dict[str, Any]:
    """Return one operation of a change as JSON-able data, without a vector."""
    match op:
        case PutNode():
            return {"op": "node", "label": op.label.value, "id": op.id, "props": dict(op.props)}
        case DropNode():
            return {"op": "drop_node", "label": op.label.value, "id": op.id}
        case PutEdge():
            return {
                "op": "edge",
                "type": op.type.value,
                "from": _ref(op.source),
                "to": _ref(op.target),
                "props": dict(op.props),
            }
        case DropEdge():
            return {"op": "drop_edge", "type": op.type.value, "from": _ref(op.source), "to": _ref(op.target)}
        case PutPassage():
            return {"op": "passage", "id": op.id, "number": op.number, "owner": _ref(op.owner), "text": op.text}
        case DropPassage():
            return {"op": "drop_passage", "id": op.id}


def passage_number(value: object) -> int:
    """Return the number of a passage; raises ValueError for what none has.

    Memory holds a place for each number up to the largest: one that a stranger wrote may not fill it.
    """
    if isinstance(value, int) and 0 <= value < MOST_PASSAGES:
        return value
    raise ValueError(f"no passage has the number {value!r:.40}")


def decode_operation(data: Mapping[str, Any]) -> Operation:
    """Return the operation that `encode_operation` wrote; raises KeyError or ValueError on anything else."""
    match data["op"]:
        case "node":
            return PutNode(label=Label(data["label"]), id=data["id"], props=data["props"])
        case "drop_node":
            return DropNode(label=Label(data["label"]), id=data["id"])
        case "edge":
            return PutEdge(
                type=Relation(data["type"]),
                source=Ref.of(*data["from"]),
                target=Ref.of(*data["to"]),
                props=data["props"],
            )
        case "drop_edge":
            return DropEdge(type=Relation(data["type"]), source=Ref.of(*data["from"]), target=Ref.of(*data["to"]))
        case "passage":
            number = passage_number(data["number"])
            return PutPassage(id=data["id"], number=number, owner=Ref.of(*data["owner"]), text=data["text"])
        case "drop_passage":
            return DropPassage(id=data["id"])
        case other:
            raise ValueError(f"unknown operation {other!r}")
