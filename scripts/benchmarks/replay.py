"""Recorded runs of coding agents played through the real hooks: is the lesson of an earlier run shown, and when?

The protocol is that of the public recordings (`trajectories`): in the order of time for each repository, without labels
coming in. An opportunity is a failure, labelled by hand, whose cause met an earlier run of another task; it is hit
before where what was shown up to its action names the fix (where none is known: the failure), after where what is shown
right behind the failure does. What is shown at an action that does not fail so, nor is followed by one within three
commands, is noise. Nothing here says that an agent would have done better: recorded agents read nothing.
"""

from __future__ import annotations

import gzip
import json
import shutil
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from benchmarks.machine import described
from benchmarks.month_replay import Watch, opened
from benchmarks.quality_store import FOLDER, models_folder, real_embedder
from benchmarks.replay_baselines import Lessons, baselines
from benchmarks.replay_score import Played, Shown, figures
from helix.agents.hook_events.claude_code import CLIENT
from helix.errors import InvalidInputError, NotFoundError
from helix.operations import memories
from helix.providers.embedder import Embedder
from helix.service import Helix

LABELS = Path(__file__).resolve().parents[2] / "tests" / "questions" / "failures"


@dataclass(frozen=True, slots=True)
class Run:
    """A recorded run: its name, its task (one for all tries of the same one), and its events in order."""

    name: str
    task: str
    events: Sequence[Mapping[str, Any]]

    @property
    def begun(self) -> float:
        """When its first event happened, in seconds since the epoch."""
        return float(self.events[0]["ts"])

    @property
    def ended(self) -> float:
        """When its last event happened."""
        return max(float(event["ts"]) for event in self.events)


def runs_of(path: Path) -> list[Run]:
    """Read a file of recordings; runs in the order in which they began."""
    found: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            event = json.loads(line)
            found[event["run"]].append(event)
    runs = [
        Run(name, task_of(name, events[0]["agent"]), sorted(events, key=lambda event: event["seq"]))
        for name, events in found.items()
    ]
    return sorted(runs, key=lambda run: (run.begun, run.name))


def task_of(run: str, agent: str) -> str:
    """Return the task of a run: of mini-swe-agent the instance in its name, else the run is its own."""
    return run.split("/")[1] if agent.startswith("mini-swe-agent") and "/" in run else run


def labels_of(path: Path) -> dict[tuple[str, int], Mapping[str, Any]]:
    """Read the failures labelled by hand, by run and number of the event; those that were expected are left out."""
    failures = json.loads(path.read_text("utf-8"))["failures"]
    return {(one["run"], one["seq"]): one for one in failures if one["class"] in ("environment", "command", "code")}


def play(helix: Helix, clock: Watch, runs: Sequence[Run]) -> Iterator[Played]:
    """Play runs through the hooks, one after the other; yield what was shown at each action."""
    for run in runs:
        session = run.name
        clock.now = datetime.fromtimestamp(run.begun, UTC)
        folder = next((event["cwd"] for event in run.events if event["cwd"]), "/project")
        told = {"session_id": session, "cwd": folder, "transcript_path": ""}
        yield _shown(helix, run, -1, "start", {**told, "hook_event_name": "SessionStart", "source": "startup"})
        for event in run.events:
            clock.now = max(clock.now, datetime.fromtimestamp(event["ts"], UTC))
            call = {**told, "cwd": event["cwd"] or folder, "tool_use_id": f"{run.name}-{event['seq']}"}
            if event["kind"] == "task":
                prompt = {**told, "hook_event_name": "UserPromptSubmit", "prompt": event["text"] or ""}
                yield _shown(helix, run, event["seq"], "prompt", {**prompt, "prompt_id": call["tool_use_id"]})
            elif event["kind"] == "edit":
                for file in event["files"][:5]:
                    yield from _edited(
                        helix, run, event, {**call, "tool_use_id": f"{call['tool_use_id']}-{file}"}, file
                    )
            elif event["kind"] == "command" and (event["command"] or "").strip():
                yield from _ran(helix, run, event, call)
        helix.hooks.tell(CLIENT, {**told, "hook_event_name": "SessionEnd", "reason": "other"})
        helix.hooks.settle()
        helix.worker.settle()


