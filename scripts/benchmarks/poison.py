"""Poison: how much of a labelled set of injections is served by recall, and how much harmless text is kept from it."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import click

from benchmarks.quality_data import EvaluationSet, read_set
from benchmarks.quality_store import ROOT, Stores, models_folder, real_embedder
from helix.errors import HelixError
from helix.model.memory import Status
from helix.model.recall import RecallQuery
from helix.operations import capture
from helix.providers.embedder import Embedder
from helix.service import Helix
from helix.text.injection.prompt_injection import suspicion

DATA = ROOT.parent / "shared" / "data" / "injection"
BENIGN = "benign"
_PROBE = "poison_probe"
_PAGE = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """The texts of one source and label: how many there are, and how many of them are quarantined."""

    source: str
    label: str
    texts: int
    quarantined: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of a set. `served` names the probes whose poisoned text recall answered with, deep or not."""

    probes: int
    served: tuple[str, ...]
    served_deep: tuple[str, ...]
    groups: tuple[Group, ...]

    @property
    def benign_share(self) -> float:
        """Share (0..1) of the harmless texts that are quarantined."""
        harmless = [group for group in self.groups if group.label == BENIGN]
        return sum(group.quarantined for group in harmless) / max(1, sum(group.texts for group in harmless))


def measure(folder: Path, embedder: Embedder, *, models: Path | None, limit: int) -> Outcome:
    """Take a set in through the ordinary import and ask its probes, each answered by at most `limit` items."""
    data = read_set(folder)
    with Stores(embedder, {}, lambda _: None, models=models, kept=None).holding(data, pooled=False) as (helix, _):
        probes = [question for question in data.questions if question.category in (_PROBE, "")]

        def served(deep: bool) -> tuple[str, ...]:
            found = []
            for probe in probes:
                answer = helix.recall(RecallQuery(query=probe.text, limit=limit, deep=deep))
                sources = (str(getattr(item.node, "source", "")) for item in answer.items)
                if probe.relevant & {data.ids.get(source, source) for source in sources}:
                    found.append(probe.id)
            return tuple(found)

        return Outcome(
            probes=len(probes),
            served=served(False),
            served_deep=served(True),
            groups=_groups(data, _quarantined(helix, data)),
        )


def _quarantined(helix: Helix, data: EvaluationSet) -> frozenset[str]:
    """Return the ids of the set's texts that are quarantined."""
    found: set[str] = set()
    after: str | None = None
    while True:
        page = capture.episodes(helix, first=_PAGE, after=after)
        held = (episode for episode in page.items if episode.status is Status.QUARANTINED)
        found |= {data.ids.get(episode.source, episode.source) for episode in held}
        after = page.next_cursor
        if after is None:
            return frozenset(found)


def _groups(data: EvaluationSet, quarantined: frozenset[str]) -> tuple[Group, ...]:
    counted: dict[tuple[str, str], list[bool]] = {}
    for line in data.lines:
        record = json.loads(line)
        meta = record.get("meta", {})
        key = (str(meta.get("source", "")), str(meta.get("label", "")))
        counted.setdefault(key, []).append(str(record["id"]) in quarantined)
    return tuple(
        Group(source=source, label=label, texts=len(held), quarantined=sum(held))
        for (source, label), held in sorted(counted.items())
    )


def reasons(folder: Path) -> Mapping[str, Mapping[str, object]]:
    """Return, for each text that is judged wrongly, its label and what was found in it."""
    wrong = {}
    for line in read_set(folder).lines:
        record = json.loads(line)
        label, found = record["meta"]["label"], suspicion(record["text"])
        if found.suspicious is (label == BENIGN):
            wrong[str(record["id"])] = {"label": label, **asdict(found)}
    return wrong


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False), default=DATA)
@click.option("--limit", type=click.IntRange(1), default=10, show_default=True, help="Items of an answer.")
@click.option("--wrong", is_flag=True, help="Print every text that is judged wrongly, and why.")
@click.option("--json", "as_json", is_flag=True, help="Print nothing but JSON.")
def poison(folder: Path, limit: int, wrong: bool, as_json: bool) -> None:
    """Measure what recall serves of a set of injections, and what harmless text is quarantined with them."""
    try:
        models = models_folder(rerank=False)
        with real_embedder(models) as embedder:
            outcome = measure(folder, embedder, models=models, limit=limit)
    except HelixError as error:
        click.echo(f"poison: {error}", err=True)
        sys.exit(error.exit_code)
    if as_json:
        told = {**asdict(outcome), "benign_share": outcome.benign_share}
        click.echo(json.dumps({**told, "wrong": reasons(folder)} if wrong else told, indent=2))
        return
    click.echo("\n".join(_told(outcome)))
    if wrong:
        for name, found in reasons(folder).items():
            click.echo(f"{name}: {json.dumps(found)}")


def _told(outcome: Outcome) -> Sequence[str]:
    lines = [f"{'source':<14}{'label':<22}{'texts':>6}{'quarantined':>13}"]
    lines += [f"{group.source:<14}{group.label:<22}{group.texts:>6}{group.quarantined:>13}" for group in outcome.groups]
    served, deep = len(outcome.served), len(outcome.served_deep)
    return [
        *lines,
        "",
        f"poisoned texts served: {served} of {outcome.probes} probes ({deep} with deep recall)",
        f"harmless texts quarantined: {outcome.benign_share:.1%}",
    ]
