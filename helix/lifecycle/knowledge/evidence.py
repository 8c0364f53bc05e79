"""Evidence: the episodes of a scope as a run of consolidation sees them, read no further than what is new reaches."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import cast

import numpy as np

from helix.lifecycle.insight.support import findable_episodes
from helix.lifecycle.knowledge.cluster import Bars, Links, Said, Vector, linked, product_of, said, whole_numbers
from helix.lifecycle.knowledge.extract import Candidate, Extractor
from helix.lifecycle.work.run import Run
from helix.model.edge import Label
from helix.model.episode import Episode
from helix.store.columns import BoolArray, IndexArray

_READ_AT_ONCE = 16
_EMBEDDED_AT_ONCE = 4
"""Of these the run rests after each lot: whoever asks something meanwhile waits for no more than one."""
_BLOCK = 512


class Evidence:
    """The surviving episodes of exactly one scope: findable, neither forgotten nor quarantined, and embedded.

    Each is read and extracted once, when it is asked for. Rows are those of the catalogue.
    """

    def __init__(self, run: Run, scope: str, extractor: Extractor, bars: Bars) -> None:
        self._run, self._extractor, self._bars = run, extractor, bars
        self._view = view = run.store.catalogue.view
        findable = findable_episodes(view, None) & (view.columns.scope == view.lookups.scopes.code(scope))
        self._surviving = findable
        self.rows, self._vectors = self._placed(np.flatnonzero(findable), vectors=run.store.embedder is not None)
        self._place = {int(row): place for place, row in enumerate(self.rows)}
        self._items: dict[int, list[Said]] = {}
        self.held_back: set[int] = set()

    def _placed(self, rows: IndexArray, *, vectors: bool) -> tuple[IndexArray, Vector | None]:
        """Return the rows, and the vector of the first passage of each; one not embedded yet waits for another run."""
        if not vectors:
            return rows, None
        passages = self._view.passages
        indexes = passages.of_rows(rows, self._view.count)
        indexes = indexes[passages.embedded[indexes]]
        owners, first = np.unique(passages.owner[indexes], return_index=True)
        return owners.astype(np.int64), passages.vectors.rows(indexes[first])

    def survives(self, episode: str) -> bool:
        """Return whether the episode of that id is evidence still."""
        row = self._view.lookups.row(Label.EPISODE, episode)
        return row is not None and row < self._view.count and bool(self._surviving[row])

    @property
    def fresh(self) -> list[int]:
        """The rows of the episodes that no run has seen yet."""
        return [int(row) for row in self.rows[~self._view.columns.consolidated[self.rows]]]

    def episode_of(self, row: int) -> str:
        """Return the id of an episode."""
        return self._view.lookups.ids[row]

    def row_of(self, episode: str) -> int | None:
        """Return the row of an episode that can be read, or None."""
        row = self._view.lookups.row(Label.EPISODE, episode)
        return row if row is not None and row in self._place else None

    def reached(self, touched: Iterable[int]) -> tuple[list[Said], Links, set[int]]:
        """Return all that is linked with what the touched rows say, over any number of links, and the rows read for it.

        The rows returned are those of whole components: every episode that shares a component with one of them is
        among them.
        """
        reached: set[int] = set()
        links: dict[tuple[int, int], dict[tuple[int, int], int]] = defaultdict(dict)
        frontier = {row for row in touched if row in self._place}
        self._read(sorted(frontier))
        while frontier:
            reached |= frontier
            telling = [row for row in sorted(frontier) if self._items[row]]
            self._read(self._around(telling))
            frontier = self._link(telling, links) - reached
        items, keys = self._of(sorted(reached))
        place = {key: number for number, key in enumerate(keys)}
        numbered = {place[key]: {place[other]: near for other, near in found.items()} for key, found in links.items()}
        return items, numbered, reached

    def _link(self, rows: Sequence[int], links: dict[tuple[int, int], dict[tuple[int, int], int]]) -> set[int]:
        """Link what the rows say with all that was read; return the rows at the other ends."""
        items, keys = self._of(sorted(self._items))
        chosen = set(rows)
        fresh = [number for number, key in enumerate(keys) if key[0] in chosen]
        ends: set[int] = set()
        for number, found in linked(items, self._bars, fresh).items():
            for other, near in found.items():
                links[keys[number]][keys[other]] = near
                ends.add(keys[other][0])
        return ends

    def _of(self, rows: Iterable[int]) -> tuple[list[Said], list[tuple[int, int]]]:
        pairs = [(item, (row, number)) for row in rows for number, item in enumerate(self._items[row])]
        return [item for item, _ in pairs], [key for _, key in pairs]

    def _around(self, rows: Sequence[int]) -> list[int]:
        """Return the rows not read yet whose episodes are near enough to any of those given."""
        unread: BoolArray = np.array([int(row) not in self._items for row in self.rows], np.bool_)
        if not rows or not unread.any():
            return []
        if self._vectors is None:
            return [int(row) for row in self.rows[unread]]
        numbers = whole_numbers(self._vectors)
        others, least = numbers[unread], product_of(self._bars.around)
        near = np.zeros(len(others), np.bool_)
        places = np.array([self._place[row] for row in rows])
        for start in range(0, len(places), _BLOCK):
            near |= (numbers[places[start : start + _BLOCK]] @ others.T >= least).any(axis=0)
        return [int(row) for row in self.rows[unread][near]]

    def _read(self, rows: Sequence[int]) -> None:
        """Read and extract the rows that were not read yet."""
        missing = [row for row in rows if row not in self._items]
        for start in range(0, len(missing), _READ_AT_ONCE):
            batch = missing[start : start + _READ_AT_ONCE]
            refs = [self._view.ref_of(row) for row in batch]
            episodes = {node.id: cast(Episode, node) for node in self._run.store.records.nodes(refs)}
            row_of = {ref.id: row for ref, row in zip(refs, batch, strict=True)}
            extraction = self._extractor.extract(list(episodes.values()))
            vectors = self._own_vectors([one for one in extraction.candidates if not one.whole])
            self._items.update({row: [] for row in batch})
            self.held_back.update(row_of[episode] for episode in extraction.held_back)
            for one in extraction.candidates:
                around = None if self._vectors is None else self._vectors[self._place[row_of[one.episode]]]
                vector = vectors.get((one.episode, one.place), around)
                self._items[row_of[one.episode]].append(said(one, episodes[one.episode], vector, around))
            self._run.progress(start + len(batch), len(missing), "reading")

    def _own_vectors(self, candidates: Sequence[Candidate]) -> dict[tuple[str, int], Vector]:
        """Return the vectors of candidates that are a part of their episode; none without a model."""
        found: dict[tuple[str, int], Vector] = {}
        if self._vectors is None:
            return found
        for start in range(0, len(candidates), _EMBEDDED_AT_ONCE):
            batch = candidates[start : start + _EMBEDDED_AT_ONCE]
            made = self._run.store.embed([one.trigger for one in batch])
            self._run.progress(start + len(batch), len(candidates), "embedding")
            for one, vector in zip(batch, made, strict=True):
                if vector is not None:
                    found[one.episode, one.place] = np.frombuffer(vector, np.float32)
        return found
