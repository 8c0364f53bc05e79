"""Typed: arguments and answers as the types that the methods of a client name, by the names of the methods.

The signatures in `sync_operations.py` are the one place where these types stand; they are read here as they are needed.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import datetime
from enum import Enum
from functools import cache
from typing import Any

from helix.client import domain
from helix.client.sync_operations import Operations
from helix.client.wire import camel
from helix.errors import DaemonError, InvalidInputError
from helix.model import records
from helix.model.reports import Page


def given(operation: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments with each word of an enum as its member. Raises InvalidInputError for a word that is none."""
    hints = _hints(operation)
    return {name: _member(hints[name], value) for name, value in arguments.items()}


def answer(operation: str, data: Mapping[str, Any]) -> Any:
    """Return the answer of an operation as the type that its method names.

    Raises DaemonError for what no answer of this version is.
    """
    hint = _hints(operation)["return"]
    if typing.get_origin(hint) is Iterator:
        hint = typing.get_args(hint)[0]
    try:
        return _typed_value(hint, data[camel(operation)])
    except (KeyError, ValueError, TypeError, AttributeError) as error:
        hint_words = "use the client of the daemon's version: `helix status` shows it"
        raise DaemonError(f"the answer to {operation} cannot be read: {error!r:.200}", hint=hint_words) from error


@cache
def _hints(operation: str) -> dict[str, Any]:
    return typing.get_type_hints(getattr(Operations, operation), vars(domain))


@cache
def _fields(record: type[Any]) -> tuple[tuple[str, str, Any], ...]:
    hints = typing.get_type_hints(record)
    return tuple((field.name, camel(field.name), hints[field.name]) for field in fields(record))


_NODES: Mapping[str, type[Any]] = {cls.__name__: cls for cls in records.CLASS_OF.values()}


def _typed_value(hint: Any, value: Any) -> Any:
    """Return a value of JSON as the type that a hint names; what GraphQL hands over as JSON stays as it is."""
    if value is None or hint in (Any, object):
        return value
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        arms = [arm for arm in arguments if arm is not type(None)]
        return _typed_value(arms[0] if len(arms) == 1 else _NODES[value["__typename"]], value)
    if origin is Page:
        items = tuple(_typed_value(arguments[0], edge["node"]) for edge in value["edges"])
        info = value["pageInfo"]
        return Page(
            items=items,
            total=value["totalCount"],
            cursors=tuple(edge["cursor"] for edge in value["edges"]),
            next_cursor=info["endCursor"] if info["hasNextPage"] else None,
        )
    if origin in (list, tuple, Sequence):
        items = tuple(_typed_value(arguments[0], item) for item in value)
        return list(items) if origin is list else items
    if origin is Mapping and isinstance(value, list):
        return {one["name"]: _typed_value(arguments[1], one["value"]) for one in value}
    if not isinstance(hint, type):
        return value
    if is_dataclass(hint):
        return hint(**{name: _typed_value(inner, value[key]) for name, key, inner in _fields(hint)})
    if issubclass(hint, Enum):
        return hint[value]
    if hint is datetime:
        return datetime.fromisoformat(value)
    return float(value) if hint is float else value


def _member(hint: Any, value: Any) -> Any:
    """Return `value`, and for each text in it that stands where an enum is wanted its member.

    One word where several may stand is a list of one, as GraphQL has it.
    """
    inner = next((typing.get_args(arm)[0] for arm in _arms(hint) if typing.get_origin(arm) is Sequence), None)
    if isinstance(value, list | tuple):
        return [_member(Any if inner is None else inner, item) for item in value]
    enum = _enum_of(hint) or _enum_of(inner)
    if enum is None or not isinstance(value, str) or isinstance(value, enum):
        return value
    found = next((one for one in enum if value.lower() in (str(one.value).lower(), one.name.lower())), None)
    if found is None:
        known = ", ".join(str(one.value) for one in enum)
        raise InvalidInputError(f"unknown {enum.__name__.lower()} {value!r}", hint=f"one of: {known}")
    return found


def _enum_of(hint: Any) -> type[Enum] | None:
    return next((arm for arm in _arms(hint) if isinstance(arm, type) and issubclass(arm, Enum)), None)


def _arms(hint: Any) -> tuple[Any, ...]:
    return typing.get_args(hint) if typing.get_origin(hint) in (typing.Union, types.UnionType) else (hint,)
