"""Month: what a lifecycle makes of thirty days of episodes, and what it does to recall on the last of them."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from benchmarks.machine import described
from benchmarks.month_replay import Replay, Watch, evidence_of, kept_evidence, live, opened, recall_of, replay_of
from benchmarks.plots import drawn
from benchmarks.quality_store import FOLDER, ROOT, Say, models_folder, real_embedder
from helix.memory.insight import insights
from helix.model.edge import Label
from helix.model.memory import Status
from helix.model.reflection import Cited
from helix.operations import memories, review
from helix.providers.embedder import Embedder
from helix.service import Helix

DATA = ROOT.parent / "shared" / "data" / "locomo"
BUDGETS = (250, 500, 1_000, 2_000)
_TREES = 3
_NAMED = 10


def measure(replay: Replay, models: Path, embedder: Embedder, budgets: Sequence[int], home: Path, say: Say) -> Any:
    """Live the month twice, with and without a lifecycle, and ask the same questions after both."""
    result: dict[str, Any] = {"set": replay.name, "episodes": len(replay.turns), "questions": len(replay.questions)}
    clock = Watch()
    say("without a lifecycle")
    with opened(home / "without", models, embedder, clock, lifecycle=False) as helix:
        live(helix, clock, replay, say, lifecycle=False)
        result["without"] = recall_of(helix, replay.questions, budgets)
    clock = Watch()
    say("with a lifecycle")
    with opened(home / "with", models, embedder, clock, lifecycle=True) as helix:
        month = live(helix, clock, replay, say, lifecycle=True)
        result |= {
            "with": recall_of(helix, replay.questions, budgets),
            "with_deep": recall_of(helix, replay.questions, budgets, deep=True),
            "days": month.days,
            "failed_work": month.failed,
            "evidence": kept_evidence(helix, replay),
            "strengthened": _strengthened(helix, month.confirmed),
            "memories": _memories(helix),
            "reflections": _trees(helix),
        }
    return result


def _strengthened(helix: Helix, confirmed: Sequence[str]) -> list[dict[str, Any]]:
    names = sorted(set(confirmed), key=lambda name: (-confirmed.count(name), name))
    found = [(name, memories.get(helix, name)) for name in names[:_NAMED]]
    return [
        {"name": name, "confirmed": confirmed.count(name), "confidence": round(memory.confidence, 3)}
        | {"easiness": round(memory.easiness, 2), "half_life_days": memory.half_life_days}
        for name, memory in found
    ]


def _memories(helix: Helix) -> dict[str, Any]:
    grounds = evidence_of(helix)
    memories = list(helix.store.index.memories(Status.ACTIVE))
    by_extractor: dict[str, int] = {}
    for memory in memories:
        by_extractor[memory.provenance.extractor] = by_extractor.get(memory.provenance.extractor, 0) + 1
    return {
        "active": len(memories),
        "by_extractor": dict(sorted(by_extractor.items())),
        "ungrounded": sum(not grounds.get(memory.id) for memory in memories),
    }


def _trees(helix: Helix) -> dict[str, Any]:
    page = review.reflections(helix, first=200)
    levels: dict[str, int] = {}
    for reflection in page.items:
        levels[str(reflection.level)] = levels.get(str(reflection.level), 0) + 1
    highest = sorted(page.items, key=lambda one: (-one.level, -one.confidence, one.id))[:_TREES]
    trees = [insights.insight_tree(helix.store, reflection.id) for reflection in highest]
    return {
        "total": page.total,
        "levels": dict(sorted(levels.items())),
        "trees": [
            {"insight": tree.reflection.insight, "level": tree.reflection.level, "evidence": _branches(tree.evidence)}
            for tree in trees
        ],
    }


def _branches(evidence: Sequence[Cited]) -> list[dict[str, Any]]:
    return [
        {"kind": cited.ref.label.lower(), "id": cited.ref.id, "text": cited.text, "evidence": _branches(cited.evidence)}
        if cited.ref.label is not Label.EPISODE
        else {"kind": "episode", "id": cited.ref.id, "text": cited.text}
        for cited in evidence
    ]


def plot(path: Path, result: Mapping[str, Any]) -> bool:
    """Draw what there is on each day of the month; return whether it was drawn."""
    days = result["days"]

    def draw(axes: Any) -> None:
        at = [day["day"] for day in days]
        lines = {
            "episodes recalled by default": [day["episodes"]["recalled"] for day in days],
            "episodes faded": [day["episodes"]["faded"] for day in days],
            "summaries": [day["summaries"] for day in days],
            "semantic memories": [day["tiers"]["semantic"]["active"] for day in days],
            "procedural memories": [day["tiers"]["procedural"]["active"] for day in days],
            "reflections": [day["reflections"] for day in days],
        }
        for name, values in lines.items():
            axes.plot(at, values, ".-", linewidth=1.5, label=name)
        axes.set_xlabel("day")
        axes.set_ylabel("how many there are")
        axes.set_title(f"Thirty days of {result['set']}\n" + ", ".join(_figures(result)), fontsize=10)
        axes.legend(frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0))

    return drawn(path, draw, size=(12.0, 5.0))


def _figures(result: Mapping[str, Any]) -> list[str]:
    pairs = zip(result["without"], result["with"], strict=True)
    return [f"recall@{one['budget']} {one['recall']:.3f} → {two['recall']:.3f}" for one, two in pairs]


def told(result: Mapping[str, Any]) -> list[str]:
    """Return the result in lines."""
    lines = [f"{result['episodes']} episodes of {result['set']} in 30 days, {result['questions']} questions afterwards"]
    for day in result["days"]:
        done = "; ".join(_came_to(kind, counts) for kind, counts in day["work"].items() if len(counts) > 1)
        lines.append(f"day {day['day']:>2}  {day['recorded']:>4} episodes  {done}")
    last = result["days"][-1]
    tiers = ", ".join(f"{tier} {held['active']} ({held['faded']} faded)" for tier, held in last["tiers"].items())
    lines.append(
        f"memories by tier: {tiers}; episodes: {last['episodes']}; reflections: {result['reflections']['levels']}"
    )
    lines.append(f"strengthened: {', '.join(one['name'] for one in result['strengthened']) or 'nothing'}")
    lines.append("evidence: {recorded} recorded, {lost} lost, {changed} changed".format(**result["evidence"]))
    for one, two, deep in zip(result["without"], result["with"], result["with_deep"], strict=True):
        lines.append(
            f"recall within {one['budget']} tokens: {one['recall']:.4f} without a lifecycle, {two['recall']:.4f} with "
            f"(episodes alone: {one['strict']:.4f}, {two['strict']:.4f}; in its own words: {one['told']:.4f}, "
            f"{two['told']:.4f}; deep {deep['recall']:.4f})"
        )
    return [*lines, *(f"NOT DONE {failed}" for failed in result["failed_work"])]


def _came_to(kind: str, counts: Mapping[str, int]) -> str:
    return f"{kind} x{counts['runs']}: " + ", ".join(
        f"{count} {name}" for name, count in counts.items() if name != "runs"
    )


@click.command()
@click.option("--data", type=click.Path(path_type=Path, exists=True), default=DATA, show_default=True)
@click.option("--conversations", type=int, help="Replay only the first so many scopes of the set.")
@click.option("--latest", type=int, help="Replay only the so many episodes of the set that happened last.")
@click.option("--questions", type=int, help="Ask only the first so many questions.")
@click.option("--budgets", default=",".join(map(str, BUDGETS)), show_default=True, help="Tokens of an answer.")
@click.option("--plot", "picture", type=click.Path(path_type=Path), default=FOLDER / "month.png", show_default=True)
@click.option("--out", type=click.Path(path_type=Path), help="Write the JSON to this file too.")
@click.option("--json", "as_json", is_flag=True, help="JSON alone on stdout; progress goes to stderr.")
def month(
    data: Path,
    conversations: int | None,
    latest: int | None,
    questions: int | None,
    budgets: str,
    picture: Path,
    out: Path | None,
    as_json: bool,
) -> None:
    """Thirty days of episodes lived with and without a lifecycle: what becomes of them, and recall on the last day."""

    def say(text: str) -> None:
        click.echo(text, err=True)

    models = models_folder(rerank=False)
    replay = replay_of(data, conversations, questions, latest)
    with tempfile.TemporaryDirectory() as home, real_embedder(models) as embedder:
        result = measure(replay, models, embedder, [int(part) for part in budgets.split(",")], Path(home), say)
    result = {"machine": described(), **result}
    say(f"drawn: {picture}" if plot(picture, result) else "nothing is drawn: matplotlib is not installed")
    written = json.dumps(result, indent=2, ensure_ascii=False)
    if out is not None:
        out.write_text(written + "\n", "utf-8")
    click.echo(written if as_json else "\n".join(told(result)))
