"""The cache of vectors: bounded, least recently used first out, safe from any thread."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from helix.providers.embedder import Vectors
from helix.providers.local_embedder import CacheInfo, VectorCache


def vector(number: int) -> Vectors:
    return np.full(2, number, dtype=np.float32)


@given(capacity=st.integers(0, 5), keys=st.lists(st.integers(0, 9), max_size=60))
def test_cache_holds_the_most_recently_used(capacity: int, keys: list[int]) -> None:
    cache = VectorCache(capacity)
    for key in keys:
        if cache.get(bytes([key])) is None:
            cache.put(bytes([key]), vector(key))
    recent = list(dict.fromkeys(reversed(keys)))[:capacity]
    assert all(cache.get(bytes([key])) is not None for key in recent)
    assert cache.info().entries == len(recent)


def test_cache_counts_hits_and_misses() -> None:
    cache = VectorCache(1)
    cache.get(b"a")
    cache.put(b"a", vector(1))
    cache.get(b"a")
    cache.put(b"b", vector(2))
    cache.get(b"a")
    assert cache.info() == CacheInfo(hits=1, misses=2, entries=1, capacity=1)


def test_cache_keeps_its_bound_under_many_threads() -> None:
    cache = VectorCache(16)

    def use(start: int) -> bool:
        for number in range(start, start + 500):
            cache.put(number.to_bytes(2, "big"), vector(number))
            found = cache.get(number.to_bytes(2, "big"))
            if found is not None and found[0] != number:
                return False
        return True

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(use, range(0, 2000, 500)))
    assert cache.info().entries == 16


def test_nothing_is_kept_of_what_was_cleared() -> None:
    cache = VectorCache(4)
    cache.put(b"text", np.ones(2, np.float32))
    cache.clear()
    assert cache.get(b"text") is None
    assert cache.info().entries == 0
