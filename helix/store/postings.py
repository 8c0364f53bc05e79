"""Postings: which passages hold which term and how often, as immutable arrays sorted by term.

A term is known by KEY_BITS of a hash of its UTF-8 bytes. No vocabulary of strings is held, and whole texts are hashed
at once; among 500,000 terms the chance that any two share a key is 3 in 100,000, and all that follows is that a search
for the one also finds the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from helix.store.node_columns import IndexArray, RowArray, distinct, run_starts

KeyArray = npt.NDArray[np.uint64]
LengthArray = npt.NDArray[np.float32]

KEY_BITS = 52
MAX_COUNT = 255
"""Occurrences of a term in a passage beyond these are not counted: the score has long since levelled off."""

_LOW_BITS = 64 - KEY_BITS
_BATCH = 1 << _LOW_BITS
_LOW_MASK = np.uint64(_BATCH - 1)
_WORD_BYTES = 8
_BLANK = ord(" ")
_FIRST_BYTES = np.array([(1 << 8 * size) - 1 for size in range(_WORD_BYTES + 1)], np.uint64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Postings:
    """The places `bounds[i]` to `bounds[i + 1]` of `passages` and `counts` belong to the term `terms[i]`.

    `terms` ascend, shape (terms,). `passages` holds indexes of passages, ascending within a term, `counts` how
    often the term occurs there, both of shape (postings,). `frequency` is the number of living passages of each term:
    a dead one keeps its place until `compacted`.
    """

    terms: KeyArray
    bounds: IndexArray
    passages: RowArray
    counts: npt.NDArray[np.uint8]
    frequency: RowArray

    @property
    def dead(self) -> int:
        """How many places in the store's postings belong to dead passages."""
        return len(self.passages) - int(self.frequency.sum())

    def find(self, keys: KeyArray) -> tuple[IndexArray, IndexArray]:
        """Return for each key which of the keys are terms in the store's postings, and the ranks of those."""
        ranks = np.searchsorted(self.terms, keys)
        held = np.flatnonzero(ranks < len(self.terms))
        held = held[self.terms[ranks[held]] == keys[held]]
        return held, ranks[held]

    def extended(self, later: Postings) -> Postings:
        """Return the store's postings with those of other passages behind them, term by term."""
        terms = distinct(np.concatenate((self.terms, later.terms)))
        mine, others = np.searchsorted(terms, self.terms), np.searchsorted(terms, later.terms)
        sizes, frequency = np.zeros(len(terms), np.int64), np.zeros(len(terms), np.int32)
        sizes[mine] = np.diff(self.bounds)
        frequency[mine] = self.frequency
        ends = np.repeat(np.cumsum(sizes)[others], np.diff(later.bounds))
        sizes[others] += np.diff(later.bounds)
        frequency[others] += later.frequency
        return Postings(
            terms=terms,
            bounds=_bounds(sizes),
            passages=np.insert(self.passages, ends, later.passages),
            counts=np.insert(self.counts, ends, later.counts),
            frequency=frequency,
        )

    def without(self, dead: IndexArray) -> Postings:
        """Return the store's postings with the passages, which were living, no longer counted in `frequency`."""
        # Passages that die together were mostly written together: a range of indexes narrows a long array down fast.
        low, high = int(dead.min()), int(dead.max())
        places = np.flatnonzero((self.passages >= low) & (self.passages <= high))
        places = places[np.isin(self.passages[places], dead)]
        frequency = self.frequency.copy()
        np.subtract.at(frequency, np.searchsorted(self.bounds, places, "right") - 1, 1)
        return replace(self, frequency=frequency)

    def compacted(self, alive: npt.NDArray[np.bool_]) -> Postings:
        """Return the store's postings without the places of dead passages and the terms of no others."""
        kept = alive[self.passages]
        held = self.frequency > 0
        return Postings(
            terms=self.terms[held],
            bounds=_bounds(self.frequency[held]),
            passages=self.passages[kept],
            counts=self.counts[kept],
            frequency=self.frequency[held],
        )


def build_postings(batches: Iterable[tuple[IndexArray, Sequence[bytes]]]) -> tuple[Postings, IndexArray, LengthArray]:
    """Return the postings of the store's passages, the passages in their order, and their lengths in tokens.

    Each passage is given by its index and its tokens in UTF-8, joined by blanks.
    """
    built = [
        _batch(passages[start : start + _BATCH], texts[start : start + _BATCH])
        for passages, texts in batches
        for start in range(0, len(texts), _BATCH)
    ]
    parts = [part for part, _, _ in built]
    indexes = [np.empty(0, np.int64), *(passages for _, passages, _ in built)]
    lengths = [np.empty(0, np.float32), *(sizes for _, _, sizes in built)]
    joined = parts[0] if len(parts) == 1 else _joined(parts)
    return joined, np.concatenate(indexes), np.concatenate(lengths)


