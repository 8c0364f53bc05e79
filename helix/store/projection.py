"""Projection: the typed graph in memory, as adjacency over the catalogue's rows, for walks that never wait.

One thread writes, any number read. A reader takes `snapshot` once and works on it. A snapshot is a large compressed
base, shared by many snapshots, and a small one of what came since; weights that changed in the base are copied first.
When the small part has grown, it is folded into a new base, which readers get with the next snapshot.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from helix.model.edge import Relation
from helix.model.operations import DropEdge, DropNode, Operation, PutEdge
from helix.store.catalogue import Catalogue, CatalogueView
from helix.store.csr import RELATION_CODE, RELATIONS, Adjacency, Csr, EdgeKey, EdgeList, EdgeTable, build_csr
from helix.store.node_columns import NO_CODE, FloatArray, IndexArray

_N = TypeVar("_N", np.float64, np.int64)

WALK_WEIGHTS: Mapping[Relation, float] = {
    **dict.fromkeys(Relation, 1.0),
    Relation.SUPERSEDES: 0.5,
    Relation.IN_SESSION: 0.0,
    Relation.NEXT: 0.0,
    Relation.HAS_TASK: 0.3,
    Relation.BLOCKED_BY: 0.3,
    **dict.fromkeys((Relation.INJECTED, Relation.WITHHELD), 0.0),
    **dict.fromkeys((Relation.FOR_TASK, Relation.PROPOSED, Relation.BASED_ON), 0.0),
}
"""How strongly each type of edge draws a walk: what says little about meaning draws less.

That memories were shown together draws none: what is shown would be shown more for it. What a task was planned and
tried with leads to no memory.

Turns of a session draw none: through them a walk brings whole sessions for one turn that fits. What a turn owes to its
neighbours is a matter of its own (`recipes.Default.context`).
"""

MOST_TO_ENTITY = 1.0
"""Most that a mention draws a walk from a text to the entity. The other way it draws by its whole weight: from an
entity the walk goes first to the texts that are about it, and from a text to all that it speaks of alike."""

FOLD_MINIMUM = 2048
FOLD_SHARE = 1 / 64
"""The recent part is folded in when it exceeds this share of the base's edges, and FOLD_MINIMUM."""

_MAX_WEIGHT = 1e6
_MENTIONS = RELATION_CODE[Relation.MENTIONS]


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphSnapshot:
    """The graph as it was at one moment. Rows are those of the catalogue's `generation`.

    `walk` and `recent_walk` are `base` and `recent` with walk weights (edge weight times type weight) in place of the
    edges' own. `strength` is the sum of walk weights at each row, `degree` the number of its edges; both end at the
    last row that has an edge.
    """

    base: Csr
    walk: Csr
    recent: Csr
    recent_walk: Csr
    recent_rows: IndexArray
    strength: FloatArray
    degree: IndexArray
    generation: int

    @property
    def edge_count(self) -> int:
        """The number of edges that the store holds in memory."""
        return int(self.degree.sum()) // 2

    def edges(self) -> EdgeList:
        """Return every edge that the store holds in memory once, as it is directed."""
        recent = self.recent.edges()
        return EdgeList.joined(self.base.edges(), replace(recent, source=self.recent_rows[recent.source]))

    def adjacent(self, rows: npt.NDArray[np.integer]) -> Adjacency:
        """Return the neighbours of the rows over the store's edges of any type, in both directions."""
        base = self.base.adjacent(rows)
        if len(self.recent_rows):
            base = Adjacency.joined(base, self._recent(rows))
        return base.where(base.weights > 0)

    def _recent(self, rows: npt.NDArray[np.integer]) -> Adjacency:
        origin, places = self._recent_places(rows)
        found = self.recent.adjacent(places)
        return replace(found, origin=origin[found.origin])

    def _recent_places(self, rows: npt.NDArray[np.integer]) -> tuple[IndexArray, IndexArray]:
        """Return which of the rows the recent part has, and their places in it."""
        places = np.minimum(np.searchsorted(self.recent_rows, rows), len(self.recent_rows) - 1)
        origin = np.flatnonzero(self.recent_rows[places] == rows)
        return origin, places[origin]

    def neighbours(self, rows: Sequence[int] | npt.NDArray[np.integer], *relations: Relation) -> Adjacency:
        """Return the neighbours of the rows over the store's edges of the given types, or of any."""
        found = self.adjacent(np.asarray(rows, np.int64))
        if not relations:
            return found
        wanted = np.zeros(len(RELATIONS), np.bool_)
        wanted[[RELATION_CODE[relation] for relation in relations]] = True
        return found.where(wanted[found.relations])

    def sources_of(self, relation: Relation) -> IndexArray:
        """Return the rows of the store at which an edge of the type begins, ascending."""
        code = RELATION_CODE[relation]
        base, recent = (
            np.searchsorted(
                csr.starts, np.flatnonzero((csr.relations == code) & csr.outgoing & (csr.weights > 0)), "right"
            )
            for csr in (self.base, self.recent)
        )
        return np.unique(np.concatenate((base - 1, self.recent_rows[recent - 1])))

    def spread(self, rows: IndexArray, mass: FloatArray) -> tuple[IndexArray, FloatArray]:
        """Return rows and shares in which a walk's step spreads the rows' mass over their neighbours in the store.

        A row may be named more than once. The mass of a row without edges goes nowhere.
        """
        strength = self.strength_of(rows)
        able = strength > 0
        rows, mass = rows[able], mass[able] / strength[able]
        to_rows, shares = self.walk.spread(rows, mass)
        if not len(self.recent_rows):
            return to_rows, shares
        origin, places = self._recent_places(rows)
        more_rows, more_shares = self.recent_walk.spread(places, mass[origin])
        return np.concatenate((to_rows, more_rows)), np.concatenate((shares, more_shares))

    def strength_of(self, rows: npt.NDArray[np.integer]) -> FloatArray:
        """Return the sum of the walk weights of the store's edges at each row; 0 for one without edges."""
        return _taken(self.strength, rows)

    def degree_of(self, rows: npt.NDArray[np.integer]) -> IndexArray:
        """Return the number of the store's edges at each row; 0 for one without edges."""
        return _taken(self.degree, rows)


