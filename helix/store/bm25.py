"""Bm25: BM25 over the tokens of every living passage, in memory, derived from the token store of the journal.

One thread writes, any number read, as with the catalogue, which holds this table and publishes its views. What came
since the last fold is a small set of postings beside a large one; when it has grown, it is folded in.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

from helix.store.node_columns import BoolArray, FloatArray, IndexArray, RowArray
from helix.store.postings import KeyArray, LengthArray, Postings, build_postings, keys_of
from helix.store.snapshot_file import Image

K1 = 0.9
B = 0.6
"""BM25's saturation of repeated terms and its normalisation by length (Robertson & Zaragoza 2009, section 3).

Both lower than the customary 1.2 and 0.75: turns of a talk and messages of commits repeat little, and a longer one
says more rather than the same at length (measured over nine sets).
"""

FOLD_MINIMUM = 32_768
FOLD_SHARE = 1 / 64
"""Recent postings are folded in, and dead ones thrown out, when they exceed this share of all and FOLD_MINIMUM."""

_FIRST_CAPACITY = 1024
_DEAD = np.inf
# What lengths are multiplied by is never 0: the infinite one has to stay infinite.
_SMALLEST = float(np.finfo(np.float32).tiny)


@dataclass(frozen=True, slots=True, kw_only=True)
class WordView:
    """The word index as it was at one moment, over the indexes of the same catalogue view's passages.

    `lengths` holds each passage's number of tokens, infinite for a dead one, to which BM25 then gives nothing; `living`
    and `tokens` are the number of living passages and of their tokens.
    """

    base: Postings
    recent: Postings
    lengths: LengthArray
    living: int
    tokens: int
    k1: float
    b: float

    def search(self, terms: Sequence[str]) -> tuple[IndexArray, npt.NDArray[np.float32]]:
        """Return the indexes, ascending, of the store's living passages with any of the terms, and their BM25 scores.

        A score is the sum over distinct terms of idf tf (k1 + 1) / (tf + k1 (1 - b + b length / mean length)), with
        the idf that is never negative, ln(1 + (N - n + 0.5) / (n + 0.5)), as in Lucene.
        """
        scores = np.zeros(len(self.lengths), np.float32)
        keys = _distinct_keys(terms)
        weights = (self._idf(self._frequency(keys)) * (self.k1 + 1)).astype(np.float32)
        fixed = np.float32(self.k1 * (1 - self.b))
        by_length = np.float32(max(self.k1 * self.b * self.living / max(self.tokens, 1), _SMALLEST))
        for place, passages, times in self._listed(keys):
            counts = times.astype(np.float32)
            parts = self.lengths[passages]
            parts *= by_length
            parts += fixed
            parts += counts
            np.divide(counts, parts, out=parts)
            parts *= weights[place]
            scores[passages] += parts
        found = np.flatnonzero(scores)
        return found, scores[found]

    def document_frequency(self, terms: Sequence[str]) -> dict[str, int]:
        """Return in how many of the store's living passages each term occurs."""
        return dict(zip(terms, self._frequency(keys_of(terms)).tolist(), strict=True))

    def holders(self, terms: Sequence[str]) -> dict[str, IndexArray]:
        """Return the indexes of the store's living passages that hold each distinct term, ascending; none: no entry."""
        distinct = list(dict.fromkeys(terms))
        found: dict[str, list[IndexArray]] = {}
        for place, listed, _ in self._listed(keys_of(distinct)):
            passages = listed.astype(np.int64)
            found.setdefault(distinct[place], []).append(passages[self.lengths[passages] < _DEAD])
        return {term: np.concatenate(parts) for term, parts in found.items()}

    def holding(self, terms: Sequence[str], passages: IndexArray) -> dict[str, BoolArray]:
        """Return for each distinct term which of the store's `passages`, in any order, hold it; none: no entry."""
        found: dict[str, BoolArray] = {}
        wanted = passages.astype(np.int32)  # as they are listed, or each list would be copied to compare
        for place, listed, _ in self._listed(keys_of(terms)):
            holds = listed[np.minimum(np.searchsorted(listed, wanted), len(listed) - 1)] == wanted
            found[terms[place]] = holds | found.get(terms[place], False)
        return found

    def _listed(self, keys: KeyArray) -> Iterator[tuple[int, RowArray, npt.NDArray[np.uint8]]]:
        """Yield the place of each key that is a term, its passages, dead ones too, and how often; part after part."""
        for postings in (self.base, self.recent):
            held, ranks = postings.find(keys)
            for place, start, stop in zip(
                held.tolist(), postings.bounds[ranks].tolist(), postings.bounds[ranks + 1].tolist(), strict=True
            ):
                yield place, postings.passages[start:stop], postings.counts[start:stop]

    def _frequency(self, keys: npt.NDArray[np.uint64]) -> IndexArray:
        found = np.zeros(len(keys), np.int64)
        for postings in (self.base, self.recent):
            held, ranks = postings.find(keys)
            found[held] += postings.frequency[ranks]
        return found

    def _idf(self, frequency: IndexArray) -> FloatArray:
        idf: FloatArray = np.log1p((self.living - frequency + 0.5) / (frequency + 0.5))
        return idf


