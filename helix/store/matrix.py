"""Matrix: unit vectors in fixed blocks of rows, which grows without ever copying what it holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from helix.errors import EmbeddingSpaceError
from helix.store.columns import IndexArray

VectorArray = npt.NDArray[np.float32]

BLOCK_ROWS = 8192
"""Rows of a block: 12 MiB at 384 dimensions, large enough that one product per block costs nothing extra."""

GATHER_SHARE = 0.15
"""Share of a block above which multiplying all of it is faster than gathering the wanted rows (measured)."""


@dataclass(frozen=True, slots=True)
class MatrixView:
    """The first `count` rows of a matrix, shape (count, dimension), none of which will change."""

    blocks: tuple[VectorArray, ...]
    count: int
    dimension: int
    center: tuple[int, VectorArray]
    """How many vectors were ever written, and their mean, shape (dimension,)."""

    def rows(self, indexes: IndexArray) -> VectorArray:
        """Return the vectors of the indexes, in their order, shape (len(indexes), dimension)."""
        found = np.empty((len(indexes), self.dimension), np.float32)
        block_of, offsets = np.divmod(indexes, BLOCK_ROWS)
        for number in np.unique(block_of):
            here = block_of == number
            found[here] = self.blocks[number][offsets[here]]
        return found

    def products_of(self, indexes: IndexArray, vector: VectorArray) -> VectorArray:
        """Return the inner product of the rows at `indexes` (ascending) with the vector, in their order."""
        found = np.empty(len(indexes), np.float32)
        bounds = np.searchsorted(indexes, np.arange(len(self.blocks) + 1) * BLOCK_ROWS)
        for number, block in enumerate(self.blocks):
            start, stop = int(bounds[number]), int(bounds[number + 1])
            if start == stop:
                continue
            offsets = indexes[start:stop] - number * BLOCK_ROWS
            if stop - start > GATHER_SHARE * BLOCK_ROWS:
                found[start:stop] = (block @ vector)[offsets]
            else:
                np.dot(block[offsets], vector, out=found[start:stop])
        return found


class Matrix:
    """A growing matrix of float32 rows. One thread appends; a view taken before an append never sees it."""

    def __init__(self, dimension: int) -> None:
        self.dimension = dimension
        self._blocks: tuple[VectorArray, ...] = ()
        self._count = 0
        self._written = 0
        self._sum = np.zeros(dimension)

    def restore(self, vectors: VectorArray, mean: VectorArray, written: int) -> None:
        """Fill an empty matrix with rows, which are not copied; `written` of them are vectors, and `mean` is theirs."""
        whole = len(vectors) - len(vectors) % BLOCK_ROWS
        self._blocks = tuple(vectors[start : start + BLOCK_ROWS] for start in range(0, whole, BLOCK_ROWS))
        if len(vectors) > whole:
            last = np.zeros((BLOCK_ROWS, self.dimension), np.float32)
            last[: len(vectors) - whole] = vectors[whole:]
            self._blocks = (*self._blocks, last)
        self._count, self._written, self._sum = len(vectors), written, mean.astype(np.float64) * written

    def check(self, vector: bytes | None, owner: str) -> None:
        """Raise EmbeddingSpaceError unless the bytes are one row of this matrix; without a dimension any do."""
        if self.dimension and vector is not None and len(vector) != 4 * self.dimension:
            raise EmbeddingSpaceError(
                f"passage {owner} has a vector of {len(vector) // 4} numbers, the store's have {self.dimension}",
                hint="`helix reembed` brings a store to another model",
            )

    def append(self, vectors: Sequence[bytes | None]) -> None:
        """Append checked rows; None becomes a row of zeros, which costs no memory until a block is written to."""
        position = 0
        while position < len(vectors):
            offset = self._count % BLOCK_ROWS
            if offset == 0:
                self._blocks = (*self._blocks, np.zeros((BLOCK_ROWS, self.dimension), np.float32))
            part = vectors[position : position + BLOCK_ROWS - offset]
            given = [place for place, vector in enumerate(part) if vector is not None]
            if given:
                joined = b"".join(vector for vector in part if vector is not None)
                values = np.frombuffer(joined, np.float32).reshape(len(given), self.dimension)
                self._blocks[-1][offset + np.array(given)] = values
                self._count_in(values)
            self._count += len(part)
            position += len(part)

    def fill(self, indexes: IndexArray, vectors: Sequence[bytes]) -> None:
        """Write checked rows over the zeros at `indexes`."""
        for index, vector in zip(indexes, vectors, strict=True):
            row = np.frombuffer(vector, np.float32)
            self._blocks[index // BLOCK_ROWS][index % BLOCK_ROWS] = row
            self._count_in(row[None])

    def _count_in(self, values: VectorArray) -> None:
        self._written += len(values)
        self._sum = self._sum + values.sum(axis=0, dtype=np.float64)

    def view(self) -> MatrixView:
        """Return the rows there are now."""
        mean = (self._sum / max(self._written, 1)).astype(np.float32)
        return MatrixView(self._blocks, self._count, self.dimension, (self._written, mean))
