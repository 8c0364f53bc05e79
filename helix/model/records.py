"""Records: the one translation between domain objects and the flat properties that stores hold.

Times become microseconds, enums their value, mappings JSON text; provenance is spread over columns of its own.
"""

from __future__ import annotations

import json
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from datetime import datetime
from enum import Enum
from typing import Any, TypeVar

from helix.model.candidate import Candidate
from helix.model.clock import from_micros, to_micros
from helix.model.edge import Edge, Label, Ref, Relation
from helix.model.entity import Entity
from helix.model.episode import Episode, Session
from helix.model.memory import Memory, Status, counted
from helix.model.operations import Props, Put, PutEdge, PutNode, PutPassage, Scalar
from helix.model.provenance import Provenance
from helix.model.reflection import Reflection
from helix.model.task import Exploration, Plan, Task, Workspace

T = TypeVar("T")

Node = Memory | Episode | Reflection | Entity | Session | Plan | Task | Exploration | Workspace | Candidate

CLASS_OF: Mapping[Label, type[Any]] = types.MappingProxyType(
    {
        Label.MEMORY: Memory,
        Label.EPISODE: Episode,
        Label.REFLECTION: Reflection,
        Label.ENTITY: Entity,
        Label.SESSION: Session,
        Label.PLAN: Plan,
        Label.TASK: Task,
        Label.EXPLORATION: Exploration,
        Label.WORKSPACE: Workspace,
        Label.CANDIDATE: Candidate,
    }
)
_LARGEST = (1 << 63) - 1
_LABEL_OF = {cls: label for label, cls in CLASS_OF.items()}
_PLAIN = frozenset({str, int, float, bool, type(None)})


def label_of(node: Node) -> Label:
    """Return the label of a domain object: which node of the model it is."""
    return _LABEL_OF[type(node)]


def put_record(node: Node) -> PutNode:
    """Return the operation that writes the whole of a domain object as a node."""
    props = to_props(node)
    del props["id"]
    return PutNode(label=label_of(node), id=node.id, props=props)


def put_edge(edge: Edge) -> PutEdge:
    """Return the operation that writes the whole of an edge record, but for what is at its default."""
    said = [(name, getattr(edge, name), default) for name, default in _EDGE_OWN.items()]
    said += [(name, getattr(edge.provenance, name), default) for name, default in _EDGE_PROVENANCE.items()]
    props = {name: flatten(value) for name, value, default in said if value != default}
    return PutEdge(type=edge.type, source=edge.source, target=edge.target, props=props)


def edge_from(op: PutEdge) -> Edge:
    """Return the edge record of a stored edge."""
    return from_props(Edge, {**op.props, "type": op.type, "source": op.source, "target": op.target})


def to_props(record: Any) -> dict[str, Scalar]:
    """Return the flat properties of a domain dataclass; a field of its own goes before one of its provenance."""
    props: dict[str, Scalar] = {}
    for name in _HINTS[type(record)]:
        value = getattr(record, name)
        if type(value) in _PLAIN:
            props[name] = value
        elif isinstance(value, Provenance):
            props = {**to_props(value), **props}
        else:
            props[name] = flatten(value)
    return props


def from_props(cls: type[T], props: Mapping[str, Any]) -> T:
    """Return the domain object of flat properties; unknown ones are ignored, absent ones keep their default.

    None is what takes a property back, so where a field has another default it counts as absent.
    """
    values: dict[str, Any] = {}
    for name, restore in _RESTORERS[cls].items():
        if restore is None:
            values[name] = from_props(Provenance, props)
        elif (value := props.get(name)) is not None:
            values[name] = restore(value)
        elif name in props and name not in _DEFAULTED[cls]:
            values[name] = None
    return cls(**values)


def node_from(label: Label, node_id: str, props: Props) -> Node:
    """Return the domain object of a stored node's record."""
    return typing.cast(Node, from_props(CLASS_OF[label], {**props, "id": node_id}))


def check_put(op: Put) -> None:
    """Raise ValueError where an operation writes a value that is not one of a record.

    Properties that the model does not know are nobody's, and may be anything.
    """
    try:
        _check_put(op)
    except (KeyError, TypeError, ValueError, ArithmeticError, RecursionError) as error:
        what = "passage" if isinstance(op, PutPassage) else op.label if isinstance(op, PutNode) else op.type
        raise ValueError(f"a {what} has a value that cannot be stored: {error}") from error


def _check_put(op: Put) -> None:
    match op:
        case PutPassage():
            texts = [op.id, op.owner.id, op.text]
        case PutEdge():
            texts = [op.source.id, op.target.id]
            _check_props(Edge, op.props)
        case PutNode():
            texts = [op.id]
            _check_props(CLASS_OF[op.label], op.props)
    for text in texts:
        _check_value(text, _TEXT)


def _check_props(cls: type[Any], props: Props) -> None:
    kinds = _KINDS[cls]
    for name in props.keys() & kinds.keys():
        _check_value(props[name], kinds[name])


def _check_value(value: Any, kind: _Kind) -> None:
    if value is None and kind.optional:
        return
    if type(value) not in kind.stored:
        raise TypeError(f"a {type(value).__name__} is none of {kind.stored}")
    found = kind.restore(value)
    if isinstance(found, str):
        found.encode("utf-8")
    elif isinstance(value, int | float) and not abs(value) <= _LARGEST:  # no more is NaN
        raise ValueError("it is not a number that can be stored")
    elif kind.restore is _parsed and not isinstance(found, dict):
        raise ValueError("it is not a table")


