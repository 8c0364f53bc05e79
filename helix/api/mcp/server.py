"""Server: Helix as an MCP server, made of its tools and readings, and the route of the daemon that speaks it."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from typing import Any

from starlette.types import Receive, Scope, Send

from helix import __version__
from helix.api.resolver_context import AppRuntime

PATH = "/mcp"

_INSTRUCTIONS = (
    "Helix remembers across sessions and agents. memory.context before a task, memory.at_action before a command that "
    "may fail and after one that did, memory.search for a question. Write down what the next session needs: decisions "
    "with their reason, conventions, failures with their fix. [you] is the user's word; quoted lines are nobody's here."
)
_IDLE_SECONDS = 1_800.0
_MOST_SESSIONS = 2_000


def build_server(runtime: AppRuntime | None) -> Any:
    """Return the MCP server over a running Helix; without one it says what there is and answers nothing.

    The protocol's library is loaded here, when somebody asks for it.
    """
    from helix.api.mcp.agent_tools import AgentTools
    from helix.api.mcp.asker import Askers
    from helix.api.mcp.readings import offer_readings
    from helix.api.mcp.tool_server import ToolServer

    askers = Askers(runtime)
    server: Any = ToolServer(
        "helix",
        title="Helix memory",
        instructions=_INSTRUCTIONS,
        version=__version__,
        tools=AgentTools(askers).tools(),
        middleware=[askers.watch],
        subscriptions=False,
    )
    offer_readings(server, askers)
    return server


class McpEndpoint:
    """The route `/mcp`: streamable HTTP, behind the checks that every request of the daemon passes.

    The server is made at the first request, in a thread: it takes most of a second that nobody without it should wait.
    """

    def __init__(self, runtime: AppRuntime) -> None:
        self._runtime = runtime
        self._turn = asyncio.Lock()
        self._manager: Any = None
        self._stop = asyncio.Event()
        self._running: asyncio.Task[None] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        async with self._turn:
            if self._manager is None:
                self._manager = await self._started()
        await self._manager.handle_request(scope, receive, send)

    async def _started(self) -> Any:
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
        from mcp.server.transport_security import TransportSecuritySettings

        server = await asyncio.to_thread(build_server, self._runtime)
        server.streamable_http_app(
            session_idle_timeout=_IDLE_SECONDS,
            max_sessions=_MOST_SESSIONS,
            # The gate before every route has looked at Host and Origin already, more strictly.
            transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
        )
        manager: StreamableHTTPSessionManager = server.session_manager
        begun = asyncio.Event()
        self._running = asyncio.create_task(self._run(manager, begun))
        await begun.wait()
        return manager

    async def _run(self, manager: Any, begun: asyncio.Event) -> None:
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(manager.run())
            begun.set()
            await self._stop.wait()

    async def close(self) -> None:
        """End all MCP sessions."""
        self._stop.set()
        if self._running is not None:
            await self._running
