"""Pairs: from which cosines on two texts are the same thing, speak of one thing, contradict each other."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import numpy as np
import numpy.typing as npt

from benchmarks.quality_store import FOLDER
from benchmarks.vectors import KeptVectors
from helix.memory.contradiction.classify import agrees
from helix.memory.contradiction.detect import Ground, Statement, contradiction
from helix.providers.choose import embedder_for
from helix.providers.embedder import Embedder
from helix.settings import load

THRESHOLDS = np.arange(0.50, 0.995, 0.01).round(2)
SHOWN = (0.70, 0.75, 0.80, 0.85, 0.88, 0.90, 0.92, 0.93, 0.94, 0.95, 0.97)
_PRECISELY, _EVENLY = 0.5, 1.0
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairs:
    """A set of pairs: their cosines, scores (NaN: none) and labels, and what their words alone say. Shape (n,) each.

    `sure`: the words contradict each other so plainly that a rule may end one of the two.
    """

    name: str
    cosine: npt.NDArray[np.float32]
    score: npt.NDArray[np.float64]
    label: npt.NDArray[np.str_]
    agreeing: Mask
    grounds: tuple[Ground | None, ...]
    sure: Mask

    @property
    def same(self) -> Mask:
        """Pairs that say the same: entailed and scored 4.5 of 5 where there are labels, else scored 4 of 5."""
        labelled = self.label != ""
        return np.where(labelled, (self.label == "entailment") & (self.score >= 4.5), self.score >= 4.0)

    @property
    def refined(self) -> Mask:
        """Pairs that speak of one thing and may differ in what they say of it: scored 4 (labelled) or 3 of 5."""
        return self.score >= np.where(self.label != "", 4.0, 3.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """Precision, recall and F-measure of saying yes from a threshold on."""

    threshold: float
    precision: float
    recall: float
    f: float

    def __str__(self) -> str:
        return f"{self.threshold:.2f}: precision {self.precision:.2f}, recall {self.recall:.2f}, F {self.f:.2f}"


def figures(said: Mask, true: Mask, threshold: float, beta: float) -> Figures:
    """Return the figures of what was said against what is true; F weighs recall `beta` times as much as precision."""
    hits = int((said & true).sum())
    precision = hits / max(1, int(said.sum()))
    recall = hits / max(1, int(true.sum()))
    weight = beta * beta
    f = (1 + weight) * precision * recall / max(1e-12, weight * precision + recall)
    return Figures(threshold=threshold, precision=precision, recall=recall, f=f)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is asked of a pair: its name, how it is decided from a threshold on, what is true, and how F weighs."""

    name: str
    said: Callable[[Pairs, float], Mask]
    true: Callable[[Pairs], Mask]
    beta: float

    def at(self, pairs: Pairs, threshold: float) -> Figures:
        """Return the figures at one threshold."""
        return figures(self.said(pairs, threshold), self.true(pairs), threshold, self.beta)

    def chosen(self, pairs: Pairs) -> Figures:
        """Return the figures at the threshold with the best F; the lowest of equals."""
        return max((self.at(pairs, float(threshold)) for threshold in THRESHOLDS), key=lambda found: found.f)


SAME = Question(
    name="the same thing",
    said=lambda pairs, threshold: (pairs.cosine >= threshold) & pairs.agreeing,
    true=lambda pairs: pairs.same,
    beta=_PRECISELY,
)
REFINED = Question(
    name="one subject, perhaps a refinement",
    said=lambda pairs, threshold: pairs.cosine >= threshold,
    true=lambda pairs: pairs.refined,
    beta=_EVENLY,
)
CONTRADICTS = Question(
    name="a contradiction",
    said=lambda pairs, threshold: (pairs.cosine >= threshold) & np.array([g is not None for g in pairs.grounds]),
    true=lambda pairs: pairs.label == "contradiction",
    beta=_PRECISELY,
)


