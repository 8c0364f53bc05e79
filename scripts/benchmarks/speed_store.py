"""Stores to be measured: made once through the bulk import of a real daemon, and kept for the next run."""

from __future__ import annotations

import json
import re
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks import speed_corpus
from benchmarks.machine import share_models
from benchmarks.quality_store import FOLDER, ROOT
from benchmarks.speed_daemon import Running, running
from helix import settings as configuration
from helix.errors import HelixError, ModelError
from helix.providers import install
from helix.providers.choose import embedder_for
from helix.providers.model_catalogue import KNOWN
from helix.settings import Settings

KEPT = FOLDER / "stores"
_MADE = "made.json"
_GRAPH = "graph"

Say = Callable[[str], None]


def settings_of(home: Path, **overrides: Any) -> Settings:
    """Return the settings of a store in `home`, which shares the installed models."""
    share_models(home, _models())
    return configuration.load({"home": home, "db_path": home / "store", **overrides})


def made(home: Path, count: int, say: Say, **overrides: Any) -> dict[str, Any]:
    """Have a store of `count` memories in `home`; return how it was made, also where that was long ago."""
    settings = settings_of(home, **overrides)
    wanted = {"memories": count, "version": speed_corpus.VERSION, "model": settings.embedding_model}
    record = home / _MADE
    if record.exists():
        known: dict[str, Any] = json.loads(record.read_text("utf-8"))
        if known["of"] == wanted:
            say(f"the store of {count:,} memories is there: {home}")
            return {**known["report"], "reused": True}
    shutil.rmtree(home / "store", ignore_errors=True)
    record.unlink(missing_ok=True)
    started = time.perf_counter()
    report = _filled(settings, count, say)
    say(f"made the store of {count:,} memories in {time.perf_counter() - started:.0f} s")
    record.write_text(json.dumps({"of": wanted, "report": report}, indent=2) + "\n", "utf-8")
    return {**report, "reused": False}


def _filled(settings: Settings, count: int, say: Say) -> dict[str, Any]:
    choice = embedder_for(settings)
    if choice.embedder is None:
        raise ModelError(f"speed is measured with an embedding model: {choice.reason}")
    lines, vectors = speed_corpus.write(settings.home, count, choice.embedder, say)
    with running(settings) as served:
        phases = _imported(served, lines, vectors, say)
        peak = served.memory()
        status = served.client.run("status")["status"]
    lines.unlink()
    vectors.unlink()
    index = sum(seconds for name, seconds in phases.items() if name.startswith(_GRAPH))
    loading = sum(phases.values()) - index
    return {
        **_bulk(count, loading, index),
        "bulk_seconds": round(loading, 1),
        "phases_seconds": {name: round(seconds, 1) for name, seconds in phases.items()},
        "bulk_peak_mb": peak.get("peak_mb"),
        "nodes": {one["name"]: one["value"] for one in status["nodes"]},
        "edges": status["edges"],
    }


def _bulk(count: int, loading: float, index: float) -> dict[str, Any]:
    """Return the figures of a bulk import, or why there are none: few lines go in as in an ordinary import."""
    if index:
        return {"bulk_per_second": round(count / loading, 1), "index_build_seconds": round(index, 1)}
    why = f"{count:,} memories were too few for a bulk import and went in as in an ordinary one"
    return {"bulk_per_second": None, "index_build_seconds": None, "why": why}


def _imported(served: Running, lines: Path, vectors: Path, say: Say) -> dict[str, float]:
    """Import in bulk; return the seconds of every phase the job told of."""
    begun = served.client.run("ingest_bulk", path=str(lines), vectors=str(vectors), source="speed")["ingestBulk"]
    phases: dict[str, float] = {}
    before, told = time.perf_counter(), ""
    for job in served.wait(begun):
        now = time.perf_counter()
        phase = re.split(r"\s*[\d,]", job["message"], maxsplit=1)[0] or "lines"
        phases[phase] = phases.get(phase, 0.0) + now - before
        before = now
        if (progress := f"{phase}: {job['done']:,} of {job['total']:,}") != told:
            told = progress
            say(progress)
    if job["state"] != "DONE":
        raise HelixError(f"the bulk import {job['state'].lower()}: {job['error']}")
    return phases


def disk(settings: Settings) -> dict[str, int]:
    """Return the bytes of every part of a store, biggest first."""
    sizes: dict[str, int] = {}
    for path in settings.store_path.rglob("*"):
        if path.is_file():
            part = path.relative_to(settings.store_path).parts[0]
            sizes[part] = sizes.get(part, 0) + path.stat().st_size
    return dict(sorted(sizes.items(), key=lambda item: -item[1]))


def _models() -> Path:
    """Return the folder with the embedding model that is set; it is installed into `build` if it is nowhere."""
    settings = configuration.load()
    name = settings.embedding_model
    if name in KNOWN and not install.is_complete(KNOWN[name], settings.models_path / name):
        install.install(name, ROOT / "build" / "models")
        return ROOT / "build" / "models"
    return settings.models_path
