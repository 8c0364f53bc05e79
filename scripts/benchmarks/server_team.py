"""A team at work: tenants, roles and agents against several processes, of which one is killed again and again.

Each tenant has a coding client that tells by hooks what happens, an agent that asks and writes over MCP, and a person
who works by GraphQL. Every text that a tenant writes has its mark: whoever reads another tenant's mark has seen what
is not theirs. What was acknowledged is looked for at the end.
"""

from __future__ import annotations

import asyncio
import json
import random
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click
import httpx
import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from benchmarks.machine import described, percentiles
from benchmarks.quality_store import FOLDER
from benchmarks.speed_corpus import Phrases
from helix.journal.postgres.at_address import server_at
from helix.model.principal import Role
from helix.processes import python_command
from helix.server.accounts import Accounts

STORE = (
    "mutation($t: String!, $r: String!, $k: String) { store(input: {trigger: $t, resolution: $r, kind: FACT,"
    ' scope: "shop", idempotencyKey: $k}) { result { id } } }'
)
RECALL = (
    'query($q: String!) { recall(query: $q, scope: "shop")'
    " { items { node { ... on Memory { trigger resolution } } } } }"
)
KEPT = (
    'query($after: String) { memories(scope: "shop", first: 200, after: $after, anyStatus: true)'
    " { pageInfo { endCursor hasNextPage } edges { node { id trigger } } } }"
)
_TRIES = 40
_PAUSE = 1.0


