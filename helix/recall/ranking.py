"""Ranking: scores the candidates by a recipe and puts them in the order in which they are offered to the answer.

Maximal marginal relevance keeps one thing said ten times from filling the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from helix.model.edge import Label, Relation
from helix.model.memory import SUMMARY_SOURCE, Kind
from helix.recall.pack import memories_first
from helix.recall.recipes import Recipe
from helix.recall.scoring import Factors, Signals, scores_of, signals_of, with_intent
from helix.recall.search import Scene, SearchResult
from helix.recall.stopwatch import Stopwatch
from helix.recall.walk import turns_beside
from helix.store.catalogue import CatalogueView
from helix.store.matrix import VectorArray
from helix.store.node_columns import KIND_CODE, LABEL_CODE, BoolArray, FloatArray, IndexArray
from helix.store.passages import NO_INDEX

POOL_SHARE = 4
MIN_POOL = 40
"""How many of the best are diversified: so many times the limit, at least so many."""

PLACED_WITHIN = 5
PLACES = {"named": 3, "yours": 1}
"""What alone holds a name that was asked for, and what the user said and holds every word of the question, or is about
a file that was asked for, is among so many first, and takes so many of those places at most; where a question is
nothing but names, it comes first. However often others repeat a question, they cannot crowd out the user's own
answer."""

POINTING_ARMS = ("time", "solves")
"""Arms that know where to look rather than how well it fits: their ranks are all there is."""

Reread = Callable[[Factors, IndexArray, IndexArray, IndexArray], Factors]
"""A second look: from the factors of all candidates, their rows, passages and places best first, to new factors."""

_EQUAL = 1e-6
"""What rounding may put between the similarities of one text to one question."""

_SYSTEMIC = KIND_CODE[Kind.SYSTEMIC]
_MEMORY = LABEL_CODE[Label.MEMORY]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """The candidates of one recall; the arrays run parallel, `order` lists their places, first offered first.

    `passages` holds each candidate's most telling passage (NO_INDEX without one), `grounds` the places of the episodes
    that a memory, by its place, is grounded in.
    """

    rows: IndexArray
    scores: FloatArray
    factors: Factors
    signals: Signals
    passages: IndexArray
    order: tuple[int, ...]
    grounds: dict[int, list[int]]


def rank(scene: Scene, found: SearchResult, recipe: Recipe, watch: Stopwatch, reread: Reread | None = None) -> Ranking:
    """Score every recall candidate and order them by score, diversified, memories before the episodes that ground them.

    A summary speaks for episodes that are not on offer: it is passed over where those that are fit the question as
    well, and goes ahead of none. Of equal scores a systemic memory goes first, then what was fused higher. `reread` may
    change the scores.
    """
    rows, view = found.fused.rows, scene.view
    with watch("score"):
        columns = view.columns.at(rows)
        lengths, first_passages = _passages_of(view, rows)
        signals = signals_of(
            columns,
            relevance=found.relevance,
            length=lengths,
            beside=turns_beside(scene.graph, rows),
            shares={arm: found.fused.share_of(rows, arm) for arm in POINTING_ARMS},
            files=found.fused.scores_of(rows, "files"),
            arms=found.fused.contributions(),
            proximity=found.near[rows],
            now=scene.now,
            intent=scene.query.intent,
        )
        factors = with_intent(recipe.factors(signals), signals)
        passages = np.where(found.relevance.passages == NO_INDEX, first_passages, found.relevance.passages)
        plain = (columns.label != _MEMORY) | (columns.kind != _SYSTEMIC)
        scores, best_first = _best_first(factors, plain)
    if reread is not None:
        with watch("rerank"):
            factors = reread(factors, rows, passages, best_first)
            scores, best_first = _best_first(factors, plain)
    with watch("diversify"):
        pool = best_first[: max(MIN_POOL, POOL_SHARE * scene.query.limit)]
        grounds = _grounds(scene, rows, pool)
        summaries = [place for place in grounds if view.lookups.origins[rows[place]].startswith(SUMMARY_SOURCE)]
        # Before diversifying: what gives way must not count as said, or the episodes that it gives way to would lose.
        passed = [place for place in summaries if _outdone(place, grounds[place], signals)]
        pool, rest = (part[~np.isin(part, passed)] for part in (pool, best_first[len(pool) :]))
        vectors, known = view.passages.vectors_of(passages[pool])
        order = np.concatenate((pool[diversified(scores[pool], vectors, known, recipe.diversity)], rest))
        grounds = {place: episodes for place, episodes in grounds.items() if place not in summaries}
    within = 0 if scene.question.is_a_name else min(PLACED_WITHIN, scene.query.limit)
    return Ranking(
        rows=rows,
        scores=scores,
        factors=factors,
        signals=signals,
        passages=passages,
        order=tuple(_placed_first(memories_first([int(place) for place in order], grounds), rows, found, within)),
        grounds=grounds,
    )


def _placed_first(order: list[int], rows: IndexArray, found: SearchResult, within: int) -> list[int]:
    """Return the order with the first rows of the arms in PLACES among so many first, behind what stays in front."""
    listed = [row for ranked in found.fused.lists for row in ranked.rows[: PLACES.get(ranked.arm, 0)].tolist()]
    placed = set(np.flatnonzero(np.isin(rows, listed)).tolist())
    late = [place for place in order[within:] if place in placed]
    free = [place for place in order[:within] if place not in placed]
    leaving = free[max(0, len(free) - len(late)) :] if late else []
    front = [place for place in order[:within] if place not in leaving]
    return [*front, *late, *leaving, *(place for place in order[within:] if place not in late)]


def _best_first(factors: Factors, plain: BoolArray) -> tuple[FloatArray, IndexArray]:
    """Return the scores, and the places by score; of equal ones what is not `plain` goes first, then the lower."""
    scores = scores_of(factors)
    return scores, np.lexsort((np.arange(len(scores)), plain, -scores))


def _passages_of(view: CatalogueView, rows: IndexArray) -> tuple[FloatArray, IndexArray]:
    """Return how many tokens the living passages of each row have, and the first of them (NO_INDEX without one)."""
    passages = view.passages.of_rows(rows, view.count)
    sorter = np.argsort(rows)
    places = sorter[np.searchsorted(rows, view.passages.owner[passages], sorter=sorter)]
    lengths = np.bincount(places, weights=view.words.lengths[passages], minlength=len(rows)).astype(np.float64)
    first = np.full(len(rows), NO_INDEX, np.int64)
    first[places[::-1]] = passages[::-1]  # of several for one place the last one written stays
    return lengths, first


def _outdone(summary: int, episodes: Sequence[int], signals: Signals) -> bool:
    """Return whether the episodes on offer are as near to the question as the summary, which is found by all it has."""
    return all(signal[list(episodes)].max() >= signal[summary] - _EQUAL for signal in (signals.cosine, signals.lexical))


def _grounds(scene: Scene, rows: IndexArray, pool: IndexArray) -> dict[int, list[int]]:
    place_of = {int(rows[place]): int(place) for place in pool}
    found = scene.graph.neighbours(rows[pool], Relation.GROUNDED_IN)
    grounds: dict[int, list[int]] = {}
    for origin, row, outgoing in zip(found.origin, found.rows, found.outgoing, strict=True):
        if outgoing and int(row) in place_of:
            grounds.setdefault(int(pool[origin]), []).append(place_of[int(row)])
    return grounds


REDUNDANT_FROM = 0.9
"""Cosine at which two texts begin to say the same thing; it belongs to the embedding space.

