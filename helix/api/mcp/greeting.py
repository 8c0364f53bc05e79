"""Greeting: what a client is told at its hello and what lists it gets, as a file that `helix mcp` answers from."""

from __future__ import annotations

import asyncio
import json

from mcp.client import Client
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from helix.api.mcp.server import build_server


def greeting() -> str:
    """Return the MCP answers to `initialize` and to the lists, as JSON."""
    return asyncio.run(_greeting())


async def _greeting() -> str:
    async with Client(build_server(None), mode="legacy") as client:
        hello = client.session.initialize_result
        assert hello is not None
        lists = {
            "tools/list": await client.list_tools(),
            "prompts/list": await client.list_prompts(),
            "resources/list": await client.list_resources(),
            "resources/templates/list": await client.list_resource_templates(),
        }
    told = {
        "versions": sorted(HANDSHAKE_PROTOCOL_VERSIONS),
        "hello": hello.model_dump(mode="json", by_alias=True, exclude_none=True),
        "lists": {name: one.model_dump(mode="json", by_alias=True, exclude_none=True) for name, one in lists.items()},
    }
    return json.dumps(told, indent=1, sort_keys=True) + "\n"
