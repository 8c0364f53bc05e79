"""Told: which faded episodes need no summary, since a memory or another episode says the same already."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from hashlib import sha256

import numpy as np

from helix.model.edge import Label, Relation
from helix.model.episode import Episode
from helix.model.memory import Memory, Status
from helix.store.catalogue import CatalogueView
from helix.store.columns import LABEL_CODE, STATUS_CODE, BoolArray
from helix.store.projection import GraphSnapshot
from helix.store.store import Store
from helix.text.tokens import query_terms

_MEMORY, _ACTIVE = LABEL_CODE[Label.MEMORY], STATUS_CODE[Status.ACTIVE]
_ENDS = " .!\u2026"
"""What may end a text without changing what it says."""


def told_already(
    store: Store, graph: GraphSnapshot, view: CatalogueView, rows: Sequence[int], covered: BoolArray, now: int
) -> BoolArray:
    """Return for every row whether it is one of `rows` (episodes, in order) that tells nothing new.

    A memory that is grounded in it and has not faded at `now` (microseconds) has all its telling words. Or an earlier
    one of the rows, one that is `covered` by a summary, or one that such a memory says has the same text in its scope.
    """
    told = np.zeros(view.count, np.bool_)
    told[_in_memories(store, graph, view, rows, now)] = True
    scopes = view.columns.scope
    spoken_for = np.flatnonzero((covered | told) & np.isin(scopes, scopes[np.asarray(rows, np.int64)]))
    known = set(_texts(store, view, spoken_for.tolist()))
    left = [row for row in rows if not (covered[row] or told[row])]
    for row, text in zip(left, _texts(store, view, left), strict=True):
        told[row] = text in known
        known.add(text)
    return told


def _in_memories(store: Store, graph: GraphSnapshot, view: CatalogueView, rows: Sequence[int], now: int) -> list[int]:
    """Return those of the rows of which one memory that is grounded in them has every telling word."""
    places, columns = np.asarray(rows, np.int64), view.columns
    found = graph.neighbours(places, Relation.GROUNDED_IN)
    speaks = (columns.label == _MEMORY) & (columns.status == _ACTIVE)
    speaks &= (columns.fades_at >= now) & (columns.valid_to > now)
    wanted = ~found.outgoing & speaks[found.rows]
    pairs = list(zip(places[found.origin[wanted]].tolist(), found.rows[wanted].tolist(), strict=True))
    terms = {row: _terms(text) for row, text in _contents(store, view, {row for pair in pairs for row in pair})}
    return sorted({episode for episode, memory in pairs if terms[episode] <= terms[memory]})


def _contents(store: Store, view: CatalogueView, rows: AbstractSet[int]) -> Iterator[tuple[int, str]]:
    ordered = sorted(rows)
    for row, node in zip(ordered, store.records.nodes([view.ref_of(row) for row in ordered]), strict=True):
        if isinstance(node, Memory):
            yield row, f"{node.trigger}\n{node.resolution}"
        elif isinstance(node, Episode):
            yield row, node.content


def _terms(text: str) -> frozenset[str]:
    return frozenset(query_terms(text, limit=len(text)))


def _texts(store: Store, view: CatalogueView, rows: Sequence[int]) -> list[bytes]:
    """Return for each row, which has passages, a digest of its scope and of what it is found by, speaker included."""
    passages = view.passages.of_rows(np.asarray(rows, np.int64), view.count)
    texts = store.records.passage_texts([int(number) for number in view.passages.numbers[passages]])
    spoken: dict[int, list[str]] = {row: [] for row in rows}
    for owner, text in zip(view.passages.owner[passages].tolist(), texts, strict=True):
        spoken[owner].append(" ".join(text.casefold().split()).rstrip(_ENDS))
    scopes = view.columns.scope
    return [sha256("\0".join((str(scopes[row]), *spoken[row])).encode("utf-8", "replace")).digest() for row in rows]
