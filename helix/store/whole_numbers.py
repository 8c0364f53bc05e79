"""Whole numbers: vectors whose products are exact: what is near depends on nothing that is compared beside it."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence, Set

import numpy as np

from helix.store.index import Rows, StoreIndex
from helix.store.matrix import VectorArray
from helix.store.node_columns import BoolArray

WORD_DIMENSION = 256
_SCALE = 2048.0
_ROWS_AT_ONCE, _PAIRS_AT_ONCE = 1024, 16
_SHARED = 0.5
"""Share of the telling words of the shorter text that both must have where the cosine alone does not decide."""
_BY_ONE_WORD = 0.1
"""By how much the cosine must be above what decides with more words, where two texts share a single telling one.

Of eight rules in ten wordings each, beside ten other matters in like words, pairs linked fall from 87 to 79 in a
hundred, and pairs linked wrongly from 27 to 10.
"""

Rest = Callable[[], None]
"""Called between two pieces of work, of some thousandths of a second each; what it raises ends the work."""


def whole_numbers(vectors: VectorArray) -> VectorArray:
    """Return the store's unit vectors (float32) as whole numbers: times 2048, rounded.

    Products of two are below 2^24, which float32 adds up exactly in any order: a cosine never depends on what else is
    multiplied beside it.
    """
    rounded: VectorArray = np.rint(_SCALE * vectors).astype(np.float32)
    return rounded


def product_of(cosine: float) -> float:
    """Return the product of two of the store's vectors in whole numbers whose cosine is this."""
    return cosine * _SCALE * _SCALE


def vector_of_words(words: Set[str]) -> VectorArray:
    """Return a unit vector made of a text's words alone: for stores without an embedding model."""
    vector = np.zeros(WORD_DIMENSION)
    for word in sorted(words):
        digest = hashlib.blake2b(word.encode("utf-8", "replace"), digest_size=4).digest()
        vector[int.from_bytes(digest, "big") % WORD_DIMENSION] += 1.0
    norm = float(np.linalg.norm(vector))
    return (vector / norm if norm else vector).astype(np.float32)


class FirstVectors:
    """The vectors of the first passage of each of some rows; a row of which none is embedded yet is left out."""

    def __init__(self, index: StoreIndex, rows: Rows) -> None:
        passages = index.view.passages
        indexes = passages.of_rows(np.flatnonzero(rows.mask), index.view.count)
        indexes = indexes[passages.embedded[indexes]]
        owners, first = np.unique(passages.owner[indexes], return_index=True)
        self._vectors = passages.vectors.rows(indexes[first])
        self._place = {row: place for place, row in enumerate(owners.tolist())}

    @property
    def rows(self) -> list[int]:
        """The rows of the store whose first passage has a vector, ascending."""
        return list(self._place)

    def of(self, row: int) -> VectorArray:
        """Return the vector of the first passage of a row of the store."""
        vector: VectorArray = self._vectors[self._place[row]]
        return vector

    def near(self, rows: Sequence[int], others: Sequence[int], cosine: float, rest: Rest) -> Iterator[int]:
        """Yield those of the store's other rows whose cosine with any of the rows is at least that, in their order."""
        numbers = self._numbers(rows)
        for start in range(0, len(others), _ROWS_AT_ONCE):
            rest()
            block = others[start : start + _ROWS_AT_ONCE]
            near = (self._numbers(block) @ numbers.T >= product_of(cosine)).any(axis=1)
            yield from (block[place] for place in np.flatnonzero(near).tolist())

    def _numbers(self, rows: Sequence[int]) -> VectorArray:
        return whole_numbers(self._vectors[[self._place[row] for row in rows]])


def near_pairs(
    vectors: Sequence[VectorArray],
    terms: Sequence[Set[str]],
    wanted: Sequence[int],
    *,
    near: float,
    alike: float,
    rest: Rest,
) -> Iterator[tuple[int, int, int]]:
    """Yield places in the store's matrix of texts near in vectors (whole numbers) and words, and their product.

    The first of each pair is among the `wanted`. From the cosine `near` on shared words decide, from `alike` on the
    cosine alone does.
    """
    if not wanted:
        return
    rows = np.stack(vectors)
    shared = _Shared(terms, rest)
    for start in range(0, len(wanted), _PAIRS_AT_ONCE):
        block = wanted[start : start + _PAIRS_AT_ONCE]
        products = rows[block] @ rows.T
        close, same = products >= product_of(near), products >= product_of(alike)
        sure = products >= product_of(near + _BY_ONE_WORD)
        for line, here in enumerate(block):
            rest()
            for other in np.flatnonzero(close[line] & (same[line] | shared.enough(here, sure[line]))).tolist():
                if here != other:
                    yield here, other, int(products[line, other])


class _Shared:
    """Which texts share enough telling words: half of those of the one that has fewer."""

    def __init__(self, terms: Sequence[Set[str]], rest: Rest) -> None:
        found: dict[str, list[int]] = defaultdict(list)
        for number, held in enumerate(terms):
            rest()
            for term in held:
                found[term].append(number)
        self._terms = terms
        self._postings = {term: np.array(numbers) for term, numbers in found.items()}
        self._sizes = np.array([len(held) for held in terms])

    def enough(self, here: int, sure: BoolArray) -> BoolArray:
        """Return which of the store's texts share enough words with this one: one where it is `sure`, else two."""
        counts = np.zeros(len(self._sizes), np.int64)
        for term in self._terms[here]:
            counts[self._postings[term]] += 1
        enough: BoolArray = (counts > np.where(sure, 0, 1)) & (
            counts >= _SHARED * np.minimum(self._sizes, self._sizes[here])
        )
        return enough
