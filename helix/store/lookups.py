"""Lookups: from ids, names, sources, entities and file names to rows of the catalogue, and back."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Generic, TypeVar

import numpy as np

from helix.model.edge import Label
from helix.store.node_columns import ENTITY_KINDS, LABEL_CODE, LABELS, NO_CODE, BoolArray, CodeArray, Scopes, Vocabulary
from helix.text.path_patterns import as_path, fixed_part, is_pattern

K = TypeVar("K", bound=Hashable)

_FILE_KIND = ENTITY_KINDS.index(ENTITY_KINDS[0].FILE)


class RowIndex(Generic[K]):
    """Rows by a key that several rows may share; an entry, a row or a tuple of rows, is replaced, never changed."""

    def __init__(self) -> None:
        self._rows: dict[K, int | tuple[int, ...]] = {}

    def load(self, keys: Sequence[K], rows: Sequence[int]) -> None:
        """Replace a look-up of the store's catalogue by these keys and their rows, the rows ascending."""
        self._rows = dict(zip(keys, rows, strict=True))
        if len(self._rows) == len(keys):
            return
        newest = self._rows.copy()
        for key, row in zip(keys, rows, strict=True):
            if newest[key] != row:
                known = self._rows[key]
                self._rows[key] = (row, known) if isinstance(known, int) else (*known[:-1], row, known[-1])

    def add(self, key: K, row: int) -> None:
        """Put the catalogue row under the key of a look-up of the store."""
        known = self.get(key)
        self._rows[key] = (*known, row) if known else row

    def discard(self, key: K, row: int) -> None:
        """Take the catalogue row from under the key of a look-up of the store."""
        left = tuple(other for other in self.get(key) if other != row)
        if left:
            self._rows[key] = left
        else:
            self._rows.pop(key, None)

    def items(self) -> list[tuple[K, tuple[int, ...]]]:
        """Return every key of a look-up of the store with its catalogue rows, as of now."""
        return [(key, self.get(key)) for key in list(self._rows)]

    def get(self, key: K) -> tuple[int, ...]:
        """Return the catalogue rows of the key in a look-up of the store, oldest first."""
        rows = self._rows.get(key, ())
        return (rows,) if isinstance(rows, int) else rows


class Lookups:
    """What the catalogue knows beside numbers. Only the writer adds; a single look-up is atomic for any reader.

    An answer may name a row that a reader's view does not hold yet: views leave such rows out. `ids`, `names` and
    `origins` (the source, or an empty string) have a place for each row.
    """

    def __init__(self, scopes: Iterable[str] = (), sessions: Iterable[str] = ()) -> None:
        self.scopes = Scopes(*scopes)
        self.sessions = Vocabulary(*sessions)
        self.ids: list[str] = []
        self.names: list[str] = []
        self.origins: list[str] = []
        self.memories = RowIndex[str]()
        """Rows of memories by name, whatever their scope and status."""
        self.sources = tuple(RowIndex[str]() for _ in LABELS)
        """Rows by source, for each label code."""
        self.entities = RowIndex[tuple[int, str]]()
        """Rows of entities by (code of ENTITY_KINDS, case-folded name)."""
        self.files = RowIndex[str]()
        """Rows of file entities by the case-folded last part of their path."""
        self.patterns = RowIndex[str]()
        """Rows of file entities whose name is a pattern, by the case-folded part that all its paths have, if any."""
        self._rows: list[dict[str, int]] = [{} for _ in LABELS]

    def load(
        self, ids: list[str], names: list[str], origins: list[str], *, labels: CodeArray, kinds: CodeArray
    ) -> None:
        """Fill the catalogue's empty look-ups with rows by id, name, source, code of label and of kind.

        Memory is not copied.
        """
        # One object for each row's number and for each source, however many look-ups hold it.
        shared: dict[str, str] = {}
        self.ids, self.names, self.origins = ids, names, [shared.setdefault(origin, origin) for origin in origins]
        numbers = list(range(len(ids)))

        def rows_where(mask: BoolArray) -> list[int]:
            return [numbers[row] for row in np.flatnonzero(mask).tolist()]

        for code, label in enumerate(LABELS):
            rows = rows_where(labels == code)
            self._rows[code] = dict(zip(map(ids.__getitem__, rows), rows, strict=True))
            sourced = [row for row in rows if origins[row]]
            self.sources[code].load([self.origins[row] for row in sourced], sourced)
            if label is Label.MEMORY:
                named = [row for row in rows if names[row]]
                self.memories.load([names[row] for row in named], named)
        rows = rows_where((labels == LABEL_CODE[Label.ENTITY]) & (kinds != NO_CODE))
        folded = [names[row].casefold() for row in rows]
        self.entities.load(list(zip(kinds[rows].tolist(), folded, strict=True)), rows)
        for row in rows_where((labels == LABEL_CODE[Label.ENTITY]) & (kinds == _FILE_KIND)):
            self._register_file(row, names[row])

    def row(self, label: str, node_id: str) -> int | None:
        """Return the catalogue row of a node, or None."""
        return self._rows[LABEL_CODE[label]].get(node_id)

    def append(self, node_id: str, name: str, source: str) -> None:
        """Give the catalogue's next row its id, name and source; it cannot be found by them yet."""
        self.ids.append(node_id)
        self.names.append(name)
        self.origins.append(source)

    def register(self, row: int, label: Label, kind: int) -> None:
        """Let an appended row of the store's catalogue be found by its id, name and source."""
        code = LABEL_CODE[label]
        self._rows[code][self.ids[row]] = row
        if source := self.origins[row]:
            self.sources[code].add(source, row)
        name = self.names[row]
        if label is Label.MEMORY and name:
            self.memories.add(name, row)
        elif label is Label.ENTITY and kind != NO_CODE:
            self.entities.add((kind, name.casefold()), row)
            if kind == _FILE_KIND:
                self._register_file(row, name)

    def _register_file(self, row: int, name: str) -> None:
        if is_pattern(name):
            self.patterns.add(fixed_part(name.casefold()), row)
        else:
            self.files.add(file_key(as_path(name)), row)

    def rename(self, row: int, name: str) -> None:
        """Give a memory another name in the store's catalogue, in every view at once."""
        self.memories.discard(self.names[row], row)
        self.names[row] = name
        if name:
            self.memories.add(name, row)

    def move(self, row: int, label: Label, source: str) -> None:
        """Give a row of the store's catalogue another source, in every view at once: a tombstone has one of its own."""
        sources = self.sources[LABEL_CODE[label]]
        sources.discard(self.origins[row], row)
        self.origins[row] = source
        if source:
            sources.add(source, row)

    def bury(self, row: int, label: Label, kind: int) -> None:
        """Let a catalogue row be found by nothing any more, in every view, and keep none of its texts but the id."""
        rows, name = self._rows[LABEL_CODE[label]], self.names[row]
        if rows.get(self.ids[row]) == row:
            del rows[self.ids[row]]
        self.sources[LABEL_CODE[label]].discard(self.origins[row], row)
        if label is Label.MEMORY:
            self.memories.discard(name, row)
        elif label is Label.ENTITY:
            self.entities.discard((kind, name.casefold()), row)
            self.files.discard(file_key(as_path(name)), row)
            self.patterns.discard(fixed_part(name.casefold()), row)
        self.names[row] = self.origins[row] = ""


def file_key(path: str) -> str:
    """Return the file name that the catalogue looks a path up by: its last part, case-folded, with either slash."""
    return path.replace("\\", "/").rstrip("/").rpartition("/")[2].casefold()
