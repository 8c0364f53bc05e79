"""CSR: compressed adjacency of rows, each edge held from both of its ends."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from helix.model.edge import Relation
from helix.store.node_columns import BoolArray, CodeArray, FloatArray, IndexArray

RELATIONS = tuple(Relation)
EdgeKey = tuple[int, int, int]
"""What an edge is known by: code of RELATIONS, source row, target row."""
RELATION_CODE: Mapping[str, int] = {relation: code for code, relation in enumerate(RELATIONS)}


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeList:
    """Edges as parallel arrays: source and target rows, code of RELATIONS, and the edge's own weight."""

    source: IndexArray
    target: IndexArray
    relation: CodeArray
    weight: FloatArray

    @staticmethod
    def joined(first: EdgeList, second: EdgeList) -> EdgeList:
        """Return the edges of both lists, each a part of those that the store holds in memory."""
        return EdgeList(
            source=np.concatenate((first.source, second.source)),
            target=np.concatenate((first.target, second.target)),
            relation=np.concatenate((first.relation, second.relation)),
            weight=np.concatenate((first.weight, second.weight)),
        )


class EdgeTable:
    """Edges by key in growing arrays; the last weight put under a key counts, and 0 removes."""

    def __init__(self) -> None:
        self._places: dict[EdgeKey, int] = {}
        self._relation = array("b")
        self._source = array("q")
        self._target = array("q")
        self._weight = array("d")

    def __len__(self) -> int:
        return len(self._places)

    def get(self, key: EdgeKey) -> float | None:
        """Return the weight of an edge that the store holds, 0 for a removed one, None for one that was never here."""
        place = self._places.get(key)
        return None if place is None else self._weight[place]

    def put(self, key: EdgeKey, weight: float) -> None:
        """Set the weight of an edge that the store holds in memory."""
        place = self._places.setdefault(key, len(self._weight))
        if place < len(self._weight):
            self._weight[place] = weight
            return
        relation, source, target = key
        self._relation.append(relation)
        self._source.append(source)
        self._target.append(target)
        self._weight.append(weight)

    def edges(self) -> EdgeList:
        """Return the edges that the store holds in memory, as arrays of their own."""
        weight = np.array(self._weight)
        keep = weight > 0
        return EdgeList(
            source=np.array(self._source)[keep],
            target=np.array(self._target)[keep],
            relation=np.array(self._relation)[keep],
            weight=weight[keep],
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Adjacency:
    """The neighbours of some rows: `origin[i]` is the place in the asked rows whose neighbour is `rows[i]`.

    `weights` are the edges' own, positive; `outgoing` says whether the asked row is the edge's source.
    """

    origin: IndexArray
    rows: IndexArray
    relations: CodeArray
    weights: FloatArray
    outgoing: BoolArray

    @staticmethod
    def joined(first: Adjacency, second: Adjacency) -> Adjacency:
        """Return the neighbours of both, found by the store's edges, first those of the first."""
        return Adjacency(
            origin=np.concatenate((first.origin, second.origin)),
            rows=np.concatenate((first.rows, second.rows)),
            relations=np.concatenate((first.relations, second.relations)),
            weights=np.concatenate((first.weights, second.weights)),
            outgoing=np.concatenate((first.outgoing, second.outgoing)),
        )

    def where(self, keep: BoolArray) -> Adjacency:
        """Return the neighbours, found by the store's edges, that `keep` marks."""
        return Adjacency(
            origin=self.origin[keep],
            rows=self.rows[keep],
            relations=self.relations[keep],
            weights=self.weights[keep],
            outgoing=self.outgoing[keep],
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Csr:
    """Compressed sparse rows: the entries of row r lie at starts[r]:starts[r + 1]. An entry of weight 0 is no edge."""

    starts: IndexArray
    rows: IndexArray
    relations: CodeArray
    outgoing: BoolArray
    weights: FloatArray

    @property
    def row_count(self) -> int:
        """How many of the store's rows have a place among its edges (CSR); later ones have no entries."""
        return len(self.starts) - 1

    def spans(self, rows: npt.NDArray[np.integer]) -> tuple[IndexArray, IndexArray]:
        """Return (start, length) of the entries of each row in the store's edges (CSR)."""
        inside = np.minimum(rows, self.row_count)
        starts = self.starts[inside]
        return starts, self.starts[np.minimum(rows + 1, self.row_count)] - starts

    def adjacent(self, rows: npt.NDArray[np.integer]) -> Adjacency:
        """Return the neighbours of the rows by the store's edges (CSR), in the order of the rows."""
        starts, lengths = self.spans(rows)
        origin = np.repeat(np.arange(len(rows)), lengths)
        before = np.cumsum(lengths) - lengths
        places = np.arange(len(origin)) + (starts - before)[origin]
        return Adjacency(
            origin=origin,
            rows=self.rows[places],
            relations=self.relations[places],
            weights=self.weights[places],
            outgoing=self.outgoing[places],
        )

    def spread(self, rows: npt.NDArray[np.integer], mass: FloatArray) -> tuple[IndexArray, FloatArray]:
        """Return where the rows' mass goes when each sends its own along every entry of the store's edges (CSR).

        An entry carries it times its weight.
        """
        starts, lengths = self.spans(rows)
        ends = np.cumsum(lengths)
        places = np.arange(ends[-1] if len(ends) else 0)
        places += np.repeat(starts - (ends - lengths), lengths)
        sent = np.repeat(mass, lengths)
        sent *= self.weights[places]
        return self.rows[places], sent

    def places(self, key: EdgeKey) -> tuple[int, int] | None:
        """Return the two places of an edge in the store's edges (CSR), from its source and from its target, or None."""
        relation, source, target = key
        forward = self._place(source, target, relation, True)
        backward = self._place(target, source, relation, False)
        return None if forward is None or backward is None else (forward, backward)

    def _place(self, row: int, other: int, relation: int, outgoing: bool) -> int | None:
        if row >= self.row_count:
            return None
        start, stop = int(self.starts[row]), int(self.starts[row + 1])
        here = self.rows[start:stop] == other
        here &= (self.relations[start:stop] == relation) & (self.outgoing[start:stop] == outgoing)
        found = np.flatnonzero(here)
        return start + int(found[0]) if len(found) else None

    def edges(self) -> EdgeList:
        """Return every edge of the store's edges (CSR) once, as it is directed."""
        owner = np.repeat(np.arange(self.row_count), np.diff(self.starts))
        keep = self.outgoing & (self.weights > 0)
        return EdgeList(
            source=owner[keep],
            target=self.rows[keep],
            relation=self.relations[keep],
            weight=self.weights[keep],
        )


def build_csr(edges: EdgeList, row_count: int) -> Csr:
    """Return the store's edges over `row_count` rows in compressed form (CSR); O(E log E)."""
    owner = np.concatenate((edges.source, edges.target))
    order = np.argsort(owner, kind="stable")
    starts = np.zeros(row_count + 1, np.int64)
    np.cumsum(np.bincount(owner, minlength=row_count), out=starts[1:])
    outgoing = np.zeros(len(owner), np.bool_)
    outgoing[: len(edges.source)] = True
    return Csr(
        starts=starts,
        rows=np.concatenate((edges.target, edges.source))[order],
        relations=np.concatenate((edges.relation, edges.relation))[order],
        outgoing=outgoing[order],
        weights=np.concatenate((edges.weight, edges.weight))[order],
    )
