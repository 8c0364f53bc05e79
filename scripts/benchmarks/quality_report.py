"""Reports: what was measured, as JSON entries and as tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from benchmarks.fingerprint import fingerprint
from benchmarks.quality_asking import Asked
from benchmarks.quality_data import Given
from benchmarks.quality_metrics import MEASURES, Estimate, Values, estimates, macro
from benchmarks.quality_systems import AGAINST, BASELINES
from helix.recall.recipes import RECIPES

DEFAULT = "default"
MACRO = "macro"
HEADLINE = "headline"
_OTHERWISE = "recall@10"
TARGETS: Mapping[str, tuple[str, float]] = {
    "locomo": ("recall@10", 0.70),
    "longmemeval_s_lite": ("recall@5", 0.96),
    "longmemeval": ("recall@10", 0.70),
    "musique100": ("recall@5", 0.66),
    "hotpotqa100": ("recall@5", 0.92),
    "scifact": ("ndcg@10", 0.74),
    "cosqa": ("recall@10", 0.60),
    "curl_history": ("recall@10", 0.70),
    "swebench_samefile": ("recall@10", 0.62),
}
"""The measure a set is known by and the figure to reach, for display; a set that is not here shows recall@10."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What every system made of one set. `search` is `scoped`, `pooled`, or `all` where a set has no parts.

    `refused` counts the lines that the import did not take, `categories` holds the category of each question, in the
    order of the rows of `asked`.
    """

    name: str
    search: str
    dated: Given
    filed: Given
    documents: int
    refused: int
    categories: Sequence[str]
    asked: Mapping[str, Asked]

    @property
    def headline(self) -> str:
        """The measure the set is known by."""
        return TARGETS.get(self.name, (_OTHERWISE, 0.0))[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Resampling:
    """How many bootstrap resamples are drawn, and from which seed."""

    resamples: int = 2000
    seed: int = 1


def entries(outcomes: Sequence[Outcome], drawn: Resampling) -> list[dict[str, Any]]:
    """Return one entry for each system and set; with several sets also for their mean (`"set": "macro"`)."""
    found = [_entry(outcome, asked, drawn) for outcome in outcomes for asked in outcome.asked.values()]
    return [*found, *_macro_entries([outcome for outcome in outcomes if outcome.search != "pooled"], drawn)]


def tables(found: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the lines of the tables of `entries`, set after set."""
    for key in dict.fromkeys((entry["set"], entry.get("search", "")) for entry in found):
        yield from _table([entry for entry in found if (entry["set"], entry.get("search", "")) == key])
        yield ""
    if any(entry["name"] in ("bm25", "vector", "rrf") for entry in found):
        yield BASELINES


def _entry(outcome: Outcome, asked: Asked, drawn: Resampling) -> dict[str, Any]:
    entry = {
        "name": asked.system,
        "metrics": {},
        "set": outcome.name,
        "search": outcome.search,
        "as_of": outcome.dated.used,
        "as_of_because": outcome.dated.why,
        "files": outcome.filed.used,
        "files_because": outcome.filed.why,
        "documents": outcome.documents,
        "refused": outcome.refused,
        "queries": len(asked.values),
        "headline": outcome.headline,
        **_measured(estimates(asked.values, resamples=drawn.resamples, seed=drawn.seed)),
        "latency_ms": asked.milliseconds,
    }
    if asked.system != DEFAULT:
        return entry
    against = {
        other: _differences(estimates(asked.values - rest.values, resamples=drawn.resamples, seed=drawn.seed))
        for other, rest in outcome.asked.items()
        if other in AGAINST
    }
    categories = _by_category(outcome.categories, asked.values)
    return {**entry, "recipe_hash": fingerprint(RECIPES[DEFAULT]), "categories": categories, "against": against}


