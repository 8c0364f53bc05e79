"""Forwarding: hands a request on to the process that is home to its tenant, over HTTP or WebSocket, as it came.

A request is sent once. Where the home is known to be gone before anything was sent, another way is looked for; after
that its answer may be lost while it was carried out, and the client is told so.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import httpx
from starlette.types import ASGIApp, Receive, Scope, Send
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus, WebSocketException
from websockets.typing import Subprotocol

from helix.api.api_errors import refusal
from helix.api.limits import BODY_BYTES, BODY_SECONDS, heard_again, replayed, whole
from helix.errors import EngineError, InvalidInputError
from helix.server.signed_requests import ASKS, SIGNED

NOT_HOME = "x-helix-not-home"
"""Header by which a process says that it did nothing of what was handed on: it is no home of the tenant any more."""
_OWN = frozenset({SIGNED, ASKS, "host", "authorization", "cookie", "content-length"})
_HOP = frozenset({"connection", "keep-alive", "transfer-encoding", "upgrade", "te", "trailer", "proxy-authorization"})
_SAID_AGAIN = _HOP | {"date", "server"}
"""Headers of an answer that this process says itself."""
_CONNECT_SECONDS = 2.0
_LOOK_SECONDS, _STREAM_LOOK_SECONDS = 1.0, 5.0
_PLACE_SECONDS = 5.0
"""How long a request waits for a connection while all are in use."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HomeElsewhere:
    """The process that is home to a tenant: its address, the headers that it is told, and whether it still is home."""

    url: str
    told: Mapping[str, str]
    lives: Callable[[], Awaitable[bool]]


class _NoRedirects(connect):
    """A WebSocket to the process that was asked: a redirect would give the headers, keys included, to another one."""

    def process_redirect(self, exc: Exception) -> Exception:
        return exc


class Forwarder:
    """Sends requests on; its connections are kept."""

    def __init__(self, *trusted: str) -> None:
        """`trusted` are files of certificates by which other processes are known, beside the system's authorities."""
        # Each is of a connection that came in, and of those no tenant has all.
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=50)
        timeout = httpx.Timeout(None, connect=_CONNECT_SECONDS, pool=_PLACE_SECONDS)
        self._secure = ssl.create_default_context()
        for file in trusted:
            self._secure.load_verify_locations(cafile=file)
        self._client = httpx.AsyncClient(verify=self._secure, limits=limits, timeout=timeout, trust_env=False)

    def to(self, home: HomeElsewhere, otherwise: Callable[[], Awaitable[ASGIApp]]) -> ASGIApp:
        """Return an app whose answers are those of a tenant's home.

        Where nothing was sent, or that one is no home any more and so did nothing, what `otherwise` returns answers.
        An answer is waited for as long as the home lives: one that is asleep, or cut off, would never end it.
        """

        async def forward(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] == "websocket":
                hello = await receive()
                if not await self._websocket(home, scope, receive, send):
                    await (await otherwise())(scope, heard_again(hello, receive), send)
                return
            body = await _body(scope, receive, send)
            if body is not None and not await self._http(home, body, scope, receive, send):
                await (await otherwise())(scope, replayed(body, receive), send)

        return forward

    async def _http(self, home: HomeElsewhere, body: bytes, scope: Scope, receive: Receive, send: Send) -> bool:
        """Answer a request as its home does; return False where that did nothing of it."""
        headers = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in _headers(scope, home.told)]
        sent, begun = asyncio.Event(), asyncio.Event()
        request = self._client.build_request(
            scope["method"],
            _place(home.url, scope),
            headers=headers,
            content=body,
            extensions={"trace": partial(_note_sending, sent)},
        )
        seconds = lambda: _STREAM_LOOK_SECONDS if begun.is_set() else _LOOK_SECONDS  # noqa: E731
        answering, leaving, _ = await _first(
            self._answer(request, send, begun), _gone(receive), _lost(home.lives, seconds)
        )
        if answering.cancelled():
            if leaving.cancelled() and not sent.is_set():
                return False
            why = "" if not leaving.cancelled() else "its process has ended"
        elif isinstance(error := answering.exception(), httpx.HTTPError):
            why = type(error).__name__
        else:
            return bool(answering.result())
        if why and begun.is_set():
            raise EngineError(f"the tenant's home did not end its answer: {why}")
        if why:
            hint = "it may have been carried out: try again with the same idempotency key"
            lost = EngineError(f"the tenant's home did not answer: {why}", hint=hint)
            await refusal(lost, 503, {"retry-after": "1"})(scope, receive, send)
        return True

    async def _answer(self, request: httpx.Request, send: Send, begun: asyncio.Event) -> bool:
        try:
            response = await self._client.send(request, stream=True)
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout):
            return False
        try:
            if NOT_HOME in response.headers:
                return False
            headers = [
                (name, value) for name, value in response.headers.raw if name.lower().decode() not in _SAID_AGAIN
            ]
            begun.set()
            await send({"type": "http.response.start", "status": response.status_code, "headers": headers})
            async for part in response.aiter_raw():
                await send({"type": "http.response.body", "body": part, "more_body": True})
            await send({"type": "http.response.body", "body": b""})
        finally:
            await response.aclose()
        return True

    async def _websocket(self, home: HomeElsewhere, scope: Scope, receive: Receive, send: Send) -> bool:
        """Hand a conversation on; return False where its home cannot be reached, or is none any more."""
        place = _place(home.url, scope).replace("http", "ws", 1)
        try:
            there = await _NoRedirects(
                place,
                additional_headers={name: value for name, value in _headers(scope, home.told) if not _handshake(name)},
                subprotocols=[Subprotocol(name) for name in scope.get("subprotocols", [])] or None,
                max_size=None,  # a home's answer is as long as it is
                open_timeout=_CONNECT_SECONDS,
                ssl=self._secure if place.startswith("wss:") else None,
                proxy=None,
            )
        except InvalidStatus as error:
            if NOT_HOME in error.response.headers:
                return False
            await send({"type": "websocket.close", "code": 1013})
            return True
        except (OSError, WebSocketException, TimeoutError):
            return False
        async with there:
            await send({"type": "websocket.accept", "subprotocol": there.subprotocol})
            await _first(
                _forward_to_home(there, receive),
                _forward_to_client(there, send),
                _lost(home.lives, lambda: _STREAM_LOOK_SECONDS),
            )
        return True

    async def close(self) -> None:
        """End all connections to the server's other processes."""
        await self._client.aclose()