Plain cosine as redundancy pushed relevant answers about one subject apart (up to 4 points of recall@5 lost on multi-hop
questions); counted from here, it costs nothing and still removes repetition.
"""


def redundancy(vectors: VectorArray, known: BoolArray) -> FloatArray:
    """Return 0..1 for each pair of recall candidates: 0 up to a cosine of REDUNDANT_FROM, 1 at 1; 0 without vector."""
    cosines = (vectors @ vectors.T).astype(np.float64)
    scaled = np.clip((cosines - REDUNDANT_FROM) / (1.0 - REDUNDANT_FROM), 0.0, 1.0)
    scaled[~known] = 0.0
    scaled[:, ~known] = 0.0
    return scaled


def maximal_marginal_relevance(relevance: FloatArray, similar: FloatArray, trade_off: float) -> IndexArray:
    """Return all places of recall candidates by maximal marginal relevance (Carbonell and Goldstein 1998).

    Each step takes the place with the highest trade_off * relevance - (1 - trade_off) * (its largest similarity to what
    was taken before); of equals the first. `relevance` is in 0..1, `similar` a square matrix in 0..1. O(n²).
    """
    count = len(relevance)
    order = np.empty(count, np.int64)
    nearest = np.zeros(count)
    gain = trade_off * relevance
    left = np.ones(count, np.bool_)
    for step in range(count):
        worth = np.where(left, gain - (1.0 - trade_off) * nearest, -np.inf)
        chosen = int(np.argmax(worth))
        order[step] = chosen
        left[chosen] = False
        np.maximum(nearest, similar[chosen], out=nearest)
    return order


def diversified(scores: FloatArray, vectors: VectorArray, known: BoolArray, trade_off: float) -> IndexArray:
    """Return the places of recall candidates, given best first, diversified; relevance is the score over the best."""
    if len(scores) < 2 or scores[0] <= 0 or trade_off >= 1.0:
        return np.arange(len(scores))
    return maximal_marginal_relevance(scores / scores[0], redundancy(vectors, known), trade_off)