class WordTable:
    """The writer's side of the words. It follows the passage table: what is dead there has to be named here."""

    def __init__(self, *, k1: float = K1, b: float = B, fold_minimum: int = FOLD_MINIMUM) -> None:
        self._k1, self._b = k1, b
        self._fold_minimum = fold_minimum
        self._lengths = np.empty(_FIRST_CAPACITY, np.float32)
        self._count = self._living = self._tokens = 0
        self._base = self._recent = build_postings(())[0]

    def load(self, batches: Iterable[tuple[IndexArray, Sequence[bytes]]], count: int) -> None:
        """Fill the store's empty word table, for `count` passages, with the living ones, by index and tokens."""
        self._base, passages, lengths = build_postings(batches)
        self._lengths = np.full(count, _DEAD, np.float32)
        self._lengths[passages] = lengths
        self._count, self._living, self._tokens = count, len(passages), int(lengths.sum(dtype=np.float64))

    def restore(self, image: Image) -> None:
        """Fill an empty table with the words of the store's image."""
        self._base = Postings(**{part.name: image.array(f"word {part.name}") for part in fields(Postings)})
        self._lengths = image.array("word lengths")
        living = self._lengths[self._lengths < _DEAD]
        self._count, self._living = len(self._lengths), len(living)
        self._tokens = int(living.sum(dtype=np.float64))

    def update(self, fresh: Iterable[Sequence[str]], dead: Sequence[int]) -> None:
        """Take passages out of the store's word table and add new ones, by tokens, at the indexes behind the last."""
        if dead:
            self._bury(np.array(dead, np.int64))
        texts = [" ".join(tokens).encode() for tokens in fresh]
        if texts:
            self._append(texts)
        if len(self._recent.passages) > self._bound():
            self._base, self._recent = self._base.extended(self._recent), build_postings(())[0]

    def _bound(self) -> float:
        return max(self._fold_minimum, len(self._base.passages) * FOLD_SHARE)

    def _bury(self, dead: IndexArray) -> None:
        dead = dead[self._lengths[dead] < _DEAD]
        if not len(dead):
            return
        self._living -= len(dead)
        self._tokens -= int(self._lengths[dead].sum(dtype=np.float64))
        self._lengths = self._lengths.copy()
        self._lengths[dead] = _DEAD
        self._base, self._recent = self._base.without(dead), self._recent.without(dead)
        if self._base.dead > self._bound():
            self._base = self._base.compacted(self._lengths < _DEAD)

    def _append(self, texts: Sequence[bytes]) -> None:
        start, stop = self._count, self._count + len(texts)
        if stop > len(self._lengths):
            grown = np.empty(max(stop, len(self._lengths) * 3 // 2), np.float32)
            grown[:start] = self._lengths[:start]
            self._lengths = grown
        added, _, lengths = build_postings([(np.arange(start, stop), texts)])
        self._lengths[start:stop] = lengths
        self._count, self._living = stop, self._living + len(texts)
        self._tokens += int(lengths.sum(dtype=np.float64))
        self._recent = self._recent.extended(added)

    def view(self) -> WordView:
        """Return the words of the store's passages as they are now."""
        return WordView(
            base=self._base,
            recent=self._recent,
            lengths=self._lengths[: self._count],
            living=self._living,
            tokens=self._tokens,
            k1=self._k1,
            b=self._b,
        )


def _distinct_keys(terms: Sequence[str]) -> npt.NDArray[np.uint64]:
    return keys_of(list(dict.fromkeys(terms)))