async def _note_sending(sent: asyncio.Event, event: str, _about: Mapping[str, Any]) -> None:
    """Set `sent` as soon as a request begins to leave; httpx calls it for each step of a request."""
    if event.endswith(".send_request_headers.started"):
        sent.set()


async def _body(scope: Scope, receive: Receive, send: Send) -> bytes | None:
    """Return the body of a request; None where the client has gone, or was told that it is too large or slow."""
    try:
        async with asyncio.timeout(BODY_SECONDS):
            body = await whole(receive, BODY_BYTES)
    except TimeoutError:
        body = bytearray(BODY_BYTES + 1)
    if body is not None and len(body) > BODY_BYTES:
        error = InvalidInputError(f"the request is larger than {BODY_BYTES} bytes, or came too slowly")
        await refusal(error, 413, {"connection": "close"})(scope, receive, send)
        return None
    return None if body is None else bytes(body)


async def _forward_to_home(home: ClientConnection, receive: Receive) -> None:
    """Hand on what a client says, until it leaves."""
    while (message := await receive())["type"] == "websocket.receive":
        text = message.get("text")
        await home.send(text if text is not None else message["bytes"])
    await home.close()


async def _forward_to_client(home: ClientConnection, send: Send) -> None:
    """Hand on what the home says, until it ends."""
    code = 1000
    try:
        async for said in home:
            kind = "text" if isinstance(said, str) else "bytes"
            await send({"type": "websocket.send", kind: said})
    except ConnectionClosed:
        code = 1011
    with suppress(RuntimeError):  # the client has left already
        await send({"type": "websocket.close", "code": home.close_code or code, "reason": home.close_reason or ""})


async def _first(*ways: Coroutine[Any, Any, Any]) -> list[asyncio.Task[Any]]:
    """Run some at once until one of them has ended, and return them in their order; the others are cancelled."""
    tasks = [asyncio.create_task(way) for way in ways]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    return tasks


async def _lost(lives: Callable[[], Awaitable[bool]], seconds: Callable[[], float]) -> None:
    """Wait until a home has ended, which is looked for every so many `seconds`."""
    while await lives():
        await asyncio.sleep(seconds())


async def _gone(receive: Receive) -> None:
    """Wait until a client has left."""
    while (await receive())["type"] != "http.disconnect":
        pass


def _place(url: str, scope: Scope) -> str:
    query = scope["query_string"].decode("latin-1")
    path = scope.get("raw_path", b"").decode("latin-1") or scope["path"]
    place = f"{url.rstrip('/')}{path}{'?' if query else ''}{query}"
    if urlsplit(place).netloc != urlsplit(url).netloc:
        raise InvalidInputError("a request asks for a path, which begins with `/`")
    return place


def _headers(scope: Scope, added: Mapping[str, str]) -> list[tuple[str, str]]:
    kept = ((name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in scope["headers"])
    origin = {"origin", "sec-fetch-site"}  # looked at where the request came in
    told = [(name, value) for name, value in kept if name not in _OWN | _HOP | origin]
    return [*told, *added.items()]


def _handshake(name: str) -> bool:
    return name.startswith("sec-websocket-")
