"""Forwarding: a request that never left is answered by another home; one that did is answered by an error."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack

import httpx
import pytest
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message
from websockets.asyncio.server import ServerConnection, serve

from helix.api.limits import BODY_BYTES
from helix.server.forwarding import Forwarder, HomeElsewhere


@pytest.fixture
def home() -> Iterator[tuple[str, socket.socket]]:
    """A home that takes one connection, and says nothing."""
    with ExitStack() as open_:
        listening = open_.enter_context(socket.create_server(("127.0.0.1", 0), backlog=0))
        yield f"http://127.0.0.1:{listening.getsockname()[1]}", listening


def _answer(url: str, living: float) -> httpx.Response:
    """Return the answer to a request for a home that lives so many seconds more."""

    async def ask() -> httpx.Response:
        ends = asyncio.get_running_loop().time() + living

        async def lives() -> bool:
            return asyncio.get_running_loop().time() < ends

        async def next_home() -> ASGIApp:
            return PlainTextResponse("the next home")

        forwarder = Forwarder()
        app = forwarder.to(HomeElsewhere(url=url, told={}, lives=lives), next_home)
        try:
            async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://front") as client:
                return await client.post("/graphql", content=b"{}")
        finally:
            await forwarder.close()

    return asyncio.run(ask())


def test_a_request_that_never_left_is_answered_by_the_next_home(home: tuple[str, socket.socket]) -> None:
    url, listening = home
    with socket.create_connection(listening.getsockname()):  # its one place is taken: nobody else gets through
        assert _answer(url, living=0).text == "the next home"


def test_a_request_that_left_may_have_been_carried_out(home: tuple[str, socket.socket]) -> None:
    refused = _answer(home[0], living=0.5)
    assert refused.status_code == 503
    assert "its process has ended" in refused.text
    assert "idempotency key" in refused.text


def test_a_websocket_does_not_follow_its_home_to_another_process() -> None:
    with socket.create_server(("127.0.0.1", 0)) as home, socket.create_server(("127.0.0.1", 0)) as other:

        def redirect() -> None:
            asked, _ = home.accept()
            with asked:
                asked.recv(65_536)
                place = f"ws://127.0.0.1:{other.getsockname()[1]}/graphql"
                asked.sendall(f"HTTP/1.1 307 Elsewhere\r\nLocation: {place}\r\nContent-Length: 0\r\n\r\n".encode())

        redirecting = threading.Thread(target=redirect)
        redirecting.start()
        assert asyncio.run(_told(f"http://127.0.0.1:{home.getsockname()[1]}")) == [
            {"type": "websocket.close", "code": 1013}
        ]
        redirecting.join()
        other.setblocking(False)
        with pytest.raises(BlockingIOError):  # nobody has come
            other.accept()


def test_what_a_home_says_by_a_websocket_comes_whole_with_the_reason_of_its_end() -> None:
    said = "a" * (BODY_BYTES + 1)

    async def talk(home: ServerConnection) -> None:
        await home.send(said)
        await home.close(4400, "nobody knows that")

    async def run() -> list[Message]:
        async with serve(talk, "127.0.0.1", 0) as server:
            return await _told(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}")

    assert asyncio.run(run()) == [
        {"type": "websocket.accept", "subprotocol": None},
        {"type": "websocket.send", "text": said},
        {"type": "websocket.close", "code": 4400, "reason": "nobody knows that"},
    ]


async def _told(url: str) -> list[Message]:
    """Return what a client is told whose WebSocket goes to the home at a URL."""

    async def lives() -> bool:
        return True

    async def next_home() -> ASGIApp:
        return PlainTextResponse("the next home")

    said = iter([{"type": "websocket.connect"}])

    async def hello() -> Message:
        for message in said:
            return message
        await asyncio.sleep(3_600)
        raise AssertionError

    told: list[Message] = []

    async def send(message: Message) -> None:
        told.append(message)

    forwarder = Forwarder()
    app = forwarder.to(HomeElsewhere(url=url, told={"x-helix-cluster": "word"}, lives=lives), next_home)
    scope = {"type": "websocket", "path": "/graphql", "raw_path": b"/graphql", "query_string": b"", "headers": []}
    try:
        await asyncio.wait_for(app({**scope, "scheme": "ws", "subprotocols": []}, hello, send), 20)
    finally:
        await forwarder.close()
    return told
