"""Ways to Helix beside each other: a search by MCP and by GraphQL, the first call over stdio, and how commands start.

Everything is measured in turns, one of each: whatever else the machine does meets all alike. Beside the time that
passed stands the time of the processor, which says on a busy machine what a way takes by itself.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np

from benchmarks.hooks import Tools
from benchmarks.machine import described, percentiles
from benchmarks.speed import load_of_machine
from benchmarks.speed_corpus import Phrases
from benchmarks.speed_daemon import Running, running
from benchmarks.speed_store import KEPT, made, settings_of
from helix.settings import Settings

_LIMIT, _BUDGET = 8, 1_000
"""What both are asked for: the defaults of the tool."""
_DAEMON = "import helix.cli.serve"
_NOTHING = "pass"
_HELLO = (
    {
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "bench", "version": "1"},
        },
    },
    {"method": "notifications/initialized"},
)


def measure(nodes: int, rounds: int, starts: int, say: Callable[[str], None]) -> dict[str, Any]:
    """Return what each way takes, in milliseconds, and what MCP adds to GraphQL."""
    made(KEPT / str(nodes), nodes, say)
    settings = settings_of(KEPT / str(nodes), holdback=0.0)
    with running(settings) as served:
        say(f"{rounds} questions by each way")
        searches = _searches(served, settings, rounds)
        say(f"{starts} starts of each command")
        commands = _starts(settings, starts)
    return {"machine": described(), "load": load_of_machine(say), "memories": nodes, **searches, "starts": commands}


def _searches(served: Running, settings: Settings, rounds: int) -> dict[str, Any]:
    """Ask every question once, so that its vector is known, then both ways, each as often first."""
    phrases, tools = Phrases(random.Random(time.time_ns())), Tools(served, settings.store_path)

    def by_graphql(text: str) -> None:
        served.client.run("recall", query=text, limit=_LIMIT, budgetTokens=_BUDGET)

    def by_mcp(text: str) -> None:
        tools.search(text, k=_LIMIT, budget_tokens=_BUDGET)

    ways = {"recall by GraphQL": by_graphql, "memory.search by MCP": by_mcp}
    walls: dict[str, list[float]] = {name: [] for name in ways}
    spent: dict[str, list[float]] = {name: [] for name in ways}
    for number in range(rounds):
        text = phrases.question()
        by_graphql(text)
        for name in list(ways)[:: 1 if number % 2 else -1]:
            began, before = time.perf_counter(), _cpu(served.pid)
            ways[name](text)
            walls[name].append(time.perf_counter() - began)
            spent[name].append(_cpu(served.pid) - before)
    tools.close()
    told: dict[str, Any] = {name: {**percentiles(walls[name]), "daemon_cpu": percentiles(spent[name])} for name in ways}
    graphql, mcp = (told[name] for name in ways)
    added = np.array(walls["memory.search by MCP"]) - np.array(walls["recall by GraphQL"])
    return {
        "searches": told,
        "added_p95_ms": round(mcp["p95_ms"] - graphql["p95_ms"], 2),
        "added_cpu_p95_ms": round(mcp["daemon_cpu"]["p95_ms"] - graphql["daemon_cpu"]["p95_ms"], 2),
        "added_median_of_pairs_ms": round(float(np.median(added)) * 1000, 2),
    }


def _cpu(pid: int) -> float:
    """Return the seconds of processor time of all threads of a process, as the scheduler counts them."""
    total = 0
    for thread in Path(f"/proc/{pid}/task").iterdir():
        try:
            total += int((thread / "schedstat").read_text("ascii").split()[0])
        except (FileNotFoundError, ProcessLookupError):  # a thread that has just ended
            continue
    return total / 1e9


def _starts(settings: Settings, starts: int) -> dict[str, Any]:
    environment = {**os.environ, "HELIX_HOME": str(settings.home), "HELIX_DB_PATH": str(settings.store_path)}
    helix = [str(Path(sys.executable).with_name("helix"))]
    asked = {"id": 2, "method": "tools/call", "params": {"name": "memory.search", "arguments": {"query": "ledger"}}}
    spoken = "".join(json.dumps({"jsonrpc": "2.0", **one}) + "\n" for one in (*_HELLO, asked)).encode()
    ways: Mapping[str, tuple[Sequence[str], bytes]] = {
        "an interpreter that does nothing": ([sys.executable, "-c", _NOTHING], b""),
        "helix --help": ([*helix, "--help"], b""),
        "the daemon's import": ([sys.executable, "-c", _DAEMON], b""),
        "the first call over stdio, daemon warm": ([*helix, "mcp"], spoken),
    }
    walls: dict[str, list[float]] = {name: [] for name in ways}
    spent: dict[str, list[float]] = {name: [] for name in ways}
    for turn in range(starts + 1):
        for name, (command, given) in ways.items():
            wall, cpu = _started(command, given, environment)
            if turn:  # the first one only brings files into memory
                walls[name].append(wall)
                spent[name].append(cpu)
    return {name: {**percentiles(walls[name]), "cpu": percentiles(spent[name])} for name in ways}


def _started(command: Sequence[str], given: bytes, environment: Mapping[str, str]) -> tuple[float, float]:
    """Return the seconds until a process has answered what it was given, or ended, and those of processor it took."""
    began = time.perf_counter()
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment
    ) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.write(given)
        child.stdin.flush()
        answered = 0.0
        while given and not answered:
            line = child.stdout.readline()
            answered = time.perf_counter() - began if json.loads(line).get("id") == 2 else 0.0
        child.stdin.close()
        child.stdout.read()
        _, _, used = os.wait4(child.pid, 0)
        child.returncode = 0
    return answered or time.perf_counter() - began, used.ru_utime + used.ru_stime


def tables(result: Mapping[str, Any]) -> Iterator[str]:
    """Yield the result as lines of Markdown."""
    yield f"{result['machine']}; {result['load']}; {result['memories']:,} memories"
    yield "| way | p50 / p95 ms | of the processor, p50 / p95 ms |"
    yield "|---|---|---|"
    for name, row in {**result["searches"], **result["starts"]}.items():
        cpu = row.get("cpu") or row["daemon_cpu"]
        yield f"| {name} | {row['p50_ms']} / {row['p95_ms']} | {cpu['p50_ms']} / {cpu['p95_ms']} |"
    yield (
        f"MCP adds {result['added_p95_ms']} ms at p95, {result['added_cpu_p95_ms']} ms of the daemon's processor "
        f"time at p95, {result['added_median_of_pairs_ms']} ms in the median of pairs."
    )


@click.command()
@click.option("--nodes", default=10_000, show_default=True, help="Memories in the store.")
@click.option("--rounds", default=300, show_default=True, help="Questions asked both ways.")
@click.option("--starts", default=20, show_default=True, help="Starts of each command.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def ways(nodes: int, rounds: int, starts: int, as_json: bool) -> None:
    """Measure MCP beside GraphQL, the first call over stdio, and how long commands take to start."""
    result = measure(nodes, rounds, starts, lambda text: click.echo(text, err=True))
    click.echo(json.dumps(result, indent=2) if as_json else "\n".join(tables(result)))
