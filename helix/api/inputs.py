"""Arguments: those of a function as GraphQL shows them, and how what was given becomes what the function takes."""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from typing import Annotated, Any

from helix.api.glossary import plain
from helix.errors import InvalidInputError
from helix.model.memory import Kind

_CLOSED: Mapping[str, Any] = types.MappingProxyType({"kind": Kind})
"""Fields of the service's requests that take any text and refuse all but these words: GraphQL shows the words."""


def arguments(function: Callable[..., Any], skip: int) -> Iterator[tuple[str, Any, Any]]:
    """Yield (name, type, default) of the arguments of `function` after its first `skip` parameters.

    A parameter that is a record stands for its fields, each an argument of its own, so that a request of the service
    is listed once, there. A default that is missing is `inspect.Parameter.empty`.
    """
    for name, hint in _hints(function, skip).items():
        if not _is_record(hint):
            yield name, hint, inspect.signature(function).parameters[name].default
            continue
        inner = typing.get_type_hints(hint, include_extras=True)
        for field in fields(hint):
            default = inspect.Parameter.empty if field.default is MISSING else field.default
            yield field.name, _closed(field.name, inner[field.name]), default


def reader(function: Callable[..., Any], *, skip: int) -> Callable[[Mapping[str, Any]], dict[str, Any]]:
    """Return what turns the arguments given into those to call `function` with, after its first `skip` parameters.

    Null stands for the default, and a record is put together from its fields. What it returns raises
    InvalidInputError for JSON that is no object where a mapping is wanted, be it one or each of a list.
    """
    objects = {name for name, hint, _ in arguments(function, skip) if _is_mapping(plain(hint))}
    lists = {name for name, hint, _ in arguments(function, skip) if _lists_mappings(plain(hint))}
    records = {name: hint for name, hint in _hints(function, skip).items() if _is_record(hint)}
    owners = {field.name: name for name, record in records.items() for field in fields(record)}

    def read(given: Mapping[str, Any]) -> dict[str, Any]:
        values: dict[str, Any] = {}
        parts: dict[str, dict[str, Any]] = {name: {} for name in records}
        for name, value in given.items():
            if value is None:
                continue
            if name in objects and not isinstance(value, Mapping):
                raise InvalidInputError(f"`{name}` must be a JSON object, not {value!r:.80}")
            if name in lists and (wrong := [one for one in value if not isinstance(one, Mapping)]):
                raise InvalidInputError(f"`{name}` must be a list of JSON objects, not of {wrong[0]!r:.80}")
            target = parts[owners[name]] if name in owners else values
            target[name] = tuple(value) if isinstance(value, list) else value
        return values | {name: record(**parts[name]) for name, record in records.items()}

    return read


def _hints(function: Callable[..., Any], skip: int) -> dict[str, Any]:
    hints = typing.get_type_hints(function, include_extras=True)
    return {name: hints[name] for name in list(inspect.signature(function).parameters)[skip:]}


def _closed(name: str, hint: Any) -> Any:
    if name not in _CLOSED:
        return hint
    base, *said = typing.get_args(hint) if typing.get_origin(hint) is Annotated else (hint,)
    closed = _CLOSED[name] | None if type(None) in typing.get_args(base) else _CLOSED[name]
    return Annotated[closed, *said] if said else closed


def _is_mapping(hint: Any) -> bool:
    union = typing.get_origin(hint) in (typing.Union, types.UnionType)
    return any(typing.get_origin(arm) is Mapping for arm in (typing.get_args(hint) if union else (hint,)))


def _lists_mappings(hint: Any) -> bool:
    return any(
        typing.get_origin(arm) is Sequence and _is_mapping(typing.get_args(arm)[0])
        for arm in (hint, *typing.get_args(hint))
    )


def _is_record(hint: Any) -> bool:
    return isinstance(hint, type) and is_dataclass(hint)
