"""Earlier readings: finds what the store holds of a place that an import reads again."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Sequence

from helix.model.edge import Label
from helix.store.index import StoreIndex

GONE = "gone"
"""What stands in the source of a reading that says that its place is there no more."""
END_OF_PLACE = "@"
"""How a place ends; behind it a source has the digest of what was read there."""


def words_of(source: str) -> str:
    """Return what tells the words of a source from others of its kind, wherever they were read; empty for no place."""
    before, end, words = source.rpartition(END_OF_PLACE)
    return f"{before.partition(':')[0]}:{words}" if end else ""


def _standing_rows(index: StoreIndex, rows: Sequence[int], label: Label, scope: str) -> list[int]:
    return [
        row
        for row in rows
        if index.source_of(row)  # which what was dropped has no more
        and index.label_of(row) is label
        and index.scope_of(row) == scope
    ]


class Earlier:
    """Finds nodes by the place that their source begins with, for one store of one generation.

    All sources are looked through once, and from then on those that came since: an import asks about every section
    that it reads, some while nobody else can write.
    """

    def __init__(self) -> None:
        self._seen = 0
        self._rows: dict[str, list[int]] = defaultdict(list)
        self._of_file: dict[str, set[str]] = defaultdict(set)
        self._of_words: dict[str, list[int]] = defaultdict(list)
        self._looking = threading.Lock()

    def of(self, index: StoreIndex, label: Label, place: str, scope: str) -> list[int]:
        """Return the rows of a label and scope that were imported from a place, oldest first; `place` has its end."""
        with self._looking:
            self._look(index)
            rows = tuple(self._rows.get(place, ()))
        return _standing_rows(index, rows, label, scope)

    def same(self, index: StoreIndex, source: str, scope: str) -> list[int]:
        """Return the rows of memories of a scope that imports of this kind made of the very words of a source."""
        with self._looking:
            self._look(index)
            rows = tuple(self._of_words.get(words_of(source), ()))
        return _standing_rows(index, rows, Label.MEMORY, scope)

    def places(self, index: StoreIndex, prefix: str, scope: str) -> list[str]:
        """Return the places that begin with a prefix, a file's or a folder's, and that a scope has readings of."""
        with self._looking:
            self._look(index)
            file, end, _ = prefix.partition("#")
            known = [
                place for place in (self._of_file.get(file, ()) if end else self._rows) if place.startswith(prefix)
            ]
        return [place for place in sorted(known) if self.of(index, Label.EPISODE, place, scope)]

    def _look(self, index: StoreIndex) -> None:
        count = index.count
        for row in range(self._seen, count):
            before, end, _ = index.source_of(row).rpartition(END_OF_PLACE)
            if end:
                self._of_words[words_of(index.source_of(row))].append(row)
                self._rows[before + end].append(row)
                self._of_file[before.partition("#")[0]].add(before + end)
        self._seen = max(self._seen, count)
