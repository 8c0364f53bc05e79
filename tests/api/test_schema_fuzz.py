"""No argument of any field, however odd, is answered with an internal error: every refusal says what is wrong."""

from __future__ import annotations

import json
from typing import Any

import pytest
from api_server import Served
from graphql import (
    GraphQLEnumType,
    GraphQLField,
    GraphQLList,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLSchema,
    build_schema,
    get_named_type,
    is_leaf_type,
)
from hypothesis import HealthCheck, given
from hypothesis import settings as limits
from hypothesis import strategies as st

from helix import resources
from helix.api.described import arguments_of
from tests.waiting import until

SNAPSHOT = resources.directory("schema").parent / "tests" / "snapshots" / "schema.graphql"
SCHEMA: GraphQLSchema = build_schema(SNAPSHOT.read_text("utf-8"))
ENDS_THE_SERVER = frozenset({"shutdown"})
EXAMPLES, MANY_EXAMPLES = 4, 100
"""For each field, in an ordinary run and in a soak."""
KNOWN = "fuzzed-memory"
TEXTS = (
    *("", " ", "\n", "\0", "a\0b", "x" * 6_000, "a b " * 1_000, "*", "(", "%", "'", '"', "\\", "../..", "/", "~"),
    *("\u202e", "\ufeff", "\U0001f600", "e\u0301", "-1", "0", "true", "null", "[]", "{}", "GLOBAL", "project:x"),
    *(KNOWN, f"{KNOWN}#0", "00000000-0000-7000-8000-000000000000", "2025-01-31", "solves", "failure", "done"),
    *("MATCH (n) RETURN n", "/nowhere/at/all", "/dev/null", "a:b", "bm25", "SELECT 1", "#", "a/b", "1e999", "nan"),
)
PATHS = ("", "\0", "x", "/nowhere/at/all", "/dev/null", "/nowhere/" + "x" * 5_000, "/nowhere/\n", "/proc/1")
INTEGERS = (0, 1, -1, 2, 50, 2**31 - 1, -(2**31))
FLOATS = (0.0, -0.0, 1.0, -1.0, 0.5, 1e308, -1e308, 5e-324, 1e9)
MOMENTS = ("0001-01-01", "9999-12-31T23:59:59Z", "2025-01-31", "2025-01-31T00:00:00+23:59", "0001-01-01T00:00:00+14:00")
ANY = st.recursive(
    st.none() | st.booleans() | st.sampled_from(INTEGERS) | st.sampled_from(FLOATS) | st.sampled_from(TEXTS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(TEXTS), inner, max_size=3),
    max_leaves=6,
)
SCALARS: dict[str, st.SearchStrategy[Any]] = {
    "String": st.sampled_from(TEXTS),
    "ID": st.sampled_from(TEXTS),
    "Int": st.sampled_from(INTEGERS),
    "Float": st.sampled_from(FLOATS),
    "Boolean": st.booleans(),
    "DateTime": st.sampled_from(MOMENTS),
    "Long": st.sampled_from((*INTEGERS, 2**53, -(2**53))),
    "JSON": ANY,
}


def values(name: str, kind: Any) -> st.SearchStrategy[Any]:
    """Values that GraphQL lets through for an argument, at the edges of what they may be."""
    if isinstance(kind, GraphQLNonNull):
        return values(name, kind.of_type)
    if isinstance(kind, GraphQLList):
        inner = values(name, kind.of_type)
        return st.lists(inner, max_size=3) | inner.map(lambda one: [one] * 40)
    if isinstance(kind, GraphQLEnumType):
        return st.sampled_from(sorted(kind.values))
    if name in ("path", "paths", "vectors", "folder", "cwd"):
        return st.sampled_from(PATHS)
    return SCALARS[kind.name]


@st.composite
def arguments(draw: st.DrawFn, field: GraphQLField) -> dict[str, Any]:
    """Some of a field's arguments, now and then one of a type that it does not take."""
    given: dict[str, Any] = {}
    for name, argument in arguments_of(field).items():
        required = isinstance(argument.type, GraphQLNonNull)
        if required or draw(st.booleans()):
            odd = draw(st.integers(0, 7)) == 0
            given[name] = draw(ANY.filter(leads_nowhere) if odd else values(name, argument.type))
    return given


