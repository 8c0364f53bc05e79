"""Hooks against a real daemon with a large store: how long an agent waits at a command, an edit, a sub-agent's start.

A copy of a kept store is measured, to which memories about commands are added. Everything goes the way of a real
client: HTTP with the token of hooks, or the process hook; recall is asked over GraphQL beside it, to compare with.
"""

from __future__ import annotations

import http.client
import json
import random
import shutil
import socket
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import click

from benchmarks.machine import described, percentiles
from benchmarks.quality_store import FOLDER
from benchmarks.speed import load_of_machine
from benchmarks.speed_corpus import Phrases
from benchmarks.speed_daemon import Running, running
from benchmarks.speed_store import KEPT, made, settings_of
from helix import bearer, daemon, processes
from helix.hooks import helix_hook
from helix.lock import StoreLock
from helix.settings import Settings

HOME = FOLDER / "hooks"
SCOPE = "project-0"
"""The scope that the sessions are in; a quarter of the store's memories are, too."""

_ABOUT = 200
_FILES = 10_000
_KNOWN_ERROR = "E   LedgerError: the ledger of {} is closed"
_SESSION_LENGTH = 20
_PAUSE = 0.1
"""Seconds before each event: an agent's come further apart, so what followed the last one is written by then."""


class Tools:
    """A client of the daemon's tools, by the Model Context Protocol over one connection that is kept open."""

    def __init__(self, served: Running, store: Path) -> None:
        address = urlsplit(served.url)
        self._connection = http.client.HTTPConnection(address.hostname or "", address.port, timeout=30)
        self._headers = {
            "authorization": f"Bearer {bearer.read_token(store)}",
            "content-type": "application/json",
            "accept": "application/json, text/event-stream",
        }
        hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
        self._say(id=1, method="initialize", params=hello)
        self._say(method="notifications/initialized")

    def search(self, query: str, **more: Any) -> tuple[float, bool]:
        """Return the seconds that a search took, and whether it found anything."""
        called = {"name": "memory.search", "arguments": {"query": query, **more}}
        started = time.perf_counter()
        answer = self._say(id=2, method="tools/call", params=called)
        taken = time.perf_counter() - started
        return taken, b"structuredContent" in answer and b'"items":[{' in answer.replace(b" ", b"")

    def _say(self, **message: Any) -> bytes:
        self._connection.request("POST", "/mcp", json.dumps({"jsonrpc": "2.0", **message}), self._headers)
        response = self._connection.getresponse()
        if session := response.headers.get("mcp-session-id"):
            self._headers["mcp-session-id"] = session
        return response.read()

    def close(self) -> None:
        self._connection.close()


class Agent:
    """One client over one connection that is kept open, in a new session now and then."""

    def __init__(self, served: Running, store: Path, project: Path) -> None:
        self.project = project
        address = urlsplit(served.url)
        self._connection = http.client.HTTPConnection(address.hostname or "", address.port, timeout=30)
        self._headers = {"authorization": f"Bearer {bearer.hook_token_of(store)}", "content-type": "application/json"}
        self._asked = count()
        self._run = time.time_ns()

    def payload(self, event: str, tool: str, given: Mapping[str, Any], **more: Any) -> bytes:
        """Return what a client sends."""
        number = next(self._asked)
        return json.dumps(
            {
                "session_id": f"bench-{self._run}-{number // _SESSION_LENGTH}",
                "transcript_path": "",
                "cwd": str(self.project),
                "hook_event_name": event,
                "tool_name": tool,
                "tool_input": given,
                "tool_use_id": f"call-{number}",
                **more,
            }
        ).encode()

    def ask(self, payload: bytes) -> tuple[float, dict[str, Any]]:
        """Return the seconds that an answer took, and what it says."""
        time.sleep(_PAUSE)
        started = time.perf_counter()
        self._connection.request("POST", "/hooks/claude-code", payload, self._headers)
        answer = json.loads(self._connection.getresponse().read())
        return time.perf_counter() - started, answer.get("hookSpecificOutput", {})

    def close(self) -> None:
        self._connection.close()


def measure(nodes: int, rounds: int, starts: int, say: Callable[[str], None]) -> dict[str, Any]:
    """Return the latencies of hooks beside those of recall, and of the process hook beside an empty interpreter."""
    made(KEPT / str(nodes), nodes, say)
    home = HOME / str(nodes)
    shutil.rmtree(home, ignore_errors=True)
    say("copying the store")
    left = shutil.ignore_patterns("daemon.json", "lock", "starting", "port", "logs")
    shutil.copytree(KEPT / str(nodes) / "store", home / "store", ignore=left)
    settings = settings_of(home, scope=SCOPE, holdback=0.0)
    try:
        with running(settings) as served:
            commands = _remembered(served, say)
            agent = Agent(served, settings.store_path, _project(home))
            tools = Tools(served, settings.store_path)
            hooks = _hooks(served, agent, tools, commands, rounds, say)
            tools.close()
            processes = _processes(settings, agent, commands, starts, say)
            agent.close()
    finally:
        shutil.rmtree(home, ignore_errors=True)
    injected, recalled = hooks["a sub-agent's injection"]["p95_ms"], hooks["recall"]["p95_ms"]
    return {
        "machine": described(),
        "load": load_of_machine(say),
        "memories": nodes,
        "hooks": hooks,
        "injection_over_recall_p95_ms": round(injected - recalled, 2),
        "mcp_over_recall_p95_ms": round(hooks["search by MCP"]["p95_ms"] - recalled, 2),
        "processes": processes,
        "without_a_daemon": _without(starts, say),
    }


