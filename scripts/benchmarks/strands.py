"""Strands at scale: export, import into an empty store, diff, and a merge where both sides have changed.

Each step is done in a process of its own, which opens the store first: what it takes beyond that is the step's own.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from benchmarks.histories import history_of
from benchmarks.machine import described
from benchmarks.speed_store import KEPT, Say, made, settings_of
from benchmarks.strand_halves import done
from benchmarks.strand_halves import measure as measure_halves
from helix.memory.remember.request import StoreRequest
from helix.operations import memories, strands
from helix.operations import strand_keys as keys
from helix.service import Helix
from helix.store.engine import IMAGE_NAME

SIZES = (10_000, 100_000, 300_000)
CHANGED = 100
"""Memories that each side has stored and as many that it has changed before the merge."""
_SELF = Path("/proc/self")
_MB = 1024


@contextmanager
def opened(home: Path, store: str = "store") -> Iterator[Helix]:
    """Open a store of a home with its background work standing still, and its graph settled."""
    with Helix.open(replace(settings_of(home), db_path=home / store)) as helix:
        while helix.jobs.are_running():
            time.sleep(0.05)
        with helix.worker.standing_still():
            yield helix


def know_itself(helix: Helix) -> None:
    """Have the home have a key, which signs and opens everything here."""
    if not keys.keys(helix):
        keys.new_key(helix, "bench")


def export(home: Path, store: str, target: str) -> Mapping[str, Any]:
    """Write a strand of a store to a file of the home."""
    with opened(home, store) as helix:
        know_itself(helix)
        return measured(lambda: done(helix, strands.export_strand(helix, str(home / target), recipients=["bench"])))


def take(home: Path, store: str, source: str) -> Mapping[str, Any]:
    """Take a strand of the home into a store, which is made where it is not there."""
    with opened(home, store) as helix:
        return measured(lambda: done(helix, strands.import_strand(helix, str(home / source))))


def read_anew(home: Path, store: str) -> Mapping[str, Any]:
    """Tell what a store takes by itself whose index was made row by row: opened without the image of its index."""
    (home / store / IMAGE_NAME).unlink()
    with ExitStack() as stack:
        store_of = replace(settings_of(home), db_path=home / store)
        return measured(lambda: {"nodes": stack.enter_context(Helix.open(store_of)).store.index.count})


def compare(home: Path, store: str, source: str) -> Mapping[str, Any]:
    """Tell how a strand differs from a store."""
    with opened(home, store) as helix:
        return measured(lambda: {"lines": len(strands.diff_strands(helix, str(home / source)).lines)})


def change(home: Path, store: str, who: str) -> Mapping[str, Any]:
    """Store something new and change what is there."""
    with opened(home, store) as helix:
        known = memories.memories(helix, first=CHANGED)
        for one in known:
            memories.feedback(helix, [one.id], delta=1.0)
        for number in range(CHANGED):
            said = f"{who} found that step {number} of the release needs a look at `{who}.part_{number}`"
            memories.store(helix, StoreRequest(trigger=said, resolution="", kind="fact"))
        return {}


def measured(work: Callable[[], Mapping[str, Any]]) -> Mapping[str, Any]:
    """Return what some work came to, with its seconds and the megabytes that it took beyond those taken before."""
    (_SELF / "clear_refs").write_text("5")  # the peak is told from here on
    before, started, busy = _memory("VmRSS"), time.perf_counter(), time.process_time()
    told = work()
    figures = {
        "load": round(os.getloadavg()[0], 1),
        "seconds": round(time.perf_counter() - started, 1),
        "processor_seconds": round(time.process_time() - busy, 1),
        "own_mb": before,
        "peak_mb": _memory("VmHWM"),
        "after_mb": _memory("VmRSS"),
    }
    return {**figures, "told": dict(told)}


def _memory(name: str) -> int:
    lines = (_SELF / "status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{name}:")) // _MB


def apart(work: Callable[..., Mapping[str, Any]], *arguments: Any) -> Mapping[str, Any]:
    """Return what some work comes to in a process of its own."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(work, arguments)


def measure(kept: Path, size: int, say: Say) -> dict[str, Any]:
    """Return the figures of each step for a store of so many memories; the kept store itself stays as it is."""
    built = made(kept / str(size), size, say)
    home = kept / f"strands-{size}"
    shutil.rmtree(home, ignore_errors=True)
    settings_of(home)
    shutil.copytree(kept / str(size) / "store", home / "one")
    journal = (home / "one" / "journal.db").stat().st_size
    steps: dict[str, Any] = {}

    def step(name: str, work: Callable[..., Mapping[str, Any]], *arguments: Any) -> None:
        steps[name] = apart(work, home, *arguments)
        say(f"{size:,}: {name} {json.dumps(steps[name])}")

    step("export", export, "one", "all.dna")
    step("import into an empty store", take, "other", "all.dna")
    step("the store read anew", read_anew, "other")
    step("diff with the store", compare, "one", "all.dna")  # whose graph is built: the other one's is, just now
    for store in ("one", "other"):
        apart(change, home, store, store)
    step("export again", export, "one", "again.dna")
    step("merge, both changed", take, "other", "again.dna")
    size_of = (home / "all.dna").stat().st_size
    shutil.rmtree(home)
    return {
        "memories": size,
        "nodes": built["nodes"],
        "edges": built["edges"],
        "strand_mb": size_of >> 20,
        "journal_mb": journal >> 20,
        "steps": steps,
    }


@click.command()
@click.option("--nodes", default=",".join(map(str, SIZES)), show_default=True, help="Sizes of the stores.")
@click.option("--home", type=click.Path(path_type=Path), default=KEPT, help="Folder the stores are kept in.")
@click.option("--halves", type=click.Path(path_type=Path), help="Merge two halves of this recorded history instead.")
@click.option("--json", "as_json", is_flag=True, help="JSON alone on stdout; progress goes to stderr.")
def strand(nodes: str, home: Path, halves: Path | None, as_json: bool) -> None:
    """Strands: export, import, diff and merge of large stores, or two people's stores of one project."""

    def say(text: str) -> None:
        click.echo(text, err=True)

    runs: Any
    if halves is not None:
        runs = measure_halves(history_of(halves), settings_of(home / "halves"), say)
    else:
        runs = [measure(home, int(size), say) for size in nodes.split(",")]
    click.echo(json.dumps({"machine": described(), "runs": runs}, indent=None if as_json else 2))
