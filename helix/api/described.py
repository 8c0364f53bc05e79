"""Described: what each operation says of itself, takes and answers, for the command line, which imports no operation.

It follows from the schema; `scripts/schema` writes it to `queries/operations.json`.
"""

from __future__ import annotations

import json
import re
from enum import Enum
from typing import Any

from graphql import (
    GraphQLArgument,
    GraphQLEnumType,
    GraphQLField,
    GraphQLInputField,
    GraphQLSchema,
    Undefined,
    get_named_type,
)

from helix.api.documents import arguments_of, result_of

_CAPITAL = re.compile("[A-Z]")


def described(schema: GraphQLSchema) -> str:
    """Return as JSON by their names in Python: each enum's words, and each operation, with its arguments.

    An argument that may be left out has a `default`: what stands for it, or null.
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
