"""MCP at a server: an agent with a key alone reads, writes and asks in the scope of its key or of its header."""

from __future__ import annotations

import json

import pytest
from mcp import Client, MCPError

from helix.model.principal import Role
from tests.server.team import GET, STORE, Team, asked_over_mcp


@pytest.mark.parametrize("number", [0, 1])
def test_an_agent_writes_and_finds_in_the_scope_of_its_header(team: Team, number: int) -> None:
    tenant = team.tenant()
    key, person = team.key(tenant, Role.AGENT, name="codex"), team.key(tenant)
    team.processes[0].data(person, STORE, t="the till jams", r="turn it off and on", s="shop")  # home from now on

    async def work(client: Client) -> tuple[str, str]:
        written = await client.call_tool("memory.write", {"content": "Tills are named after rivers."})
        found = await client.call_tool("memory.search", {"query": "till jams"})
        return str(written), str(found)

    written, found = asked_over_mcp(team.processes[number], key, work, **{"x-helix-scope": "shop"})
    assert "turn it off and on" in found
    assert "shop" in written
    listed = '{ memories(scope: "shop") { edges { node { id trigger } } } }'
    edges = team.processes[0].data(person, listed)["memories"]["edges"]
    ours = next(edge["node"]["id"] for edge in edges if "rivers" in edge["node"]["trigger"])
    kept = team.processes[0].data(person, GET, n=ours)["get"]
    assert kept["provenance"] == {"trust": "AGENT_INFERRED", "agent": "mcp"}  # as its client calls itself


def test_resources_are_read_as_who_asks(team: Team) -> None:
    tenant, here = team.tenant(), team.processes[0]
    whole, bound = team.key(tenant, Role.READER), team.key(tenant, Role.READER, "shop")
    here.data(team.key(tenant), STORE, t="the till jams", r="off and on", s="other")

    async def work(client: Client) -> str:
        try:
            return str(await client.read_resource("helix://strand/manifest"))
        except MCPError as error:
            return f"refused: {error}"

    assert '"other"' in asked_over_mcp(here, whole, work)
    assert "refused: `status` may show more than the scopes" in asked_over_mcp(here, bound, work)


def test_an_editor_s_key_is_an_agent_s_over_mcp(team: Team) -> None:
    tenant, here = team.tenant(), team.processes[0]
    key = team.key(tenant, Role.EDITOR)

    async def work(client: Client) -> str:
        return str(
            await client.call_tool("memory.write", {"content": "Tills are named after rivers.", "scope": "shop"})
        )

    asked_over_mcp(here, key, work)
    listed = '{ memories(scope: "shop") { edges { node { provenance { trust } } } } }'
    assert json.dumps(here.data(key, listed)).count("AGENT_INFERRED") == 1


def test_a_bound_agent_writes_in_its_scope_and_is_told_so(team: Team) -> None:
    tenant, here = team.tenant(), team.processes[0]
    key = team.key(tenant, Role.AGENT, "shop", name="codex")

    async def work(client: Client) -> str:
        return str(await client.call_tool("memory.write", {"content": "Tills are named after rivers."}))

    assert "shop" in asked_over_mcp(here, key, work)
    with_header = asked_over_mcp(here, key, work, **{"x-helix-scope": "other"})
    assert "not bound to" in with_header
