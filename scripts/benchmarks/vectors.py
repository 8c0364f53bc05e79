"""Vectors kept between runs: embedding the evaluation sets takes a quarter of an hour, measuring on them minutes."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from threading import Lock

import numpy as np

from helix.providers.embedder import Embedder, EmbeddingSpace, Vectors


class KeptVectors:
    """An Embedder that asks another one for what its file does not hold yet; a row depends on its text alone."""

    def __init__(self, embedder: Embedder, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._embedder = embedder
        self._lock = Lock()
        self._file = sqlite3.connect(path, check_same_thread=False, timeout=60)
        self._file.execute("PRAGMA journal_mode = WAL")
        self._file.execute("CREATE TABLE IF NOT EXISTS kept (key BLOB PRIMARY KEY, vector BLOB NOT NULL) WITHOUT ROWID")

    @property
    def space(self) -> EmbeddingSpace:
        """The space of the embedder."""
        return self._embedder.space

    @property
    def query_prefix(self) -> str:
        """What the embedder's model wants in front of a question."""
        return self._embedder.query_prefix

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return float32 rows of unit length, shape (len(texts), space.dimension), in the order of `texts`."""
        rows = np.empty((len(texts), self.space.dimension), np.float32)
        keys = [self._key(text) for text in texts]
        with self._lock:
            kept = [self._file.execute("SELECT vector FROM kept WHERE key = ?", (key,)).fetchone() for key in keys]
        lacking = [place for place, row in enumerate(kept) if row is None]
        for place, row in enumerate(kept):
            if row is not None:
                rows[place] = np.frombuffer(row[0], np.float32)
        if lacking:
            rows[lacking] = self._embedder.embed([texts[place] for place in lacking])
            with self._lock, self._file:
                self._file.executemany(
                    "INSERT OR IGNORE INTO kept VALUES (?, ?)",
                    [(keys[place], rows[place].tobytes()) for place in lacking],
                )
        return rows

    def forget(self) -> None:
        """Let the embedder go of what it kept; the file holds vectors of public texts only."""
        self._embedder.forget()

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _key(self, text: str) -> bytes:
        return hashlib.sha256(f"{self.space.digest}\0{text}".encode("utf-8", "surrogatepass")).digest()
