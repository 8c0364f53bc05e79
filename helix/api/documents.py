"""Documents: for each operation the GraphQL document by which the command line and the Python client ask for it.

They follow from the schema: an operation asks for everything that its answer holds, but for the walks through the
graph that begin there. `scripts/schema` writes them; a client picks the one it wants by its name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from graphql import (
    GraphQLArgument,
    GraphQLField,
    GraphQLInputField,
    GraphQLInputObjectType,
    GraphQLInterfaceType,
    GraphQLNamedType,
    GraphQLObjectType,
    GraphQLSchema,
    get_named_type,
    is_leaf_type,
)

from helix.api.walks import EXTRAS
from helix.model.edge import Label

_TOLD = frozenset({Label.MEMORY, Label.EPISODE, Label.REFLECTION})
"""Nodes that recall and review answer with; fields of others go by the same names and hold something else."""


def documents(schema: GraphQLSchema) -> str:
    """Return every operation of a schema, and every fragment that one of them spreads, each once, by name."""
    roots = {
        "query": schema.query_type,
        "mutation": schema.mutation_type,
        "subscription": schema.subscription_type,
    }
    asked: dict[str, GraphQLNamedType] = {}
    parts = [
        _operation(kind, name, field, asked)
        for kind, root in roots.items()
        for name, field in (root.fields if root else {}).items()
    ]
    written: dict[str, str] = {}
    while left := [name for name in asked if name not in written]:
        written.update({name: _fragment(schema, asked[name], asked) for name in left})
    return "\n\n".join([*parts, *(written[name] for name in sorted(written))]) + "\n"


def arguments_of(field: GraphQLField) -> Mapping[str, GraphQLArgument | GraphQLInputField]:
    """Return what an operation takes: its arguments, or the fields of a mutation's one input."""
    given = field.args.get("input")
    taken = None if given is None else get_named_type(given.type)
    return taken.fields if isinstance(taken, GraphQLInputObjectType) else field.args


def result_of(field: GraphQLField) -> GraphQLField:
    """Return the field that holds what an operation answers: itself, or the `result` of a mutation's payload."""
    answer = get_named_type(field.type)
    if isinstance(answer, GraphQLObjectType) and answer.name.endswith("Payload"):
        result: GraphQLField = answer.fields["result"]
        return result
    return field


def _operation(kind: str, name: str, field: GraphQLField, asked: dict[str, GraphQLNamedType]) -> str:
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
            if member.name in _TOLD:
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
