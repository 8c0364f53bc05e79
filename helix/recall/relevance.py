"""Relevance: how well rows fit a question by meaning and by words, as numbers that do not depend on the other rows.

Numbers stretched over the candidates of one question (min-max) say which is best; they cannot say that none is any
good, and the worst candidate decides how much the best is worth. These can be compared between questions.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

import numpy as np

from helix.recall.arms import Matches, rows_holding
from helix.recall.vector import candidates, cosines, scan
from helix.store.catalogue import CatalogueView
from helix.store.index import Rows, StoreIndex
from helix.store.matrix import VectorArray
from helix.store.node_columns import FloatArray, IndexArray
from helix.store.passages import NO_INDEX

MEANING = 0.55
WORDS = 0.45
"""What meaning and words count beside each other; a convex combination of scores with fixed bounds (Bruch et al. 2023)
ranks better than their ranks alone."""

UNRELATED = 0.3
UNRELATED_WEIGHT = 16
"""The cosine of an unrelated text, believed until the store's own texts say otherwise: it counts as so many of them."""

HALF_WORDS = 4.0
"""BM25 score, over ln(1 + passages), at which words count half: what some two words as rare as can be bring."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Relevance:
    """How rows fit; the arrays run parallel to `rows`.

    `cosine` is NaN without a vector and `lexical` (BM25) NaN without a word in common; `meaning` and `words` are both
    in 0..1, and 0 then. `passages` has each row's nearest passage by meaning, else by words, NO_INDEX without one.
    """

    rows: IndexArray
    cosine: FloatArray
    lexical: FloatArray
    meaning: FloatArray
    words: FloatArray
    passages: IndexArray

    @property
    def mixed(self) -> FloatArray:
        """Meaning and words of a recall's rows in one number, shape (rows,); words alone where nothing has a vector."""
        return MEANING * self.meaning + WORDS * self.words

    def extended(self, other: Relevance, rows: IndexArray) -> Relevance:
        """Return this relevance to a recall and the other in the order of `rows`, each of which is in exactly one."""
        known = np.concatenate((self.rows, other.rows))
        order = np.argsort(known)
        places = order[np.searchsorted(known, rows, sorter=order)]
        joined = {
            part.name: np.concatenate((getattr(self, part.name), getattr(other, part.name)))[places]
            for part in fields(Relevance)
        }
        return Relevance(**joined)


def relevance_of(view: CatalogueView, rows: IndexArray, vector: VectorArray | None, matches: Matches) -> Relevance:
    """Return the relevance of rows to a recall question by its vector (None: not embedded) and matches of words."""
    if vector is None:
        cosine, passages = np.full(len(rows), np.nan), np.full(len(rows), NO_INDEX, np.int64)
        meaning = np.zeros(len(rows))
    else:
        cosine, passages = cosines(view, rows, vector)
        floor = unrelated(view, vector)
        meaning = np.nan_to_num(np.clip((cosine - floor) / (1.0 - floor), 0.0, 1.0))
    if (passages == NO_INDEX).any():
        passages = np.where(passages == NO_INDEX, matches.passages_of(view, rows), passages)
    lexical = matches.of_rows(view, rows)
    score = np.maximum(np.nan_to_num(lexical), 0.0)
    half = HALF_WORDS * np.log1p(max(view.words.living, 1))
    return Relevance(
        rows=rows, cosine=cosine, lexical=lexical, meaning=meaning, words=score / (score + half), passages=passages
    )


def unrelated(view: CatalogueView, vector: VectorArray) -> float:
    """Return the mean cosine of passages with a recall question's vector: what an unrelated text has.

    Models differ in it (0.5 with bge-small, 0.1 with potion), and so do questions.
    """
    count, mean = view.passages.vectors.center
    seen = count * float(np.clip(mean @ vector, 0.0, 0.9))
    return (seen + UNRELATED_WEIGHT * UNRELATED) / (count + UNRELATED_WEIGHT)


def fits_of(index: StoreIndex, rows: Rows, vector: VectorArray) -> dict[int, float]:
    """Return each row's cosine with a recall question above that of an unrelated text, as a share of what is left to 1.

    It is -1 for a row without a vector.
    """
    here = np.flatnonzero(rows.mask)
    if not len(here):
        return {}
    cosine, _ = cosines(index.view, here, vector)
    floor = unrelated(index.view, vector)
    fits = np.nan_to_num((cosine - floor) / (1.0 - floor), nan=-1.0)
    return dict(zip(here.tolist(), fits.tolist(), strict=True))


def best_fit(index: StoreIndex, rows: Rows, vector: VectorArray) -> float:
    """Return the best fit to a recall question among the rows, as `fits_of` gives it, 0 where none has a vector."""
    best = scan(index.view, candidates(index.view, rows.mask), vector, 1).scores
    floor = unrelated(index.view, vector)
    return (float(best[0]) - floor) / (1.0 - floor) if len(best) else 0.0


def holding_terms(index: StoreIndex, rows: Rows, terms: Sequence[str]) -> list[int]:
    """Return those of recall's rows that hold every one of the question's terms, none where there are no terms."""
    return [int(row) for row in rows_holding(index.view, np.flatnonzero(rows.mask), terms)]


def term_shares(index: StoreIndex, rows: IndexArray, terms: Mapping[str, float]) -> dict[int, float]:
    """Return by row the weights of the recall question's terms it holds, summed; by how rare each is among the rows.

    A term that one row alone holds counts whole: its idf is taken over the greatest, with the idf of Lucene's BM25.
    Rows that hold none are excluded.
    """
    view, found = index.view, dict[int, float]()
    here = np.zeros(view.count, np.bool_)
    here[rows] = True
    for term, passages in view.words.holders(list(terms)).items():
        owners = np.unique(view.passages.owner[passages])
        held = owners[here[owners]].tolist()
        for row in held:
            found[row] = found.get(row, 0.0) + terms[term] * _idf(len(rows), len(held)) / _idf(len(rows), 1)
    return found


def _idf(among: int, holding: int) -> float:
    return math.log1p((among - holding + 0.5) / (holding + 0.5))
