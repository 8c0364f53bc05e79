"""Holds MCP over HTTP at the daemon: who may come in, which project they are in, who they are, and long answers."""

from __future__ import annotations

import asyncio
import json
import subprocess
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import httpx2
import pytest
from api_server import BEARER, Served, serving
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_client import LEGACY, NEWEST, text_of
from mcp_types import Implementation, ListRootsResult, Root
from pydantic import FileUrl

from helix.service import Helix
from tests.sampling import some

HELLO = json.dumps(
    {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "codex", "version": "1"},
        },
    }
).encode()
JSON = {"content-type": "application/json", "accept": "application/json, text/event-stream"}


def asked(
    served: Served,
    work: Callable[[Client], Awaitable[Any]],
    *,
    mode: str = LEGACY,
    roots: Path | None = None,
    headers: Mapping[str, str] | None = None,
) -> Any:
    """Return what `work` makes of a client over HTTP, which has a folder as its root and tells more by headers."""

    async def listed(context: Any) -> ListRootsResult:
        elsewhere, here = FileUrl("file://elsewhere.example/barn"), FileUrl(f"file://{roots}")
        return ListRootsResult(roots=[Root(uri=elsewhere), Root(uri=here)])

    async def run() -> Any:
        told = {} if roots is None else {"list_roots_callback": listed}
        known = Implementation(name="Some Client", version="1")
        async with httpx2.AsyncClient(headers={**BEARER, **(headers or {})}) as http:
            transport = streamable_http_client(f"{served.origin}/mcp", http_client=http)
            async with Client(transport, mode=mode, client_info=known, **told) as client:
                return await work(client)

    return asyncio.run(run())


def repository(folder: Path) -> Path:
    subprocess.run(["git", "init", "--quiet", str(folder)], check=True)
    subprocess.run(["git", "-C", str(folder), "remote", "add", "origin", "https://github.com/farm/barn"], check=True)
    return folder


async def note(client: Client) -> str:
    return text_of(await client.call_tool("memory.note", {"text": "the barn is red"}))


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 401),
        ({"authorization": "Bearer wrong"}, 401),
        ({**BEARER, "host": "evil.example"}, 421),
        ({**BEARER, "origin": "http://evil.example"}, 403),
        ({**BEARER, "origin": "null"}, 403),
        (BEARER, 200),
    ],
)
def test_the_same_rules_as_for_graphql_let_a_request_in(
    served: Served, headers: Mapping[str, str], status: int
) -> None:
    assert served.request("POST", "/mcp", HELLO, {**JSON, **headers}).status == status


def test_the_token_of_hooks_opens_no_tools(helix: Helix) -> None:
    with serving(helix, hook_token="h" * 43) as served:
        answer = served.request("POST", "/mcp", HELLO, {**JSON, "authorization": f"Bearer {'h' * 43}"})
    assert answer.status == 401


@pytest.mark.parametrize("mode", [LEGACY, NEWEST])
def test_a_client_without_a_folder_writes_for_all_projects(served: Served, mode: str) -> None:
    assert asked(served, note, mode=mode).endswith("in global.")


def test_the_roots_of_a_client_say_which_project_it_is_in(served: Served, tmp_path: Path) -> None:
    folder = repository(tmp_path / "barn") / "src"
    folder.mkdir()
    assert asked(served, note, roots=folder).endswith("in github.com/farm/barn.")


@pytest.mark.parametrize("mode", [LEGACY, NEWEST])
def test_else_the_folder_that_the_command_was_started_in_says_so(served: Served, tmp_path: Path, mode: str) -> None:
    folder = repository(tmp_path / "a b\u00e4rn")
    headers = {"x-helix-folder": httpx2.URL(f"file://{folder}").raw_path.decode()}
    assert asked(served, note, mode=mode, headers=headers).endswith("in github.com/farm/barn.")


@pytest.mark.parametrize("folder", some(["relative/folder", "%00", "/" + "a" * 9_000, "", "/nowhere/at/all"], 1))
def test_a_folder_that_is_none_is_no_reason_to_fail(served: Served, folder: str) -> None:
    assert asked(served, note, headers={"x-helix-folder": folder}).startswith(("added", "merged"))


def test_a_client_goes_by_its_own_name(served: Served, helix: Helix) -> None:
    asked(served, note)
    asked(served, lambda client: client.call_tool("memory.note", {"text": "hay"}), headers={"x-helix-agent": "codex"})
    edges = served.ask("{memories {edges {node {provenance {agent}}}}}")["memories"]["edges"]
    agents = {edge["node"]["provenance"]["agent"] for edge in edges}
    assert agents == {"some-client", "codex"}


def test_a_request_of_too_many_values_is_refused(served: Served) -> None:
    async def work(client: Client) -> None:
        names = [str(number) for number in range(30_000)]
        with pytest.raises(Exception, match="at most 20,000 values"):
            await client.call_tool("memory.feedback", {"names": names, "helped": True})
        assert (await client.call_tool("memory.list", {})).structured_content["total"] == 0

    asked(served, work)


def test_what_is_called_by_a_name_without_end_is_not_looked_for(served: Served) -> None:
    """A resource of 3.6 MB was looked for over a minute, in which nobody was answered."""
    long = "a/" * 10_000

    async def work(client: Client) -> None:
        with pytest.raises(Exception, match="at most 16,384 characters"):
            await client.read_resource(f"helix://memory/{long}")
        for tool, arguments in ((long, {}), ("memory.list", {long: 1})):
            with pytest.raises(Exception, match="at most 16,384 characters"):
                await client.call_tool(tool, arguments)
        assert (await client.call_tool("memory.list", {})).structured_content["total"] == 0

    asked(served, work)


def test_a_hello_that_each_open_session_would_keep_has_a_largest_size(served: Served) -> None:
    long = HELLO.replace(b"codex", b"codex" * 10_000)
    answer = httpx2.post(f"{served.origin}/mcp", content=long, headers={**BEARER, **JSON})
    assert "a hello may have at most 16,384 characters" in answer.text
    assert httpx2.post(f"{served.origin}/mcp", content=HELLO, headers={**BEARER, **JSON}).headers["mcp-session-id"]


def test_half_a_letter_is_no_message_over_http_and_the_next_one_is_answered(served: Served) -> None:
    half = HELLO.replace(b'"codex"', b'"cod\\ud83d"')
    refused = served.request("POST", "/mcp", half, {**JSON, **BEARER})
    assert (refused.status, json.loads(refused.body)["error"]["code"]) == (400, -32700)
    assert served.request("POST", "/mcp", HELLO, {**JSON, **BEARER}).status == 200


def test_a_server_with_open_sessions_ends_when_it_is_asked_to(helix: Helix) -> None:
    with serving(helix) as served:
        for _ in range(3):
            assert served.request("POST", "/mcp", HELLO, {**JSON, **BEARER}).status == 200
    assert not served.connections
