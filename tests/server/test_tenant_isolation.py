"""Isolation: nothing of a tenant is seen by another, by any way in, nor by a statement that forgets to name one."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from graphql import OperationDefinitionNode, OperationType, parse, print_ast

from helix import resources
from helix.client import document
from helix.journal.postgres.dialect import tables
from helix.model.principal import Role
from tests.server.team import STORE, Process, Team

WORDS = ("till", "drawer", "printer", "queue", "cable", "socket", "jam", "leak", "loop", "retry")


def _fill(here: Process, key: str, mark: str, dice: random.Random) -> list[str]:
    """Store things that hold a mark; return their ids and names."""
    told = []
    for _ in range(4):
        words = " ".join(dice.sample(WORDS, 3))
        stored = here.data(key, STORE, t=f"the {words}", r=f"{mark} mend the {dice.choice(WORDS)}", s="shop/web")
        told += [stored["store"]["result"]["id"], stored["store"]["result"]["name"]]
    here.data(
        key,
        "mutation($c: String!) {"
        ' recordEpisode(input: {content: $c, session: "monday", scope: "shop"}) { result { __typename } } }',
        c=f"{mark} what happened on Monday",
    )
    return told


def test_nobody_sees_what_another_tenant_keeps(team: Team) -> None:
    """Each document of the client, with another tenant's ids and names, through either process."""
    dice = random.Random(16)
    ours, theirs = team.tenant(), team.tenant()
    key, other = team.key(ours, Role.OWNER), team.key(theirs, Role.OWNER)
    _fill(team.processes[0], key, "zinnober", dice)
    secrets = _fill(team.processes[1], other, "quastel", dice)
    asked = 0
    for name, listed in _documents():
        for value in (secrets[0], secrets[1], "shop/web"):
            told = team.processes[asked % 2].ask(key, document(name), **_variables(listed, value))
            assert "quastel" not in str(told.get("data")), (name, value)
            asked += 1
    assert asked > 300


def _documents() -> Iterator[tuple[str, OperationDefinitionNode]]:
    """Yield the name of each document that clients send, with what it says it takes."""
    for node in parse(resources.text("queries", "operations.graphql")).definitions:
        if isinstance(node, OperationDefinitionNode) and node.name and node.operation is not OperationType.SUBSCRIPTION:
            yield re.sub("(?<!^)(?=[A-Z])", "_", node.name.value).lower(), node


def _variables(document: OperationDefinitionNode, value: str) -> dict[str, Any]:
    """Return a value for each variable that a document takes, of the type that it says."""
    plain = {"String": value, "ID": value, "[String!]": [value], "[ID!]": [value], "Int": 5}
    given = {}
    for variable in document.variable_definitions or ():
        kind = print_ast(variable.type)
        if kind.rstrip("!") in plain and (kind.endswith("!") or "Int" not in kind):
            given[variable.variable.name.value] = plain[kind.rstrip("!")]
    return given


def test_a_statement_that_names_no_tenant_finds_nothing(team: Team) -> None:
    """The second wall: as the role that serves, every table is empty until a transaction says whose it is."""
    tenant = team.tenant()
    _fill(team.processes[0], team.key(tenant), "mauer", random.Random(3))
    number = team.server.tenant(tenant).id
    for table in tables():
        if table == "head":
            continue
        assert team.sql(f"SELECT count(*) FROM {table}", address=team.address) == [(0,)], table
    assert team.sql("SELECT count(*) FROM node WHERE tenant = $1", number)[0][0] > 0
    assert team.sql("SELECT count(*) FROM node WHERE tenant = $1", number, address=team.address) == [(0,)]


def test_a_row_of_another_tenant_cannot_be_written(team: Team) -> None:
    ours, theirs = team.server.tenant(team.tenant()), team.server.tenant(team.tenant())
    with psycopg.connect(team.address) as connection:
        connection.execute("SELECT set_config('helix.tenant', %s, true)", (str(ours.id),))
        connection.execute("INSERT INTO meta VALUES (%s, 'a', 'b')", (ours.id,))
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("INSERT INTO meta VALUES (%s, 'a', 'b')", (theirs.id,))
        connection.rollback()


def test_the_role_that_serves_makes_no_tables_and_forges_no_migration(team: Team) -> None:
    for statement in ("CREATE TABLE mine (a bigint)", "DELETE FROM migration", "UPDATE cluster SET secret = 'x'"):
        with psycopg.connect(team.address) as connection, pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute(statement.encode())