def _macro_entries(outcomes: Sequence[Outcome], drawn: Resampling) -> Iterator[dict[str, Any]]:
    if len(outcomes) < 2:
        return
    for name in outcomes[0].asked:
        if not all(name in outcome.asked for outcome in outcomes):
            continue
        columns = [_with_headline(outcome, outcome.asked[name].values) for outcome in outcomes]
        *means, headline = macro(columns, resamples=drawn.resamples, seed=drawn.seed)
        entry = {"name": name, "metrics": {}, "set": MACRO, "sets": len(outcomes), **_measured(means)}
        entry["metrics"][HEADLINE] = round(headline.value, 4)
        entry["intervals"][HEADLINE] = [round(headline.lower, 4), round(headline.upper, 4)]
        if name == DEFAULT:
            entry["recipe_hash"] = fingerprint(RECIPES[DEFAULT])
            entry["against"] = {
                other: _differences(_macro_difference(outcomes, other, drawn))
                for other in AGAINST
                if all(other in outcome.asked for outcome in outcomes)
            }
        yield entry


def _macro_difference(outcomes: Sequence[Outcome], other: str, drawn: Resampling) -> list[Estimate]:
    differences = [
        _with_headline(outcome, outcome.asked[DEFAULT].values - outcome.asked[other].values) for outcome in outcomes
    ]
    return macro(differences, resamples=drawn.resamples, seed=drawn.seed)


def _with_headline(outcome: Outcome, values: Values) -> Values:
    """Return the values with the column of the set's own measure once more, at the end."""
    return np.column_stack((values, values[:, MEASURES.index(outcome.headline)]))


def _measured(found: Sequence[Estimate]) -> dict[str, Any]:
    pairs = list(zip(MEASURES, found, strict=True))
    return {
        "metrics": {measure: round(one.value, 4) for measure, one in pairs},
        "intervals": {measure: [round(one.lower, 4), round(one.upper, 4)] for measure, one in pairs},
    }


def _differences(found: Sequence[Estimate]) -> dict[str, dict[str, float]]:
    names = (*MEASURES, HEADLINE)[: len(found)]
    return {
        name: {bound: round(value, 4) for bound, value in asdict(one).items()}
        for name, one in zip(names, found, strict=True)
    }


def _by_category(categories: Sequence[str], values: Values) -> dict[str, dict[str, float]]:
    names = np.array(categories)
    return {
        str(name): {
            "n": int(np.count_nonzero(names == name)),
            _OTHERWISE: round(float(values[names == name, MEASURES.index(_OTHERWISE)].mean()), 4),
        }
        for name in sorted(set(categories))
    }


def _table(found: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    first = found[0]
    headline = first.get("headline", HEADLINE)
    yield _title(first)
    measures = [*MEASURES, *([HEADLINE] if first["set"] == MACRO else [])]
    yield f"  {'':18}" + "".join(f"{measure:>22}" for measure in measures)
    for entry in found:
        cells = (_cell(entry["metrics"][measure], entry["intervals"][measure]) for measure in measures)
        yield f"  {entry['name']:18}" + "".join(f"{cell:>22}" for cell in cells)
    for entry in found:
        for other, differences in entry.get("against", {}).items():
            one = differences[headline]
            bounds = f"[{one['lower']:+.3f}, {one['upper']:+.3f}]"
            yield f"  {entry['name']} - {other}, {headline}: {one['value']:+.3f} {bounds}"
        for category, row in entry.get("categories", {}).items():
            yield f"  {entry['name']}, {category or 'no category'}: recall@10 {row['recall@10']:.3f}, n {row['n']}"


def _title(entry: Mapping[str, Any]) -> str:
    if entry["set"] == MACRO:
        return f"macro-average over {entry['sets']} sets ({HEADLINE}: each set by its own measure)"
    asked = f"{entry['documents']} passages, {entry['refused']} refused, {entry['queries']} questions"
    words = [entry["search"], asked, *(word for word in ("as_of", "files") if entry[word])]
    if entry["set"] in TARGETS and entry["search"] != "pooled":
        measure, target = TARGETS[entry["set"]]
        words.append(f"to reach: {measure} {target:.2f}")
    return f"{entry['set']} ({'; '.join(words)})"


def _cell(value: float, interval: Sequence[float]) -> str:
    return f"{value:.3f} [{interval[0]:.3f}, {interval[1]:.3f}]"
