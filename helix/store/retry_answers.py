"""Retry answers: JSON of ids and small words; a record that an answer shows is read again, as it is now."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from enum import Enum
from typing import Any, cast

from helix.errors import ConflictError, NotFoundError
from helix.journal.state import Records
from helix.model.clock import from_micros, to_micros
from helix.model.edge import Edge, Ref, Relation
from helix.model.records import CLASS_OF, Node, edge_from, label_of
from helix.model.requests import KEPT_CLASSES

_NODES = tuple(CLASS_OF.values())


def packed_answer(answer: object) -> str | None:
    """Return a mutation's answer as the store keeps it for a retry; None where it holds what cannot be kept."""
    try:
        return json.dumps(_pack(answer), ensure_ascii=False, separators=(",", ":"))
    except TypeError:
        return None


def unpacked_answer(told: str | None, records: Records) -> Any:
    """Return the answer that the store kept for a retry, with its records as they are now.

    Raises ConflictError where it is kept no longer.
    """
    if told is None:
        raise _gone()
    try:
        return _unpack(json.loads(told), records)
    except (ValueError, LookupError, TypeError, NotFoundError) as error:
        raise _gone() from error


def _gone() -> ConflictError:
    return ConflictError(
        "this request was carried out before, and its answer is not kept any more: nothing was changed",
        hint="look at what is there; to do it once more, send it with a new idempotency key",
    )


def _pack(value: object) -> Any:
    if value is None or type(value) in (bool, int, float, str):
        return value
    if isinstance(value, _NODES):
        node = cast(Node, value)
        return {"node": [label_of(node).value, node.id]}
    if isinstance(value, Edge):
        return {"edge": [value.type.value, *(part for end in (value.source, value.target) for part in _place(end))]}
    if isinstance(value, datetime):
        return {"at": to_micros(value)}
    if isinstance(value, list | tuple):
        return {type(value).__name__: [_pack(one) for one in value]}
    if isinstance(value, Mapping):
        return {"map": [[_pack(key), _pack(one)] for key, one in value.items()]}
    name = type(value).__name__
    if KEPT_CLASSES.get(name) is not type(value):
        raise TypeError(f"an answer with a {name} is not kept")
    if isinstance(value, Enum):
        return {"word": [name, value.value]}
    assert is_dataclass(value)
    return {"record": [name, {one.name: _pack(getattr(value, one.name)) for one in fields(value)}]}


def _place(ref: Ref) -> tuple[str, str]:
    return ref.label.value, ref.id


def _unpack(told: Any, records: Records) -> Any:
    if not isinstance(told, dict):
        return told
    ((kind, value),) = told.items()
    match kind:
        case "node":
            return records.node(Ref.of(*value[:2]))
        case "edge":
            return _edge(value, records)
        case "at":
            return from_micros(value)
        case "list" | "tuple":
            items = [_unpack(one, records) for one in value]
            return items if kind == "list" else tuple(items)
        case "map":
            return {_unpack(key, records): _unpack(one, records) for key, one in value}
        case "word":
            return KEPT_CLASSES[value[0]](value[1])
        case "record":
            return KEPT_CLASSES[value[0]](**{name: _unpack(one, records) for name, one in value[1].items()})
    raise ValueError(f"{kind!r} is not a part of an answer")


def _edge(told: list[str], records: Records) -> Edge:
    kind, *ends = told
    source, target = Ref.of(*ends[:2]), Ref.of(*ends[2:4])
    wanted = (Relation(kind), source, target)
    found = [op for op in records.edges_at(source) if (op.type, op.source, op.target) == wanted]
    return edge_from(found[0])
