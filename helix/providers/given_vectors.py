"""Given vectors: a file of embeddings made elsewhere, one row for each line of a file of JSON lines."""

from __future__ import annotations

from pathlib import Path
from tokenize import TokenError

import numpy as np
import numpy.typing as npt

from helix.errors import EmbeddingSpaceError, InvalidInputError, NotFoundError
from helix.providers.embedder import LENGTH_TOLERANCE

_CHECKED_AT_ONCE = 16_384
_HINT = "save float32 rows of length 1, shape (lines, dimension), with numpy.save"


class GivenVectors:
    """Rows of a .npy file, read as they are asked for."""

    def __init__(self, path: Path, *, lines: int, dimension: int | None) -> None:
        """Check the whole file: float32, as many rows as `lines`, of the store's dimension, each of length 1.

        Raises NotFoundError, InvalidInputError, or EmbeddingSpaceError where the store's vectors have another
        dimension or the store has none.
        """
        if not path.is_file():
            raise NotFoundError(f"there is no file {path}", hint=_HINT)
        try:
            self._rows: npt.NDArray[np.float32] = np.load(path, mmap_mode="r", allow_pickle=False)
        except (ValueError, OSError, EOFError, OverflowError, MemoryError, TokenError) as error:  # its header is Python
            raise InvalidInputError(f"{path} is not an .npy file that can be read: {error}", hint=_HINT) from error
        if not isinstance(self._rows, np.ndarray) or self._rows.dtype != np.float32 or self._rows.ndim != 2:
            raise InvalidInputError(f"{path} does not hold float32 rows", hint=_HINT)
        if dimension is None:
            raise EmbeddingSpaceError(
                "the store has no embedding model yet, so vectors would belong to nothing",
                hint="`helix models install` first, and embed with that model",
            )
        if self._rows.shape != (lines, dimension):
            raise (InvalidInputError if self._rows.shape[1] == dimension else EmbeddingSpaceError)(
                f"{path} holds {self._rows.shape[0]:,} rows of {self._rows.shape[1]} numbers; "
                f"{lines:,} lines and {dimension} dimensions need a row for each line",
                hint=_HINT,
            )
        self._check_lengths(path)

    def _check_lengths(self, path: Path) -> None:
        for start in range(0, len(self._rows), _CHECKED_AT_ONCE):
            lengths = np.linalg.norm(self._rows[start : start + _CHECKED_AT_ONCE], axis=1)
            wrong = np.flatnonzero(~(np.abs(lengths - 1.0) <= LENGTH_TOLERANCE))  # also catches NaN
            if len(wrong):
                raise InvalidInputError(
                    f"row {start + int(wrong[0])} of {path} has length {lengths[wrong[0]]:.4g}, not 1", hint=_HINT
                )

    def at_line(self, number: int) -> bytes:
        """Return the vector of a line, counted from 1, that was made by another embedding model's program."""
        row: npt.NDArray[np.float32] = self._rows[number - 1]
        return row.tobytes()
