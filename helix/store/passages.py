"""Passages: which text belongs to which row of the catalogue, with its vector and its number in the lexical index."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from helix.store.matrix import Matrix, MatrixView, VectorArray
from helix.store.node_columns import BoolArray, IndexArray, RowArray
from helix.store.snapshot_file import Image

NO_INDEX = -1
_FIRST_CAPACITY = 1024

TokenBatches = Iterable[tuple[Sequence[int], Sequence[bytes]]]
"""Numbers of passages and their tokens in UTF-8, joined by blanks, as the journal keeps them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StagedPassage:
    """A passage about to be added: its owner is already a row."""

    id: str
    number: int
    owner: int
    text: str
    tokens: str | None
    vector: bytes | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageChange:
    """What an update came to: the passages added, at the indexes that follow the last, and the indexes that died."""

    fresh: Sequence[StagedPassage]
    dead: Sequence[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageView:
    """Every passage ever added, by index; `alive` says which are still findable. Nothing in a view changes.

    `owner` is the row of the node, `numbers` the writer's number, `embedded` whether `vectors` holds a vector of it.
    `ids` may go on behind the end of a view.
    """

    owner: RowArray
    numbers: IndexArray
    alive: BoolArray
    embedded: BoolArray
    vectors: MatrixView
    ids: Sequence[str]
    index_of_number: RowArray
    index_of_id: Mapping[str, int]

    @property
    def count(self) -> int:
        """How many indexes the store's passages have, dead ones included."""
        return len(self.owner)

    def indexes(self, numbers: IndexArray) -> IndexArray:
        """Return the index of each of the store's passages by number, NO_INDEX for one that this view does not hold."""
        known = (numbers >= 0) & (numbers < len(self.index_of_number))
        found = np.full(len(numbers), NO_INDEX, np.int64)
        found[known] = self.index_of_number[numbers[known]]
        found[found >= self.count] = NO_INDEX
        return found

    def indexes_of_ids(self, passage_ids: Sequence[str]) -> IndexArray:
        """Return the index of each of the store's passages by id, NO_INDEX for one that does not live in this view."""
        found = np.array([self.index_of_id.get(passage_id, NO_INDEX) for passage_id in passage_ids], np.int64)
        found[found >= self.count] = NO_INDEX
        return np.where(found == NO_INDEX, NO_INDEX, np.where(self.alive[found], found, NO_INDEX))

    def of_rows(self, rows: IndexArray, row_count: int) -> IndexArray:
        """Return the indexes, ascending, of the store's living passages of the rows; `row_count` is the catalogue's."""
        wanted = np.zeros(row_count, np.bool_)
        wanted[rows] = True
        return np.flatnonzero(wanted[self.owner] & self.alive)

    def by_index(self, tokens: TokenBatches) -> Iterator[tuple[IndexArray, Sequence[bytes]]]:
        """Yield tokens of the store's passages by their indexes, without those that belong to no passage."""
        for numbers, texts in tokens:
            indexes = self.indexes(np.array(numbers, np.int64))
            held = np.flatnonzero(indexes != NO_INDEX)
            yield indexes[held], [texts[place] for place in held.tolist()]

    def vectors_of(self, indexes: IndexArray) -> tuple[VectorArray, BoolArray]:
        """Return the passages' vectors that the store has at `indexes`, and which there are.

        Their shape is (n, dimension); the others are zeros.
        """
        known = indexes != NO_INDEX
        known[known] = self.embedded[indexes[known]]
        found = np.zeros((len(indexes), self.vectors.dimension), np.float32)
        found[known] = self.vectors.rows(indexes[known])
        return found, known


class PassageTable:
    """The writer's side of the passages. Appends are invisible to older views, removals copy what they change.

    A replaced passage leaves a dead index behind until the next start.
    """

    def __init__(self, dimension: int) -> None:
        self.matrix = Matrix(dimension)
        self._count = 0
        self._arrays: dict[str, npt.NDArray[Any]] = _empty(_FIRST_CAPACITY)
        self._by_number = np.full(_FIRST_CAPACITY, NO_INDEX, np.int32)
        self._by_id: dict[str, int] = {}
        self._ids: list[str] = []
        self.next_number = 1

    def restore(self, image: Image) -> None:
        """Fill an empty table with the passages of the store's image."""
        arrays = {name: image.array(f"passage {name}") for name in self._arrays}
        self._count = len(arrays["owner"])
        self._arrays = _empty(self._count + _FIRST_CAPACITY)
        for name, array in arrays.items():
            self._arrays[name][: self._count] = array
        self._ids = list(image.texts["passages"])
        living = np.flatnonzero(arrays["alive"]).tolist()
        self._by_id = dict(zip(map(self._ids.__getitem__, living), living, strict=True))
        if self._count:
            self._remember(arrays["numbers"], 0)
        embedded = int(np.count_nonzero(arrays["embedded"]))
        self.matrix.restore(
            image.array("vectors"), image.array("codes"), image.array("scales"), image.array("vector mean"), embedded
        )

    def update(self, put: Sequence[StagedPassage], dropped: Iterable[str]) -> PassageChange:
        """Add passages to the store's table, each replacing one of its id that has no higher number; drop the others.

        Writing a passage again is no change (a journal may be replayed from an older row), but for a vector that it
        lacked.
        """
        fresh = [passage for passage in put if self._is_news(passage)]
        self._embed([passage for passage in put if self._lacks_vector(passage)])
        dead = [self._by_id.pop(passage_id) for passage_id in dropped if passage_id in self._by_id]
        dead += [self._by_id[passage.id] for passage in fresh if passage.id in self._by_id]
        if dead:
            alive = self._arrays["alive"].copy()
            alive[dead] = False
            self._arrays["alive"] = alive
        if fresh:
            self._append(fresh)
        return PassageChange(fresh=fresh, dead=dead)

    def _is_news(self, passage: StagedPassage) -> bool:
        current = self._by_id.get(passage.id)
        if current is None:
            return True
        number, owner = int(self._arrays["numbers"][current]), int(self._arrays["owner"][current])
        # A replay may drop the owner and put it again, in another row: the passage has to follow it there.
        return number < passage.number or (number == passage.number and owner != passage.owner)

    def _lacks_vector(self, passage: StagedPassage) -> bool:
        current = self._by_id.get(passage.id)
        if current is None or passage.vector is None:
            return False
        return int(self._arrays["numbers"][current]) == passage.number and not self._arrays["embedded"][current]

    def _embed(self, passages: Sequence[StagedPassage]) -> None:
        if not passages:
            return
        indexes = np.array([self._by_id[passage.id] for passage in passages])
        # No view looks at the vector of a passage that is not embedded in it, so these may be written in place.
        self.matrix.fill(indexes, [passage.vector for passage in passages if passage.vector is not None])
        embedded = self._arrays["embedded"].copy()
        embedded[indexes] = True
        self._arrays["embedded"] = embedded

    def _append(self, passages: Sequence[StagedPassage]) -> None:
        start, stop = self._count, self._count + len(passages)
        if stop > len(self._arrays["owner"]):
            grown = _empty(max(stop, len(self._arrays["owner"]) * 3 // 2))
            for name, array in self._arrays.items():
                grown[name][:start] = array[:start]
            self._arrays = grown
        numbers = np.array([passage.number for passage in passages], np.int64)
        self._arrays["owner"][start:stop] = [passage.owner for passage in passages]
        self._arrays["numbers"][start:stop] = numbers
        self._arrays["alive"][start:stop] = True
        self._arrays["embedded"][start:stop] = [passage.vector is not None for passage in passages]
        self.matrix.append([passage.vector for passage in passages])
        self._remember(numbers, start)
        for index, passage in enumerate(passages, start):
            self._ids.append(passage.id)
            self._by_id[passage.id] = index
        self._count = stop

    def _remember(self, numbers: IndexArray, start: int) -> None:
        top = int(numbers.max())
        if top >= len(self._by_number):
            grown = np.full(max(top + 1, len(self._by_number) * 3 // 2), NO_INDEX, np.int32)
            grown[: len(self._by_number)] = self._by_number
            self._by_number = grown
        self._by_number[numbers] = np.arange(start, start + len(numbers), dtype=np.int32)
        self.next_number = max(self.next_number, top + 1)

    def view(self) -> PassageView:
        """Return the store's passages as they are now."""
        count = self._count
        parts = {name: array[:count] for name, array in self._arrays.items()}
        return PassageView(
            vectors=self.matrix.view(),
            ids=self._ids,
            index_of_number=self._by_number,
            index_of_id=self._by_id,
            **parts,
        )


def _empty(capacity: int) -> dict[str, npt.NDArray[Any]]:
    return {
        "owner": np.empty(capacity, np.int32),
        "numbers": np.empty(capacity, np.int64),
        "alive": np.empty(capacity, np.bool_),
        "embedded": np.empty(capacity, np.bool_),
    }
