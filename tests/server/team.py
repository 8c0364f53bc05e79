"""A team: a server of PostgreSQL with its tenants, and processes that serve them to whoever shows a key."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import httpx
import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from helix.journal.postgres.postgres_server import Server
from helix.journal.postgres.tenant_states import SUSPENDED
from helix.model.principal import Role
from helix.processes import python_command
from helix.server.accounts import Accounts
from tests.forks import Fork, forks_of
from tests.postgres_cluster import NEWEST, Cluster, running
from tests.waiting import MOST_SECONDS, UNHURRIED

STORE = (
    "mutation($t: String!, $r: String!, $s: String) {"
    " store(input: {trigger: $t, resolution: $r, kind: CONVENTION, scope: $s}) { result { id name } } }"
)
RECALL = (
    "query($q: String!, $s: String) { recall(query: $q, scope: $s) {"
    " items { node { id ... on Memory { name scope trigger resolution } } } } }"
)
GET = "query($n: String!) { get(nameOrId: $n) { id name scope trigger provenance { trust agent } } }"


class Process:
    """One process that serves; `url` is where it answers."""

    def __init__(self, child: Fork, home: Path) -> None:
        self.child = child
        self.url = ""
        self.home = home
        self.client = httpx.Client(timeout=MOST_SECONDS, trust_env=False)

    def announced(self) -> Process:
        """Wait until it says where it answers."""
        said = ""
        while not said.endswith("\n}\n"):
            line = self.child.stdout.readline()
            assert line, f"it ended: {said}"
            said += line
        self.url = json.loads(said)["serving"]["url"]
        return self

    def send(self, method: str, path: str, key: str = "", **named: Any) -> httpx.Response:
        """Return the answer to a request that shows a key."""
        headers = {"authorization": f"Bearer {key}"} if key else {}
        return self.client.request(
            method, f"{self.url}{path}", headers={**headers, **named.pop("headers", {})}, **named
        )

    def ask(
        self, key: str, document: str, /, headers: Mapping[str, str] | None = None, **variables: Any
    ) -> dict[str, Any]:
        """Return the whole answer to a GraphQL document."""
        body = {"query": document, "variables": variables}
        told: dict[str, Any] = self.send("POST", "/graphql", key, json=body, headers=headers or {}).json()
        return told

    def data(self, key: str, document: str, /, **variables: Any) -> dict[str, Any]:
        """Return the data of an answer that has to be without errors."""
        told = self.ask(key, document, **variables)
        assert "errors" not in told, told
        data: dict[str, Any] = told["data"]
        return data

    def code(self, key: str, document: str, /, **variables: Any) -> str:
        """Return the code of an answer's first error, `OK` without one."""
        errors = self.ask(key, document, **variables).get("errors")
        return str(errors[0]["extensions"]["code"]) if errors else "OK"

    def kill(self) -> None:
        """Kill it: -9."""
        self.child.kill()
        self.child.wait()

    def stop(self) -> None:
        """Ask it to leave, and wait."""
        self.child.send_signal(signal.SIGTERM)
        assert self.child.wait(MOST_SECONDS) in (0, -signal.SIGTERM)


class Team:
    """The server, what is known of it to whoever runs it, and its processes."""

    def __init__(self, cluster: Cluster, folder: Path) -> None:
        self.cluster = cluster
        self.folder = folder
        self.address = cluster.address.replace("postgres@", "app@", 1)
        self.server = Server(cluster.address)
        self.accounts = Accounts(self.server)
        self.processes: list[Process] = []
        self._made = 0

    def tenant(self, slug: str = "") -> str:
        """Make a tenant and return its name."""
        self._made += 1
        return self.server.create(slug or f"t{self._made}").slug

    def anew(self, slug: str) -> str:
        """Remove a tenant, make another one of its name, and return the name."""
        old = self.server.tenant(slug).id
        self.server.set_state(old, SUSPENDED)
        self.server.delete(old)
        return self.tenant(slug)

    def key(self, tenant: str, role: Role = Role.EDITOR, *scopes: str, name: str = "ada", **named: Any) -> str:
        """Return a new key."""
        return self.accounts.create_key(self.server.tenant(tenant), name, role, by="the test", scopes=scopes, **named)

    def start(self, *words: str, **settings: str) -> Process:
        """Start one more process, which serves as a role that owns no table; wait for it by `announced`."""
        home = self.folder / f"home{len(self.processes)}"
        home.mkdir()
        child = forks_of("tests.server.served")(
            python_command(
                "helix.cli.main", "--json", "engine", "serve", "--listen", "127.0.0.1:0", *words, program=sys.executable
            ),
            env={
                "PATH": os.environ["PATH"],
                "HELIX_HOME": str(home),
                "HOME": str(self.folder),
                "HELIX_EMBEDDING_MODEL": "none",
                "HELIX_HOOK_MS": "60000",
                "HELIX_HOLDBACK": "0",
                **UNHURRIED,
                "HELIX_ENGINE": self.address,
                **settings,
            },
            cwd=self.folder,
            text=True,
        )
        process = Process(child, home)
        self.processes.append(process)
        return process

    def sql(self, statement: str, *values: Any, address: str = "") -> list[Any]:
        """Return what a statement finds, as whoever runs the server or at another address."""
        if not address:
            with self.server.connection() as connection:
                cursor = connection.execute(statement, values)
                return cursor.fetchall() if cursor.description else []
        with closing(Server(address)) as server, server.connection() as connection:
            return connection.execute(statement, values).fetchall()

    def end(self) -> None:
        """End all of it."""
        for process in self.processes:
            process.client.close()
            if process.child.poll() is None:
                process.kill()
            process.child.stdout.close()
        self.server.close()


@contextmanager
def gathered(folder: Path) -> Iterator[Team]:
    """Lend a team without tenants and processes; a test has one of its own, or shares one with its file."""
    with running(NEWEST) as cluster:
        team = Team(cluster, folder)
        try:
            team.server.migrate()
            team.sql("CREATE ROLE app LOGIN")
            team.server.grant("app")
            yield team
        finally:
            team.end()


def asked_over_mcp(process: Process, key: str, work: Callable[[Client], Awaitable[Any]], **headers: str) -> Any:
    """Return what is done over MCP by a client that shows a key."""

    async def run() -> Any:
        async with httpx2.AsyncClient(headers={"authorization": f"Bearer {key}", **headers}, timeout=180) as http:
            transport = streamable_http_client(f"{process.url}/mcp", http_client=http)
            async with Client(transport) as client:
                return await work(client)

    return asyncio.run(run())
