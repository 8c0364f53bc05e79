"""Forwarding: a request that never left is answered by another home; one that did is answered by an error."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from contextlib import ExitStack

import httpx
import pytest
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp

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
