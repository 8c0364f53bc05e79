"""Abstention: decide whether an item answers a question, or is only the nearest thing that the store has.

A score ranks the candidates; the best of them can still be irrelevant. `fits` adds three numbers that say more: the
meaning above what the store's texts share with the question, the share of the question's words that the item holds, and
the share that occurs in the store at all. A question about another subject is full of words that the store lacks.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from helix.store.catalogue import CatalogueView
from helix.store.node_columns import FloatArray, IndexArray

COVERED = 0.7
KNOWN = 0.25
"""Weights beside meaning: of the share of the question's words that an item holds, and of the share in the store.

From a logistic regression that tells right answers from the nearest items of unrelated questions. Fitted on either half
of seven stores, the weights differ by .01 (docs/benchmarks/recall.md, "Abstaining")."""

ANSWERED, FLOOR = 0.54, 0.36
"""Fit that the best item needs for the question to count as answered, and fit that every other item then needs.

The second is lower: once a question is about this store, its other items are relevant more often. At least 98 % of the
right answers among the first five pass both.
"""

ENOUGH_WORDS = 8.0
"""Most words, each as rare as a word can be, that an item is expected to hold: none holds all of a long report."""

JUDGED_FROM = 50
"""Fewest passages of a store that abstains. With fewer, the shares of words say too little."""


def fits(view: CatalogueView, rows: IndexArray, meaning: FloatArray, terms: Sequence[str]) -> FloatArray:
    """Return how well distinct recall candidates fit a question of these terms, beside FLOOR.

    `meaning` (0..1) is by row.
    """
    words = view.words
    frequency = words.document_frequency(list(dict.fromkeys(terms)))
    weight = {term: float(np.log1p((words.living - count + 0.5) / (count + 0.5))) for term, count in frequency.items()}
    whole = sum(weight.values())
    if not whole:
        return meaning
    known = sum(weight[term] for term, count in frequency.items() if count)
    own = view.passages.of_rows(rows, view.count)
    order = np.argsort(rows)
    place = order[np.searchsorted(rows, view.passages.owner[own], sorter=order)]
    held = np.zeros(len(rows))
    for term, holding in words.holding(list(weight), own).items():
        said = np.zeros(len(rows))
        said[place[holding]] = weight[term]
        held += said
    asked = min(whole, ENOUGH_WORDS * np.log1p(max(words.living, 1)))
    found: FloatArray = meaning + COVERED * np.minimum(held / asked, 1.0) + KNOWN * known / whole
    return found
