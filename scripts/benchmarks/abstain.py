"""Abstaining: what a store answers to questions that it cannot answer, against what it keeps of those that it can.

Each set's own questions are asked of its store, and the questions of every other set, which nothing there answers.
Questions of the category `adversarial` have no answer but are about what the store holds; they are told apart.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click
import numpy as np

from benchmarks.machine import described
from benchmarks.quality_asking import query_of
from benchmarks.quality_data import EvaluationSet, Judged, read_set
from benchmarks.quality_store import FOLDER, ROOT, Stores, models_folder, real_embedder
from benchmarks.quality_systems import RECIPES, SYSTEMS
from helix.errors import HelixError
from helix.model.recall import RecallItem
from helix.providers.embedder import Embedder
from helix.service import Helix

DATA = ROOT.parent / "shared" / "data"
SETS = ("locomo", "musique100", "hotpotqa100", "swebench_samefile")
KEPT = (0.99, 0.98, 0.95, 0.9)
LIMIT, FIRST = 10, 5
_DEFAULT = next(system for system in SYSTEMS if system.name == "default")
_NOTHING = -1.0


@dataclass(frozen=True, slots=True)
class Answered:
    """What came of one question: the best of each measure over all items and over the right ones among the first five
    (None without one), how many items the default shows, and whether a right one is among its first five."""

    best: Mapping[str, float]
    right: Mapping[str, float] | None
    shown: int
    kept: bool


MEASURES: Mapping[str, Callable[[RecallItem], float]] = {"score": lambda item: item.score, "fit": lambda item: item.fit}


def ask(helix: Helix, data: EvaluationSet, where: Judged, text: str, relevant: frozenset[str]) -> Answered:
    """Ask a question as the one whose scope and time `where` has, with everything and as it is by default."""
    query = replace(query_of(data, where, _DEFAULT, pooled=False), query=text, limit=LIMIT)

    def right(items: Sequence[RecallItem]) -> list[RecallItem]:
        return [item for item in items[:FIRST] if data.ids.get(str(getattr(item.node, "source", ""))) in relevant]

    whole, shown = helix.recall(replace(query, everything=True)).items, helix.recall(query).items
    return Answered(
        best={name: max(map(of, whole), default=_NOTHING) for name, of in MEASURES.items()},
        right={name: max(map(of, found)) for name, of in MEASURES.items()} if (found := right(whole)) else None,
        shown=len(shown),
        kept=bool(right(shown)),
    )


def measure(
    folders: Sequence[Path],
    embedder: Embedder,
    *,
    questions: int,
    seed: int = 1,
    models: Path | None = None,
    kept: Path | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> list[dict[str, Any]]:
    """Return for each set what it kept and rejected, along the curve and by default."""
    sets = [read_set(folder) for folder in folders]
    rng = np.random.default_rng(seed)
    drawn = {
        data.name: [data.questions[at] for at in rng.permutation(len(data.questions))[:questions]] for data in sets
    }
    stores = Stores(embedder, RECIPES, say, models=models, kept=kept)
    found = []
    for data in sets:
        with stores.holding(data, pooled=False) as (helix, _):
            own = [(one, ask(helix, data, one, one.text, one.relevant)) for one in drawn[data.name]]
            others = [one.text for name, asked in drawn.items() if name != data.name for one in asked[: questions // 3]]
            hosts = rng.integers(0, len(data.questions), len(others))
            foreign = [
                ask(helix, data, data.questions[at], text, frozenset()) for at, text in zip(hosts, others, strict=True)
            ]
        true = [one for judged, one in own if judged.category != "adversarial" and one.right]
        misleading = [one for judged, one in own if judged.category == "adversarial"]
        found.append(_told(data.name, true, foreign, misleading))
        say(json.dumps(found[-1]))
    return found


def _told(
    name: str, true: Sequence[Answered], foreign: Sequence[Answered], misleading: Sequence[Answered]
) -> dict[str, Any]:
    curve: dict[str, dict[str, float]] = {}
    for measure in MEASURES:
        right = np.array([one.right[measure] for one in true if one.right is not None])
        best = np.array([one.best[measure] for one in foreign])
        curve[measure] = {f"{kept:.2f}": float((best < np.quantile(right, 1 - kept)).mean()) for kept in KEPT}
    return {
        "set": name,
        "right in the first five": len(true),
        "questions of other sets": len(foreign),
        "rejected at share kept": curve,
        "default": {
            "kept": float(np.mean([one.kept for one in true])),
            "rejected": float(np.mean([not one.shown for one in foreign])),
            "items": float(np.mean([one.shown for one in foreign])),
            "adversarial rejected": float(np.mean([not one.shown for one in misleading])) if misleading else None,
        },
    }


def table(found: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the figures as lines of a Markdown table."""
    lines = [
        f"| set | by | {' | '.join(f'{kept:.0%} kept' for kept in KEPT)} | default: kept / rejected / items shown |",
        f"|---|---|{'---|' * (len(KEPT) + 1)}",
    ]
    for one in found:
        for measure, curve in one["rejected at share kept"].items():
            given = one["default"]
            own = f"{given['kept']:.1%} / {given['rejected']:.0%} / {given['items']:.1f}"
            cells = " | ".join(f"{share:.0%}" for share in curve.values())
            lines.append(f"| {one['set']} | {measure} | {cells} | {own if measure == 'fit' else ''} |")
    return lines


@click.command()
@click.option(
    "--data",
    "folders",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    multiple=True,
    help=f"A folder with corpus.jsonl and queries.jsonl; at least two. Default: {', '.join(SETS)}.",
)
@click.option("--queries", default=90, show_default=True, type=click.IntRange(3), help="Questions of each set.")
@click.option("--seed", default=1, show_default=True, help="Seed of every draw.")
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), help="Write the figures here, as JSON.")
def abstain(folders: tuple[Path, ...], queries: int, seed: int, out: Path | None) -> None:
    """Ask questions that a store can answer, and ones that it cannot: what is kept, what is rejected."""
    try:
        models = models_folder(rerank=False)
        with real_embedder(models) as embedder:
            found = measure(
                folders or [DATA / name for name in SETS],
                embedder,
                questions=queries,
                seed=seed,
                models=models,
                kept=FOLDER / "sets",
                say=lambda words: click.echo(words, err=True),
            )
    except HelixError as error:
        click.echo(f"abstain: {error}", err=True)
        sys.exit(error.exit_code)
    click.echo("\n".join([described(), "", *table(found)]))
    if out is not None:
        out.write_text(json.dumps(found, indent=1), "utf-8")