@dataclass(slots=True)
class Seen:
    """What came of it; any thread adds to it."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    acknowledged: dict[str, set[str]] = field(default_factory=dict)
    strange: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    seconds: dict[str, list[float]] = field(default_factory=dict)
    waited: list[float] = field(default_factory=list)


class Processes:
    """The processes of the server, each at an address that stays."""

    def __init__(self, folder: Path, address: str, count: int) -> None:
        self._folder, self._address = folder, address
        self._running: list[subprocess.Popen[str]] = []
        self.urls: list[str] = []
        for number in range(count):
            self._running.append(self._started(number, 0))
            self.urls.append(self._told(number))

    def _started(self, number: int, port: int) -> subprocess.Popen[str]:
        home = self._folder / str(number)
        home.mkdir(parents=True, exist_ok=True)
        words = ("--json", "engine", "serve", self._address, "--listen", f"127.0.0.1:{port}")
        environ = {"HELIX_HOME": str(home), "HELIX_EMBEDDING_MODEL": "none", "PATH": "/usr/bin:/bin"}
        command = python_command("helix.cli.main", *words, program=sys.executable)
        return subprocess.Popen(command, env=environ, cwd=home, stdout=subprocess.PIPE, text=True)

    def _told(self, number: int) -> str:
        out, said = self._running[number].stdout, ""
        assert out is not None
        while not said.endswith("\n}\n"):
            line = out.readline()
            if not line:
                raise RuntimeError(f"process {number} ended: {said}")
            said += line
        return str(json.loads(said)["serving"]["url"])

    @property
    def pids(self) -> list[int]:
        """Their process ids."""
        return [one.pid for one in self._running]

    def kill(self, number: int) -> None:
        """Kill one: -9. Another takes its place."""
        self._running[number].kill()
        self._running[number].wait()
        self._running[number] = self._started(number, int(self.urls[number].rpartition(":")[2]))
        self._told(number)

    def end(self) -> None:
        """End all of them."""
        for one in self._running:
            one.terminate()
        for one in self._running:
            one.wait()


class Worker:
    """One who works in a tenant: asks any process, and another one where that does not answer."""

    def __init__(self, urls: list[str], key: str, tenant: str, marks: frozenset[str], seen: Seen, seed: int) -> None:
        self.urls, self.key, self.tenant, self.seen = urls, key, tenant, seen
        self._others = marks - {tenant}
        self._draw = random.Random(seed)
        self._words = Phrases(random.Random(seed))
        self._client = httpx.Client(timeout=30, trust_env=False)

    @property
    def headers(self) -> dict[str, str]:
        """What every request of it shows."""
        return {"authorization": f"Bearer {self.key}", "x-helix-scope": "shop"}

    def said(self) -> str:
        """Return words of its own."""
        return f"{self._words.question()} {self.tenant} {time.time_ns()}"

    def post(self, what: str, path: str, body: Mapping[str, Any]) -> Any:
        """Return what is answered in the end; it is sent again where no process answers it."""
        begun = time.monotonic()
        for attempt in range(_TRIES):
            url = self._draw.choice(self.urls)
            try:
                answer = self._client.post(f"{url}{path}", json=body, headers=self.headers)
                told = answer.json()
                if answer.status_code == 200 and not (isinstance(told, dict) and told.get("errors")):
                    self._noted(what, time.monotonic() - begun, attempt, answer.text)
                    return told
                self.count(f"{what}: {told['errors'][0]['extensions']['code']}")
            except (httpx.HTTPError, ValueError) as error:
                self.count(f"{what}: {type(error).__name__}")
            time.sleep(0.5)
        self.count(f"{what}: given up")
        return None

    def count(self, what: str) -> None:
        """Count something."""
        with self.seen.lock:
            self.seen.counts[what] += 1

    def _noted(self, what: str, took: float, attempt: int, text: str) -> None:
        with self.seen.lock:
            self.seen.counts[f"{what}: answered"] += 1
            (self.seen.waited if attempt else self.seen.seconds.setdefault(what, [])).append(took)
        self.look(text)

    def look(self, text: str) -> None:
        """Look for what another tenant wrote."""
        for mark in self._others:
            if mark in text:
                with self.seen.lock:
                    self.seen.strange.append(f"{self.tenant} saw {mark}: {text[:200]}")

    def keep(self, resolution: str) -> None:
        """Note what was acknowledged."""
        with self.seen.lock:
            self.seen.acknowledged.setdefault(self.tenant, set()).add(resolution)

    def by_graphql(self) -> None:
        """Store something and ask something, as a person does."""
        said = self.said()
        variables = {"t": said, "r": said, "k": f"k{time.time_ns()}"}
        if self.post("store", "/graphql", {"query": STORE, "variables": variables}) is not None:
            self.keep(said)
        self.post("recall", "/graphql", {"query": RECALL, "variables": {"q": self._words.question()}})

    def by_hooks(self) -> None:
        """Tell of one session of Claude Code: a command that fails, and one that mends it."""
        session = f"{self.tenant}-{time.time_ns()}"
        told = {"session_id": session, "cwd": "/home/ada/shop", "transcript_path": "/etc/passwd"}
        commands = ((1, f"make {self._words.question()}"), (0, "make clean && make"))
        self._hook({**told, "hook_event_name": "SessionStart", "source": "startup"})
        for status, command in commands:
            use = {"tool_name": "Bash", "tool_use_id": f"u{time.time_ns()}", "tool_input": {"command": command}}
            self._hook({**told, "hook_event_name": "PreToolUse", **use})
            output = {"stdout": "", "stderr": f"error: {self.said()}" if status else "", "interrupted": False}
            name = "PostToolUseFailure" if status else "PostToolUse"
            failed = {"error": f"Exit code 1\nerror: {self.said()}"} if status else {"tool_response": output}
            self._hook({**told, "hook_event_name": name, **use, **failed})
        self._hook({**told, "hook_event_name": "SessionEnd", "reason": "exit"})

    def _hook(self, payload: Mapping[str, Any]) -> None:
        self.post("hook", "/hooks/claude-code", payload)

    def by_mcp(self) -> None:
        """Look something up and write something down, as an agent does over MCP."""
        try:
            asyncio.run(self._by_mcp())
        except Exception as error:  # whatever a client of MCP makes of a process that is killed: it is counted
            self.count(f"mcp: {type(error).__name__}")

    async def _by_mcp(self) -> None:
        said, begun = self.said(), time.monotonic()
        async with httpx2.AsyncClient(headers=self.headers, timeout=30) as http:
            transport = streamable_http_client(f"{self._draw.choice(self.urls)}/mcp", http_client=http)
            async with Client(transport) as client:
                found = await client.call_tool("memory.search", {"query": self._words.question(), "scope": "shop"})
                self.look(str(found))
                written = await client.call_tool("memory.write", {"content": said, "scope": "shop"})
                if not written.is_error:
                    self.keep(said)
                    self._noted("mcp", time.monotonic() - begun, 0, str(written))
                else:
                    self.count(f"mcp: {str(written.content)[:80]}")


def _until(ended: threading.Event, work: Callable[[], None]) -> None:
    while not ended.is_set():
        work()
        ended.wait(_PAUSE)


def _lost(worker: Worker) -> tuple[int, int]:
    """Return how many acknowledged texts are not kept, and how many are kept twice."""
    kept: Counter[str] = Counter()
    after = None
    while True:
        page = worker.post("list", "/graphql", {"query": KEPT, "variables": {"after": after}})["data"]["memories"]
        # By the last word: the words before it may look like a secret, and are redacted then.
        kept.update(edge["node"]["trigger"].rpartition(" ")[2] for edge in page["edges"])
        if not page["pageInfo"]["hasNextPage"]:
            break
        after = page["pageInfo"]["endCursor"]
    acknowledged = {said.rpartition(" ")[2] for said in worker.seen.acknowledged.get(worker.tenant, set())}
    return len(acknowledged - kept.keys()), sum(kept[said] > 1 for said in acknowledged)


@click.command()
@click.argument("address")
@click.option("--minutes", default=60.0, help="How long they work.")
@click.option("--kill-every", "every", default=600.0, help="Seconds after which one process is killed, in turn.")
@click.option("--tenants", "count", default=3)
@click.option("--processes", "running", default=2)
@click.option("--seed", default=1)
def team(address: str, minutes: float, every: float, count: int, running: int, seed: int) -> None:
    """Have a team work against processes of a server at ADDRESS, some of which are killed.

    \b
    scripts/bench team postgresql://postgres@localhost/bench --minutes 60
    """
    click.echo(described())
    folder = FOLDER / "team" / str(int(time.time()))
    tag = f"m{int(time.time())}"
    marks = frozenset(f"{tag}{name}" for name in "abcdefgh"[:count])
    seen, ended, workers = Seen(), threading.Event(), []
    with closing(server_at(address)) as server:
        server.migrate()
        accounts = Accounts(server)
        processes = Processes(folder, address, running)
        try:
            threads = []
            for number, mark in enumerate(sorted(marks)):
                tenant = server.create(mark)
                for role, name in ((Role.EDITOR, "ada"), (Role.AGENT, "codex"), (Role.HOOK, "claude")):
                    key = accounts.create_key(tenant, name, role, by="the benchmark")
                    worker = Worker(processes.urls, key, mark, marks, seen, seed + number)
                    work = {"ada": worker.by_graphql, "codex": worker.by_mcp, "claude": worker.by_hooks}[name]
                    threads.append(threading.Thread(target=_until, args=(ended, work)))
                    if name == "ada":
                        workers.append(worker)
            for thread in threads:
                thread.start()
            begun, kills = time.monotonic(), 0
            while (left := begun + minutes * 60 - time.monotonic()) > 0:
                time.sleep(min(every, left))
                if time.monotonic() - begun < minutes * 60:
                    processes.kill(kills % running)
                    kills += 1
                    click.echo(f"{(time.monotonic() - begun) / 60:.0f} min: {kills} killed", err=True)
            ended.set()
            for thread in threads:
                thread.join()
            lost = [_lost(worker) for worker in workers]
        finally:
            ended.set()
            processes.end()
    click.echo(f"{minutes:g} minutes, {kills} processes killed, {len(seen.strange)} answers with another tenant's text")
    click.echo(f"acknowledged: {sum(map(len, seen.acknowledged.values())):,}; lost, doubled: {lost}")
    for what, took in sorted(seen.seconds.items()):
        click.echo(f"{what}: {percentiles(took)}")
    click.echo(f"waited for another home: {percentiles(seen.waited) if seen.waited else 'never'}")
    for what, times in sorted(seen.counts.items()):
        click.echo(f"  {what}: {times:,}")
    for one in seen.strange[:5]:
        click.echo(one)