def _project(home: Path) -> Path:
    """Make a project whose scope is SCOPE: what hooks are asked in no project finds what is global alone."""
    folder = home / "project"
    subprocess.run(["git", "init", "-q", folder], check=True)
    environment = processes.environment(given={"HELIX_HOME": str(home)})
    command = processes.python_command("helix.cli.main", "name", SCOPE)
    subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, check=True)
    return folder


def _remembered(served: Running, say: Callable[[str], None]) -> list[str]:
    """Have memories about commands and errors; return the commands."""
    say(f"storing {_ABOUT} memories about commands")
    commands = []
    for number in range(_ABOUT):
        commands.append(f"pytest tests/ledger/test_case_{number}.py")
        served.client.run(
            "store",
            kind="FAILURE",
            trigger=f"`{commands[-1]}` fails where the fixtures of case {number} are old",
            resolution=f"run `make fixtures-{number}` first",
            scope=SCOPE,
            attributes={"error": _KNOWN_ERROR.format(number)},
        )
    served.settle()
    return commands


def _hooks(
    served: Running, agent: Agent, tools: Tools, commands: Sequence[str], rounds: int, say: Callable[[str], None]
) -> dict[str, dict[str, Any]]:
    """Ask for one of each in turn, so that what disturbs one disturbs all."""
    rng = random.Random(time.time_ns())
    phrases = Phrases(rng)
    times: dict[str, list[float]] = {}
    said: dict[str, int] = {}

    def note(what: str, seconds: float, told: bool) -> None:
        times.setdefault(what, []).append(seconds)
        said[what] = said.get(what, 0) + told

    for number in range(rounds + 5):
        if number == 5:
            times, said = {}, {}  # the first ones warm everything up
        place = rng.randrange(_ABOUT)
        for what, payload in _asked(agent, commands[place], place, phrases, rng):
            seconds, answer = agent.ask(payload)
            note(what, seconds, bool(answer))
        question = phrases.question()
        started = time.perf_counter()
        found = served.client.run("recall", query=question, scope=SCOPE, limit=10, files=[phrases.file(_FILES)])
        note("recall", time.perf_counter() - started, bool(found["recall"]["items"]))
        file = phrases.file(_FILES)
        note("search by MCP", *tools.search(phrases.question(), scope=SCOPE, k=10, files=[file], budget_tokens=20_000))
    say(f"asked {rounds} times for each")
    return {
        what: {**percentiles(taken), "answered": round(said[what] / len(taken), 3)} for what, taken in times.items()
    }


def _asked(agent: Agent, command: str, place: int, phrases: Phrases, rng: random.Random) -> Iterator[tuple[str, bytes]]:
    yield "an event of no interest", agent.payload("PreToolUse", "Read", {"file_path": str(agent.project / "a.py")})
    known = {"command": f"cd {agent.project} && {command} -q"}
    yield "a command that is known", agent.payload("PreToolUse", "Bash", known)
    unknown = {"command": f"npm run build-{rng.randrange(10**9)} -- --watch src/{place}.ts"}
    yield "a command that is not", agent.payload("PreToolUse", "Bash", unknown)
    file = str(agent.project / phrases.file(_FILES))
    yield "an edit", agent.payload("PreToolUse", "Edit", {"file_path": file, "old_string": "a", "new_string": "b"})
    error = f"Exit code 1\n{'line of output ' * 200}\n{_KNOWN_ERROR.format(place)}"
    failed = {"command": f"make check-{rng.randrange(10**9)}"}
    yield "a command that failed", agent.payload("PostToolUseFailure", "Bash", failed, error=error)
    prompt = f"TASK_ID: {rng.randrange(10**9)}\nTASK: {phrases.question()}\nRELEVANT_FILES: {phrases.file(_FILES)}"
    called = {"description": "d", "prompt": prompt, "subagent_type": "helix:builder"}
    yield "a sub-agent's injection", agent.payload("PreToolUse", "Agent", called)


