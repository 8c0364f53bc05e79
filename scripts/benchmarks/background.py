"""Recall while the worker is at work: what do consolidation, roll-up and filling in vectors cost those who ask?"""

from __future__ import annotations

import json
import random
import tempfile
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from benchmarks.concurrent import sentence
from benchmarks.machine import described, percentiles, share_models
from helix import settings as configuration
from helix.memory.capture.episodes import EpisodeRequest
from helix.model.recall import RecallQuery
from helix.operations import background_work, capture, ingest
from helix.service import Helix

_RULES = (
    "always run {tool} before you touch {file}, or the build of {thing} breaks",
    "{thing} crashed with an error in {file}: the fix was to run {tool} again",
    "we decided to keep {thing} in {file} because {tool} needs it there",
    "I looked at {file} today, {tool} was slow and {thing} seemed fine",
)
_KINDS = ("consolidate", "rederive", "roll_up")


def episode(rng: random.Random) -> str:
    """Return what somebody may have said in a project: one of some hundred different things, in changing words."""
    said = rng.choice(_RULES).format(
        tool=rng.choice(("ruff", "pytest", "make", "cmake", "mypy")),
        file=f"src/part{rng.randrange(40)}.c",
        thing=rng.choice(("the parser", "the cache", "the linker", "the journal")),
    )
    return f"{said}. {sentence(rng, rng.randrange(5, 40))}"


class Asker:
    """Asks now and then, as an agent does, and takes the time of every answer."""

    def __init__(self, helix: Helix, think: float) -> None:
        self._helix = helix
        self._think = think

    def run(self, seconds: float, seed: int) -> list[float]:
        """Return the wall times of the answers, in seconds; thinking lasts `think` seconds on average."""
        rng = random.Random(seed)
        times, end = [], time.monotonic() + seconds
        while time.monotonic() < end:
            query = RecallQuery(query=sentence(rng), limit=10)
            started = time.perf_counter()
            self._helix.recall(query)
            times.append(time.perf_counter() - started)
            time.sleep(rng.expovariate(1 / self._think))
        return times


def keep_busy(helix: Helix, until: threading.Event) -> dict[str, int]:
    """Have one job after the other done, and new episodes embedded, until told; return how many jobs that were."""
    rng, done = random.Random(7), dict.fromkeys(_KINDS, 0)
    while not until.is_set():
        for kind in _KINDS:
            for number in range(5):
                capture.record_episode(
                    helix, EpisodeRequest(content=episode(rng), session=f"live {number}", agent="ada", role="user")
                )
            item = background_work.begin_work(helix, kind, {"scope": None})
            while background_work.work(helix, item.id).ended_at is None and not until.wait(0.05):
                pass
            done[kind] += background_work.work(helix, item.id).ended_at is not None
    return done


def measure(settings: configuration.Settings, *, seconds: float, episodes: int, think: float) -> dict[str, Any]:
    """Return the latencies of recall in peace and beside the worker."""
    rng = random.Random(1)
    with Helix.open(replace(settings, consolidation_budget=0.0)) as helix:
        lines = [json.dumps({"text": episode(rng), "session": f"s{n // 20}", "role": "user"}) for n in range(episodes)]
        for start in range(0, len(lines), 200):
            ingest.ingest_jsonl(helix, lines[start : start + 200], first_line=start + 1, source="bench")
        helix.worker.settle()
        asker = Asker(helix, think)
        asker.run(2.0, seed=1)
        quiet = asker.run(seconds, seed=2)
        over, told = threading.Event(), []
        keeper = threading.Thread(target=lambda: told.append(keep_busy(helix, over)))
        keeper.start()
        busy = asker.run(seconds, seed=3)
        over.set()
        keeper.join()
        status = background_work.background(helix)
    figures = {name: percentiles(times) for name, times in (("quiet", quiet), ("busy", busy))}
    return {
        "machine": described(),
        "episodes": episodes,
        "answers": {"quiet": len(quiet), "busy": len(busy)},
        **figures,
        "ratio_p95": round(figures["busy"]["p95_ms"] / figures["quiet"]["p95_ms"], 2),
        "longest_ms": {"quiet": round(1000 * max(quiet), 1), "busy": round(1000 * max(busy), 1)},
        "jobs_done": told[0],
        "under_way": status.progress,
        "failed": [item.error for item in status.items if item.error],
    }


@click.command()
@click.option("--seconds", default=60.0, help="How long recall is measured in peace, and then beside the worker.")
@click.option("--episodes", default=2_000, help="Episodes in the store before.")
@click.option("--think", default=0.3, help="Seconds between an answer and the next question, on average.")
@click.option("--models-home", type=click.Path(path_type=Path, exists=True), help="A home whose models are used.")
@click.option("--json", "as_json", is_flag=True)
def background(seconds: float, episodes: int, think: float, models_home: Path | None, as_json: bool) -> None:
    """Recall in peace, and while background jobs follow one another."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        share_models(home, (models_home or configuration.load().home) / "models")
        result = measure(configuration.load({"home": home}), seconds=seconds, episodes=episodes, think=think)
    click.echo(json.dumps(result, indent=2) if as_json else "\n".join(f"{k}: {v}" for k, v in result.items()))
