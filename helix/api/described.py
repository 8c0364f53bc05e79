"""Described: each operation for those who import none: what it takes and answers, and a document that asks it.

All of it follows from the schema; `scripts/schema` writes it. `documents` are those by which the command line and the
clients ask: an operation asks for everything that its answer holds, but for the walks through the graph that begin
there. A client picks the one it wants by its name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Any

from graphql import (
    GraphQLArgument,
    GraphQLEnumType,
    GraphQLField,
    GraphQLInputField,
    GraphQLInputObjectType,
    GraphQLInterfaceType,
    GraphQLNamedType,
    GraphQLObjectType,
    GraphQLSchema,
    Undefined,
    get_named_type,
    is_leaf_type,
)

from helix.api.fields import EXTRAS
from helix.recall.question import TOLD


def documents(schema: GraphQLSchema) -> str:
    """Return the GraphQL document of every operation and fragment of a schema, each once, by name."""
    roots = {
        "query": schema.query_type,
        "mutation": schema.mutation_type,
        "subscription": schema.subscription_type,
    }
    asked: dict[str, GraphQLNamedType] = {}
    parts = [
        _document(kind, name, field, asked)
        for kind, root in roots.items()
        for name, field in (root.fields if root else {}).items()
    ]
    written: dict[str, str] = {}
    while left := [name for name in asked if name not in written]:
        written.update({name: _fragment(schema, asked[name], asked) for name in left})
    return "\n\n".join([*parts, *(written[name] for name in sorted(written))]) + "\n"


def arguments_of(field: GraphQLField) -> Mapping[str, GraphQLArgument | GraphQLInputField]:
    """Return the arguments of a GraphQL operation, or the fields of a mutation's one input."""
    given = field.args.get("input")
    taken = None if given is None else get_named_type(given.type)
    return taken.fields if isinstance(taken, GraphQLInputObjectType) else field.args


def result_of(field: GraphQLField) -> GraphQLField:
    """Return the GraphQL field with an operation's answer: itself, or the `result` of a mutation's payload."""
    answer = get_named_type(field.type)
    if isinstance(answer, GraphQLObjectType) and answer.name.endswith("Payload"):
        result: GraphQLField = answer.fields["result"]
        return result
    return field


def _document(kind: str, name: str, field: GraphQLField, asked: dict[str, GraphQLNamedType]) -> str:
    taken = arguments_of(field)
    declared = ", ".join(f"${argument}: {given.type}" for argument, given in taken.items())
    passed = ", ".join(f"{argument}: ${argument}" for argument in taken)
    passed = f"input: {{{passed}}}" if passed and kind == "mutation" else passed
    title = name[0].upper() + name[1:]
    answer = f" {{ result{_spread(result_of(field), asked)} }}" if kind == "mutation" else _spread(field, asked)
    call = f"{name}({passed})" if passed else name
    words = (field.description or "").split("\n\n")[0].replace("\n", " ")
    return f"# {words}\n{kind} {title}{f'({declared})' if declared else ''} {{\n  {call}{answer}\n}}"


def _fragment(schema: GraphQLSchema, kind: GraphQLNamedType, asked: dict[str, GraphQLNamedType]) -> str:
    assert isinstance(kind, GraphQLObjectType | GraphQLInterfaceType)
    lines = [f"  {name}{_spread(field, asked)}" for name, field in _held(kind)]
    if isinstance(kind, GraphQLInterfaceType):
        lines.insert(0, "  __typename")
        for member in schema.get_implementations(kind).objects:
            if member.name in TOLD:  # fields of others go by the same names and hold something else
                asked[member.name] = member
                lines.append(f"  ...{member.name}")
    return f"fragment {kind.name} on {kind.name} {{\n" + "\n".join(lines) + "\n}"


def _held(kind: GraphQLObjectType | GraphQLInterfaceType) -> Iterator[tuple[str, GraphQLField]]:
    """Yield the fields that a record holds itself."""
    walks = {name for cls in EXTRAS if cls.__name__ == kind.name for name in _walks(cls)}
    return ((name, field) for name, field in kind.fields.items() if name not in walks)


def _walks(cls: type) -> list[str]:
    return [make.args[0].__name__ for make in EXTRAS[cls]]


def _spread(field: GraphQLField, asked: dict[str, GraphQLNamedType]) -> str:
    answer = get_named_type(field.type)
    if is_leaf_type(answer):
        return ""
    asked[answer.name] = answer
    return f" {{ ...{answer.name} }}"


_CAPITAL = re.compile("[A-Z]")


def described(schema: GraphQLSchema) -> str:
    """Describe the API as JSON by names in Python: each enum's words, and each operation, with its arguments.

    An argument that may be omitted has a `default`: what stands for it, or null.
    """
    words: dict[str, dict[str, str]] = {}
    found = {
        _snake(name): _operation(field, words, writes=root is schema.mutation_type)
        for root in (schema.query_type, schema.mutation_type)
        for name, field in (root.fields if root else {}).items()
    }
    return json.dumps({"words": words, "operations": found}, indent=1, ensure_ascii=False) + "\n"


def _operation(field: GraphQLField, words: dict[str, dict[str, str]], *, writes: bool) -> dict[str, Any]:
    taken = arguments_of(field)
    for argument in taken.values():
        kind = get_named_type(argument.type)
        if isinstance(kind, GraphQLEnumType):
            words[kind.name] = {one.value: name for name, one in kind.values.items()}
    takes = {_snake(name): _argument(argument) for name, argument in taken.items()}
    return {"says": field.description, "writes": writes, "answers": str(result_of(field).type), "takes": takes}


def _argument(argument: GraphQLArgument | GraphQLInputField) -> dict[str, Any]:
    told: dict[str, Any] = {"type": str(argument.type), "says": argument.description}
    if not told["type"].endswith("!"):
        default = None if argument.default_value is Undefined else argument.default_value
        told["default"] = default.value if isinstance(default, Enum) else default
    return told


def _snake(name: str) -> str:
    return _CAPITAL.sub(lambda found: f"_{found[0].lower()}", name)