class Projection:
    """The writer's side. `load` and `apply` belong to the catalogue's thread and follow it; `snapshot` is anyone's."""

    _base: Csr
    _walk: Csr
    _recent: EdgeTable

    def __init__(self, type_weights: Mapping[Relation, float] = WALK_WEIGHTS) -> None:
        self._type_weights = np.array([type_weights[relation] for relation in RELATIONS])
        self._generation = 0
        self._snapshot = self._rebased(EdgeTable().edges())

    @property
    def snapshot(self) -> GraphSnapshot:
        """The edges that the store holds in memory as they are now, and stay for whoever holds them."""
        return self._snapshot

    def load(self, operations: Iterable[Operation], catalogue: Catalogue) -> None:
        """Replace the edges that the store holds by those among the operations whose ends the catalogue holds."""
        view = catalogue.view
        edges = EdgeTable()
        for op in operations:
            if isinstance(op, PutEdge | DropEdge) and (key := _key(op, view)) is not None:
                edges.put(key, _weight_after(op, edges.get(key)))
        self._generation = view.generation
        self._snapshot = self._rebased(edges.edges())

    def restore(self, edges: EdgeList, catalogue: Catalogue) -> None:
        """Replace the edges that the store holds in memory by these between rows of the catalogue."""
        self._generation = catalogue.view.generation
        self._snapshot = self._rebased(edges)

    def take_over(self, other: Projection, catalogue: Catalogue) -> None:
        """Replace the edges that the store holds by those of another, between rows of the catalogue.

        Nobody may use the other one any more.
        """
        self._generation = catalogue.view.generation
        self._base, self._walk, self._recent = other._base, other._walk, other._recent
        self._snapshot = replace(other._snapshot, generation=self._generation)

    def apply(self, operations: Sequence[Operation], catalogue: Catalogue) -> None:
        """Apply one batch that the catalogue has applied to the store's edges; a reader sees all of it or nothing.

        Applying it twice is no change. An edge to something that is no node is left out.
        """
        view = catalogue.view
        touched: set[int] = set()
        changed: dict[int, float] = {}
        dropped = next((op for op in operations if isinstance(op, DropNode)), None)
        if dropped is not None:
            # The catalogue does not know the rows of dropped nodes by their ids any more.
            for edge in self._edges_of_holes(view):
                self._apply(dropped, edge, changed)
                touched.update(edge[1:])
        for op in operations:
            if isinstance(op, PutEdge | DropEdge) and (key := _key(op, view)) is not None:
                self._apply(op, key, changed)
                touched.update(key[1:])
        if not touched:
            return
        if changed:
            weights = self._base.weights.copy()
            weights[list(changed)] = list(changed.values())
            self._base = replace(self._base, weights=weights)
            self._walk = self._weighed(self._base)
        if len(self._recent) > max(FOLD_MINIMUM, len(self._base.rows) // 2 * FOLD_SHARE):
            self._snapshot = self._rebased(EdgeList.joined(self._base.edges(), self._recent.edges()))
        else:
            self._snapshot = self._extended(np.array(sorted(touched)))

    def _edges_of_holes(self, view: CatalogueView) -> list[EdgeKey]:
        """Return the edges at rows whose node was dropped, which the catalogue has applied already."""
        holes = np.flatnonzero(view.columns.label == NO_CODE)
        found = self._snapshot.adjacent(holes)
        ends = zip(found.relations.tolist(), holes[found.origin].tolist(), found.rows.tolist(), strict=True)
        return [
            (relation, row, other) if outgoing else (relation, other, row)
            for (relation, row, other), outgoing in zip(ends, found.outgoing.tolist(), strict=True)
        ]

    def _apply(self, op: PutEdge | DropEdge | DropNode, key: EdgeKey, changed: dict[int, float]) -> None:
        current = self._recent.get(key)
        places = self._base.places(key) if current is None else None
        if places is None:
            self._recent.put(key, _weight_after(op, current))
            return
        current = changed.get(places[0], float(self._base.weights[places[0]]))
        changed.update(dict.fromkeys(places, _weight_after(op, current)))

    def _rebased(self, edges: EdgeList) -> GraphSnapshot:
        """Make the edges the new base, with nothing recent beside it."""
        row_count = int(max(edges.source.max(initial=-1), edges.target.max(initial=-1))) + 1
        self._base = build_csr(edges, row_count)
        self._walk = self._weighed(self._base)
        self._recent = EdgeTable()
        nothing = build_csr(self._recent.edges(), 0)
        blank = GraphSnapshot(
            base=self._base,
            walk=self._walk,
            recent=nothing,
            recent_walk=nothing,
            recent_rows=np.empty(0, np.int64),
            strength=np.zeros(row_count),
            degree=np.zeros(row_count, np.int64),
            generation=self._generation,
        )
        return _summed(blank, np.arange(row_count), self._type_weights)

    def _extended(self, touched: IndexArray) -> GraphSnapshot:
        """Return the present snapshot with what changed at the touched rows since."""
        recent, recent_rows = _compact(self._recent.edges())
        last = self._snapshot
        row_count = max(len(last.strength), int(touched[-1]) + 1)
        longer = replace(
            last,
            base=self._base,
            walk=self._walk,
            recent=recent,
            recent_walk=self._weighed(recent),
            recent_rows=recent_rows,
            strength=_lengthened(last.strength, np.zeros(row_count)),
            degree=_lengthened(last.degree, np.zeros(row_count, np.int64)),
        )
        return _summed(longer, touched, self._type_weights)

    def _weighed(self, csr: Csr) -> Csr:
        return replace(csr, weights=_draw(csr, self._type_weights))


def _draw(ends: Csr | Adjacency, type_weights: FloatArray) -> FloatArray:
    """Return how strongly each edge draws a walk that leaves from the end it is held from."""
    capped = ends.outgoing & (ends.relations == _MENTIONS)
    drawn: FloatArray = np.where(capped, np.minimum(ends.weights, MOST_TO_ENTITY), ends.weights)
    return drawn * type_weights[ends.relations]


def _key(op: PutEdge | DropEdge, view: CatalogueView) -> EdgeKey | None:
    source, target = view.row_of(op.source), view.row_of(op.target)
    if source is None or target is None or source == target:
        return None
    return RELATION_CODE[op.type], source, target


def _weight_after(op: PutEdge | DropEdge | DropNode, current: float | None) -> float:
    """Return the weight an operation leaves: 0 for a dropped edge, the present one where it names none."""
    if not isinstance(op, PutEdge):
        return 0.0
    given = op.props.get("weight")
    if given is None:
        return current or 1.0
    return min(max(float(given), 0.0), _MAX_WEIGHT)


def _summed(snapshot: GraphSnapshot, rows: IndexArray, type_weights: FloatArray) -> GraphSnapshot:
    """Sum strength and degree anew at the rows, in arrays that belong to this snapshot alone."""
    found = snapshot.adjacent(rows)
    snapshot.strength[rows] = np.bincount(found.origin, _draw(found, type_weights), len(rows))
    snapshot.degree[rows] = np.bincount(found.origin, minlength=len(rows))
    return snapshot


def _compact(edges: EdgeList) -> tuple[Csr, IndexArray]:
    """Return the edges over only the rows that have one, and those rows, ascending."""
    rows, places = np.unique(np.concatenate((edges.source, edges.target)), return_inverse=True)
    count = len(edges.source)
    csr = build_csr(replace(edges, source=places[:count], target=places[count:]), len(rows))
    return replace(csr, rows=rows[csr.rows]), rows


def _lengthened(values: npt.NDArray[_N], longer: npt.NDArray[_N]) -> npt.NDArray[_N]:
    longer[: len(values)] = values
    return longer


def _taken(values: npt.NDArray[_N], rows: npt.NDArray[np.integer]) -> npt.NDArray[_N]:
    """Return the values of the rows, 0 for rows behind the end."""
    found = np.zeros(len(rows), values.dtype)
    inside = rows < len(values)
    found[inside] = values[rows[inside]]
    return found
