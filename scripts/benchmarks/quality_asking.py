"""Asking: every question of a set through the real recall, its answer as ids of passages, and what that is worth."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from benchmarks.quality_data import EvaluationSet, Judged
from benchmarks.quality_metrics import Values, of_ranking
from benchmarks.quality_store import haystack_scope
from benchmarks.quality_systems import System
from helix.model.recall import RecallQuery
from helix.service import Helix

LIMIT = 20
THREADS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What one system made of a set: a row of MEASURES for each question, and the median wall time of a recall.

    `notes` are what answers said about themselves, by how many of them.
    """

    system: str
    values: Values
    milliseconds: float
    notes: Mapping[str, int]


def ask(helix: Helix, data: EvaluationSet, questions: Sequence[Judged], system: System, *, pooled: bool) -> Asked:
    """Ask a system the questions, two at a time."""

    def one(question: Judged) -> tuple[list[float], float, Sequence[str]]:
        query = query_of(data, question, system, pooled=pooled)
        started = time.perf_counter()
        answer = helix.recall(query)
        took = time.perf_counter() - started
        sources = (
            str(getattr(item.node, "source", "")) for item in answer.items if item.score > 0 or not system.above_zero
        )
        ranked = list(dict.fromkeys(data.ids.get(source, source) for source in sources))
        return of_ranking(ranked, question.relevant), took, answer.notes

    with ThreadPoolExecutor(THREADS) as pool:
        measured = list(pool.map(one, questions))
    return Asked(
        system=system.name,
        values=np.array([values for values, _, _ in measured]),
        milliseconds=round(1000 * float(np.median([took for _, took, _ in measured])), 1),
        notes=Counter(note for _, _, notes in measured for note in notes),
    )


def query_of(data: EvaluationSet, question: Judged, system: System, *, pooled: bool) -> RecallQuery:
    """Return what is asked: in the question's scope, with its files, at its time (and as of it), however old."""
    scope = None if pooled else question.scope
    if not pooled and question.id in data.haystacks:
        scope = haystack_scope(data, question.id)
    return RecallQuery(
        query=question.text,
        scope=scope,
        limit=LIMIT,
        expand=system.expand,
        files=question.files if data.filed.used else (),
        as_of=question.ts if data.dated.used else None,
        asked_at=question.ts,
        recipe=system.recipe,
        rerank=system.rerank,
        deep=True,
    )