def leads_nowhere(value: Any) -> bool:
    """Whether a value names no folder of this machine: `//` as a path would have all of its files read."""
    if isinstance(value, list):
        return all(map(leads_nowhere, value))
    return not (isinstance(value, str) and value.lstrip().startswith(("/", "~", ".")))


def selection(kind: Any, depth: int = 2) -> str:
    """Everything an answer shows without arguments, some levels down."""
    named = get_named_type(kind)
    if is_leaf_type(named):
        return ""
    inner = ["__typename"]
    if isinstance(named, GraphQLObjectType):
        for name, field in named.fields.items():
            if not field.args and (is_leaf_type(get_named_type(field.type)) or depth > 1):
                inner.append(name + selection(field.type, depth - 1))
    return " { " + " ".join(inner) + " }"


def document(operation: str, name: str, field: GraphQLField, given: dict[str, Any]) -> str:
    taken = arguments_of(field)
    declared = ", ".join(f"${key}: {taken[key].type}" for key in given)
    passed = ", ".join(f"{key}: ${key}" for key in given)
    passed = f"input: {{{passed}}}" if passed and operation == "mutation" else passed
    head = f"{operation} Fuzzed({declared})" if declared else f"{operation} Fuzzed"
    asked = selection(field.type, depth=3 if operation == "mutation" else 2)
    return f"{head} {{ {name}{f'({passed})' if passed else ''}{asked} }}"


def fields() -> list[tuple[str, str]]:
    types = (("query", SCHEMA.query_type), ("mutation", SCHEMA.mutation_type))
    return [
        (operation, name)
        for operation, kind in types
        if kind is not None
        for name in kind.fields
        if name not in ENDS_THE_SERVER
    ]


@pytest.fixture(scope="module")
def stocked(shared: Served) -> Served:
    shared.ask(
        'mutation { store(input: {trigger: "a fuzzed memory", resolution: "of the tests", kind: FACT, '
        'name: "fuzzed-memory"}) { result { id } } }'
    )
    return shared


@pytest.mark.parametrize(("operation", "name"), fields())
def test_no_argument_is_an_internal_error(
    stocked: Served, pytestconfig: pytest.Config, operation: str, name: str
) -> None:
    kind = SCHEMA.query_type if operation == "query" else SCHEMA.mutation_type
    assert kind is not None
    field = kind.fields[name]
    most = MANY_EXAMPLES if pytestconfig.getoption("--soak") else EXAMPLES

    @limits(max_examples=most if field.args else 1, suppress_health_check=list(HealthCheck), database=None)
    @given(given=arguments(field))
    def check(given: dict[str, Any]) -> None:
        answer = stocked.post(document(operation, name, field, given), given)
        for error in json.loads(answer.body).get("errors") or ():
            assert error["extensions"]["code"] != "INTERNAL", f"{name}: {given!r:.500}: {error!r:.500}"

    check()
    if name == "pause":  # whatever came last: the others are not to be refused for it
        stocked.ask("mutation { pause(input: {on: false}) { result } }")


def test_no_job_ends_in_an_internal_error(stocked: Served) -> None:
    assert stocked.post("mutation { ingestNotes(input: {paths: []}) { result { id } } }").code == "INVALID_INPUT"
    query = "{ jobs { edges { node { kind state error errorCode } } } }"
    until(lambda: all(job["node"]["state"] != "RUNNING" for job in stocked.ask(query)["jobs"]["edges"]))
    assert not [job for job in stocked.ask(query)["jobs"]["edges"] if job["node"]["errorCode"] == "INTERNAL"]


@pytest.mark.parametrize("tasks", [[True], [[]], ["x"], [None], [{"delivered": []}], [{"metadata": []}], [3]])
def test_tasks_that_are_no_objects_are_refused_or_deliver_nothing(shared: Served, tasks: list[Any]) -> None:
    for query in (
        "query Q($tasks: [JSON!]) { lineage(tasks: $tasks) { slug } }",
        'query Q($tasks: [JSON!]) { builderContext(objective: "t", lineage: $tasks) { text } }',
    ):
        for error in shared.post(query, {"tasks": tasks}).json.get("errors") or ():
            assert error["extensions"]["code"] == "INVALID_INPUT"
