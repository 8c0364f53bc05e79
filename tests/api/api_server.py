"""What the API's tests talk to: a real server on a free port of this machine, and a client that speaks plain HTTP."""

from __future__ import annotations

import http.client
import json
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette

from helix.api.app import create_app
from helix.api.connection_limits import guarded
from helix.service import Helix
from tests.waiting import MOST_SECONDS

TOKEN = "a-token-of-the-tests"
BEARER = {"authorization": f"Bearer {TOKEN}"}


@dataclass(frozen=True)
class Answer:
    """What came back for one HTTP request."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def code(self) -> str:
        """The code of the first error."""
        return str(self.json["errors"][0]["extensions"]["code"])

    @property
    def message(self) -> str:
        """The words of the first error."""
        return str(self.json["errors"][0]["message"])


@dataclass
class Served:
    """A running server and what a client of it needs to know."""

    app: Starlette
    port: int
    stopped: list[str]
    connections: Collection[object]
    """Those that are open just now."""

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def request(
        self, method: str, path: str, body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> Answer:
        """Send one request with exactly these headers (and a Host, where none is given)."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=MOST_SECONDS)
        try:
            given = dict(headers or {})
            connection.putrequest(method, path, skip_host="host" in given, skip_accept_encoding=True)
            if body is not None and "transfer-encoding" not in given:
                given.setdefault("content-length", str(len(body)))
            for name, value in given.items():
                connection.putheader(name, value)
            connection.endheaders(body)
            response = connection.getresponse()
            return Answer(response.status, {k.lower(): v for k, v in response.getheaders()}, response.read())
        finally:
            connection.close()

    def post(
        self, query: object, variables: Mapping[str, Any] | None = None, headers: Mapping[str, str] | None = None
    ) -> Answer:
        """Send one operation as a client with the token does."""
        body = json.dumps({"query": query, "variables": dict(variables or {})}).encode()
        return self.request("POST", "/graphql", body, {"content-type": "application/json", **BEARER, **(headers or {})})

    def ask(self, query: str, /, **variables: Any) -> Any:
        """Return the data of an operation that must succeed, of a mutation what it came to."""
        answer = self.post(query, variables).json
        assert "errors" not in answer, answer["errors"]
        if "mutation" not in query.partition("{")[0]:
            return answer["data"]
        return {name: payload["result"] for name, payload in answer["data"].items()}


Serve = Callable[..., Served]


def nodes_of(connection: Mapping[str, Any]) -> list[Any]:
    """Return the items of a page."""
    return [edge["node"] for edge in connection["edges"]]


@contextmanager
def serving(helix: Helix, pages_folder: Path | None = None, hook_token: str = "") -> Iterator[Served]:
    """Serve a Helix on a free port until the block ends."""
    stopped: list[str] = []
    app = create_app(
        helix,
        token=TOKEN,
        hook_token=hook_token,
        shutdown=lambda: stopped.append("asked"),
        pages_folder=pages_folder,
    )
    server = uvicorn.Server(guarded(app, ("127.0.0.1", 0), grace_seconds=1, port=0))
    thread = threading.Thread(target=server.run, name="server")
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive(), "the server did not start"
            time.sleep(0.005)
        yield Served(app, server.servers[0].sockets[0].getsockname()[1], stopped, server.server_state.connections)
    finally:
        server.should_exit = True
        thread.join()
