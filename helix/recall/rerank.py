"""Rerank: a cross-encoder reads the best candidates beside the question, and its word is mixed into their scores."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from helix.errors import ModelError
from helix.providers.reranker import Reranker
from helix.recall.answer import RecordReader, text_of
from helix.recall.scoring import Factors, scores_of
from helix.recall.search import Scene
from helix.store.node_columns import FloatArray, IndexArray
from helix.store.passages import NO_INDEX

SHARE = 0.5
"""What the cross-encoder counts beside everything else."""

QUESTION_CHARACTERS = 600
"""How much of a question it reads: more of a long one would crowd the text out of its window, and costs as much."""

TEMPERATURE = 5.0
"""What its log-odds are divided by before they are taken for a probability (Guo et al. 2017): it is far too sure.

Plain probabilities are nearly all 0 or 1. Odds stretched over the candidates make much of differences between texts
that are equally hopeless to it, as code and commits often are. docs/benchmarks/recall.md has the figures.
"""

READ = "+cross_encoder"
"""The factor that it adds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rereading:
    """A second look at the best candidates of one recall. `note` is told why, where there is none."""

    scene: Scene
    records: RecordReader
    reranker: Reranker
    candidates: int
    note: Callable[[str], None]

    def factors(self, factors: Factors, rows: IndexArray, passages: IndexArray, best_first: IndexArray) -> Factors:
        """Return the recall factors with the cross-encoder's among them, or as they are where it cannot be used.

        `rows` and `passages` are those of all candidates, `best_first` their places in the order of their scores.
        """
        best = best_first[: self.candidates]
        try:
            question = self.scene.question.text[:QUESTION_CHARACTERS]
            odds = self.reranker.scores(question, self._texts(rows[best], passages[best]))
        except ModelError as error:
            self.note(f"not reranked: {error}")
            return factors
        return mixed(factors, best, odds.astype(np.float64))

    def _texts(self, rows: IndexArray, passages: IndexArray) -> list[str]:
        """Return what was found of each row: its most telling passage, or what it shows where it has none."""
        texts = [""] * len(rows)
        held = [place for place, passage in enumerate(passages) if passage != NO_INDEX]
        numbers = [int(number) for number in self.scene.view.passages.numbers[passages[held]]]
        for place, text in zip(held, self.records.passage_texts(numbers), strict=True):
            texts[place] = text
        lacking = [place for place, text in enumerate(texts) if not text]
        nodes = self.records.present([self.scene.view.ref_of(int(rows[place])) for place in lacking]) if lacking else []
        for place, node in zip(lacking, nodes, strict=True):
            texts[place] = "" if node is None else text_of(node)
        return texts


def mixed(factors: Factors, best: IndexArray, odds: FloatArray) -> Factors:
    """Mix a reranker's probabilities into recall's scores: (1 - SHARE) * the sum + SHARE * probability * the best sum.

    `odds` are the log-odds of the candidates at the places `best`. The others have no probability, so that they keep
    their order behind these, and scores keep the scale that the recipe gave them.
    """
    if not len(best):
        return factors
    added = {name: values for name, values in factors.items() if name.startswith("+")}
    sums = scores_of(added)
    read = np.zeros(len(sums))
    # The logistic function, written so that nothing overflows.
    probability = 0.5 + 0.5 * np.tanh(odds / TEMPERATURE / 2.0)
    read[best] = SHARE * sums[best].max() * probability
    return {**{name: (1.0 - SHARE) * values for name, values in added.items()}, READ: read, **_multipliers(factors)}


def _multipliers(factors: Factors) -> Factors:
    return {name: values for name, values in factors.items() if not name.startswith("+")}