def _processes(
    settings: Settings, agent: Agent, commands: Sequence[str], starts: int, say: Callable[[str], None]
) -> dict[str, Any]:
    """Start an empty interpreter, and one with the process hook, in turn."""
    empty: list[float] = []
    hook: list[float] = []
    answered = 0
    for number in range(starts):
        empty.append(_started([sys.executable, "-c", "pass"], b"")[0])
        command = {"command": commands[number % _ABOUT]}
        payload = agent.payload("PreToolUse", "Bash", command)
        seconds, words = _started(_hook(settings.store_path), payload)
        hook.append(seconds)
        answered += bool(words.strip(b"{}"))
    say(f"started {starts} processes of each")
    over = [one - other for one, other in zip(hook, empty, strict=True)]
    return {
        "an empty interpreter": percentiles(empty),
        "the process hook": {**percentiles(hook), "answered": round(answered / starts, 3)},
        "median_over_empty_ms": round(statistics.median(over) * 1000, 2),
    }


def _without(starts: int, say: Callable[[str], None]) -> dict[str, Any]:
    """Return how long an agent waits for the process hook where no daemon answers as it should."""
    store = HOME / "without"
    shutil.rmtree(store, ignore_errors=True)
    store.mkdir(parents=True)
    payload = json.dumps({"hook_event_name": "PreToolUse", "session_id": "s"}).encode()
    found: dict[str, Any] = {}
    try:
        found["dead"] = percentiles([_started(_hook(store), payload)[0] for _ in range(starts)])
        for what, answer in (("hung", None), ("garbage", b"\x00" * 100_000)):
            with _pretending(store, answer):
                found[what] = percentiles([_started(_hook(store), payload)[0] for _ in range(starts)])
    finally:
        shutil.rmtree(store, ignore_errors=True)
    say(f"asked {starts} times where no daemon answers")
    return found


@contextmanager
def _pretending(store: Path, answer: bytes | None) -> Iterator[None]:
    """Own the store as a daemon that says this to everybody, or (None) nothing at all."""
    with socket.create_server(("127.0.0.1", 0), backlog=128) as server, StoreLock(store):
        port = server.getsockname()[1]
        daemon.announce(store, url=f"http://127.0.0.1:{port}", port=port, idle_minutes=0)
        bearer.hook_token_of(store)
        if answer is not None:
            threading.Thread(target=_talk, args=(server, answer), daemon=True).start()
        yield


def _talk(server: socket.socket, answer: bytes) -> None:
    while True:
        try:
            connection, _ = server.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(answer)
        except OSError:
            return


def _hook(store: Path) -> list[str]:
    return [sys.executable, "-I", "-S", helix_hook.__file__, "--client", "claude-code", "--store", str(store)]


def _started(command: Sequence[str], payload: bytes) -> tuple[float, bytes]:
    started = time.perf_counter()
    run = subprocess.run(command, input=payload, stdout=subprocess.PIPE, check=True)
    return time.perf_counter() - started, run.stdout


def tables(result: Mapping[str, Any]) -> Iterator[str]:
    """Yield the result as Markdown."""
    yield f"{result['memories']:,} memories, {result['machine']}, load {result['load']}"
    yield "\n| hook | p50 ms | p95 ms | p99 ms | answered |\n|---|---|---|---|---|"
    for what, row in result["hooks"].items():
        yield _row(what, row, f"{row['answered']:.0%}")
    yield f"\nAn injection's p95 is {result['injection_over_recall_p95_ms']} ms over recall's."
    processes = result["processes"]
    yield "\n| process | p50 ms | p95 ms | p99 ms |\n|---|---|---|---|"
    yield _row("an empty interpreter", processes["an empty interpreter"])
    yield _row("the process hook", processes["the process hook"])
    yield from (_row(f"with a daemon that is {what}", row) for what, row in result["without_a_daemon"].items())
    yield f"\nThe process hook takes {processes['median_over_empty_ms']} ms more than an empty interpreter (median)."


def _row(what: str, row: Mapping[str, Any], *more: str) -> str:
    cells = (what, *(str(row[name]) for name in ("p50_ms", "p95_ms", "p99_ms")), *more)
    return f"| {' | '.join(cells)} |"


@click.command()
@click.option("--nodes", default=100_000, show_default=True, help="Memories in the store.")
@click.option("--rounds", default=300, show_default=True, help="How often each hook is asked.")
@click.option("--starts", default=40, show_default=True, help="How many processes of each are started.")
@click.option("--out", type=click.Path(path_type=Path), help="Write the JSON to this file too.")
@click.option("--json", "as_json", is_flag=True, help="JSON alone on stdout; progress goes to stderr.")
def hooks(nodes: int, rounds: int, starts: int, out: Path | None, as_json: bool) -> None:
    """Latency of the hooks of coding agents: at a command, an edit, an error and a sub-agent's start."""
    result = measure(nodes, rounds, starts, lambda text: click.echo(text, err=True))
    written = json.dumps(result, indent=2)
    if out is not None:
        out.write_text(written + "\n", "utf-8")
    click.echo(written if as_json else "\n".join(tables(result)))
