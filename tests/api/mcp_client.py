"""An MCP client in the same process as a Helix: the protocol's own client over the protocol's own server."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Awaitable, Callable
from typing import Any

from mcp import Client
from mcp_types import CallToolResult, ElicitResult

from helix.api.access import Access
from helix.api.mcp.server import build_server
from helix.api.metrics import Meters
from helix.api.resolver_context import READERS, AppRuntime, Threads
from helix.service import Helix

DECLINED = "(declined)"
"""What a person chooses who wants to choose nothing."""
LEGACY, NEWEST = "legacy", "auto"
"""How a client says hello: with `initialize`, and as the newest version of the protocol does, without."""


def with_client(
    helix: Helix,
    work: Callable[[Client], Awaitable[Any]],
    *,
    mode: str = NEWEST,
    choose: str | None = None,
    until: threading.Event | None = None,
) -> Any:
    """Return what `work` makes of a client of `helix`; with `choose` its person answers every question by that name.

    What only reads waits `until` an event, where one is given: all threads for it are busy before.
    """

    async def chosen(context: Any, params: Any) -> ElicitResult:
        if choose == DECLINED:
            return ElicitResult(action="decline")
        return ElicitResult(action="accept", content={"name": choose})

    async def run() -> Any:
        threads = Threads()
        runtime = AppRuntime(helix, Access("t" * 43), Meters(), None, threads)
        for _ in range(READERS) if until is not None else ():
            threads.readers.submit(until.wait)
        asked = {} if choose is None else {"elicitation_callback": chosen}
        try:
            async with Client(build_server(runtime), mode=mode, **asked) as client:
                return await work(client)
        finally:
            await threads.close()

    return asyncio.run(run())


def call(helix: Helix, tool: str, /, mode: str = NEWEST, choose: str | None = None, **arguments: Any) -> CallToolResult:
    """Return what one tool answers."""

    async def work(client: Client) -> CallToolResult:
        return await client.call_tool(f"memory.{tool}", arguments)

    answer: CallToolResult = with_client(helix, work, mode=mode, choose=choose)
    return answer


def text_of(answer: CallToolResult) -> str:
    return "\n".join(getattr(part, "text", "") for part in answer.content)


def size_of(answer: CallToolResult) -> str:
    """Return all that a client may hand to its agent: whichever is longer, the lines or the record."""
    return max(text_of(answer), json.dumps(answer.structured_content), key=len)