def _ran(helix: Helix, run: Run, event: Mapping[str, Any], call: Mapping[str, Any]) -> Iterator[Played]:
    tool = {"tool_name": "Bash", "tool_input": {"command": event["command"]}}
    yield _shown(helix, run, event["seq"], "before", {**call, **tool, "hook_event_name": "PreToolUse"})
    output, status = event["output"] or "", event["exit_code"]
    if status in (0, None):
        answer = {"stdout": output, "stderr": "", "interrupted": status is None}
        ended = {**call, **tool, "hook_event_name": "PostToolUse", "tool_response": answer}
    else:
        ended = {**call, **tool, "hook_event_name": "PostToolUseFailure", "error": f"Exit code {status}\n{output}"}
    yield _shown(helix, run, event["seq"], "after", ended)
    helix.hooks.settle()


def _edited(helix: Helix, run: Run, event: Mapping[str, Any], call: Mapping[str, Any], file: str) -> Iterator[Played]:
    tool = {"tool_name": "Edit", "tool_input": {"file_path": file, "old_string": "", "new_string": ""}}
    yield _shown(helix, run, event["seq"], "edit", {**call, **tool, "hook_event_name": "PreToolUse"})
    helix.hooks.tell(CLIENT, {**call, **tool, "hook_event_name": "PostToolUse", "tool_response": {}})
    helix.hooks.settle()


def _shown(helix: Helix, run: Run, seq: int, moment: str, payload: Mapping[str, Any]) -> Played:
    answer = helix.hooks.tell(CLIENT, payload)
    context = str(answer.get("hookSpecificOutput", {}).get("additionalContext", ""))
    lines = [line for line in context.splitlines() if line.startswith(("- ", "WARNING"))]
    return Played(run.name, seq, moment, tuple(Shown(line, origin_of(helix, line)) for line in lines))


def origin_of(helix: Helix, line: str) -> frozenset[str]:
    """Return the runs that a line comes from, by the sources of the memory that it names."""
    name = line.split("]", 1)[-1].split(":", 1)[0].strip()
    try:
        sources = [edge.target for edge in memories.edges(helix, name, "grounded_in")]
    except (NotFoundError, InvalidInputError):  # a line without a memory in it
        return frozenset()
    sessions = {str(getattr(helix.store.records.node(ref), "session", "")) for ref in sources}
    told = memories.get(helix, name).source.removeprefix(f"{CLIENT}:").rsplit(":", 1)[0]
    return frozenset(sessions | {told}) - {""}


def measure(path: Path, labels: Path, models: Path, embedder: Embedder, home: Path) -> dict[str, Any]:
    """Return the figures of Helix and of every baseline on one repository's recordings."""
    runs = runs_of(path)
    known = labels_of(labels)
    shutil.rmtree(home, ignore_errors=True)
    clock = Watch(datetime.fromtimestamp(runs[0].begun, UTC))
    with opened(home, models, embedder, clock, lifecycle=True) as helix:
        played = list(play(helix, clock, runs))
    lessons = Lessons(runs, embedder)
    systems = {"helix": played, **{name: list(shown) for name, shown in baselines(runs, lessons).items()}}
    return {
        "source": path.stem,
        "machine": described(),
        "systems": {name: figures(runs, known, shown) for name, shown in systems.items()},
    }


@click.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--only", default="", help="Files whose name holds this.")
@click.option("--out", type=click.Path(path_type=Path), default=None, help="Write the figures here, as JSON.")
def replay(folder: Path, only: str, out: Path | None) -> None:
    """Play recorded runs of agents through the hooks; FOLDER holds the recordings (*.jsonl.gz)."""
    found, models = [], models_folder(rerank=False)
    for path in sorted(folder.glob("*.jsonl.gz")):
        name = path.name.removesuffix(".jsonl.gz")
        labels = LABELS / f"{name}.json"
        if only not in name or not labels.exists():
            continue
        with real_embedder(models) as embedder:
            one = measure(path, labels, models, embedder, FOLDER / "replay" / name)
        found.append(one)
        click.echo(name)
        for system, row in one["systems"].items():
            click.echo(f"  {system:28} {json.dumps(row)}")
    if out is not None:
        out.write_text(json.dumps(found, indent=1), "utf-8")
