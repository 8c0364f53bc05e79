"""A cache of rows by their keys: the writer keeps it current, so that what was read once is not read again."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")

MOST_ROWS = 4_096
"""Rows that are kept, those that were used last: some megabytes."""


class RowCache(Generic[K, V]):
    """What some keys stand for. Safe from any thread; one thread follows what is written."""

    def __init__(self, most: int = MOST_ROWS) -> None:
        self._most = most
        self._held: OrderedDict[K, V] = OrderedDict()
        self._guard = threading.Lock()
        self._era = 0

    def of(self, keys: Sequence[K], read: Callable[[Sequence[K]], Mapping[K, V | None]]) -> list[V | None]:
        """Return what the keys stand for, in their order, None for nothing; `read` finds those that are not known.

        What it finds is kept, unless something was written meanwhile.
        """
        with self._guard:
            era = self._era
            known: dict[K, V | None] = {key: self._held[key] for key in keys if key in self._held}
            for key in known:
                self._held.move_to_end(key)
        missing = [key for key in dict.fromkeys(keys) if key not in known]
        if missing:
            found = read(missing)
            known.update(found)
            with self._guard:
                for key, value in found.items() if era == self._era else ():
                    self._keep(key, value)
        return [known[key] for key in keys]

    def follow(self, written: Mapping[K, Callable[[], V | None]]) -> None:
        """Have what was written take the place of what was known; of many at once each is read when it is needed."""
        known = {key: value() for key, value in written.items()} if len(written) <= self._most else {}
        with self._guard:
            self._era += 1
            for key in written:
                self._held.pop(key, None)
                self._keep(key, known.get(key))

    def forget(self) -> None:
        """Know nothing any more."""
        with self._guard:
            self._era += 1
            self._held.clear()

    def _keep(self, key: K, value: V | None) -> None:
        if value is None:
            return
        self._held[key] = value
        self._held.move_to_end(key)
        if len(self._held) > self._most:
            self._held.popitem(last=False)
