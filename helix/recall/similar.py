"""Similar: nearest memories by meaning alone, for duplicates, repeated failures and edges worth having.

Fusion buries near-duplicates under what merely shares words, so none of this uses more than the vectors.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np

from helix.model.clock import to_micros
from helix.model.edge import Label, Relation
from helix.model.memory import Kind, Memory
from helix.model.recall import RecallQuery
from helix.recall.vector import candidates, check_dimension, scan
from helix.store.catalogue import CatalogueView
from helix.store.index import Rows, StoreIndex
from helix.store.matrix import VectorArray, vector_of
from helix.store.node_columns import KINDS, LABEL_CODE, BoolArray, IndexArray
from helix.store.projection import GraphSnapshot

SUGGESTED_FROM = 0.6
"""Cosine from which an edge is worth suggesting; it belongs to the embedding space."""

SHARED_ENTITIES = (Relation.MENTIONS, Relation.TOUCHES)

_MEMORY = LABEL_CODE[Label.MEMORY]

_RELATION_OF: dict[tuple[Kind, Kind], Relation] = {
    (Kind.PATTERN, Kind.FAILURE): Relation.SOLVES,
    (Kind.PATTERN, Kind.SYSTEMIC): Relation.SOLVES,
    (Kind.SNIPPET, Kind.FAILURE): Relation.SOLVES,
    (Kind.FAILURE, Kind.SYSTEMIC): Relation.CAUSES,
    (Kind.CONVENTION, Kind.DECISION): Relation.DECIDED_BY,
    (Kind.PATTERN, Kind.DECISION): Relation.DECIDED_BY,
    (Kind.EVOLUTION, Kind.DECISION): Relation.DECIDED_BY,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """An edge that could be: from the source row to the target row, why, and how similar the two are."""

    source: int
    target: int
    relation: Relation
    similarity: float
    reason: str


def nearest(
    index: StoreIndex, vector: bytes, rows: Rows, *, threshold: float = -1.0, limit: int
) -> list[tuple[Memory, float]]:
    """Return (memory, cosine) of similar memories among recall's rows, by a vector and a least cosine, best first."""
    near = nearest_memories(index.view, vector_of(vector), rows.mask, threshold=threshold, limit=limit)
    nodes = index.records.present([index.ref_of(row) for row, _ in near])
    return [(node, cosine) for node, (_, cosine) in zip(nodes, near, strict=True) if isinstance(node, Memory)]


def nearest_memories(
    view: CatalogueView, vector: VectorArray, mask: BoolArray, *, threshold: float, limit: int
) -> list[tuple[int, float]]:
    """Return (row, cosine) of the similar memories of recall's mask by a least cosine, best first; exact.

    Raises EmbeddingSpaceError for a vector of another dimension.
    """
    check_dimension(view, vector)
    indexes = candidates(view, mask & (view.columns.label == _MEMORY))
    ranked = scan(view, indexes, vector, limit)
    return [
        (int(row), float(score)) for row, score in zip(ranked.rows, ranked.scores, strict=True) if score >= threshold
    ]


def similar_recent(
    view: CatalogueView,
    vector: VectorArray,
    *,
    now: datetime,
    threshold: float = 0.7,
    days: float = 7.0,
    kinds: Collection[Kind] = (),
    scope: str | None = None,
    limit: int = 10,
) -> list[tuple[int, float]]:
    """Return (row, cosine) of similar memories of the last days among recall's rows, by a least cosine, best first.

    Whatever has faded counts too: it is asked whether something happened before, not what to show.
    """
    query = RecallQuery(query="", scope=scope, kinds=tuple(kinds), labels=(Label.MEMORY,), deep=True)
    mask = view.mask(query, now) & (view.columns.recorded_at >= to_micros(now - timedelta(days=days)))
    return nearest_memories(view, vector, mask, threshold=threshold, limit=limit)


def suggest_edges(
    view: CatalogueView, graph: GraphSnapshot, row: int, *, now: datetime, limit: int = 5
) -> list[Suggestion]:
    """Return edges that a memory could have to similar ones of its scope, as recall finds them, the most similar first.

    Memories it has an edge with already are excluded; so is everything where it has no vector of its own.
    """
    passages = view.passages.of_rows(np.array([row]), view.count)
    own = view.passages.vectors.rows(passages[view.passages.embedded[passages]])
    if not len(own):
        return []
    mask = view.mask(RecallQuery(query="", scope=view.scope_of(row), labels=(Label.MEMORY,)), now)
    mask[row] = False
    mask[graph.neighbours([row]).rows] = False
    near = nearest_memories(view, own[0], mask, threshold=SUGGESTED_FROM, limit=limit)
    return [_suggestion(view, graph, row, other, similarity) for other, similarity in near]


def _suggestion(view: CatalogueView, graph: GraphSnapshot, row: int, other: int, similarity: float) -> Suggestion:
    here, there = _kind(view, row), _kind(view, other)
    source, target = row, other
    relation = _RELATION_OF.get((here, there))
    if relation is None and (there, here) in _RELATION_OF:
        source, target, relation = other, row, _RELATION_OF[there, here]
    shared = _shared(view, graph, row, other)
    about = f"both speak of {', '.join(shared)}" if shared else f"{round(100 * similarity)} % alike in meaning"
    reason = f"a {_kind(view, source)} and a {_kind(view, target)}: {about}"
    return Suggestion(
        source=source, target=target, relation=relation or Relation.SIMILAR, similarity=similarity, reason=reason
    )


def _kind(view: CatalogueView, row: int) -> Kind:
    return KINDS[int(view.columns.kind[row])]


def _shared(view: CatalogueView, graph: GraphSnapshot, one: int, other: int, most: int = 2) -> list[str]:
    """Return the names of up to `most` entities that both rows mention or touch, the least common first."""
    found = graph.neighbours([one, other], *SHARED_ENTITIES)
    common: IndexArray = np.intersect1d(found.rows[found.origin == 0], found.rows[found.origin == 1])
    rarest = common[np.argsort(graph.degree_of(common), kind="stable")][:most]
    return [view.name_of(int(row)) for row in rarest]
