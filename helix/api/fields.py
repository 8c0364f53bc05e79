"""Fields from functions: a blocking function over the service becomes a GraphQL field that runs it in a thread.

Arguments are those of a function as GraphQL shows them; what was given becomes what the function takes.
"""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import MISSING, fields, is_dataclass
from functools import partial
from typing import Annotated, Any

import strawberry
from strawberry.types.field import StrawberryField
from strawberry.utils.str_converters import to_camel_case

from helix.api.carrying_out import KEY, carry_out, metered, once
from helix.api.permissions import check_unbound
from helix.api.resolver_context import Context
from helix.api.types import Views, connection
from helix.errors import InvalidInputError
from helix.model.edge import Edge, Label, Ref, Relation
from helix.model.episode import Episode
from helix.model.memory import Kind, Memory
from helix.model.proof import MemoryEffect, Showing
from helix.model.records import Node
from helix.model.reports import Page
from helix.operations import learning, memories
from helix.operations.checks import page_size
from helix.operations.glossary import GLOSSARY, description, plain
from helix.operations.listed import Operation
from helix.service import Helix
from helix.store import listing

Info = strawberry.Info[Context, None]


def field_of(operation: Operation, views: Views) -> StrawberryField:
    """Return the GraphQL field by which an operation is asked for."""
    function = operation.function
    arguments_of = reader(function, skip=1)

    async def resolve(root: Any, info: Info, **given: Any) -> Any:
        context = info.context
        with metered(context, operation, info.field_name):
            work = once(function, given.pop(KEY, None), given, context.asker, context.owner)
            answer = await carry_out(context, operation, arguments_of(given), work)
        return _shown(answer, given)

    return (
        _mutation(function, resolve, views, operation.keyed) if operation.writes else _field(function, resolve, views)
    )


def control(function: Callable[..., Any], views: Views) -> StrawberryField:
    """Return the GraphQL mutation field that `function(context, **arguments)` carries out, without blocking."""
    arguments_of = reader(function, skip=1)

    async def resolve(root: Any, info: Info, **given: Any) -> Any:
        return function(info.context, **arguments_of(given))

    return _mutation(function, resolve, views)


def walk(function: Callable[..., Any], views: Views) -> StrawberryField:
    """Return the GraphQL field of a node that `function(helix, node, **arguments)` answers.

    As many nodes as it may lead to, its `first` or else one, are counted against what its request may walk over.
    """
    arguments_of = reader(function, skip=2)
    first = inspect.signature(function).parameters.get("first")

    async def resolve(root: Any, info: Info, **given: Any) -> Any:
        values = arguments_of(given)
        check_unbound(info.context.principal, f"`{info.field_name}`")
        info.context.walk(max(values.get("first", first.default), 1) if first is not None else 1)
        return _shown(await info.context.read(function, info.context.runtime.helix, root, **values), given)

    return _field(function, resolve, views, skip=2)


def subscription(function: Callable[..., AsyncGenerator[Any, None]], views: Views) -> StrawberryField:
    """Return the GraphQL subscription field whose events `function(context, **arguments)` yields."""
    arguments_of = reader(function, skip=1)

    async def resolve(root: Any, info: Info, **given: Any) -> AsyncGenerator[Any, None]:
        async with aclosing(function(info.context, **arguments_of(given))) as events:
            async for event in events:
                yield event

    return _field(function, resolve, views, skip=1)


def _shown(answer: Any, given: Mapping[str, Any]) -> Any:
    return connection(answer, given.get("after")) if isinstance(answer, Page) else answer


def _field(
    function: Callable[..., Any], resolve: Callable[..., Any], views: Views, *, skip: int = 1
) -> StrawberryField:
    """Return a field with the name, arguments and description of a function, without its first `skip` parameters.

    It is nullable: where it fails, the rest of the answer stands.
    """
    parameters = []
    for name, hint, default in arguments(function, skip):
        described = strawberry.argument(description=description(function.__name__, name, hint))
        annotation, given = _optional(views.of(hint), default)
        typed = Annotated[annotation, described]  # type: ignore[valid-type]  # a type made at run time
        parameters.append(_parameter(name, typed, given))
    hint = typing.get_type_hints(function)["return"]
    if typing.get_origin(hint) is AsyncGenerator:
        event = views.of(typing.get_args(hint)[0])
        return _made(function, resolve, parameters, AsyncGenerator[event, None])  # type: ignore[valid-type]  # as above
    return _made(function, resolve, parameters, views.of(hint) | None)


