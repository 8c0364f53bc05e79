"""The embedding seam: text in, unit vectors out, in one named space."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

Vectors = npt.NDArray[np.float32]
LENGTH_TOLERANCE = 1e-3
"""How far the length of a vector that others made may be from 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingSpace:
    """What makes two vectors comparable: the model, its dimension and the digest of its files."""

    model: str
    dimension: int
    digest: str


class Embedder(Protocol):
    """Turns texts into vectors of one space. One call is safe from any thread."""

    @property
    def space(self) -> EmbeddingSpace: ...

    @property
    def query_prefix(self) -> str:
        """What the embedding model wants in front of a question that looks for passages; empty for most."""
        ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return the texts' embeddings: float32 rows of unit length, shape (len(texts), space.dimension), in order."""
        ...

    def forget(self) -> None:
        """Let go of every vector that the embedding model kept of a text."""
        ...
