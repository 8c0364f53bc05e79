"""GraphQL types as views of the domain: built from its dataclasses, so that each field is listed once, there."""

from __future__ import annotations

import inspect
import re
import types
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from datetime import datetime
from enum import Enum
from inspect import Parameter
from typing import Annotated, Any, Generic, TypeVar

import strawberry
from strawberry.scalars import JSON
from strawberry.types.field import StrawberryField
from strawberry.utils.str_converters import to_camel_case

from helix.api.scalars import Long
from helix.model.ids import Id
from helix.model.records import CLASS_OF
from helix.model.records import Node as DomainNode
from helix.model.reflection import InsightEvidence
from helix.model.reports import Page
from helix.model.worded import Worded
from helix.operations.glossary import GLOSSARY, description, plain

T = TypeVar("T")

_CODE = re.compile(r"`[a-z]+(?:_[a-z]+)+`")
_LARGE = frozenset({"journal_bytes_week", "memory_bytes", "journal_rows", "applied_seq"})
"""Whole numbers that may pass the 32 bits of a GraphQL Int."""

_LEFT_OUT = frozenset({"ref"})
"""Properties that GraphQL says otherwise: by the type and the id of a node."""

_RENAMED = {"Memory.label": "confidenceLabel"}
"""Properties whose plain name would be taken for something else in GraphQL."""


@strawberry.interface(description="Anything in the graph that has an id and a scope.")
class Node:
    id: strawberry.ID = strawberry.field(description="Its id (a UUIDv7; an entity's is derived from what it names).")
    scope: str = strawberry.field(description="The project it belongs to, or `global`.")


@dataclass(frozen=True, slots=True, kw_only=True)
class PageInfo:
    """Where a page lies in its list (Relay cursor connections)."""

    has_next_page: Annotated[bool, "Whether there is more after this page."]
    has_previous_page: Annotated[bool, "Whether this page was asked for `after` another."]
    start_cursor: Annotated[str | None, "The cursor of the first item."]
    end_cursor: Annotated[str | None, "The cursor of the last item: pass it as `after` for the next page."]


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed(Generic[T]):
    """One item of a page, with the cursor that continues after it."""

    cursor: Annotated[str, "The place in the list after this item."]
    node: Annotated[T, "The item."]


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection(Generic[T]):
    """One page of a list that may grow (Relay cursor connections)."""

    edges: Annotated[tuple[Listed[T], ...], "The items of the page, each with its cursor."]
    page_info: Annotated[PageInfo, "Where the page lies in its list."]
    total_count: Annotated[int, "How many there are on all pages."]


def connection(page: Page[Any], after: str | None) -> Connection[Any]:
    """Return a page of a list as one of a Relay connection in GraphQL; `after` is the cursor it was asked for with."""
    edges = tuple(Listed(cursor=cursor, node=item) for cursor, item in zip(page.cursors, page.items, strict=True))
    info = PageInfo(
        has_next_page=page.next_cursor is not None,
        has_previous_page=after is not None,
        start_cursor=page.cursors[0] if page.cursors else None,
        end_cursor=page.cursors[-1] if page.cursors else None,
    )
    return Connection(edges=edges, page_info=info, total_count=page.total)


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedValue(Generic[T]):
    """One entry of a table whose names are not known beforehand."""

    name: Annotated[str, "What it is the value of."]
    value: Annotated[T, "The value."]


_TYPE_NAMES = {Listed: "Edge", Connection: "Connection", InsightEvidence: "Evidence"}
"""What GraphQL calls classes whose own names it does not use; the name of a generic one's argument stands before it."""
_TABLES: Mapping[Any, Any] = {
    Mapping[str, int]: NamedValue[Long],
    Mapping[str, float]: NamedValue[float],
    Mapping[str, Mapping[str, int]]: NamedValue[Mapping[str, int]],
    Mapping[str, tuple[str, ...]]: NamedValue[tuple[str, ...]],
}
"""What the entries are of tables whose values are known; GraphQL lists them. All other tables are JSON."""
_ENTRIES: Mapping[Any, str] = {
    NamedValue[Long]: "Count",
    NamedValue[float]: "Figure",
    NamedValue[Mapping[str, int]]: "Counts",
    NamedValue[tuple[str, ...]]: "Names",
}


