"""Matrix: unit vectors in fixed blocks of rows, which grows without ever copying what it holds.

Beside each row lies its code, the same in 8 bits a number. A scan of the codes takes a ninth of the time of one of the
rows (1.5 against 13 ms for 100,000 of 384 numbers), and says where looking at the rows is worth it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import simsimd

from helix.errors import EmbeddingSpaceError
from helix.providers.embedder import LENGTH_TOLERANCE
from helix.store.node_columns import IndexArray

VectorArray = npt.NDArray[np.float32]
CodeArray = npt.NDArray[np.int8]

BLOCK_ROWS = 8192
"""Rows of a block: 12 MiB at 384 dimensions, large enough that one product per block costs nothing extra."""

GATHER_SHARE = 0.15
"""Share of a block above which multiplying all of it is faster than gathering the wanted rows (measured)."""


_LARGEST_CODE = 127


def vector_of(stored: bytes) -> VectorArray:
    """Return an embedding vector from the bytes that the store keeps, shape (dimension,)."""
    return np.frombuffer(stored, np.float32)


def vectors_of(stored: bytes, count: int) -> list[VectorArray]:
    """Return so many embedding vectors from bytes that the store keeps one after the other."""
    return list(vector_of(stored).reshape(count, -1)) if count else []


def is_unit(stored: bytes) -> bool:
    """Return whether bytes are a vector of length 1, as in the store: another is near to everything, or to nothing."""
    length = float(np.linalg.norm(vector_of(stored).astype(np.float64)))
    return abs(length - 1.0) <= LENGTH_TOLERANCE


def cosine_of(one: bytes, other: bytes) -> float:
    """Return the cosine of two vectors that the store keeps, which are of length 1."""
    return float(vector_of(one) @ vector_of(other))


@dataclass(frozen=True, slots=True)
class MatrixView:
    """The first `count` rows of a matrix, shape (count, dimension), none of which will change."""

    blocks: tuple[VectorArray, ...]
    codes: tuple[CodeArray, ...]
    scales: tuple[VectorArray, ...]
    """By block: 8-bit codes, shape (BLOCK_ROWS, dimension), and what a row's code is to be multiplied by."""
    count: int
    dimension: int
    center: tuple[int, VectorArray]
    """How many vectors were ever written, and their mean, shape (dimension,)."""

    def rows(self, indexes: IndexArray) -> VectorArray:
        """Return the store's vectors at the indexes, in their order, shape (len(indexes), dimension)."""
        found = np.empty((len(indexes), self.dimension), np.float32)
        block_of, offsets = np.divmod(indexes, BLOCK_ROWS)
        for number in np.unique(block_of):
            here = block_of == number
            found[here] = self.blocks[number][offsets[here]]
        return found

    def products_of(self, indexes: IndexArray, vector: VectorArray) -> VectorArray:
        """Return the inner products of the store's vectors at `indexes` (ascending) with the vector, in their order."""
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

    def estimates_of(self, indexes: IndexArray, vector: VectorArray) -> VectorArray:
        """Return about what `products_of` does, from the codes of the store's vectors: within some thousandths."""
        found = np.empty(len(indexes), np.float32)
        code, scale = coded(vector[None])
        bounds = np.searchsorted(indexes, np.arange(len(self.codes) + 1) * BLOCK_ROWS)
        for number, block in enumerate(self.codes):
            start, stop = int(bounds[number]), int(bounds[number + 1])
            if start == stop:
                continue
            offsets = indexes[start:stop] - number * BLOCK_ROWS
            if offsets[-1] - offsets[0] == len(offsets) - 1:
                rows = slice(offsets[0], offsets[-1] + 1)
                found[start:stop] = _products(code, block[rows]) * self.scales[number][rows]
            elif stop - start > GATHER_SHARE * BLOCK_ROWS:
                found[start:stop] = (_products(code, block) * self.scales[number])[offsets]
            else:
                found[start:stop] = _products(code, block[offsets]) * self.scales[number][offsets]
        found *= scale[0]
        return found

    def pieces(self) -> dict[str, Sequence[npt.NDArray[Any]]]:
        """Return the vectors for the store's image, as `Matrix.restore` takes them: each array in pieces, in order."""
        parts: dict[str, Sequence[npt.NDArray[Any]]]
        parts = {"vectors": self.blocks, "codes": self.codes, "scales": self.scales}
        if not self.blocks:
            vectors, codes, scales = _blank(self.dimension)
            return {"vectors": [vectors[:0]], "codes": [codes[:0]], "scales": [scales[:0]]}
        starts = range(0, self.count, BLOCK_ROWS)
        return {
            name: [block[: self.count - start] for start, block in zip(starts, blocks, strict=False)]
            for name, blocks in parts.items()
        }


def _blank(dimension: int) -> tuple[VectorArray, CodeArray, VectorArray]:
    """Return a block of rows, their codes and their scales: zeros, which cost no memory until they are written to."""
    shape = (BLOCK_ROWS, dimension)
    return np.zeros(shape, np.float32), np.zeros(shape, np.int8), np.zeros(BLOCK_ROWS, np.float32)


