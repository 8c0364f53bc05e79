"""The engine seam: what Helix asks of a graph database, and nothing more.

A batch is a list of idempotent operations with the journal `seq` they bring the graph to, never an open
transaction in the caller's hands. Times are integers, maps are JSON text, ids are ours, rows are plain dictionaries.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

from helix.model.operations import Operation

Rows = list[dict[str, Any]]


class GraphEngine(Protocol):
    """A graph database behind one adapter. Errors are HelixError, mapped once, here."""

    @property
    def dimension(self) -> int | None:
        """The dimension of the indexed vectors, or None where there are none."""
        ...

    @property
    def ready(self) -> bool:
        """Whether the graph can be read now."""
        ...

    def applied_seq(self) -> int:
        """Return the journal seq up to which changes are applied (0 for an empty graph)."""
        ...

    def apply(self, operations: Sequence[Operation], seq: int) -> None:
        """Apply the operations and record `seq`, in one transaction."""
        ...

    def read(self, query: str, /, **params: Any) -> Rows:
        """Run the named query of `queries/` and return its rows."""
        ...

    def cypher(
        self, text: str, params: Mapping[str, Any], *, timeout_ms: int, limit: int
    ) -> tuple[list[str], list[list[Any]], bool]:
        """Run a gated, read-only statement: (columns, at most `limit` rows, whether there were more)."""
        ...

    def vector_search(self, vector: Sequence[float], k: int) -> list[tuple[str, float]]:
        """Return (passage id, cosine similarity) of the k nearest passages, best first."""
        ...

    def tables(self) -> list[tuple[str, str, list[str]]]:
        """Return (name, NODE or REL, property names) of every table that a person may query."""
        ...

    def export(self, label: str) -> Iterator[dict[str, Any]]:
        """Yield every node of a label as its properties."""
        ...

    def size_bytes(self) -> int:
        """Return the bytes the graph takes on disk."""
        ...

    def close(self) -> None:
        """Fold the log in and let go of the files."""
        ...
