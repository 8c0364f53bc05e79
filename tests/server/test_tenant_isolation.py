"""Isolation: nothing of a tenant is seen by another, by any way in, nor by a statement that forgets to name one."""

from __future__ import annotations

import itertools
import json
import random
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import psycopg
import pytest
from graphql import OperationDefinitionNode, OperationType, parse, print_ast
from mcp import Client, MCPError

from helix import resources
from helix.client import document
from helix.journal.postgres.dialect import tables
from helix.model.principal import Role
from tests.machine import Machine
from tests.sampling import some
from tests.server.team import STORE, Process, Team, asked_over_mcp
from tests.waiting import until

WORDS = ("till", "drawer", "printer", "queue", "cable", "socket", "jam", "leak", "loop", "retry")


def _fill(here: Process, key: str, mark: str, dice: random.Random) -> list[str]:
    """Store things that hold a mark; return what they are called: first ids and names of memories."""
    told = []
    for _ in range(4):
        words = " ".join(dice.sample(WORDS, 3))
        stored = here.data(key, STORE, t=f"the {words}", r=f"{mark} mend the {dice.choice(WORDS)}", s="shop/web")
        told += [stored["store"]["result"]["id"], stored["store"]["result"]["name"]]
    here.data(key, document("edge"), source=told[0], target=told[2], relation="solves")
    here.data(
        key,
        "mutation($c: String!) {"
        ' recordEpisode(input: {content: $c, session: "monday", scope: "shop"}) { result { __typename } } }',
        c=f"{mark} what happened on Monday",
    )
    plan = {"objective": f"{mark} ship it", "tasks": [{"seq": 1, "objective": f"{mark} write it", "depends": []}]}
    found = {"objective": f"{mark} look at it", "structure": {"directories": [f"{mark} src"]}}
    here.data(key, document("save_exploration"), answer=json.dumps(found), scope="shop/web")
    saved = here.data(key, document("save_plan"), answer=json.dumps(plan), scope="shop/web")["savePlan"]["result"]
    return [*told, saved["plan"]["id"], saved["tasks"][0]["id"], "monday", "shop", "shop/web", "mend"]


def test_nobody_sees_what_another_tenant_keeps(team: Team, pytestconfig: pytest.Config) -> None:
    """Each document of the client, through either process, with the other tenant's ids, names and scopes.

    Whose they are is asked the same questions: what shows nothing to them would show nothing here. In an ordinary run
    a document is given an id, a scope and one of the other names, the next one the next of them, and of all that it may
    be asked with these every third.
    """
    soaked = pytestconfig.getoption("--soak")
    dice = random.Random(16)
    ours, theirs = team.tenant(), team.tenant()
    key, other = team.key(ours, Role.OWNER), team.key(theirs, Role.OWNER)
    _fill(team.processes[0], key, "zinnober", dice)
    secrets = _fill(team.processes[1], other, "quastel", dice)
    shown = set[str]()
    for place, (name, listed) in enumerate(_documents()):
        others = [one for one in secrets[-6:] if one != "shop/web"]
        values = [secrets[0], "shop/web", *(others if soaked else [others[place % len(others)]])]
        for given in list(_asked(listed, values))[:: 1 if soaked else 3]:
            told = team.processes[dice.randrange(2)].ask(key, document(name), **given)
            assert "quastel" not in str(told), (name, given)
            if listed.operation is OperationType.QUERY and name not in shown:
                told = team.processes[dice.randrange(2)].ask(other, document(name), **given)
                shown |= {name} if "quastel" in str(told) else set()
    assert len(shown) > (15 if soaked else 8), shown


@pytest.mark.parametrize("way", some(["hooks", "mcp", "cypher", "v1"], 2))
def test_nobody_sees_it_by_another_way_in(team: Team, way: str) -> None:
    """Each is asked the same by whose it is, and has to show it there."""
    dice = random.Random(17)
    ours, theirs = team.tenant(), team.tenant()
    _fill(team.processes[0], team.key(ours, Role.OWNER), "zinnober", dice)
    secrets = _fill(team.processes[1], team.key(theirs, Role.OWNER), "quastel", dice)
    for tenant, mark in ((ours, "zinnober"), (theirs, "quastel")):
        team.accounts.add_member(team.server.tenant(tenant), "https://id.example", mark, Role.READER, by=mark)
    role = {"hooks": Role.HOOK, "mcp": Role.AGENT}.get(way, Role.OWNER)
    asked = {"hooks": _by_hooks, "mcp": _by_mcp, "cypher": _by_cypher, "v1": _by_administration}[way]
    shown = [
        asked(process, team.key(tenant, role), secrets) for tenant in (ours, theirs) for process in team.processes[:2]
    ]
    assert ["quastel" in one for one in shown] == [False, False, True, True], shown
    assert ["zinnober" in one for one in shown] == [True, True, False, False], shown


def _by_hooks(here: Process, key: str, secrets: Sequence[str]) -> str:
    """Return all that the events of a session are told, in the scopes and the session of another one."""
    said = []
    for scope, session in itertools.product(("shop/web", "shop"), ("monday", "tuesday")):
        event = {"session_id": session, "cwd": "/", "source": "startup", "reason": "exit", "tool_name": "Bash"}
        event |= {"prompt": " ".join(secrets), "tool_input": {"command": "mend"}, "tool_response": {"stdout": ""}}
        for name in ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PreCompact", "Stop"):
            told = {**event, "hook_event_name": name}
            for client in ("claude-code", "codex"):
                sent = here.send("POST", f"/hooks/{client}", key, json=told, headers={"x-helix-scope": scope})
                assert sent.status_code == 200, sent.text
                said.append(sent.text)
    return str(said)