def _mutation(
    function: Callable[..., Any], resolve: Callable[..., Any], views: Views, keyed: bool = False
) -> StrawberryField:
    """Return a field that takes the arguments of a function as one input, and answers with its own payload."""
    title, spoken = to_camel_case(f"_{function.__name__}"), to_camel_case(function.__name__)
    listed = list(arguments(function, 1))
    if keyed:
        listed.append((KEY, Annotated[str | None, GLOSSARY[KEY]], None))
    given = [
        (name, *_optional(views.of(hint), default), description(function.__name__, name, hint))
        for name, hint, default in listed
    ]
    answers = f"What `{spoken}` answers with."
    payload = views.payload(f"{title}Payload", answers, typing.get_type_hints(function)["return"])

    async def carried_out(root: Any, info: Info, input: Any = strawberry.UNSET) -> Any:
        held = vars(input) if input else {}
        values = {name: value for name, value in held.items() if value is not strawberry.UNSET}
        return payload(result=await resolve(root, info, **values))

    parameters = []
    if given:
        taken = views.input(f"{title}Input", f"What `{spoken}` takes.", given)
        needed = any(default is inspect.Parameter.empty for _, _, default, _ in given)
        annotation, default = (taken, inspect.Parameter.empty) if needed else _optional(taken, None)
        typed = Annotated[annotation, strawberry.argument(description="What it takes.")]  # type: ignore[valid-type]  # as above
        parameters = [_parameter("input", typed, default)]
    return _made(function, carried_out, parameters, payload | None)


def _optional(annotation: Any, default: Any) -> tuple[Any, Any]:
    """Return the type of an argument, and the default that GraphQL shows: none for null."""
    if default is inspect.Parameter.empty:
        return annotation, default
    return annotation | None, strawberry.UNSET if default is None else default


def _parameter(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=default)


def _made(
    function: Callable[..., Any], resolve: Callable[..., Any], parameters: list[inspect.Parameter], answer: Any
) -> StrawberryField:
    positional = inspect.Parameter.POSITIONAL_OR_KEYWORD
    first = [inspect.Parameter("root", positional), inspect.Parameter("info", positional, annotation=Info)]
    resolve.__name__ = function.__name__
    resolve.__signature__ = inspect.Signature([*first, *parameters], return_annotation=answer)  # type: ignore[attr-defined]  # what strawberry reads
    resolve.__annotations__ = {"info": Info, **{one.name: one.annotation for one in parameters}}
    make = strawberry.subscription if inspect.isasyncgenfunction(resolve) else strawberry.field
    field: StrawberryField = make(resolver=resolve, description=inspect.getdoc(function))
    return field


_CLOSED: Mapping[str, Any] = types.MappingProxyType({"kind": Kind})
"""Fields of the service's requests that take any text and refuse all but these words: GraphQL shows the words."""


def arguments(function: Callable[..., Any], skip: int) -> Iterator[tuple[str, Any, Any]]:
    """Yield (name, type, default) of a GraphQL field's arguments: of `function` after its first `skip` parameters.

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
    """Return what turns a GraphQL field's arguments into those of `function`, after its first `skip` parameters.

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


def edges(
    helix: Helix, memory: Memory, *, relation: str | None = None, first: int = 20, after: str | None = None
) -> Page[Edge]:
    """Its edges, in both directions."""
    return memories.edges(helix, memory.id, relation, first, after)


def episodes(helix: Helix, memory: Memory, *, first: int = 5, after: str | None = None) -> Page[Episode]:
    """The episodes it rests on, newest first."""
    index = helix.store.index
    rows = index.rows_of(
        op.target for op in helix.store.records.edges_at(memory.ref) if op.type is Relation.GROUNDED_IN
    )
    return listing.page(helix.store, rows, (Label.EPISODE,), page_size(helix, "first", first), after)


def showings(helix: Helix, effect: MemoryEffect, *, first: int = 20, after: str | None = None) -> Page[Showing]:
    """The tasks that it was shown to or held back from, newest first."""
    return learning.showings(helix, effect.memory.id, first, after)


def node(helix: Helix, ref: Ref) -> Node | None:
    """The node itself; null when it is gone."""
    return helix.store.records.present([ref])[0]


EXTRAS: Mapping[type[Any], Sequence[Any]] = {
    Memory: (partial(walk, edges), partial(walk, episodes)),
    MemoryEffect: (partial(walk, showings),),
    Ref: (partial(walk, node),),
}
"""The fields to add to the type of each domain class."""
