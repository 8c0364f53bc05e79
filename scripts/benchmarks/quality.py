"""Retrieval quality: public evaluation sets through the real import and the real recall, system by system."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import numpy as np

from benchmarks.machine import described
from benchmarks.plots import grouped_bars
from benchmarks.quality_asking import ask
from benchmarks.quality_data import RULES, EvaluationSet, Judged, read_set
from benchmarks.quality_report import DEFAULT, TARGETS, Outcome, Resampling, entries, tables
from benchmarks.quality_store import FOLDER, ROOT, Say, Stores, models_folder, real_embedder
from benchmarks.quality_systems import RECIPES, SYSTEMS, System
from helix.errors import HelixError
from helix.providers.embedder import Embedder

DATA = ROOT.parent / "shared" / "data"
STEPS = ("bm25", "vector", "rrf", DEFAULT)
"""What the plot shows."""


def measure(
    folders: Sequence[Path],
    systems: Sequence[System],
    embedder: Embedder,
    *,
    recipes: Mapping[str, Any] = RECIPES,
    queries: int | None = None,
    seed: int = 1,
    pooled: bool = False,
    dated: bool | None = None,
    filed: bool | None = None,
    models: Path | None = None,
    kept: Path | None = None,
    say: Say = lambda _: None,
) -> list[Outcome]:
    """Ask every system every question of the sets; a set with scopes comes once more, pooled, where that is wanted.

    `dated` and `filed` are those of `read_set`. A set that has nothing to ask is passed over, with a word about it.
    """
    stores = Stores(embedder, recipes, say, models=models, kept=kept)
    outcomes = []
    for folder in folders:
        data = read_set(folder, dated=dated, filed=filed)
        data = data if queries is None else _sample(data, queries, seed)
        searches = ["scoped" if data.scoped else "all", *(["pooled"] if pooled and data.scoped else [])]
        for search in searches:
            questions = _questions(data, search)
            if data.lines and questions:
                outcomes.append(_measure(stores, data, questions, systems, say, search=search))
            else:
                lacking = "question with anything relevant" if data.lines else "passage"
                lacking += " is named by its haystacks" if data.lines and data.questions else " is in it"
                say(f"{data.name} {search}: skipped, no {lacking}")
    return outcomes


def _questions(data: EvaluationSet, search: str) -> Sequence[Judged]:
    """Return what is asked in a search: where there are haystacks, only what has one, unless they are pooled."""
    if not data.haystacks or search == "pooled":
        return data.questions
    return [question for question in data.questions if question.id in data.haystacks]


def _measure(
    stores: Stores,
    data: EvaluationSet,
    questions: Sequence[Judged],
    systems: Sequence[System],
    say: Say,
    *,
    search: str,
) -> Outcome:
    pooled = search == "pooled"
    asked = {}
    for name, given in (("as_of", data.dated), ("files", data.filed)):
        say(f"{data.name} {search}: {name} {'given' if given.used else 'not given'} ({given.why})")
    with stores.holding(data, pooled=pooled) as (helix, refused):
        for system in systems:
            asked[system.name] = ask(helix, data, questions, system, pooled=pooled)
            figures = " ".join(f"{value:.3f}" for value in asked[system.name].values.mean(0))
            say(f"{data.name} {search} {system.name}: {figures} ({asked[system.name].milliseconds} ms)")
            for note, count in asked[system.name].notes.items():
                say(f"  {count} of {len(questions)} answers: {note}")
    return Outcome(
        name=data.name,
        search=search,
        dated=data.dated,
        filed=data.filed,
        documents=len(data.lines),
        refused=refused,
        categories=[question.category for question in questions],
        asked=asked,
    )


def _sample(data: EvaluationSet, count: int, seed: int) -> EvaluationSet:
    """Return the set with so many of its questions, drawn without replacement, in their order."""
    drawn = np.random.default_rng(seed).permutation(len(data.questions))[:count]
    questions = [data.questions[place] for place in sorted(drawn)]
    names = {question.id for question in questions}
    haystacks = {name: places for name, places in data.haystacks.items() if name in names}
    return replace(data, questions=questions, haystacks=haystacks)


def _chosen(only: Sequence[str], own: Mapping[str, Any], *, rerank: bool) -> list[System]:
    """Return the systems named, else all but those that rerank, unless they are wanted."""
    systems = [*SYSTEMS, *(System(name=name, recipe=name) for name in own)]
    names = [system.name for system in systems]
    if unknown := set(only) - set(names):
        raise click.BadParameter(f"{', '.join(sorted(unknown))}; there are {', '.join(names)}", param_hint="--only")
    if only:
        return [system for system in systems if system.name in only]
    return [system for system in systems if rerank or not system.rerank]


def _own_recipes(given: Sequence[str]) -> dict[str, Any]:
    try:
        return {name: json.loads(changes) for name, _, changes in (item.partition("=") for item in given)}
    except json.JSONDecodeError as error:
        raise click.BadParameter(f"{error}; it reads NAME={{...}}", param_hint="--recipe") from error


@click.command(epilog=RULES)
@click.option(
    "--data",
    "folders",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    multiple=True,
    help="A folder with corpus.jsonl and queries.jsonl; may be given several times. Default: the nine sets.",
)
@click.option("--only", multiple=True, metavar="NAME", help="Measure only this system; may be given several times.")
@click.option("--recipe", "own", multiple=True, metavar="NAME=JSON", help="Measure a recipe of your own as well.")
@click.option("--rerank", is_flag=True, help="Measure the default with the cross-encoder too.")
@click.option("--pooled", is_flag=True, help="Also search sets with scopes as one.")
@click.option(
    "--as-of/--no-as-of", "dated", default=None, help="Give times as as_of, or do not. Default: the rule below."
)
@click.option("--files/--no-files", "filed", default=None, help="Give files, or do not. Default: the rule below.")
@click.option("--queries", type=click.IntRange(1), help="Draw only so many questions of each set.")
@click.option("--seed", default=1, show_default=True, help="Seed of every draw.")
@click.option("--resamples", type=click.IntRange(1), default=2000, show_default=True, help="Bootstrap resamples.")
@click.option(
    "--keep", is_flag=True, help="Keep the stores, and take them up again while nothing that writes them has changed."
)
@click.option("--json", "as_json", is_flag=True, help="Print nothing but a JSON list.")
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Where the JSON goes; default: build/bench/quality.json for a run of everything.",
)
def quality(
    folders: tuple[Path, ...],
    only: tuple[str, ...],
    own: tuple[str, ...],
    rerank: bool,
    pooled: bool,
    dated: bool | None,
    filed: bool | None,
    queries: int | None,
    seed: int,
    resamples: int,
    keep: bool,
    as_json: bool,
    out: Path | None,
) -> None:
    """Measure recall@5/10/20 and nDCG@10 on sets of passages and judged questions."""
    recipes = _own_recipes(own)
    systems = _chosen(only, recipes, rerank=rerank)
    complete = not (folders or only or own or queries) and dated is None and filed is None
    try:
        models = models_folder(rerank=any(system.rerank for system in systems))
        with real_embedder(models) as embedder:
            outcomes = measure(
                folders or [DATA / name for name in TARGETS],
                systems,
                embedder,
                recipes={**RECIPES, **recipes},
                queries=queries,
                seed=seed,
                pooled=pooled,
                dated=dated,
                filed=filed,
                models=models,
                kept=FOLDER / "sets" if keep else None,
                say=lambda words: click.echo(words, err=True),
            )
    except HelixError as error:
        click.echo(f"quality: {error}", err=True)
        sys.exit(error.exit_code)
    found = entries(outcomes, Resampling(resamples=resamples, seed=seed))
    if as_json:
        click.echo(json.dumps(found, indent=2))
    else:
        click.echo("\n".join([described(), "", *tables(found)]))
    if out is not None or complete:
        _write(out or FOLDER / "quality.json", found)


def _write(path: Path, found: Sequence[Mapping[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(found, indent=2) + "\n", "utf-8")
    click.echo(f"written: {path}", err=True)
    picture = path.with_suffix(".png")
    if not found:
        return
    if _draw(picture, found):
        click.echo(f"drawn: {picture}", err=True)
    else:
        click.echo("no plot was drawn: matplotlib is not installed (scripts/setup bench installs it)", err=True)


def _draw(path: Path, found: Sequence[Mapping[str, Any]]) -> bool:
    """Draw the steps from the arms to the default, each set by the measure it is known by."""
    shown = [entry for entry in found if "headline" in entry and entry["search"] != "pooled"]
    first = [entry for entry in shown if entry["name"] == shown[0]["name"]]
    series = {
        name: [(entry["metrics"][entry["headline"]], *entry["intervals"][entry["headline"]]) for entry in of_name]
        for name in STEPS
        if (of_name := [entry for entry in shown if entry["name"] == name])
    }
    groups = [f"{entry['set']}\n{entry['headline']}" for entry in first]
    return grouped_bars(path, groups, series, title="Recall, by set", unit="mean over the questions, 95 % interval")
