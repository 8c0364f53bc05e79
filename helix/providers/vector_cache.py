"""A bounded memory of texts already embedded: the least recently used goes first."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from threading import Lock

from helix.providers.embedder import Vectors


@dataclass(frozen=True, slots=True)
class CacheInfo:
    """How the cache does: lookups answered and not, entries held, and the most it will hold."""

    hits: int
    misses: int
    entries: int
    capacity: int


class VectorCache:
    """Vectors by the key of their text. Each operation is safe from any thread; capacity 0 keeps nothing."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._vectors: OrderedDict[bytes, Vectors] = OrderedDict()
        self._hits = 0
        self._misses = 0
        self._lock = Lock()

    def get(self, key: bytes) -> Vectors | None:
        """Return the vector of that key, now the most recently used, or None."""
        with self._lock:
            vector = self._vectors.get(key)
            if vector is None:
                self._misses += 1
            else:
                self._hits += 1
                self._vectors.move_to_end(key)
            return vector

    def put(self, key: bytes, vector: Vectors) -> None:
        """Keep the vector, shape (dimension,), which must not be changed any more."""
        with self._lock:
            self._vectors[key] = vector
            self._vectors.move_to_end(key)
            while len(self._vectors) > self._capacity:
                self._vectors.popitem(last=False)

    def clear(self) -> None:
        """Let go of every vector."""
        with self._lock:
            self._vectors.clear()

    def info(self) -> CacheInfo:
        """Return the counts so far."""
        with self._lock:
            return CacheInfo(self._hits, self._misses, len(self._vectors), self._capacity)
