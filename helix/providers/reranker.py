"""The reranking seam: a question and texts in, one score for each text out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

Scores = npt.NDArray[np.float32]


class Reranker(Protocol):
    """Reads a question and a text together and says how well the text answers it. One call is safe from any thread."""

    def scores(self, query: str, texts: Sequence[str]) -> Scores:
        """Return a reranker's log-odds that each text answers the query, float32 of shape (len(texts),), in order.

        A score depends on the query and its text alone. Raises ModelError when there is no model to read with.
        """
        ...