def spelled(cls: type[Any], props: Mapping[str, Any]) -> dict[str, Any]:
    """Spell a record's properties as people read them: times as ISO 8601, mappings and lists as such."""
    told = dict(props)
    for name, restore in _restorers_of(cls).items():
        value = told.get(name)
        if restore is _moment and isinstance(value, int):
            told[name] = from_micros(value).isoformat()
        elif restore is _parsed and isinstance(value, str) and value:
            told[name] = json.loads(value)
    return told


def unspelled(cls: type[Any], told: Mapping[str, Any]) -> dict[str, Scalar]:
    """Return properties as stored from what `spelled` made. Raises ValueError, TypeError, KeyError or OverflowError."""
    props: dict[str, Scalar] = {}
    restorers = _restorers_of(cls)
    for name, value in told.items():
        restore = restorers.get(name)
        if value is None:
            props[name] = None
        elif restore is _moment:
            props[name] = to_micros(datetime.fromisoformat(value))
        elif restore is _parsed:
            props[name] = flatten(value)
        elif restore is not None:
            props[name] = flatten(restore(value))
    return props


def property_types(cls: type[Any]) -> dict[str, type[Any]]:
    """Return for each stored property of a record what it is when `spelled`: float, int, or str for anything else."""
    numbers: Mapping[object, type[Any]] = {float: float, counted: int}
    return {name: numbers.get(restore, str) for name, restore in _restorers_of(cls).items()}


def _restorers_of(cls: type[Any]) -> dict[str, Callable[[Any], Any]]:
    return {name: restore for name, restore in (_RESTORERS[Provenance] | _RESTORERS[cls]).items() if restore}


def flatten(value: Any) -> Scalar:
    """Flatten one value of a record to what a store holds."""
    if type(value) in _PLAIN:
        return typing.cast(Scalar, value)
    if isinstance(value, Enum):
        return typing.cast(str, value.value)
    if isinstance(value, datetime):
        return to_micros(value)
    if isinstance(value, Ref):
        return f"{value.label}:{value.id}"
    if isinstance(value, Mapping | tuple | list):
        return json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)
    return typing.cast(Scalar, value)


def _restorer(hint: Any) -> Callable[[Any], Any] | None:
    """Return what turns a stored value into one of the type, None for provenance, which has columns of its own."""
    base = _without_none(hint)
    if base is Provenance:
        return None
    if base is datetime:
        return _moment
    if base is int:
        return counted
    if base is float or (isinstance(base, type) and issubclass(base, Enum)):
        return typing.cast(Callable[[Any], Any], base)
    return _parsed if typing.get_origin(base) is not None else _as_it_is


def _moment(value: Any) -> datetime:
    return from_micros(int(value))


def _parsed(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    return json.loads(value) if value else {}


def _as_it_is(value: Any) -> Any:
    return value


def _without_none(hint: Any) -> Any:
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        return next(arm for arm in typing.get_args(hint) if arm is not type(None))
    return hint


def _field_types(cls: type[Any]) -> dict[str, Any]:
    hints = typing.get_type_hints(cls)
    return {f.name: hints[f.name] for f in fields(cls)}


_HINTS = {cls: _field_types(cls) for cls in (*CLASS_OF.values(), Edge, Provenance)}
_RESTORERS = {cls: {name: _restorer(hint) for name, hint in hints.items()} for cls, hints in _HINTS.items()}
_DEFAULTED = {
    cls: frozenset(one.name for one in fields(cls) if one.default_factory is not MISSING or one.default is not MISSING)
    for cls in _HINTS
}


class _Kind(typing.NamedTuple):
    """What a property's stored value is: which types it may have, and what turns it into the field's."""

    stored: tuple[type[Any], ...]
    restore: Callable[[Any], Any]
    optional: bool


def _kinds(cls: type[Any]) -> dict[str, _Kind]:
    numbers: Mapping[Any, tuple[type[Any], ...]] = {float: (int, float), int: (int, float), datetime: (int,)}
    hints, defaulted, found = _HINTS[Provenance] | _HINTS[cls], _DEFAULTED[Provenance] | _DEFAULTED[cls], {}
    for name, restore in _restorers_of(cls).items():
        base = _without_none(hints[name])
        if base not in (Ref, Relation):
            optional = base is not hints[name] or name in defaulted
            found[name] = _Kind(numbers.get(base, (str,)), restore, optional)
    return found


_KINDS = {cls: _kinds(cls) for cls in _HINTS}
_TEXT = _Kind((str,), _as_it_is, optional=False)

NODE_DEFAULTS: Mapping[Label, Props] = types.MappingProxyType(
    {
        Label.EPISODE: {"status": Status.ACTIVE.value},
        Label.TASK: dict.fromkeys(("session", "treatment", "verification"), ""),
    }
)
"""What a node has for a property that its label got later: journals from before do not say it."""

EDGE_DEFAULTS: Mapping[str, Scalar] = types.MappingProxyType(
    {"weight": 1.0, "relation": "", "last_used_at": None, "attributes": "{}", **to_props(Provenance())}
)
"""What a stored edge that leaves a property out has for it."""

_EDGE_OWN: Mapping[str, object] = {
    "created_at": object(),
    "weight": 1.0,
    "relation": "",
    "last_used_at": None,
    "attributes": {},
}
_EDGE_PROVENANCE: Mapping[str, object] = {name: getattr(Provenance(), name) for name in _HINTS[Provenance]}
