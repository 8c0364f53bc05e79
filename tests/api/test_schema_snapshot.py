"""The schema as clients know it: the SDL in the repository, the documents they send, and the words that explain it."""

from __future__ import annotations

from pathlib import Path

import pytest
from graphql import (
    GraphQLEnumType,
    GraphQLInputObjectType,
    GraphQLInterfaceType,
    GraphQLObjectType,
    OperationDefinitionNode,
    parse,
    print_schema,
    validate,
)

from helix import resources
from helix.api import subscriptions
from helix.api.described import described, documents
from helix.api.limits import MAX_COMPARED, compares_too_much, shape_of
from helix.api.mcp.greeting import greeting
from helix.api.schema import build_schema
from helix.client import document
from helix.errors import NotFoundError
from helix.operations import OPERATIONS
from helix.operations.glossary import GLOSSARY
from helix.settings import Settings

SNAPSHOT = Path(__file__).resolve().parent.parent / "snapshots/schema.graphql"
SCHEMA = build_schema()
ASKED = sorted({*OPERATIONS, *(one.__name__ for one in subscriptions.ALL), "shutdown", "open_link"})
"""What some client sends."""


def test_the_sdl_in_the_repository_is_current() -> None:
    assert SNAPSHOT.read_text("utf-8") == SCHEMA.as_str() + "\n", "run scripts/schema and read the difference"


def test_the_documents_in_the_repository_are_current() -> None:
    kept = resources.text("queries", "operations.graphql")
    assert kept == documents(SCHEMA._schema), "run scripts/schema and read the difference"


def test_what_the_command_line_reads_of_the_operations_is_current() -> None:
    kept = resources.text("queries", "operations.json")
    assert kept == described(SCHEMA._schema), "run scripts/schema and read the difference"


def test_what_an_agents_client_is_greeted_with_is_what_the_daemon_says() -> None:
    assert resources.text("queries", "mcp.json") == greeting(), "run scripts/schema and read the difference"


@pytest.mark.parametrize("name", ASKED)
def test_a_clients_document_is_valid_and_within_the_limits(name: str) -> None:
    parsed = parse(document(name), max_tokens=Settings().max_tokens)
    assert not validate(SCHEMA._schema, parsed)
    shape = shape_of(parsed)
    assert shape.depth <= Settings().max_depth
    assert shape.aliases <= Settings().max_aliases
    assert not compares_too_much(parsed, MAX_COMPARED // 5)
    (operation,) = (one for one in parsed.definitions if isinstance(one, OperationDefinitionNode))
    assert operation.name is not None
    assert operation.name.value == "".join(word.capitalize() for word in name.split("_"))
    assert document(name).startswith("# "), "it says in a sentence what it is for"


def test_what_is_written_by_hand_follows_the_graph() -> None:
    """Everything else is asked for as the schema tells it."""
    by_hand = {path.stem for path in resources.directory("queries").glob("graphql/*.graphql")}
    assert by_hand == {"edge", "edges", "get"}


def test_there_is_no_document_of_what_is_no_operation() -> None:
    with pytest.raises(NotFoundError):
        document("nothing")


def test_every_field_and_argument_is_described() -> None:
    silent = [
        f"{name}.{field_name}({argument_name})"
        for name, kind in SCHEMA._schema.type_map.items()
        if isinstance(kind, GraphQLObjectType | GraphQLInterfaceType) and not name.startswith("__")
        for field_name, field in kind.fields.items()
        for argument_name, described in {"": field, **field.args}.items()
        if not described.description
    ]
    assert not silent


def test_every_type_and_every_word_of_an_enum_is_described() -> None:
    held = {name: kind for name, kind in SCHEMA._schema.type_map.items() if not name.startswith("__")}
    inside = [
        (f"{name}.{one}", described)
        for name, kind in held.items()
        if isinstance(kind, GraphQLEnumType | GraphQLInputObjectType)
        for one, described in (kind.values if isinstance(kind, GraphQLEnumType) else kind.fields).items()
    ]
    assert not [name for name, described in [*held.items(), *inside] if not described.description]


def test_every_word_of_the_glossary_is_used() -> None:
    text = " ".join(print_schema(SCHEMA._schema).split())
    assert not [name for name, meaning in GLOSSARY.items() if meaning not in text]


def test_names_are_written_the_way_of_graphql() -> None:
    assert not [
        f"{name}.{field}"
        for name, kind in SCHEMA._schema.type_map.items()
        if isinstance(kind, GraphQLObjectType) and not name.startswith("__")
        for field in kind.fields
        if "_" in field
    ]
