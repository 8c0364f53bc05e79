"""What Helix is measured against: nothing, a static brief, exact command, BM25 and vectors at the action.

Each knows the same lessons, made by Helix's own fold of a run's actions: a command that failed, its error, and what was
done before it passed.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.replay_score import Played, Shown, allowed
from helix.command_outcome.command_run import CommandRun
from helix.command_outcome.fixes import FixTracker
from helix.model.action import Action
from helix.providers.embedder import Embedder

if TYPE_CHECKING:
    from benchmarks.replay import Run

BRIEFS = (1, 3, 5, 10)
BM25_BARS = (2.0, 4.0, 6.0, 9.0, 13.0)
VECTOR_BARS = (0.70, 0.75, 0.80, 0.85, 0.90)
_WORD = re.compile(r"[a-z0-9_]+")
_K1, _B = 1.2, 0.75


@dataclass(frozen=True, slots=True)
class Lesson:
    """What one run teaches: the command that failed, and the line that tells of it."""

    run: str
    command: str
    error: str
    text: str


class Lessons:
    """The lessons of all runs, with their words and vectors."""

    def __init__(self, runs: Sequence[Run], embedder: Embedder) -> None:
        self.all = [lesson for run in runs for lesson in lessons_of(run)]
        self.embedder = embedder
        texts = [lesson.text for lesson in self.all]
        self.vectors = embedder.embed(texts) if texts else np.zeros((0, 1), np.float32)
        self.words = [Counter(_WORD.findall(text.lower())) for text in texts]
        self.rare = Counter(word for words in self.words for word in words)
        self.length = sum(sum(words.values()) for words in self.words) / max(1, len(self.words))

    def open_to(self, run: Run, runs: Mapping[str, Run]) -> list[int]:
        """Return the places of the lessons that a run may know of."""
        return [at for at, lesson in enumerate(self.all) if allowed(run, runs[lesson.run])]

    def bm25(self, question: str, at: int) -> float:
        """Return how well a lesson fits by words."""
        words, score = self.words[at], 0.0
        long = _K1 * (1 - _B + _B * sum(words.values()) / self.length)
        for word in set(_WORD.findall(question.lower())) & set(words):
            rare = math.log(1 + (len(self.all) - self.rare[word] + 0.5) / (self.rare[word] + 0.5))
            score += rare * words[word] * (_K1 + 1) / (words[word] + long)
        return score


def lessons_of(run: Run) -> list[Lesson]:
    """Return what the failures of a run teach, each once; a fix where one is known."""
    tracker, found = FixTracker(), {}
    for event in run.events:
        if event["kind"] not in ("command", "edit"):
            continue
        told: dict[str, Any] = {
            "id": str(event["seq"]),
            "folder": event["cwd"] or "",
            "output": event["output"] or "",
            "at": datetime.fromtimestamp(event["ts"], UTC),
        }
        action = (
            Action(**told, files=tuple(event["files"][:5]))
            if event["kind"] == "edit"
            else CommandRun(**told, command=event["command"] or "", exit_status=event["exit_code"])
        )
        if fix := tracker.take(action):
            found[fix.trigger] = Lesson(run.name, fix.command, fix.error, f"{fix.trigger} -> {fix.resolution}")
    for one in tracker.unsolved:
        found.setdefault(one.trigger, Lesson(run.name, one.command, one.error, one.trigger))
    return list(found.values())


def baselines(runs: Sequence[Run], lessons: Lessons) -> dict[str, list[Played]]:
    """Return what each baseline shows, by its name; those with a bar at each of their bars."""
    by_name = {run.name: run for run in runs}
    found: dict[str, list[Played]] = defaultdict(list)
    found["nothing"] = []
    for run in runs:
        known = lessons.open_to(run, by_name)
        for most in BRIEFS:
            found[f"brief of {most}"].append(_played(run, -1, "start", lessons, _frequent(lessons, known)[:most]))
        for event in run.events:
            if event["kind"] != "command" or not (event["command"] or "").strip():
                continue
            line = CommandRun(command=event["command"], folder=event["cwd"] or "").normal
            for name, places in _at(lessons, known, line).items():
                found[name].append(_played(run, event["seq"], "before", lessons, places))
    return found


def _frequent(lessons: Lessons, known: Sequence[int]) -> list[int]:
    times = Counter((lessons.all[at].command, lessons.all[at].error) for at in known)
    newest = {(lessons.all[at].command, lessons.all[at].error): at for at in known}
    return [newest[key] for key, _ in times.most_common()]


def _at(lessons: Lessons, known: Sequence[int], command: str) -> dict[str, list[int]]:
    """Return the places of the lessons shown at a command, for each baseline: at most one."""
    exact = [at for at in known if lessons.all[at].command == command][-1:]
    found = {"exact command": exact}
    words = max(((lessons.bm25(command, at), at) for at in known), default=(0.0, 0))
    found |= {f"bm25 >= {bar}": [words[1]] if known and words[0] >= bar else [] for bar in BM25_BARS}
    near = (0.0, 0)
    if known:
        likeness = lessons.vectors[known] @ lessons.embedder.embed([lessons.embedder.query_prefix + command])[0]
        near = (float(likeness.max()), known[int(likeness.argmax())])
    return found | {f"vectors >= {bar}": [near[1]] if known and near[0] >= bar else [] for bar in VECTOR_BARS}


def _played(run: Run, seq: int, moment: str, lessons: Lessons, places: Sequence[int]) -> Played:
    shown = tuple(Shown(lessons.all[at].text, frozenset((lessons.all[at].run,))) for at in places)
    return Played(run.name, seq, moment, shown)