def read(folder: Path, embedder: Embedder) -> Pairs:
    """Read `pairs.jsonl` of a folder ({a, b, score 0..5 or null, label or null}) and embed its texts."""
    rows: list[dict[str, Any]] = [json.loads(line) for line in (folder / "pairs.jsonl").read_text("utf-8").splitlines()]
    left, right = (embedder.embed([str(row[side]) for row in rows]) for side in "ab")
    statements = [(Statement(trigger=row["a"]), Statement(trigger=row["b"])) for row in rows]
    found = [contradiction(*pair) for pair in statements]
    return Pairs(
        name=folder.name,
        cosine=np.einsum("ij,ij->i", left, right),
        score=np.array([np.nan if row["score"] is None else row["score"] for row in rows], np.float64),
        label=np.array([row["label"] or "" for row in rows]),
        agreeing=np.array([agrees(one.text, other.text) for one, other in statements]),
        grounds=tuple(None if one is None else one.ground for one in found),
        sure=np.array([one is not None and one.sure for one in found]),
    )


def halves(pairs: Pairs) -> tuple[Pairs, Pairs]:
    """Return every other pair, and the rest: two sets where there is but one with labels."""
    one, other = (
        Pairs(
            name=f"{pairs.name}, {'odd' if start else 'even'} pairs",
            cosine=pairs.cosine[start::2],
            score=pairs.score[start::2],
            label=pairs.label[start::2],
            agreeing=pairs.agreeing[start::2],
            grounds=pairs.grounds[start::2],
            sure=pairs.sure[start::2],
        )
        for start in (0, 1)
    )
    return one, other


def crossed(question: Question, one: Pairs, other: Pairs) -> tuple[float, list[str]]:
    """Choose on each set and check on the other; return the mean of both choices and lines that tell of it."""
    lines, choices = [], []
    for here, there in ((one, other), (other, one)):
        best = question.chosen(here)
        choices.append(best.threshold)
        lines.append(f"  chosen on {here.name}: {best}; on {there.name}: {question.at(there, best.threshold)}")
    mean = round(sum(choices) / 2, 2)
    lines += [f"  taken {mean:.2f}, on {pairs.name}: {question.at(pairs, mean)}" for pairs in (one, other)]
    return mean, lines


def told(sets: Sequence[Pairs]) -> list[str]:
    """Return the report: tables by threshold, what is chosen where, and what words alone find."""
    lines = []
    scored = [pairs for pairs in sets if not np.isnan(pairs.score).any()]
    for question in (SAME, REFINED) if scored else ():
        lines.append(f"{question.name} (F{question.beta:g})")
        for pairs in scored:
            lines.append(f" {pairs.name}: {int(question.true(pairs).sum())} of {len(pairs.cosine)} pairs")
            lines += [f"  {question.at(pairs, threshold)}" for threshold in SHOWN]
        if len(scored) == 2:
            lines += crossed(question, scored[0], scored[1])[1]
    for pairs in sets:
        if (pairs.label == "contradiction").any():
            lines += [f"{CONTRADICTS.name} (F{CONTRADICTS.beta:g}), by words: {pairs.name}", *_by_words(pairs)]
            lines += crossed(CONTRADICTS, *halves(pairs))[1]
    return lines


def _by_words(pairs: Pairs) -> list[str]:
    lines = [f"  {CONTRADICTS.at(pairs, threshold)}" for threshold in (0.0, 0.5, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85)]
    for ground in Ground:
        held = np.array([found is ground for found in pairs.grounds])
        counted = ", ".join(f"{label} {int((held & (pairs.label == label)).sum())}" for label in sorted({*pairs.label}))
        if held.any():
            lines.append(f"  {ground.value}: {counted}")
    wrong = int((pairs.sure & (pairs.label != "contradiction")).sum())
    lines.append(f"  ended by rule where the times differ: {int(pairs.sure.sum())}, wrongly {wrong}")
    return lines


@click.command()
@click.argument("folders", nargs=-1, type=click.Path(exists=True, file_okay=False, path_type=Path), required=True)
@click.option("--home", type=click.Path(path_type=Path), help="The home whose models are used.")
@click.option("--model", "name", help="The embedding model, if not the one that is set.")
def pairs(folders: tuple[Path, ...], home: Path | None, name: str | None) -> None:
    """Precision and recall of sameness, refinement and contradiction over folders of labelled pairs."""
    choice = embedder_for(load({"home": home, "embedding_model": name}))
    if choice.embedder is None:
        raise click.ClickException(choice.reason)
    click.echo(choice.reason)
    kept = KeptVectors(choice.embedder, FOLDER / "vectors.db")
    try:
        click.echo("\n".join(told([read(folder, kept) for folder in folders])))
    finally:
        kept.close()
