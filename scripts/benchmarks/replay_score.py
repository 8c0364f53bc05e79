"""What a replay comes to: hits before and after, noise, items and characters, by opportunity and by cause."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from benchmarks.replay import Run

NEAR = 3
"""Within so many commands a failure may follow what was shown, and it was no noise."""

Labels = Mapping[tuple[str, int], Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Shown:
    """A line that was shown, and the runs that it comes from."""

    text: str
    runs: frozenset[str]


@dataclass(frozen=True, slots=True)
class Played:
    """What was shown at one moment of an action: at `start`, `prompt`, `before`, `after` or `edit`."""

    run: str
    seq: int
    moment: str
    shown: tuple[Shown, ...]


@dataclass(frozen=True, slots=True)
class Opportunity:
    """The first failure of a cause in a run, which met an earlier run of another task; what would name it."""

    run: str
    seq: int
    cause: str
    fixes: tuple[tuple[str, ...], ...]
    names: tuple[tuple[str, ...], ...]

    def named_by(self, text: str) -> bool:
        """Whether a text names a known fix, or, where none is known, the failure."""
        lowered = text.lower()
        wanted = self.fixes or self.names
        return any(all(word.lower() in lowered for word in words) for words in wanted)


def opportunities(runs: Sequence[Run], labels: Labels) -> list[Opportunity]:
    """Return the opportunities of the runs, once for each run and cause."""
    found, by_name = [], {run.name: run for run in runs}
    met: set[tuple[str, str]] = set()
    for run in runs:
        for event in run.events:
            label = labels.get((run.name, event["seq"]))
            if label is None or (run.name, label["cause"]) in met:
                continue
            met.add((run.name, label["cause"]))
            earlier = [
                one
                for (name, _), one in labels.items()
                if one["cause"] == label["cause"] and allowed(run, by_name[name])
            ]
            if not earlier:
                continue
            fixes = tuple(tuple(one["fix"]["names"]) for one in earlier if one.get("fix"))
            names = tuple(tuple(one["fail_names"]) for one in earlier if one.get("fail_names"))
            found.append(Opportunity(run.name, event["seq"], label["cause"], fixes, names))
    return found


def allowed(run: Run, earlier: Run) -> bool:
    """Whether a run may know of another: that had ended before this one began, and was of another task."""
    return earlier.task != run.task and earlier.ended < run.begun


def figures(runs: Sequence[Run], labels: Labels, played: Iterable[Played]) -> dict[str, Any]:
    """Return hits and noise of one system. Lines that come from a run which may not be known of yet are left out."""
    by_name = {run.name: run for run in runs}
    open_ones = {(one.run, one.cause): one for one in opportunities(runs, labels)}
    commands = {run.name: [e["seq"] for e in run.events if e["kind"] == "command"] for run in runs}
    before: set[tuple[str, str]] = set()
    after: set[tuple[str, str]] = set()
    items = characters = noise = at_actions = 0
    for one in played:
        run = by_name[one.run]
        shown = [
            line for line in one.shown if all(allowed(run, by_name[name]) for name in line.runs if name in by_name)
        ]
        items += len(shown)
        characters += sum(len(line.text) for line in shown)
        text = "\n".join(line.text for line in shown)
        near = set(_near(commands[one.run], one.seq))
        useful = {line.text: False for line in shown}
        for key, chance in open_ones.items():
            if key[0] != one.run or not text:
                continue
            if one.moment == "after":
                if one.seq == chance.seq and chance.named_by(text):
                    after.add(key)
            elif one.seq <= chance.seq and chance.named_by(text):
                before.add(key)
        if one.moment in ("before", "edit", "after"):
            failing = [labels[one.run, seq] for seq in near if (one.run, seq) in labels]
            for line in shown:
                useful[line.text] = any(_names(line.text, label) for label in failing)
            at_actions += len(shown)
            noise += sum(not good for good in useful.values())
    total, causes = len(open_ones), {key[1] for key in open_ones}
    count = max(1, sum(map(len, commands.values())))
    return {
        "opportunities": total,
        "hits_before": len(before),
        "hits_after": len(after - before),
        "hits": len(before | after),
        "causes": len(causes),
        "causes_before": len({cause for _, cause in before}),
        "causes_hit": len({cause for _, cause in before | after}),
        "items_per_100": round(100 * items / count, 1),
        "chars_per_100": round(100 * characters / count),
        "noise_per_100": round(100 * noise / count, 2),
        "precision_at_actions": round(1 - noise / at_actions, 3) if at_actions else None,
    }


def _near(commands: Sequence[int], seq: int) -> Sequence[int]:
    later = [one for one in commands if one >= seq]
    return later[: NEAR + 1]


def _names(text: str, label: Mapping[str, Any]) -> bool:
    """Whether a line tells of the failure that follows: names its fix or the failure itself."""
    lowered = text.lower()
    wanted = [label["fix"]["names"]] if label.get("fix") else []
    wanted += [label["fail_names"]] if label.get("fail_names") else []
    return any(all(word.lower() in lowered for word in words) for words in wanted)
