"""A real history end to end: ingested through the command's own way, asked questions that were written down before."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import click

from benchmarks.machine import described, percentiles, share_models
from helix import daemon
from helix import settings as configuration

ROOT = Path(__file__).resolve().parents[2]
QUESTIONS = ("curl_history", "curl_history_sampled")
"""Sets of twenty questions: the first avoids the words of the commits, the second asks as a developer would."""


def questions(name: str) -> list[dict[str, Any]]:
    """Return a set of questions, each with the ids of the commits that answer it."""
    lines = (ROOT / "tests" / "questions" / f"{name}.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines if line.strip()]


def ids_of_commits(repository: Path) -> dict[str, str]:
    """Return the data's id of every commit of a repository that `scripts/make_history` made."""
    log = subprocess.run(
        ["git", "-C", str(repository), "log", "--format=%H %(trailers:key=Helix-Eval-Id,valueonly,separator=%x20)"],
        check=True,
        capture_output=True,
        text=True,
    )
    return dict(line.split() for line in log.stdout.splitlines() if len(line.split()) == 2)


def commit_of(item: dict[str, Any]) -> str:
    """Return the commit an answer is about, from its source (`git:<scope>:<sha>`)."""
    return str(item["node"]["source"]).rsplit(":", 1)[-1]


def measure(home: Path, data: Path, limit: int | None) -> dict[str, Any]:
    """Make the repository, ingest it, ask the questions; return times and what was answered in the top five."""
    repository = home / "repository"
    make = [sys.executable, str(ROOT / "scripts" / "make_history"), str(data), str(repository)]
    subprocess.run([*make, *(["--limit", str(limit)] if limit else [])], check=True, stdout=subprocess.DEVNULL)
    ids = ids_of_commits(repository)
    client = daemon.ensure_running(settings := configuration.load({"home": home}))
    started = time.perf_counter()
    job = client.run("ingest_git", path=str(repository))["ingestGit"]
    while job["state"] == "RUNNING":
        time.sleep(0.2)
        job = client.run("job", id=job["id"])["job"]
    took = time.perf_counter() - started
    asked = {name: _ask(client, ids, name) for name in QUESTIONS}
    status = client.run("status")["status"]
    client.close()
    daemon.stop(settings)
    return {
        "machine": described(),
        "commits": len(ids),
        "job": {key: job[key] for key in ("state", "done", "total", "error", "result")},
        "seconds": round(took, 1),
        "commits_per_second": round(len(ids) / took, 1),
        "questions": asked,
        "disk_bytes": {one["name"]: one["value"] for one in status["diskBytes"]},
        "memory_bytes": status["memoryBytes"],
    }


def _ask(client: Any, ids: dict[str, str], name: str) -> dict[str, Any]:
    times, missed = [], []
    for question in questions(name):
        started = time.perf_counter()
        items = client.run("recall", query=question["question"], limit=5)["recall"]["items"]
        times.append(time.perf_counter() - started)
        if not {ids.get(commit_of(item)) for item in items} & set(question["commits"]):
            missed.append(question["question"])
    asked = len(times)
    return {"asked": asked, "answered_in_top_five": asked - len(missed), "missed": missed, "recall": percentiles(times)}


@click.command()
@click.option("--data", type=click.Path(path_type=Path, exists=True), default=ROOT.parent / "shared/data/curl_history")
@click.option("--limit", type=int, help="Only the newest so many commits.")
@click.option("--json", "as_json", is_flag=True)
def history(data: Path, limit: int | None, as_json: bool) -> None:
    """Ingest a history of 11,156 commits and ask two sets of twenty questions."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        share_models(home, configuration.load().models_path)
        result = measure(home, data, limit)
    click.echo(json.dumps(result, indent=2) if as_json else "\n".join(f"{k}: {v}" for k, v in result.items()))
