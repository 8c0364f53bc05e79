"""Kinds: is what is remembered of commits what a person who labelled them would remember, and as the same kind?

Labels are made by hand (`tests/questions/commits`): the kinds that a memory of the commit may have, the better one
first. `none` beside a kind: either way is right. The histories are public recordings.
"""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from benchmarks.histories import history_of, make_repository
from helix.ingest.draft import MemoryDraft
from helix.ingest.git import read_history
from helix.model.memory import Kind

LABELS = Path(__file__).resolve().parents[2] / "tests" / "questions" / "commits"
HELD_OUT = "held_out_"
_NONE = "none"


def measure(history: Path, labels: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is made of a history: figures over its labelled commits, and the single judgements."""
    made = _made(history)
    right: Counter[Kind] = Counter()
    told: Counter[Kind] = Counter()
    wanted = got = drawn = of_drawn = 0
    judged = []
    for one in labels["commits"]:
        memory, kinds = made[one["hash"]], one["kinds"]
        if memory is not None:
            told[memory.kind] += 1
            right[memory.kind] += memory.kind.value in kinds
        wanted += _NONE not in kinds
        got += _NONE not in kinds and memory is not None
        drawn += one["random"]
        of_drawn += one["random"] and memory is not None
        judged.append((one, memory))
    return {
        "commits": len(made),
        "memories": sum(memory is not None for memory in made.values()),
        "by kind": dict(Counter(memory.kind.value for memory in made.values() if memory is not None)),
        "labelled": len(judged),
        "right": {kind.value: (right[kind], told[kind]) for kind in sorted(told)},
        "precision": (right.total(), told.total()),
        "recall": (got, wanted),
        "made of a hundred": round(100 * of_drawn / drawn, 1),
        "judged": judged,
    }


def _made(history: Path) -> dict[str, MemoryDraft | None]:
    """Return the memory that each recorded commit becomes, None where it becomes none."""
    with tempfile.TemporaryDirectory() as folder:
        names = make_repository(history_of(history), repository := Path(folder) / "repository")
        found = {item.episode.source.rpartition(":")[2]: item.memories for item in read_history(repository)}
    return {recorded: next(iter(found.get(sha, ())), None) for recorded, sha in names.items()}


@click.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--held-out", is_flag=True, help="Also the history that no rule was written from: figures only.")
@click.option("--verbose", is_flag=True, help="Print each judgement, but of the held-out history.")
@click.option("--out", type=click.Path(path_type=Path), default=None, help="Write the figures here, as JSON.")
def kinds(folder: Path, held_out: bool, verbose: bool, out: Path | None) -> None:
    """Compare what is made of commits with labels; FOLDER holds the recorded histories (*.jsonl.gz)."""
    found = {}
    for path in sorted(LABELS.glob("*.json")):
        unseen = path.stem.startswith(HELD_OUT)
        if unseen and not held_out:
            continue
        labels = json.loads(path.read_text("utf-8"))
        figures = measure(folder / f"{labels['repository']}.jsonl.gz", labels)
        judged = figures.pop("judged")
        found[path.stem] = figures
        _tell(path.stem, figures)
        for one, memory in judged if verbose and not unseen else ():
            _tell_judged(one, memory)
    if out is not None:
        out.write_text(json.dumps(found, indent=1), "utf-8")


def _tell(name: str, figures: Mapping[str, Any]) -> None:
    (right, told), (got, wanted) = figures["precision"], figures["recall"]
    click.echo(
        f"{name}: {figures['memories']} memories of {figures['commits']} commits {figures['by kind']}\n"
        f"  right {right}/{told} ({100 * right / max(told, 1):.0f} %), lessons found {got}/{wanted}, "
        f"made of a hundred {figures['made of a hundred']}"
    )
    for kind, (good, all_of_kind) in figures["right"].items():
        click.echo(f"    {kind:12} {good:3}/{all_of_kind}")


def _tell_judged(one: Mapping[str, Any], memory: MemoryDraft | None) -> None:
    kind = memory.kind.value if memory is not None else _NONE
    mark = "=" if kind in one["kinds"] else "!"
    if memory is None and mark == "=":
        return
    click.echo(f"  {mark} {one['hash'][:8]} {kind}, labelled {'/'.join(one['kinds'])}: {one['lesson']}")
    if memory is not None:
        click.echo(f"      {memory.trigger}\n      > {' '.join(memory.resolution.split())[:500]}")
