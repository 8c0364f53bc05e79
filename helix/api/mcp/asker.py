"""Asker: which agent asks by MCP, for which project, and how an operation is carried out for it."""

from __future__ import annotations

import asyncio
import json
import os
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from pathlib import Path
from typing import Any
from urllib.parse import unquote, unquote_to_bytes, urlsplit
from urllib.request import url2pathname

from mcp.server.context import CallNext, ServerRequestContext
from mcp.server.mcpserver import Context as Call
from mcp.shared.exceptions import MCPError
from mcp.shared.message import ServerMessageMetadata
from mcp_types import INVALID_PARAMS, ListRootsRequest, ListRootsResult

from helix.api.carrying_out import carry_out, metered
from helix.api.limits import MAX_VALUES, has_too_many_values
from helix.api.permissions import PRINCIPAL
from helix.api.resolver_context import AppRuntime, Context
from helix.errors import HelixError
from helix.identity import LONGEST_PATH, project_of
from helix.model.principal import Principal
from helix.model.speaker import FOLDER_HEADER, HEADER, SCOPE_HEADER, agent_name
from helix.operations.listed import OPERATIONS
from helix.settings import Settings

_SESSION = "mcp-session-id"
_UNNAMED = "mcp"

_HELLO, _PROMPT = "initialize", "prompts/get"
_LONGEST_HELLO = 16 << 10
"""Characters of what a client says of itself: each open session keeps it."""
_LONGEST_NAME = 16 << 10
"""Characters of a name or an address: what is called so is looked for on the one thread that answers everybody."""
_ROOTS_CHANGED = "notifications/roots/list_changed"
_ROOTS_SECONDS = 2.0
_MOST_SESSIONS = 1_000
_ASKING: ContextVar[Any] = ContextVar("helix_mcp_request", default=None)
"""The request under way: a resource of a fixed address is read without a call that would tell of it."""
_TOLD_EVERY = 1.0
"""Seconds between two words of progress to a client that asked for it."""


