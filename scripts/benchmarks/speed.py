"""Speed: what a store of N memories answers, holds and takes, end to end and stage by stage."""

from __future__ import annotations

import json
import os
import random
import shutil
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import click

from benchmarks import speed_inside
from benchmarks.machine import described, percentiles
from benchmarks.speed_corpus import SELECTIVE, Phrases
from benchmarks.speed_daemon import Running, running
from benchmarks.speed_report import tables
from benchmarks.speed_store import KEPT, Say, disk, made, settings_of
from helix.errors import HelixError
from helix.settings import Settings

CLIENTS = (1, 4, 16)
_BUSY = 0.5
"""Load of the machine from which figures belong to the company rather than to Helix."""


def measure(
    home: Path,
    count: int,
    *,
    seconds: float,
    queries: int,
    clients: Sequence[int],
    low_memory: Mapping[str, str],
    say: Say,
) -> dict[str, Any]:
    """Make the store or take up the one in `home`, and measure everything that is known about it, on a copy.

    A copy, because storing makes the store larger and low memory takes the vectors out of its graph.
    `seconds` is how long each number of clients asks, `queries` how many questions every other comparison takes,
    `low_memory` the settings under which memory is measured once more.
    """
    load = load_of_machine(say)
    built = made(home, count, say)
    result: dict[str, Any] = {"machine": described(), "load_at_start": load, "nodes": count, "build": built}
    with tempfile.TemporaryDirectory(prefix="speed-", dir=home) as copy:
        shutil.copytree(home / "store", Path(copy) / "store")
        os.sync()  # or the copy is still being written while its first start is timed
        settings = settings_of(Path(copy))
        return result | _measured(settings, seconds, queries, clients, low_memory, say)


def _measured(
    settings: Settings,
    seconds: float,
    queries: int,
    clients: Sequence[int],
    low_memory: Mapping[str, str],
    say: Say,
) -> dict[str, Any]:
    result: dict[str, Any] = {}
    say("starting a daemon")
    with running(settings) as served:
        result["start_seconds"] = {"after_a_clean_stop": round(served.started_in, 2)}
        result |= asked(served, seconds=seconds, queries=queries, clients=clients, say=say)
        result["memory"] = served.memory()
        say("storing")
        try:
            result["storing"] = stored(served, queries)
            result["insert_per_second"] = inserted(served, 2 * queries)
            stored(served, queries)
        except HelixError as error:
            # What was measured before is worth keeping, and the rest can be measured still.
            say(f"storing failed: {error}")
            result["failed"] = f"storing: {error}"
        served.kill()
    say("starting again after kill -9")
    with running(settings) as served:
        result["start_seconds"]["after_kill_9"] = round(served.started_in, 2)
        result["disk_bytes"] = disk(settings)
    say("measuring inside")
    result["inside"] = speed_inside.measured(settings, queries, 0 if "failed" in result else queries)
    full = result["end_to_end"][str(clients[-1])]
    result["throughput"] = throughput(
        full["per_second"], result["inside"]["recall_cpu_ms"], full["cores_in_use"], clients[-1]
    )
    if low_memory:
        say("starting with settings for low memory")
        result["low_memory"] = _with_settings(settings.home, low_memory, seconds)
    return result


def _with_settings(home: Path, overrides: Mapping[str, str], seconds: float) -> dict[str, Any]:
    with running(settings_of(home, **overrides)) as served:
        served.settle()  # the first start may make the graph anew, without vectors
    with running(settings_of(home, **overrides)) as served:
        answered = _figures(served.ask(seconds=seconds))
        return {"settings": dict(overrides), "end_to_end": answered, "memory": served.memory()}


def asked(served: Running, *, seconds: float, queries: int, clients: Sequence[int], say: Say) -> dict[str, Any]:
    """Measure recall over HTTP: by new words with every number of clients, without the embedding, with a filter."""
    result: dict[str, Any] = {"end_to_end": {}}
    for number in clients:
        say(f"asking: {number} client{'s' if number > 1 else ''}, {seconds:g} s")
        before = served.cpu_seconds()
        answered = served.ask(clients=number, seconds=seconds)
        after = served.cpu_seconds()
        cores = None if before is None or after is None else round((after - before) / answered["seconds"], 2)
        result["end_to_end"][str(number)] = _figures(answered) | {"cores_in_use": cores}
        if number == clients[0]:
            result["stages"] = _stages(answered)
    phrases = Phrases(random.Random(time.time_ns()))
    texts = [phrases.question() for _ in range(queries)]
    say("asking again, with the questions' vectors known")
    served.ask(texts=texts)
    result["end_to_end_embedded"] = _figures(served.ask(texts=texts))
    filtered = served.ask(texts=texts, scopes=(None, SELECTIVE))
    every, few = (percentiles(times) for times in filtered["times"])
    result["filtered"] = {
        "unfiltered": every,
        "filtered": few,
        "ratio_p50": round(few["p50_ms"] / every["p50_ms"], 2),
        "outside_the_filter": filtered["outside"],
    }
    return result


