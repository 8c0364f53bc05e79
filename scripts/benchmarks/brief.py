"""Notes that a person wrote, among a real history: does the right one reach the agent that needs it, and at which cost?

Notes, objectives and commands are written by hand (`tests/questions/brief`); the histories are public recordings. Each
objective is about exactly one note, or about none. More notes and commands, without a history, lie in
`tests/questions/commands`.
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import click
import numpy as np

from benchmarks.histories import history_of, make_repository
from benchmarks.machine import described, share_models
from benchmarks.quality_store import FOLDER, models_folder, real_embedder
from helix import settings as configuration
from helix.agents.context import notes
from helix.agents.context.relevant import Sources
from helix.agents.context.role_contexts import request_context
from helix.model.recall import RecallQuery
from helix.model.reports import Job, JobState
from helix.operations import contexts, ingest, memories, upkeep
from helix.operations.contexts import BuilderRequest
from helix.providers.embedder import Embedder
from helix.providers.fakes import HashEmbedder
from helix.service import Helix
from helix.text.tokens import estimate_tokens

QUESTIONS = Path(__file__).resolve().parents[2] / "tests" / "questions"
NOTES = QUESTIONS / "brief"
JUDGES = ("infrastructure", "kubernetes", "rails", "rust-analyzer")
"""Sets of commands that no rule was written from."""
RECALLED = 5
FACTORS = (0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0)
"""How far notes may be behind the history, over how far they may: the curve of reach against noise."""
_MARKS = str.maketrans("", "", "`*_")


@dataclass(frozen=True, slots=True)
class Asked:
    """What one agent was told: the block, and whether the note that it needs stands in it (None: it needs none)."""

    text: str
    found: bool | None


def measure(name: str, history: Path, embedder: Embedder, models: Path, home: Path) -> dict[str, Any]:
    """Return how often each agent got the note that its objective is about, and anything where none is."""
    shutil.rmtree(home, ignore_errors=True)
    repository = home / name
    made = make_repository(history_of(history), repository)
    data = json.loads((NOTES / f"{name}.json").read_text("utf-8"))
    shutil.copy(NOTES / f"{name}.md", repository / "NOTES.md")
    share_models(home / "helix", models)
    settings = configuration.load({"home": home / "helix", "holdback": 0.0}, environ={}, cwd=home)
    with Helix.open(settings, embedder=embedder) as helix:
        done(helix, ingest.ingest_git(helix, str(repository)))
        done(helix, ingest.ingest_notes(helix, [str(repository / "NOTES.md")], mine=True))
        helix.worker.settle()
        nodes = upkeep.status(helix).nodes
        scope = memories.memories(helix, first=1).items[0].scope
        agents = _agents(helix, scope, repository)
        rows = {who: _row(data, ask, at_commands=who == "command") for who, ask in agents.items()}
        curve = {factor: _at(factor, lambda: _row(data, agents["builder"], at_commands=False)) for factor in FACTORS}
    return {"repository": name, "commits": len(made), "nodes": nodes, "agents": rows, "curve": curve}


def at_commands(notes: Path, home: Path) -> dict[str, Any]:
    """Return how often the commands of a set get the note they are about, and others any: no history, no model."""
    shutil.rmtree(home, ignore_errors=True)
    root = home / notes.stem
    (root / ".git").mkdir(parents=True)
    shutil.copy(notes, root / "NOTES.md")
    settings = configuration.load({"home": home / "helix", "holdback": 0.0}, environ={}, cwd=home)
    with Helix.open(settings, embedder=HashEmbedder()) as helix:
        done(helix, ingest.ingest_notes(helix, [str(root / "NOTES.md")], mine=True))
        scope = memories.memories(helix, first=1).items[0].scope
        ask = _agents(helix, scope, root)["command"]
        return _row(json.loads(notes.with_suffix(".json").read_text("utf-8")), ask, at_commands=True)


def _at(factor: float, ask: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Ask with notes that may be more or less behind the history than they may by default."""
    before = (notes.BEHIND, notes.BEHIND_ASKING)
    notes.BEHIND, notes.BEHIND_ASKING = before[0] * factor, before[1] * factor
    try:
        return ask()
    finally:
        notes.BEHIND, notes.BEHIND_ASKING = before


def done(helix: Helix, job: Job) -> Mapping[str, Any]:
    """Wait for a job and return what it came to."""
    while job.state is JobState.RUNNING:
        time.sleep(0.1)
        job = upkeep.job(helix, job.id)
    assert job.state is JobState.DONE, job
    return dict(job.result or {})


