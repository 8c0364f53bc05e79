"""Lookups: from ids, names, sources, entities and file names to rows of the catalogue, and back."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Generic, TypeVar

from helix.model.edge import Label
from helix.store.columns import ENTITY_KINDS, LABEL_CODE, LABELS, NO_CODE, Vocabulary

K = TypeVar("K", bound=Hashable)

_FILE_KIND = ENTITY_KINDS.index(ENTITY_KINDS[0].FILE)
_GLOB_CHARACTERS = frozenset("*?[")


class RowIndex(Generic[K]):
    """Rows by a key that several rows may share; each entry is a tuple that is replaced, never changed."""

    def __init__(self) -> None:
        self._rows: dict[K, tuple[int, ...]] = {}

    def add(self, key: K, row: int) -> None:
        """Put the row under the key."""
        known = self._rows.get(key)
        self._rows[key] = (row,) if known is None else (*known, row)

    def discard(self, key: K, row: int) -> None:
        """Take the row from under the key."""
        self._rows[key] = tuple(other for other in self._rows.get(key, ()) if other != row)

    def items(self) -> list[tuple[K, tuple[int, ...]]]:
        """Return every key with its rows, as of now."""
        return list(self._rows.items())

    def get(self, key: K) -> tuple[int, ...]:
        """Return the rows of the key, oldest first."""
        return self._rows.get(key, ())


class Lookups:
    """What the catalogue knows beside numbers. Only the writer adds; a single look-up is atomic for any reader.

    An answer may name a row that a reader's view does not hold yet: views leave such rows out.
    """

    def __init__(self) -> None:
        self.scopes = Vocabulary()
        self.sessions = Vocabulary()
        self.ids: list[str] = []
        self.names: list[str] = []
        self.memories = RowIndex[str]()
        """Rows of memories by name, whatever their scope and status."""
        self.sources = RowIndex[tuple[int, str]]()
        """Rows by (label code, source)."""
        self.entities = RowIndex[tuple[int, str]]()
        """Rows of entities by (code of ENTITY_KINDS, case-folded name)."""
        self.files = RowIndex[str]()
        """Rows of file entities by the case-folded last part of their path."""
        self.globs: tuple[int, ...] = ()
        """Rows of file entities whose name is a pattern."""
        self._rows: tuple[dict[str, int], ...] = tuple({} for _ in LABELS)

    def row(self, label: str, node_id: str) -> int | None:
        """Return the row of a node, or None."""
        return self._rows[LABEL_CODE[label]].get(node_id)

    def append(self, node_id: str, name: str) -> None:
        """Give the next row its id and name; it cannot be found by them yet."""
        self.ids.append(node_id)
        self.names.append(name)

    def register(self, row: int, label: Label, kind: int, source: str) -> None:
        """Let an appended row be found by its id, name and source."""
        code = LABEL_CODE[label]
        self._rows[code][self.ids[row]] = row
        if source:
            self.sources.add((code, source), row)
        name = self.names[row]
        if label is Label.MEMORY and name:
            self.memories.add(name, row)
        elif label is Label.ENTITY and kind != NO_CODE:
            self._register_entity(row, kind, name)

    def _register_entity(self, row: int, kind: int, name: str) -> None:
        self.entities.add((kind, name.casefold()), row)
        if kind != _FILE_KIND:
            return
        if _GLOB_CHARACTERS & set(name):
            self.globs = (*self.globs, row)
        else:
            self.files.add(last_part(name), row)

    def rename(self, row: int, name: str) -> None:
        """Give a memory another name, in every view at once."""
        self.memories.discard(self.names[row], row)
        self.names[row] = name
        if name:
            self.memories.add(name, row)


def last_part(path: str) -> str:
    """Return the case-folded last part of a path, with either kind of slash."""
    return path.replace("\\", "/").rstrip("/").rpartition("/")[2].casefold()
