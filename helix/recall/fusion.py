"""Fusion: one ranking out of many arms by reciprocal rank, with what each arm gave kept for the explanation."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from helix.model.recall import ArmHit
from helix.recall.arms import RankedList
from helix.store.node_columns import FloatArray, IndexArray

RANK_CONSTANT = 60
"""k of reciprocal rank fusion (Cormack, Clarke and Büttcher 2009): how slowly lower ranks lose."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fused:
    """Rows found by any arm, best first, with their fused scores; `lists` are the arms they came from."""

    rows: IndexArray
    scores: FloatArray
    lists: tuple[RankedList, ...]
    weights: tuple[float, ...]

    def share_of(self, rows: IndexArray, arm: str) -> FloatArray:
        """Return, for each row, its share by its rank in a recall arm: (60 + 1) / (60 + rank), 0 for one not listed."""
        shares = [(ranked, (RANK_CONSTANT + 1) * _by_rank(ranked)) for ranked in self.lists if ranked.arm == arm]
        return _placed(rows, shares)

    def scores_of(self, rows: IndexArray, arm: str) -> FloatArray:
        """Return, for each row, the recall arm's own score, 0 for a row that it doesn't list."""
        return _placed(rows, [(ranked, ranked.scores) for ranked in self.lists if ranked.arm == arm])

    def contributions(self) -> dict[str, FloatArray]:
        """Return by recall arm what it gave to the score of each row, in the order of `rows`; 0 where not listed."""
        given: dict[str, list[tuple[RankedList, FloatArray]]] = {}
        for weight, ranked in self.given():
            given.setdefault(ranked.arm, []).append((ranked, weight * _by_rank(ranked)))
        return {arm: _placed(self.rows, shares) for arm, shares in given.items()}

    def given(self) -> Iterator[tuple[float, RankedList]]:
        """Yield every recall arm's weight and list."""
        return zip(self.weights, self.lists, strict=True)

    def hits(self, rows: Collection[int]) -> dict[int, tuple[ArmHit, ...]]:
        """Return where each recall arm ranked each of the rows; a row's contributions add up to its fused score."""
        found: dict[int, list[ArmHit]] = {row: [] for row in rows}
        for weight, ranked in self.given():
            for place, row in enumerate(ranked.rows.tolist()):
                if row in found:
                    share = weight / (RANK_CONSTANT + place + 1)
                    score = float(ranked.scores[place])
                    found[row].append(ArmHit(arm=ranked.arm, rank=place + 1, score=score, contribution=share))
        return {row: tuple(hits) for row, hits in found.items()}


def _by_rank(ranked: RankedList) -> FloatArray:
    """Return 1 / (60 + rank) of each row of a list, ranks from 1."""
    return 1.0 / (RANK_CONSTANT + 1 + np.arange(len(ranked.rows)))


def _placed(rows: IndexArray, given: Sequence[tuple[RankedList, FloatArray]]) -> FloatArray:
    """Return, for each row, the sum of the values that lists have for it; 0 where none lists it."""
    sorter = np.argsort(rows)
    found = np.zeros(len(rows))
    for ranked, values in given:
        if not len(rows):
            break
        places = sorter[np.minimum(np.searchsorted(rows, ranked.rows, sorter=sorter), len(rows) - 1)]
        held = rows[places] == ranked.rows
        found[places[held]] += values[held]
    return found


def fuse(lists: Sequence[RankedList], weights: Mapping[str, float]) -> Fused:
    """Fuse the ranked lists of recall's arms by the sum of weight / (60 + rank), ranks from 1; the default weight is 1.

    Of equal sums the lower row goes first.
    """
    given = tuple(weights.get(ranked.arm, 1.0) for ranked in lists)
    if not lists:
        return Fused(rows=np.empty(0, np.int64), scores=np.empty(0), lists=(), weights=())
    rows, places = np.unique(np.concatenate([ranked.rows for ranked in lists]), return_inverse=True)
    shares = [weight * _by_rank(ranked) for weight, ranked in zip(given, lists, strict=True)]
    scores = np.zeros(len(rows))
    np.add.at(scores, places, np.concatenate(shares))
    order = np.lexsort((rows, -scores))
    return Fused(rows=rows[order], scores=scores[order], lists=tuple(lists), weights=given)
