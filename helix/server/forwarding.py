"""Forwarding: hands a request on to the process that is home to its tenant, over HTTP or WebSocket, as it came.

A request is sent once. Where the home is known to be gone before anything was sent, another way is looked for; after
that its answer may be lost while it was carried out, and the client is told so.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from urllib.parse import urlsplit

import httpx
from starlette.types import ASGIApp, Receive, Scope, Send
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, WebSocketException
from websockets.typing import Subprotocol

from helix.api.graphql_errors import refusal
from helix.api.limits import BODY_BYTES, BODY_SECONDS, replayed, whole
from helix.errors import EngineError, InvalidInputError
from helix.server.signed_requests import ASKS, SIGNED

NOT_HOME = "x-helix-not-home"
"""Header by which a process says that it did nothing of what was handed on: it is no home of the tenant any more."""
_OWN = frozenset({SIGNED, ASKS, "host", "authorization", "cookie", "content-length"})
_HOP = frozenset({"connection", "keep-alive", "transfer-encoding", "upgrade", "te", "trailer", "proxy-authorization"})
_SAID_AGAIN = _HOP | {"date", "server"}
"""Headers of an answer that this process says itself."""
_CONNECT_SECONDS = 2.0
_PLACE_SECONDS = 5.0
"""How long a request waits for a connection while all are in use."""


class Forwarder:
    """Sends requests on; its connections are kept."""

    def __init__(self, verify: str | bool = True) -> None:
        """`verify` is a file of certificates that other processes' are checked with, where they speak TLS."""
        limits = httpx.Limits(max_connections=1_000, max_keepalive_connections=50)
        timeout = httpx.Timeout(None, connect=_CONNECT_SECONDS, pool=_PLACE_SECONDS)
        self._secure = None if verify is True else ssl.create_default_context(cafile=str(verify))
        self._client = httpx.AsyncClient(verify=verify, limits=limits, timeout=timeout, trust_env=False)

    async def reaches(self, url: str) -> bool:
        """Return whether a process listens there."""
        parts = urlsplit(url)
        port = parts.port or (443 if parts.scheme == "https" else 80)
        try:
            _, writer = await asyncio.wait_for(asyncio.open_connection(parts.hostname, port), _CONNECT_SECONDS)
        except (OSError, TimeoutError):
            return False
        writer.close()
        return True

    def to(self, url: str, added: Mapping[str, str], otherwise: Callable[[], Awaitable[ASGIApp]]) -> ASGIApp:
        """Return an app whose answers are those of the process at `url`, which is told `added` headers.

        Where that one is no home any more, and so did nothing, what `otherwise` returns answers an HTTP request.
        """

        async def forward(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] == "websocket":
                await self._websocket(url, added, scope, receive, send)
                return
            body = await _body(scope, receive, send)
            if body is not None and not await self._http(url, added, body, scope, receive, send):
                await (await otherwise())(scope, replayed(body, receive), send)

        return forward

    async def _http(
        self, url: str, added: Mapping[str, str], body: bytes, scope: Scope, receive: Receive, send: Send
    ) -> bool:
        """Answer a request as the process at `url` does; return False where that is no home of the tenant any more."""
        request = self._client.build_request(
            scope["method"], _place(url, scope), headers=_bytes(_headers(scope, added)), content=body
        )
        answering = asyncio.ensure_future(self._answer(request, scope, receive, send))
        leaving = asyncio.ensure_future(_gone(receive))
        try:
            await asyncio.wait({answering, leaving}, return_when=asyncio.FIRST_COMPLETED)
            return answering.result() if answering.done() else True
        finally:
            answering.cancel()
            leaving.cancel()
            await asyncio.gather(answering, leaving, return_exceptions=True)

    async def _answer(self, request: httpx.Request, scope: Scope, receive: Receive, send: Send) -> bool:
        begun = False
        try:
            response = await self._client.send(request, stream=True)
            try:
                if NOT_HOME in response.headers:
                    return False
                headers = [
                    (name, value) for name, value in response.headers.raw if name.lower().decode() not in _SAID_AGAIN
                ]
                await send({"type": "http.response.start", "status": response.status_code, "headers": headers})
                begun = True
                async for part in response.aiter_raw():
                    await send({"type": "http.response.body", "body": part, "more_body": True})
                await send({"type": "http.response.body", "body": b""})
            finally:
                await response.aclose()
        except httpx.HTTPError as error:
            if begun:
                raise
            hint = "it may have been carried out: try again with the same idempotency key"
            lost = EngineError(f"the tenant's home did not answer: {type(error).__name__}", hint=hint)
            await refusal(lost, 503, {"retry-after": "1"})(scope, receive, send)
        return True

    async def _websocket(self, url: str, added: Mapping[str, str], scope: Scope, receive: Receive, send: Send) -> None:
        await receive()  # that a client connects
        place = _place(url, scope).replace("http", "ws", 1)
        try:
            home = await connect(
                place,
                additional_headers={name: value for name, value in _headers(scope, added) if not _handshake(name)},
                subprotocols=[Subprotocol(name) for name in scope.get("subprotocols", [])],
                max_size=BODY_BYTES,
                open_timeout=_CONNECT_SECONDS,
                ssl=self._secure if place.startswith("wss:") else None,
                proxy=None,
            )
        except (OSError, WebSocketException, TimeoutError):
            await send({"type": "websocket.close", "code": 1013})
            return
        async with home:
            await send({"type": "websocket.accept", "subprotocol": home.subprotocol})
            both = [asyncio.ensure_future(_said(home, receive)), asyncio.ensure_future(_told(home, send))]
            try:
                await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for one in both:
                    one.cancel()
                await asyncio.gather(*both, return_exceptions=True)

    async def close(self) -> None:
        """End all connections."""
        await self._client.aclose()


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


async def _said(home: ClientConnection, receive: Receive) -> None:
    """Hand on what a client says, until it leaves."""
    while (message := await receive())["type"] == "websocket.receive":
        text = message.get("text")
        await home.send(text if text is not None else message["bytes"])
    await home.close()


async def _told(home: ClientConnection, send: Send) -> None:
    """Hand on what the home says, until it ends."""
    code = 1000
    try:
        async for said in home:
            kind = "text" if isinstance(said, str) else "bytes"
            await send({"type": "websocket.send", kind: said})
    except ConnectionClosed:
        code = 1011
    with suppress(RuntimeError):  # the client has left already
        await send({"type": "websocket.close", "code": home.close_code or code})


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


def _bytes(headers: list[tuple[str, str]]) -> list[tuple[bytes, bytes]]:
    """Return headers as they came: httpx refuses text that is not ASCII."""
    return [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers]


def _handshake(name: str) -> bool:
    return name.startswith("sec-websocket-")