def _agents(helix: Helix, scope: str, root: Path) -> dict[str, Callable[[str], str]]:
    def recalled(objective: str) -> str:
        items = helix.recall(RecallQuery(query=objective, scope=scope, limit=RECALLED)).items
        nodes = [item.node for item in items]
        return "\n".join(
            f"{getattr(node, 'trigger', '')} {getattr(node, 'resolution', '')} {getattr(node, 'content', '')}"
            for node in nodes
        )

    def prompted(objective: str) -> str:
        with_strict = partial(notes.notes_by_user, helix.store, strict=True)
        return request_context(Sources(helix.recall, with_strict), objective, scope).text

    return {
        "prompt": prompted,
        "explorer": lambda objective: contexts.explorer_context(helix, objective, scope=scope).text,
        "planner": lambda objective: contexts.planner_context(helix, objective, scope=scope).text,
        "builder": lambda objective: (
            contexts.builder_context(helix, BuilderRequest(objective=objective, scope=scope)).text
        ),
        f"recall, first {RECALLED}": recalled,
        "command": lambda command: (
            contexts.at_action(helix, command, folder=str(root), project=str(root), scope=scope).text
        ),
    }


def _row(data: Mapping[str, Any], ask: Callable[[str], str], *, at_commands: bool) -> dict[str, Any]:
    asked, said_in = ("commands", "command") if at_commands else ("objectives", "text")
    wanted = [(one[said_in], one["note"]) for one in data[asked]]
    others = data["unrelated_commands"] if at_commands else [one["text"] for one in data["unrelated"]]
    about = [(text, note, ask(text)) for text, note in wanted]
    beside = [(text, ask(text)) for text in others]
    return {
        "reached": sum(plain(note) in plain(said) for _, note, said in about),
        "of": len(about),
        "told for nothing": sum(bool(said) for _, said in beside),
        "of none": len(beside),
        "tokens": int(np.median([estimate_tokens(said) for _, _, said in about])),
        "missed": [text for text, note, said in about if plain(note) not in plain(said)],
        "noise": [text for text, said in beside if said],
    }


def plain(text: str) -> str:
    """Return a text without the marks of Markdown, by which what was shown is compared with what was written."""
    return " ".join(text.translate(_MARKS).lower().split())


@click.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--only", default="", help="Repositories whose name holds this.")
@click.option("--verbose", is_flag=True, help="Print what was missed and what was told for nothing.")
@click.option("--out", type=click.Path(path_type=Path), default=None, help="Write the figures here, as JSON.")
def brief(folder: Path, only: str, verbose: bool, out: Path | None) -> None:
    """Ask for contexts about hand-written notes; FOLDER holds the recorded histories (*.jsonl.gz)."""
    found: list[dict[str, Any]] = []
    models = models_folder(rerank=False)
    click.echo(described())
    with real_embedder(models) as embedder:
        for path in sorted(folder.glob("*.jsonl.gz")):
            name = path.name.removesuffix(".jsonl.gz")
            if only in name and (NOTES / f"{name}.json").exists():
                found.append(measure(name, path, embedder, models, FOLDER / "brief" / name))
                _tell(found[-1], verbose)
    if out is not None:
        out.write_text(json.dumps(found, indent=1), "utf-8")


@click.command()
@click.option("--verbose", is_flag=True, help="Print what was missed and what was told for nothing.")
def commands(verbose: bool) -> None:
    """Ask at commands for notes that a person wrote; the judges are sets that no rule was written from."""
    for path in sorted((QUESTIONS / "commands").glob("*.md")):
        row = at_commands(path, FOLDER / "commands" / path.stem)
        _tell_row(f"{path.stem}{' (judge)' if path.stem in JUDGES else ''}", row, verbose)


def _tell(one: Mapping[str, Any], verbose: bool) -> None:
    click.echo(f"{one['repository']}: {one['commits']} commits, {one['nodes']}")
    for factor, row in one["curve"].items():
        click.echo(
            f"  builder, {factor:4} of how far behind: reached {row['reached']:2}/{row['of']}, told for nothing"
            f" {row['told for nothing']:2}/{row['of none']}, median tokens {row['tokens']}"
        )
    for who, row in one["agents"].items():
        _tell_row(who, row, verbose)


def _tell_row(who: str, row: Mapping[str, Any], verbose: bool) -> None:
    click.echo(
        f"  {who:22} reached {row['reached']:2}/{row['of']}, told for nothing"
        f" {row['told for nothing']:2}/{row['of none']}, median tokens {row['tokens']}"
    )
    for kind in ("missed", "noise") if verbose else ():
        for text in row[kind]:
            click.echo(f"      {kind}: {text}")
