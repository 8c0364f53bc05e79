"""Fields from functions: a blocking function over the service becomes a GraphQL field that runs it in a thread."""

from __future__ import annotations

import inspect
import typing
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Annotated, Any

import strawberry
from strawberry.types.field import StrawberryField

from helix.api.carrying_out import carry_out, metered
from helix.api.glossary import GLOSSARY, description
from helix.api.inputs import arguments, reader
from helix.api.keys import KEY, once
from helix.api.resolver_context import Context
from helix.api.types import Views, connection
from helix.model.reports import Page
from helix.operations.listed import Operation

Info = strawberry.Info[Context, None]


def field_of(operation: Operation, views: Views) -> StrawberryField:
    """Return the field by which an operation is asked for."""
    function = operation.function
    arguments_of = reader(function, skip=1)

    async def resolve(root: Any, info: Info, **given: Any) -> Any:
        context = info.context
        with metered(context, operation, info.field_name):
            work = once(function, given.pop(KEY, None), given, context.agent)
            answer = await carry_out(context, operation, arguments_of(given), work)
        return connection(answer, given.get("after")) if isinstance(answer, Page) else answer

    return _field(function, resolve, views, skip=1, keyed=operation.keyed)


def control(function: Callable[..., Any], views: Views) -> StrawberryField:
    """Return the field of the mutation that `function(context, **arguments)` carries out at once, without blocking."""
    arguments_of = reader(function, skip=1)

    async def resolve(root: Any, info: Info, **given: Any) -> Any:
        return function(info.context, **arguments_of(given))

    return _field(function, resolve, views, skip=1)


def walk(function: Callable[..., Any], views: Views) -> StrawberryField:
    """Return the field of a node that `function(helix, node, **arguments)` answers.

    As many nodes as it may lead to, its `limit` or else one, are counted against what its request may walk over.
    """
    arguments_of = reader(function, skip=2)
    limit = inspect.signature(function).parameters.get("limit")

    async def resolve(root: Any, info: Info, **given: Any) -> Any:
        values = arguments_of(given)
        info.context.walk(max(values.get("limit", limit.default), 1) if limit is not None else 1)
        return await info.context.read(function, info.context.runtime.helix, root, **values)

    return _field(function, resolve, views, skip=2)


def subscription(function: Callable[..., AsyncGenerator[Any, None]], views: Views) -> StrawberryField:
    """Return the field of the subscription whose events `function(context, **arguments)` yields."""
    arguments_of = reader(function, skip=1)

    async def resolve(root: Any, info: Info, **given: Any) -> AsyncGenerator[Any, None]:
        async with aclosing(function(info.context, **arguments_of(given))) as events:
            async for event in events:
                yield event

    return _field(function, resolve, views, skip=1)


def _field(
    function: Callable[..., Any], resolve: Callable[..., Any], views: Views, *, skip: int, keyed: bool = False
) -> StrawberryField:
    """Give `resolve` the name, arguments and description of `function`, without its first `skip` parameters."""
    parameters = [
        inspect.Parameter("root", inspect.Parameter.POSITIONAL_OR_KEYWORD),
        inspect.Parameter("info", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=Info),
    ]
    for name, hint, default in arguments(function, skip):
        annotation = views.of(hint)
        described = strawberry.argument(description=description(function.__name__, name, hint))
        if default is None:
            default = strawberry.UNSET
        elif default is not inspect.Parameter.empty:
            annotation = annotation | None
        typed = Annotated[annotation, described]  # type: ignore[valid-type]  # a type made at run time
        parameters.append(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=typed, default=default))
    if keyed:
        hint = Annotated[str | None, strawberry.argument(description=GLOSSARY[KEY])]
        only = inspect.Parameter.KEYWORD_ONLY
        parameters.append(inspect.Parameter(KEY, only, annotation=hint, default=strawberry.UNSET))
    answer = _answer(function, views)
    resolve.__name__ = function.__name__
    resolve.__signature__ = inspect.Signature(parameters, return_annotation=answer)  # type: ignore[attr-defined]  # what strawberry reads
    resolve.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters[1:]}
    make = strawberry.subscription if inspect.isasyncgenfunction(resolve) else strawberry.field
    field: StrawberryField = make(resolver=resolve, description=inspect.getdoc(function))
    return field


def _answer(function: Callable[..., Any], views: Views) -> Any:
    hint = typing.get_type_hints(function)["return"]
    if typing.get_origin(hint) is AsyncGenerator:
        event = views.of(typing.get_args(hint)[0])
        return AsyncGenerator[event, None]  # type: ignore[valid-type]  # a type made at run time
    return views.of(hint)