def _by_mcp(here: Process, key: str, secrets: Sequence[str]) -> str:
    """Return what each tool and resource that reads says of what another tenant's things are called."""

    async def work(client: Client) -> str:
        said = []
        for one in secrets:
            for tool, given in (
                ("memory.search", {"query": one}),
                ("memory.context", {"task": one, "scope": "shop/web"}),
                ("memory.at_action", {"command": one, "error": one, "files": [one], "scope": "shop/web"}),
                ("memory.list", {"scope": one}),
                ("memory.relate", {"source": one, "target": secrets[0], "relation": "solves"}),
                ("memory.feedback", {"names": [one], "helped": True}),
            ):
                said.append(str(await client.call_tool(tool, given)))
            for place in ("helix://memory/", "helix://brief/"):
                try:
                    said.append(str(await client.read_resource(place + one.replace(" ", "%20"))))
                except MCPError as error:
                    said.append(str(error))
        return str(said)

    return str(asked_over_mcp(here, key, work, **{"x-helix-scope": "shop/web"}))


def _by_cypher(here: Process, key: str, secrets: Sequence[str]) -> str:
    """Return what the graph and each of its tables hold, whole and by another tenant's ids."""
    found = ["MATCH (n) RETURN n", "MATCH (n)-[r]->(m) RETURN n, r, m", "MATCH (n) WHERE n.id = $id RETURN n"]
    return str([here.data(key, document("cypher"), query=one, params={"id": secrets[0]}) for one in found])


def _by_administration(here: Process, key: str, secrets: Sequence[str]) -> str:
    """Return what an owner is told of keys, people, audit and counts."""
    said = []
    for path in ("/v1/keys", "/v1/users", "/v1/audit", "/metrics"):
        sent = here.send("GET", path, key)
        assert sent.status_code == 200, sent.text
        said.append(sent.text)
    return str(said)


@pytest.mark.soak
def test_what_a_tenant_leaves_for_a_peer_is_not_given_by_its_key_of_another_tenant(team: Team, tmp_path: Path) -> None:
    """The same peer, scope and role: nothing but the key tells them apart."""
    laptop = Machine(tmp_path / "home")
    laptop.home.mkdir()
    laptop("keys", "new", "laptop")
    public = next(str(one["public"]) for one in laptop("keys", "list")["keys"] if one["own"])
    keys, left = [], []
    for mark in ("zinnober", "quastel"):
        tenant = team.tenant()
        _fill(team.processes[0], team.key(tenant, Role.OWNER), mark, random.Random(18))
        keys.append(team.key(tenant, Role.EDITOR, "shop/web", peer=public))
        job = team.processes[1].send("POST", "/sync/v1/turns", keys[-1]).json()["job"]
        until(
            lambda job=job: team.processes[1].send("GET", f"/sync/v1/turns/{job}", keys[-1]).json()["state"] == "done"
        )
        strands = [one["name"] for one in team.processes[1].send("GET", "/sync/v1/strands", keys[-1]).json()["strands"]]
        assert strands
        left.append([f"turns/{job}", *(f"strands/{name}" for name in strands)])
    for process, (ours, theirs) in itertools.product(team.processes[:2], ((0, 1), (1, 0))):
        for place in left[theirs]:
            assert process.send("GET", f"/sync/v1/{place}", keys[theirs]).status_code == 200, place
            assert process.send("GET", f"/sync/v1/{place}", keys[ours]).status_code == 404, place
            if place.startswith("strands"):
                process.send("DELETE", f"/sync/v1/{place}", keys[ours])
                assert process.send("GET", f"/sync/v1/{place}", keys[theirs]).status_code == 200, place


def _documents() -> Iterator[tuple[str, OperationDefinitionNode]]:
    """Yield the name of each document that clients send, with what it says it takes."""
    for node in parse(resources.text("queries", "operations.graphql")).definitions:
        if not isinstance(node, OperationDefinitionNode) or node.operation is OperationType.SUBSCRIPTION:
            continue
        if node.name and node.name.value not in ("Pause", "Shutdown"):  # nothing would be written behind it
            yield re.sub("(?<!^)(?=[A-Z])", "_", node.name.value).lower(), node


def _asked(document: OperationDefinitionNode, values: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield what a document is given: what it must have, then, of the first two values, what it may have beside it."""
    plain: dict[str, Callable[[str], Any]] = {"String": str, "ID": str, "[String!]": _listed, "[ID!]": _listed}
    told = {one.variable.name.value: print_ast(one.type) for one in document.variable_definitions or ()}
    needed = [name for name, kind in told.items() if kind.endswith("!")]
    for value in values if needed else values[:2]:
        given = {name: plain.get(told[name].rstrip("!"), str)(value) for name in needed}
        yield given
        for name, kind in told.items() if value in values[:2] else ():
            if name not in needed and kind in plain:
                yield {**given, name: plain[kind](value)}


def _listed(value: str) -> list[str]:
    return [value]


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
    refused = ("CREATE TABLE mine (a bigint)", "DELETE FROM migration", "UPDATE cluster SET secret = 'x'")
    for statement in (*refused, "UPDATE audit SET actor = 'x'", "DELETE FROM audit", "TRUNCATE audit"):
        with psycopg.connect(team.address) as connection, pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute(statement.encode())


def test_a_role_that_served_before_may_change_the_audit_no_more(team: Team) -> None:
    team.sql("CREATE ROLE served_before")
    team.sql("GRANT SELECT, INSERT, UPDATE, DELETE ON audit TO served_before")
    team.sql(resources.text("schema/postgres", "0004_audit.sql"))
    may = "SELECT has_table_privilege('served_before', 'audit', $1)"
    kept = [right for right in ("SELECT", "INSERT", "UPDATE", "DELETE") if team.sql(may, right) == [(True,)]]
    assert kept == ["SELECT", "INSERT"]