def stored(served: Running, count: int) -> dict[str, float]:
    """Return how long a client waits until a new memory is acknowledged."""
    phrases = Phrases(random.Random(time.time_ns()))
    times = []
    for _ in range(count):
        words = {"trigger": phrases.question(), "resolution": phrases.question()}
        started = time.perf_counter()
        served.client.run("store", kind="FACT", scope="bench", **words)
        times.append(time.perf_counter() - started)
    return percentiles(times)


def inserted(served: Running, count: int) -> float:
    """Return how many memories a second an ordinary import of so many takes in, the embedding included."""
    phrases = Phrases(random.Random(time.time_ns()))
    lines = [
        json.dumps({"trigger": phrases.question(), "resolution": phrases.question(), "scope": "bench"})
        for _ in range(count)
    ]
    started = time.perf_counter()
    served.client.run("ingest_jsonl", lines=lines, source=f"bench {time.time_ns()}")
    return round(len(lines) / (time.perf_counter() - started), 1)


def _figures(answered: Mapping[str, Any]) -> dict[str, Any]:
    times = answered["times"][0]
    figures: dict[str, Any] = {**percentiles(times), "per_second": round(len(times) / answered["seconds"], 2)}
    return {**figures, "asked": len(times), "errors": answered["errors"][:3], "error_count": len(answered["errors"])}


def _stages(answered: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    return {stage: percentiles([value / 1000 for value in times]) for stage, times in answered["stages"][0].items()}


def throughput(per_second: float, cpu_ms: float, in_use: float | None, clients: int) -> dict[str, Any]:
    """Return what share of the CPU that a full daemon uses goes into its recalls, were each as cheap as one alone.

    Without a share it says why: more than all of it means that one of the figures was disturbed.
    """
    figures = {"clients": clients, "per_second": per_second, "recall_cpu_ms": cpu_ms, "cores_in_use": in_use}
    work = per_second * cpu_ms / 1000
    if not in_use:
        return {**figures, "share_of_cores_in_use": None, "why": "the CPU time of the daemon is not known"}
    if work > in_use:
        why = f"not plausible ({work / in_use:.2f}): measure on a quiet machine"
        return {**figures, "share_of_cores_in_use": None, "why": why}
    return {**figures, "share_of_cores_in_use": round(work / in_use, 3)}


def load_of_machine(say: Say) -> float:
    """Return the load of the last minute, and warn where others use the machine too."""
    load = round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else 0.0
    if load > _BUSY:
        say(f"warning: the machine is busy (load {load}); times are longer than Helix's own")
    return load


@click.command()
@click.option("--nodes", default=100_000, show_default=True, help="Memories in the store.")
@click.option("--seconds", default=20.0, show_default=True, help="How long each number of clients asks.")
@click.option("--queries", default=100, show_default=True, help="Questions, and memories stored, of each comparison.")
@click.option("--clients", default=",".join(map(str, CLIENTS)), show_default=True, help="Numbers of clients.")
@click.option(
    "--low-memory",
    metavar="NAME=VALUE",
    multiple=True,
    default=("low_memory=true", "buffer_pool_mb=64", "embedding_threads=1", "kuzu_threads=1"),
    show_default=True,
    help="Settings that save memory, shown with their cost in speed.",
)
@click.option("--home", type=click.Path(path_type=Path), help="Folder of the store, kept for the next run.")
@click.option("--throw-away", is_flag=True, help="Make the store in a temporary folder, and keep nothing.")
@click.option("--out", type=click.Path(path_type=Path), help="Write the JSON to this file too.")
@click.option("--json", "as_json", is_flag=True, help="JSON alone on stdout; progress goes to stderr.")
def speed(
    nodes: int,
    seconds: float,
    queries: int,
    clients: str,
    low_memory: tuple[str, ...],
    home: Path | None,
    throw_away: bool,
    out: Path | None,
    as_json: bool,
) -> None:
    """Latency, throughput, start-up, memory and disk of a store of N memories with some 3 N edges."""
    with ExitStack() as stack:
        passing = Path(stack.enter_context(tempfile.TemporaryDirectory())) if throw_away else None
        result = measure(
            home or passing or KEPT / str(nodes),
            nodes,
            seconds=seconds,
            queries=queries,
            clients=[int(number) for number in clients.split(",")],
            low_memory=dict(pair.split("=", 1) for pair in low_memory if pair),
            say=lambda text: click.echo(text, err=True),
        )
    written = json.dumps(result, indent=2)
    if out is not None:
        out.write_text(written + "\n", "utf-8")
    click.echo(written if as_json else "\n".join(tables(result)))
