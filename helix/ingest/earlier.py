"""Earlier readings: what the store holds of a place that an import reads again."""

from __future__ import annotations

from collections import defaultdict

from helix.model.edge import Label
from helix.store.index import StoreIndex

_END = "@"
"""How a place ends; behind it a source has the digest of what was read there."""


class Earlier:
    """Finds nodes by the place that their source begins with, for one store of one generation.

    All sources are looked through once, and from then on those that came since: an import asks about every section
    that it reads while nobody else can write.
    """

    def __init__(self) -> None:
        self._seen = 0
        self._rows: dict[str, list[int]] = defaultdict(list)

    def of(self, index: StoreIndex, label: Label, place: str, scope: str) -> list[int]:
        """Return the rows of a label and scope that came from a place, oldest first; `place` has its end."""
        for row in range(self._seen, index.count):
            before, end, _ = index.source_of(row).rpartition(_END)
            if end:
                self._rows[before + end].append(row)
        self._seen = index.count
        return [
            row
            for row in self._rows.get(place, ())
            if index.source_of(row)  # which what was dropped has no more
            and index.label_of(row) is label
            and index.scope_of(row) == scope
        ]
