"""Readers beside a writer, over HTTP: does anything fail, is anything lost, and what does writing cost the readers?"""

from __future__ import annotations

import json
import random
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import click

from benchmarks.machine import described, percentiles, share_models
from helix import daemon
from helix import settings as configuration
from helix.errors import HelixError

WORDS = Path(__file__).resolve().parents[2].joinpath("README.md").read_text("utf-8").split()


def sentence(rng: random.Random, length: int = 9) -> str:
    """Return words nobody has asked for in this order before."""
    return " ".join(rng.choices(WORDS, k=length)) + f" {rng.randrange(10**9)}"


class Load:
    """Threads that ask and one that writes, against one daemon."""

    def __init__(self, settings: configuration.Settings) -> None:
        self._settings = settings
        self.errors: list[str] = []
        self.written: list[str] = []

    def run(self, seconds: float, readers: int, writers: int) -> dict[str, Any]:
        """Return the latencies of readers and writers."""
        end = time.monotonic() + seconds
        reads: list[list[float]] = [[] for _ in range(readers)]
        writes: list[list[float]] = [[] for _ in range(writers)]
        threads = [threading.Thread(target=self._read, args=(end, times, n)) for n, times in enumerate(reads)]
        threads += [threading.Thread(target=self._write, args=(end, times, n)) for n, times in enumerate(writes)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        read, written = [t for times in reads for t in times], [t for times in writes for t in times]
        return {"reads": len(read), "read": percentiles(read), "writes": len(written), "write": percentiles(written)}

    def _read(self, end: float, times: list[float], number: int) -> None:
        rng = random.Random(1000 + number)
        with daemon.ensure_running(self._settings) as client:
            while time.monotonic() < end:
                self._timed(times, lambda: client.run("recall", query=sentence(rng), limit=10))

    def _write(self, end: float, times: list[float], number: int) -> None:
        rng = random.Random(time.time_ns())

        def store() -> Any:
            return client.run("store", kind="FACT", trigger=sentence(rng, 14), resolution=sentence(rng))

        with daemon.ensure_running(self._settings) as client:
            while time.monotonic() < end:
                stored = self._timed(times, store)
                if stored is not None:
                    self.written.append(stored["store"]["id"])

    def _timed(self, times: list[float], call: Any) -> Any:
        started = time.perf_counter()
        try:
            result = call()
        except HelixError as error:
            self.errors.append(f"{error.code}: {error}")
            return None
        times.append(time.perf_counter() - started)
        return result


def measure(home: Path, *, seconds: float, memories: int, model: str | None) -> dict[str, Any]:
    """Fill a store, measure readers alone and beside a writer, then look for every acknowledged write."""
    overrides = {"home": home, **({"embedding_model": model} if model else {})}
    settings = configuration.load(overrides)
    load = Load(settings)
    client = daemon.ensure_running(settings)
    rng = random.Random(1)
    lines = [json.dumps({"id": f"e{n}", "text": sentence(rng, 20)}) for n in range(memories)]
    for start in range(0, len(lines), 200):
        client.run("ingest_jsonl", lines=lines[start : start + 200], firstLine=start + 1, source="bench")
    quiet = load.run(min(seconds, max(2.0, seconds / 6)), readers=4, writers=0)
    busy = load.run(seconds, readers=4, writers=1)
    lost = [memory for memory in load.written if not _is_there(client, memory)]
    doctor = client.run("doctor")["doctor"]
    client.close()
    daemon.stop(settings)
    return {
        "machine": described(),
        "quiet": quiet,
        "busy": busy,
        "ratio_p95": round(busy["read"]["p95_ms"] / quiet["read"]["p95_ms"], 2),
        "errors": load.errors[:5],
        "error_count": len(load.errors),
        "acknowledged": len(load.written),
        "lost": lost,
        "healthy": doctor["healthy"],
    }


def _is_there(client: Any, memory: str) -> bool:
    try:
        client.run("get", nameOrId=memory)
    except HelixError:
        return False
    return True


@click.command()
@click.option("--seconds", default=60.0, help="How long readers and writer run side by side.")
@click.option("--memories", default=2_000, help="Passages in the store before.")
@click.option("--model", default=None, help="Embedding model (default: the one that is set).")
@click.option("--models-home", type=click.Path(path_type=Path, exists=True), help="A home whose models are used.")
@click.option("--json", "as_json", is_flag=True)
def concurrent(seconds: float, memories: int, model: str | None, models_home: Path | None, as_json: bool) -> None:
    """Four readers and one writer over HTTP."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        share_models(home, (models_home or configuration.load().home) / "models")
        result = measure(home, seconds=seconds, memories=memories, model=model)
    click.echo(json.dumps(result, indent=2) if as_json else "\n".join(f"{k}: {v}" for k, v in result.items()))