class Views:
    """Builds the GraphQL type of each domain class once, when it is first asked for.

    `extras` make fields that a domain class does not hold itself but the graph can answer, such as a memory's edges.
    A field that leads back to a type which is still being built has to lead to the Node interface instead.
    """

    def __init__(self, extras: Mapping[type[Any], Sequence[Callable[[Views], StrawberryField]]]) -> None:
        self._extras = extras
        self._built: dict[Any, Any] = {}

    def of(self, annotation: Any) -> Any:
        """Return the GraphQL counterpart of a Python annotation, as strawberry reads it.

        Enums keep their members' names; mappings are lists of their entries, or JSON where their values are open; open
        values are JSON or null; the union of all nodes is the Node interface.
        Raises TypeError for what has no counterpart.
        """
        annotation = plain(annotation)
        if annotation == Id:
            return strawberry.ID
        if annotation in (str, int, float, bool, datetime, Long, strawberry.ID, JSON):
            return annotation
        if annotation is Any or annotation is object:
            return JSON | None
        origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
        if origin in (typing.Union, types.UnionType):
            return self._union(arguments)
        if isinstance(origin or annotation, type):
            return self._class(annotation, origin, arguments)
        raise TypeError(f"no GraphQL type for {annotation!r}")

    def nodes(self) -> list[Any]:
        """Return the GraphQL types of every kind of node, for those that no field names."""
        return [self.of(cls) for cls in CLASS_OF.values()]

    def payload(self, name: str, words: str, answer: Any) -> Any:
        """Return the GraphQL type of what a mutation answers with: its `result`, and room for more."""
        body = {
            "__annotations__": {"result": self.of(answer)},
            "__module__": __name__,
            "result": strawberry.field(description="What it came to."),
        }
        made = types.new_class(name, (), {}, lambda held: held.update(body))
        return strawberry.type(made, name=name, description=words)

    def input(self, name: str, words: str, given: Sequence[tuple[str, Any, Any, str]]) -> Any:
        """Return the GraphQL input type of (name, type, default, description) of each argument of a mutation."""
        body: dict[str, Any] = {"__annotations__": {one: kind for one, kind, _, _ in given}, "__module__": __name__}
        for one, _, default, said in given:
            held = {} if default is Parameter.empty else {"default": default}
            body[one] = strawberry.field(description=said, **held)
        built = types.new_class(name, (), {}, lambda namespace: namespace.update(body))
        return strawberry.input(built, name=name, description=words)

    def _union(self, arms: tuple[Any, ...]) -> Any:
        rest = [arm for arm in arms if arm is not type(None)]
        if len(rest) == 1:
            return self.of(rest[0]) | None
        if set(rest) == set(typing.get_args(DomainNode)):
            return Node | None if len(rest) < len(arms) else Node
        raise TypeError(f"no GraphQL type for {arms!r}")

    def _class(self, annotation: Any, origin: Any, arguments: tuple[Any, ...]) -> Any:
        base: type[Any] = origin or annotation
        if base is Page:
            annotation, base = Connection[arguments], Connection  # type: ignore[valid-type]  # made at run time
        if issubclass(base, Enum) or is_dataclass(base):
            if annotation not in self._built:
                self._built[annotation] = (
                    self._enum(base) if issubclass(base, Enum) else self._build(annotation, base, arguments)
                )
            return self._built[annotation]
        if issubclass(base, Mapping):
            if annotation not in _TABLES:
                return JSON
            entry = self.of(_TABLES[annotation])
            return list[entry]  # type: ignore[valid-type]  # an annotation made at run time, for strawberry to read
        if issubclass(base, Sequence):
            item = self.of(arguments[0])
            return list[item]  # type: ignore[valid-type]  # an annotation made at run time, for strawberry to read
        raise TypeError(f"no GraphQL type for {annotation!r}")

    def _enum(self, base: type[Enum]) -> Any:
        # strawberry keeps its definition of an enum on the enum's own class; it has no other place for it.
        made: Any = strawberry.enum(base, description=_as_graphql(base))
        for value in made.__strawberry_definition__.values:
            member = base[value.name]
            value.description = member.said if isinstance(member, Worded) else None
        return made

    def _build(self, annotation: Any, model: type[Any], arguments: tuple[Any, ...]) -> Any:
        name = _ENTRIES.get(annotation) or "".join(one.__name__ for one in arguments) + _TYPE_NAMES.get(
            model, model.__name__
        )
        bound = dict(zip(getattr(model, "__parameters__", ()), arguments, strict=True))
        hints = typing.get_type_hints(model, include_extras=True)
        annotations: dict[str, Any] = {}
        namespace: dict[str, Any] = {"is_type_of": classmethod(lambda _cls, value, _info: isinstance(value, model))}
        for field in fields(model):
            hint = hints[field.name]
            answer = _substituted(plain(hint), bound)
            annotations[field.name] = self._field(field.name, answer)
            said: dict[str, Any] = {"description": description(model.__name__, field.name, hint)}
            if answer in _TABLES:
                said["resolver"] = _entries_of(field.name, annotations[field.name])
            namespace[field.name] = strawberry.field(**said)
        for attribute, getter in _properties(model):
            hint = typing.get_type_hints(getter)["return"]
            annotations[attribute] = self.of(hint)
            renamed = _RENAMED.get(f"{model.__name__}.{attribute}")
            namespace[attribute] = strawberry.field(
                name=renamed, description=GLOSSARY.get(attribute) or _as_graphql(getter).partition("\n\n")[0]
            )
        for make in self._extras.get(model, ()):
            extra = make(self)
            namespace[str(extra.python_name)] = extra
        bases = (Node,) if model in CLASS_OF.values() else ()
        namespace["__annotations__"] = annotations
        namespace["__module__"] = __name__
        built = types.new_class(name, bases, {}, lambda body: body.update(namespace))
        return strawberry.type(built, name=name, description=_as_graphql(model))

    def _field(self, name: str, hint: Any) -> Any:
        if name == "id":
            return strawberry.ID
        return Long if name in _LARGE else self.of(hint)


def _entries_of(name: str, answer: Any) -> Callable[[Any], list[NamedValue[Any]]]:
    """Return the resolver of a field that holds a table."""

    def entries(root: Any) -> list[NamedValue[Any]]:
        return [NamedValue(name=key, value=value) for key, value in getattr(root, name).items()]

    entries.__annotations__ = {"return": answer}
    return entries


def _as_graphql(said: Any) -> str:
    """Return the docstring of a class or property with the names that GraphQL gives fields."""
    return _CODE.sub(lambda match: to_camel_case(match.group()), inspect.getdoc(said) or "")


def _properties(model: type[Any]) -> Iterator[tuple[str, Any]]:
    held = ((name, value.fget) for name, value in vars(model).items() if isinstance(value, property))
    return ((name, getter) for name, getter in held if name not in _LEFT_OUT)


def _substituted(hint: Any, bound: Mapping[Any, Any]) -> Any:
    if hint in bound:
        return bound[hint]
    parameters = getattr(hint, "__parameters__", ())
    return hint[tuple(bound[parameter] for parameter in parameters)] if parameters else hint