def keys_of(terms: Sequence[str]) -> KeyArray:
    """Return the key of each term in the store's postings; terms hold no blanks and are not empty."""
    return _hashes(" ".join(terms).encode())[0] >> np.uint64(_LOW_BITS)


def _joined(parts: Sequence[Postings]) -> Postings:
    """Return the postings of many parts without dead passages, term by term in the order of the parts."""
    terms = distinct(np.concatenate([np.empty(0, np.uint64), *(part.terms for part in parts)]))
    ranks = [np.searchsorted(terms, part.terms) for part in parts]
    frequency = np.zeros(len(terms), np.int32)
    for part, rank in zip(parts, ranks, strict=True):
        frequency[rank] += part.frequency
    bounds = _bounds(frequency)
    passages, counts = np.empty(bounds[-1], np.int32), np.empty(bounds[-1], np.uint8)
    free = bounds[:-1].copy()
    for part, rank in zip(parts, ranks, strict=True):
        places = np.repeat(free[rank] - part.bounds[:-1], part.frequency)
        places += np.arange(len(places))
        passages[places] = part.passages
        counts[places] = part.counts
        free[rank] += part.frequency
    return Postings(terms=terms, bounds=bounds, passages=passages, counts=counts, frequency=frequency)


def _batch(passages: IndexArray, texts: Sequence[bytes]) -> tuple[Postings, IndexArray, LengthArray]:
    """As `build_postings`, for at most _BATCH texts: one sort of keys that end in the text's place among them."""
    keys, ends = _hashes(b" ".join(texts))
    closed = np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)) + 1)
    lengths = np.diff(np.searchsorted(ends, closed), prepend=0)
    keys &= ~_LOW_MASK
    keys |= np.repeat(np.arange(len(texts), dtype=np.uint64), lengths)
    keys.sort()
    first = run_starts(keys)
    counts = np.minimum(np.diff(first, append=len(keys)), MAX_COUNT).astype(np.uint8)
    keys = keys[first]
    places = (keys & _LOW_MASK).astype(np.int64)
    keys >>= np.uint64(_LOW_BITS)
    starts = run_starts(keys)
    bounds = np.append(starts, len(keys))
    part = Postings(
        terms=keys[starts],
        bounds=bounds,
        passages=passages[places].astype(np.int32),
        counts=counts,
        frequency=np.diff(bounds).astype(np.int32),
    )
    return part, passages, lengths.astype(np.float32)


def _hashes(text: bytes) -> tuple[KeyArray, IndexArray]:
    """Return the hash of each token in a text and where it ends: the eight bytes after eight bytes, mixed in turn."""
    padded = b"".join((text, b" ", bytes(_WORD_BYTES)))
    ends = np.flatnonzero(np.frombuffer(padded, np.uint8) == _BLANK)
    starts = np.concatenate((np.zeros(1, np.int64), ends[:-1] + 1))
    real = ends > starts
    starts, ends = starts[real], ends[real]
    # Bytes without a type may be taken from any address; numbers would have to be aligned.
    words = np.ndarray((len(padded) - _WORD_BYTES + 1,), f"V{_WORD_BYTES}", padded, strides=(1,))
    hashes = _mixed(np.zeros(len(starts), np.uint64), _words(words, starts, ends))
    offset = _WORD_BYTES
    while len(longer := np.flatnonzero(ends - starts > offset)):
        hashes[longer] = _mixed(hashes[longer], _words(words, starts[longer] + offset, ends[longer]))
        offset += _WORD_BYTES
    return hashes, ends


def _words(words: npt.NDArray[np.void], starts: IndexArray, ends: IndexArray) -> KeyArray:
    """Return the bytes from each start on, eight or as many as there are up to the end, as one number each."""
    found: KeyArray = words[starts].view("<u8") & _FIRST_BYTES[np.minimum(ends - starts, _WORD_BYTES)]
    return found


def _mixed(hashes: KeyArray, words: KeyArray) -> KeyArray:
    """Return the hashes after one more word each, by the steps of SplitMix64 (Steele, Lea & Flood 2014)."""
    mixed = hashes + np.uint64(0x9E3779B97F4A7C15)
    mixed ^= words
    mixed ^= mixed >> np.uint64(30)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(27)
    mixed *= np.uint64(0x94D049BB133111EB)
    mixed ^= mixed >> np.uint64(31)
    return mixed


def _bounds(sizes: npt.NDArray[np.integer]) -> IndexArray:
    bounds = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=bounds[1:])
    return bounds
