"""Growth: how the latency of a recall, end to end and stage by stage, follows the number of memories."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from benchmarks.machine import described
from benchmarks.plots import drawn
from benchmarks.quality_store import FOLDER
from benchmarks.speed import asked, load_of_machine
from benchmarks.speed_daemon import running
from benchmarks.speed_store import KEPT, Say, made, settings_of

SIZES = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000)
_UNSEEN_MS = 0.05
"""Stages that never take longer are left out of the plot."""


def measure(kept: Path, sizes: Sequence[int], *, seconds: float, queries: int, say: Say) -> list[dict[str, Any]]:
    """Measure recall with one client in a store of each size; stores are kept, so that building is done once."""
    runs = []
    for size in sizes:
        built = made(kept / str(size), size, say)
        with running(settings_of(kept / str(size))) as served:
            result = asked(served, seconds=seconds, queries=queries, clients=(1,), say=say)
            runs.append({"nodes": size, "edges": built["edges"], **result, "memory": served.memory()})
    return runs


def plot(path: Path, runs: Sequence[Mapping[str, Any]]) -> bool:
    """Draw the latencies against the number of memories, both on logarithmic axes; return whether it was drawn."""
    sizes = [run["nodes"] for run in runs]

    def draw(axes: Any) -> None:
        ends = {"end to end": "end_to_end", "end to end, vector known": "end_to_end_embedded"}
        for name, key in ends.items():
            figures = [run[key]["1"] if key == "end_to_end" else run[key] for run in runs]
            (line,) = axes.plot(sizes, [figure["p50_ms"] for figure in figures], "o-", linewidth=2, label=name)
            p95 = [figure["p95_ms"] for figure in figures]
            axes.plot(sizes, p95, "--", color=line.get_color(), linewidth=1, label=f"{name}, p95")
        for stage in runs[-1]["stages"]:
            times = [run["stages"].get(stage, {}).get("p50_ms", 0.0) for run in runs]
            if max(times) > _UNSEEN_MS:
                axes.plot(sizes, [max(time, _UNSEEN_MS) for time in times], ".-", linewidth=0.8, label=stage)
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlabel("memories")
        axes.set_ylabel("ms, p50 where nothing else is said")
        axes.set_title("A recall over HTTP and its stages, one client")
        axes.legend(frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0))

    return drawn(path, draw)


@click.command()
@click.option("--nodes", default=",".join(map(str, SIZES)), show_default=True, help="Sizes of the stores.")
@click.option("--seconds", default=15.0, show_default=True, help="How long a client asks each store.")
@click.option("--queries", default=100, show_default=True, help="Questions of the other comparisons.")
@click.option("--home", type=click.Path(path_type=Path), default=KEPT, help="Folder the stores are kept in.")
@click.option("--plot", "picture", type=click.Path(path_type=Path), default=FOLDER / "growth.svg", show_default=True)
@click.option("--out", type=click.Path(path_type=Path), help="Write the JSON to this file too.")
@click.option("--json", "as_json", is_flag=True, help="JSON alone on stdout; progress goes to stderr.")
def growth(
    nodes: str, seconds: float, queries: int, home: Path, picture: Path, out: Path | None, as_json: bool
) -> None:
    """Latency of a recall against the number of memories, and a plot of it."""

    def say(text: str) -> None:
        click.echo(text, err=True)

    sizes = sorted(int(size) for size in nodes.split(","))
    load = load_of_machine(say)
    runs = measure(home, sizes, seconds=seconds, queries=queries, say=say)
    say(f"drawn: {picture}" if plot(picture, runs) else "nothing is drawn: matplotlib is not installed")
    written = json.dumps({"machine": described(), "load_at_start": load, "runs": runs}, indent=2)
    if out is not None:
        out.write_text(written + "\n", "utf-8")
    if as_json:
        click.echo(written)
        return
    for run in runs:
        ends = run["end_to_end"]["1"]
        click.echo(f"{run['nodes']:>9,} memories  p50 {ends['p50_ms']:>7.2f} ms  p95 {ends['p95_ms']:>7.2f} ms")