class Askers:
    """Knows who asks and carries operations out for them; the roots of a client are asked for once a session."""

    def __init__(self, runtime: AppRuntime | None) -> None:
        """Take what runs Helix; None for a server that is only described."""
        self._runtime = runtime
        self._roots: OrderedDict[str, Path | None] = OrderedDict()

    @property
    def runtime(self) -> AppRuntime:
        """What runs Helix for the MCP server."""
        assert self._runtime is not None, "a server that is only described was asked something"
        return self._runtime

    async def watch(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> Any:
        """Forget the roots of an MCP session whose client says that they changed.

        What is too large to look through is refused.

        This is a middleware of the server.
        """
        if has_too_many_values(ctx.params):
            raise MCPError(INVALID_PARAMS, f"a request may hold at most {MAX_VALUES:,} values")
        if any(len(name) > _LONGEST_NAME for name in _names_in(ctx.params)):
            raise MCPError(INVALID_PARAMS, f"a name or an address may have at most {_LONGEST_NAME:,} characters")
        _ASKING.set(ctx.request)
        if ctx.method == _HELLO and len(json.dumps(ctx.params)) > _LONGEST_HELLO:
            raise MCPError(INVALID_PARAMS, f"a hello may have at most {_LONGEST_HELLO:,} characters")
        if ctx.method == _ROOTS_CHANGED:
            self._roots.pop(_header(ctx.request, _SESSION), None)
        try:
            return await call_next(ctx)
        except ValueError as error:
            if ctx.method == _PROMPT:  # the library calls an unknown prompt, or a wrong argument, an error of its own
                raise MCPError(INVALID_PARAMS, str(error)) from error
            raise

    async def read(self, call: Call | None, operation: str, /, **values: Any) -> Any:
        """Return what an operation answers for an MCP resource or prompt; raises MCPError, the protocol's own."""
        try:
            return await self.ask(call, operation, **values)
        except HelixError as error:
            data = {"code": error.code, "hint": error.hint or ""}
            raise MCPError(INVALID_PARAMS, error.message, data) from error

    async def ask(self, call: Call | None, operation: str, /, **values: Any) -> Any:
        """Return what an operation answers over MCP, telling a client that wants to know how long it has been at it.

        A resource of a fixed address is read without a `call` to tell who asks. Raises HelixError.
        """
        listed = OPERATIONS[operation]
        begun = asyncio.get_running_loop().time()
        agent = _UNNAMED if call is None else agent_of_call(call)
        principal = self._principal(call)
        context = Context(
            runtime=self.runtime,
            base_url="",
            authorized=True,
            agent=agent,
            principal=principal,
            begun=begun,
        )
        with metered(context, listed, operation):
            work = asyncio.ensure_future(carry_out(context, listed, values))
            try:
                while not (await asyncio.wait({work}, timeout=_TOLD_EVERY))[0]:
                    seconds = asyncio.get_running_loop().time() - begun
                    if call is not None:
                        await call.report_progress(seconds, self.runtime.seconds, f"{operation} since {seconds:.0f} s")
                return work.result()
            finally:
                work.cancel()

    async def scope(self, call: Call, asked: str | None) -> str | None:
        """Return the scope an MCP client works in: the one asked for, else its folder's; None where neither is."""
        if asked:
            return asked
        if (principal := self._principal(call)) is not None:  # folders of other machines are none here
            said = unquote(_header(call.request_context.request, SCOPE_HEADER))
            return said or (principal.scopes[0] if len(principal.scopes) == 1 else None)
        folder = await self.folder(call)
        return None if folder is None else await self._scope_of(folder)

    def _principal(self, call: Call | None) -> Principal | None:
        """Return whose key was shown; None where the owner of the machine asks."""
        request = _ASKING.get() if call is None else call.request_context.request
        return self.runtime.known(None if request is None else request.scope.get(PRINCIPAL))

    async def folder(self, call: Call) -> Path | None:
        """Return the folder an MCP client works in: its first root that is one, else where `helix mcp` was started."""
        if self.runtime.many:
            return None
        session = _header(call.request_context.request, _SESSION)
        if session and session in self._roots:
            return self._roots[session] or _started_in(call)
        root = await _root_of(call)
        if session:
            self._roots[session] = root
            while len(self._roots) > _MOST_SESSIONS:
                self._roots.popitem(last=False)
        return root or _started_in(call)

    async def _scope_of(self, folder: Path) -> str | None:
        return await self.runtime.call(_scope_at, folder, self.runtime.helix.settings, seconds=self.runtime.seconds)


def agent_of_call(call: Call) -> str:
    """Return the name of the agent that calls by MCP: by its client's header, else by what the client calls itself."""
    said = agent_name(_header(call.request_context.request, HEADER))
    client = call.session.client_params
    return said or agent_name(client.client_info.name if client and client.client_info else "") or _UNNAMED


async def _root_of(call: Call) -> Path | None:
    """Return the first folder of this machine among a client's roots, of a client that has them and can be asked."""
    able = call.client_capabilities
    if able is None or able.roots is None or not call.session.can_send_request:
        return None
    try:
        asked = call.session.send_request(
            ListRootsRequest(),
            ListRootsResult,
            request_read_timeout_seconds=_ROOTS_SECONDS,
            metadata=ServerMessageMetadata(related_request_id=call.request_id),  # on the stream of what is asked now
        )
        listed = await asked
    except (MCPError, TimeoutError, ValueError):  # none, too late, or what is no list of roots
        return None
    return next((path for root in listed.roots if (path := _path_of(str(root.uri)))), None)


def _path_of(uri: str) -> Path | None:
    parts = urlsplit(uri)
    if parts.scheme != "file" or parts.netloc not in ("", "localhost"):
        return None
    return _absolute(url2pathname(parts.path))


def _started_in(call: Call) -> Path | None:
    return _absolute(os.fsdecode(unquote_to_bytes(_header(call.request_context.request, FOLDER_HEADER))))


def _absolute(path: str) -> Path | None:
    if not 0 < len(path) <= LONGEST_PATH or "\0" in path:
        return None
    return Path(path) if Path(path).is_absolute() else None


def _names_in(params: object) -> Iterator[str]:
    """Yield the names and addresses in an MCP request: of a tool, prompt or resource, and of what it is given."""
    if not isinstance(params, Mapping):
        return
    for name, value in params.items():
        yield name
        if name in ("name", "uri") and isinstance(value, str):
            yield value
        elif name in ("ref", "argument"):
            yield from _names_in(value)
        elif name == "arguments" and isinstance(value, Mapping):
            yield from value


def _header(request: Any, name: str) -> str:
    headers: Mapping[str, str] = getattr(request, "headers", None) or {}
    return headers.get(name, "")


def _scope_at(folder: Path, settings: Settings) -> str | None:
    here = project_of(folder, worktrees=settings.worktrees, chosen=settings.scope, names=settings.home)
    return here.scope or None