def coded(vectors: VectorArray) -> tuple[CodeArray, VectorArray]:
    """Return 8-bit codes of stored vectors, shape (n, dimension), and their scales: code * scale is about the row."""
    largest = np.abs(vectors).max(axis=1, initial=0.0)
    scales = (largest / _LARGEST_CODE).astype(np.float32)
    codes = np.rint(vectors / np.where(scales > 0, scales, 1.0)[:, None]).astype(np.int8)
    return codes, scales


def _products(code: CodeArray, codes: CodeArray) -> npt.NDArray[np.float64]:
    products: npt.NDArray[np.float64] = np.asarray(simsimd.cdist(code, codes, "dot"))[0]
    return products


class Matrix:
    """A growing matrix of float32 rows. One thread appends; a view taken before an append never sees it."""

    def __init__(self, dimension: int) -> None:
        self.dimension = dimension
        self._blocks: tuple[VectorArray, ...] = ()
        self._codes: tuple[CodeArray, ...] = ()
        self._scales: tuple[VectorArray, ...] = ()
        self._count = 0
        self._written = 0
        self._sum = np.zeros(dimension)

    def restore(
        self, vectors: VectorArray, codes: CodeArray, scales: VectorArray, mean: VectorArray, written: int
    ) -> None:
        """Fill the store's empty matrix of vectors with rows and their codes, which are not copied.

        `written` of them are vectors, and `mean` is theirs.
        """
        self._blocks, self._codes, self._scales = _cut(vectors), _cut(codes), _cut(scales)
        self._count, self._written, self._sum = len(vectors), written, mean.astype(np.float64) * written

    def check(self, vector: bytes | None, owner: str) -> None:
        """Raise EmbeddingSpaceError unless the bytes are a row of the store's matrix; without a dimension any do."""
        if self.dimension and vector is not None and len(vector) != 4 * self.dimension:
            raise EmbeddingSpaceError(
                f"passage {owner} has a vector of {len(vector) // 4} numbers, the store's have {self.dimension}",
                hint="`helix reembed` brings a store to another model",
            )

    def append(self, vectors: Sequence[bytes | None]) -> None:
        """Append checked vectors to the store's matrix; None becomes zeros, which cost no memory until written to."""
        position = 0
        while position < len(vectors):
            offset = self._count % BLOCK_ROWS
            if offset == 0:
                block, codes, scales = _blank(self.dimension)
                self._blocks, self._codes = (*self._blocks, block), (*self._codes, codes)
                self._scales = (*self._scales, scales)
            part = vectors[position : position + BLOCK_ROWS - offset]
            given = [place for place, vector in enumerate(part) if vector is not None]
            if given:
                joined = b"".join(vector for vector in part if vector is not None)
                values = np.frombuffer(joined, np.float32).reshape(len(given), self.dimension)
                self._write(len(self._blocks) - 1, offset + np.array(given), values)
            self._count += len(part)
            position += len(part)

    def fill(self, indexes: IndexArray, vectors: Sequence[bytes]) -> None:
        """Write checked vectors over the zeros at `indexes` of the store's matrix."""
        for index, vector in zip(indexes, vectors, strict=True):
            self._write(index // BLOCK_ROWS, np.array([index % BLOCK_ROWS]), np.frombuffer(vector, np.float32)[None])

    def _write(self, block: int, offsets: IndexArray, values: VectorArray) -> None:
        if not self._blocks[block].flags.writeable:  # of an image, which stays as it is
            self._blocks = _with_copy(self._blocks, block)
            self._codes, self._scales = _with_copy(self._codes, block), _with_copy(self._scales, block)
        self._blocks[block][offsets] = values
        self._codes[block][offsets], self._scales[block][offsets] = coded(values)
        self._written += len(values)
        self._sum = self._sum + values.sum(axis=0, dtype=np.float64)

    def view(self) -> MatrixView:
        """Return the rows of the store's matrix of vectors as they are now."""
        mean = (self._sum / max(self._written, 1)).astype(np.float32)
        return MatrixView(self._blocks, self._codes, self._scales, self._count, self.dimension, (self._written, mean))


def _with_copy(blocks: tuple[npt.NDArray[Any], ...], number: int) -> tuple[npt.NDArray[Any], ...]:
    return (*blocks[:number], blocks[number].copy(), *blocks[number + 1 :])


def _cut(rows: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], ...]:
    """Return an array in blocks of BLOCK_ROWS; the last, where it is not full, as a copy that can be."""
    whole = len(rows) - len(rows) % BLOCK_ROWS
    full = tuple(rows[start : start + BLOCK_ROWS] for start in range(0, whole, BLOCK_ROWS))
    if len(rows) == whole:
        return full
    last = np.zeros((BLOCK_ROWS, *rows.shape[1:]), rows.dtype)
    last[: len(rows) - whole] = rows[whole:]
    return (*full, last)
