"""Neighbours in meaning: what is like a new statement, repeats of late, edges worth having, as domain objects."""

from __future__ import annotations

from collections.abc import Callable

from helix.errors import InvalidInputError, ModelError
from helix.memory.change.intake import Intake
from helix.model.clock import to_micros
from helix.model.edge import Label
from helix.model.memory import Kind, Memory, Status
from helix.model.reports import EdgeSuggestion, SimilarMemory
from helix.recall import similar
from helix.store.index import Rows, StoreIndex
from helix.store.listing import check_limit
from helix.store.matrix import vector_of
from helix.store.store import Store

LeftOut = Callable[[StoreIndex], Rows]
"""Says which memories of an index do not count."""


def nearest_active(
    store: Store, vector: bytes, scope: str, limit: int, *, ended: bool = False, but: LeftOut | None = None
) -> list[tuple[Memory, float]]:
    """Return (memory, cosine) of the active memories of exactly this scope nearest to a vector, faded ones too.

    `ended`: also those that hold no longer. `but`: those that are excluded.
    """
    index = store.index
    rows = index.where(Label.MEMORY, scope=scope, statuses=[Status.ACTIVE])
    if but is not None:
        rows -= but(index)
    if not ended:
        rows &= index.holding(to_micros(store.runtime.clock()))
    return similar.nearest(index, vector, rows, limit=limit)


def recent(
    store: Store, text: str, *, threshold: float, days: float, kind: Kind | None, scope: str | None, limit: int
) -> list[SimilarMemory]:
    """Return memories of the last days that are at least that similar to a text, nearest first: repeats of late.

    Raises ModelError without an embedding model: likeness in meaning is all this asks for.
    """
    check_limit(store.runtime, limit)
    if not -1.0 <= threshold <= 1.0 or not 0 < days <= 36_500:
        message = f"threshold {threshold!r} or days {days!r} is out of range"
        raise InvalidInputError(message, hint="threshold: -1 to 1; days: above 0, at most 36500")
    text = Intake(store.runtime.settings.text_limit).text(text, "trigger")
    (vector,) = store.embed([text])
    if vector is None:
        raise ModelError(
            "similar memories are found by their vectors, and there is no model", hint="`helix models install`"
        )
    found = similar.similar_recent(
        store.index.view,
        vector_of(vector),
        now=store.runtime.clock(),
        threshold=threshold,
        days=days,
        kinds=() if kind is None else (kind,),
        scope=scope,
        limit=limit,
    )
    return [SimilarMemory(memory=store.index.memory(row), similarity=cosine) for row, cosine in found]


def suggest(store: Store, memory: Memory, limit: int) -> list[EdgeSuggestion]:
    """Suggest edges that a memory could have, the most similar first."""
    check_limit(store.runtime, limit)
    index = store.index
    row = index.row_of(memory.ref)
    if row is None:
        return []
    return [
        EdgeSuggestion(
            memory=index.memory(found.target if found.source == row else found.source),
            relation=found.relation,
            similarity=found.similarity,
            reason=found.reason,
        )
        for found in similar.suggest_edges(index.view, index.graph, row, now=store.runtime.clock(), limit=limit)
    ]
