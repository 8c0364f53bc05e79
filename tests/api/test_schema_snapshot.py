"""The schema as clients know it: the SDL in the repository, the documents they send, and the words that explain it."""

from __future__ import annotations

from pathlib import Path

import pytest
from graphql import GraphQLInterfaceType, GraphQLObjectType, OperationDefinitionNode, parse, print_schema, validate

from helix import resources
from helix.api import mutations, queries, subscriptions
from helix.api.glossary import GLOSSARY
from helix.api.limits import shape_of
from helix.api.schema import build_schema
from helix.settings import Settings

SNAPSHOT = Path(__file__).resolve().parent.parent / "snapshots/schema.graphql"
DOCUMENTS = sorted(resources.directory("queries").glob("graphql/*.graphql"))
SCHEMA = build_schema(Settings())


def test_the_sdl_in_the_repository_is_current() -> None:
    assert SNAPSHOT.read_text("utf-8") == SCHEMA.as_str() + "\n", "run scripts/schema and read the difference"


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.stem)
def test_a_clients_document_is_valid_and_within_the_limits(path: Path) -> None:
    document = parse(path.read_text("utf-8"), max_tokens=Settings().max_tokens)
    assert not validate(SCHEMA._schema, document)
    shape = shape_of(document)
    assert shape.depth <= Settings().max_depth
    assert shape.aliases <= Settings().max_aliases


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.stem)
def test_a_clients_document_holds_one_operation_named_like_its_file(path: Path) -> None:
    operations = [
        node for node in parse(path.read_text("utf-8")).definitions if isinstance(node, OperationDefinitionNode)
    ]
    assert len(operations) == 1
    assert operations[0].name is not None
    assert operations[0].name.value == "".join(word.capitalize() for word in path.stem.split("_"))
    assert path.read_text("utf-8").startswith("# "), "it says in a sentence what it is for"


def test_every_operation_has_a_document() -> None:
    """`node` is for walking by hand, everything else is what some client sends."""
    functions = (*queries.ALL, *mutations.ALL, *subscriptions.ALL)
    wanted = {function.__name__ for function in functions} | {"shutdown", "open_link"}
    assert wanted - {path.stem for path in DOCUMENTS} == {"node"}


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
