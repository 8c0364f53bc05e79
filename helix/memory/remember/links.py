"""Links: edges between memories as people and agents draw them, and the edges of any node."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from helix.errors import ConflictError, InvalidInputError, NotFoundError
from helix.journal.state import Records, edge_key
from helix.journal.tables import EdgeKey
from helix.memory.change.compose import Composer
from helix.memory.change.find import memory_of, node_of, standing_memory_of
from helix.memory.change.intake import Intake
from helix.model.edge import (
    DRAWN,
    MOST_WORDS,
    Edge,
    Ref,
    Relation,
    drawn_again,
    known_relation,
    relation_to_draw,
    without_word,
    words_of,
)
from helix.model.operations import DropEdge, PutEdge
from helix.model.paging import Key, cursor_of, cut, key_of, page_of
from helix.model.provenance import STATED, Provenance, Trust
from helix.model.records import edge_from
from helix.model.reports import Page
from helix.store.index import StoreIndex
from helix.store.store import Store
from helix.store.writer import Decision

_MOST_WEIGHT = 10.0
_ORDER = {relation: place for place, relation in enumerate(Relation)}


def link(store: Store, source: str, target: str, relation: str, weight: float, agent: str = "") -> Edge:
    """Create an edge between two memories, or strengthen the one that is there by `weight` (at most 10 in all).

    A relation that is no known type becomes RELATED with that word, beside the words which that edge has already. It is
    a person's, or that of the agent named. Raises InvalidInputError or NotFoundError; ConflictError for an erased one.
    """
    kind, word = relation_to_draw(relation)
    said_by = Intake(store.runtime.settings.text_limit).label(agent, "agent")
    trust = Trust.AGENT_INFERRED if said_by else Trust.USER_ASSERTED
    if not 0.0 < weight <= _MOST_WEIGHT:
        raise InvalidInputError(f"weight must be above 0 and at most {_MOST_WEIGHT:g}, not {weight!r}")

    def decision() -> Decision[Edge]:
        start, end = (standing_memory_of(store.index, name) for name in (source, target))
        if start.id == end.id:
            raise InvalidInputError("an edge needs two different memories", hint="name another target")
        here, there = (memory.ref for memory in (start, end))
        present = _present(store.records, kind, here, there)
        composer = Composer(store, store.runtime.clock())
        drawn = Edge(
            type=kind,
            source=here,
            target=there,
            created_at=composer.now,
            weight=weight,
            relation=word,
            attributes={DRAWN: True},
            provenance=Provenance(extractor=STATED, agent=said_by, trust=trust),
        )
        edge = drawn if present is None else _strengthened(present, drawn)
        composer.put_edge(edge)
        return Decision((composer.change("edge", relation=kind.value),), edge)

    return store.writer.submit(decision, once="edge")


def unlink(store: Store, source: str, target: str, relation: str, weight: float) -> Edge:
    """Take a link between memories back, its weight and word; returns the edge before, which goes with its last link.

    Raises NotFoundError where there is no such edge, ConflictError where nobody drew it.
    """
    kind, word = relation_to_draw(relation)

    def decision() -> Decision[Edge]:
        here, there = (memory_of(store.index, name).ref for name in (source, target))
        edge = _present(store.records, kind, here, there)
        if edge is None or (word and word not in words_of(edge.relation)):
            raise NotFoundError(f"no edge {relation!r} leads there", hint="`helix edges NAME` shows them")
        composer, left = Composer(store, store.runtime.clock()), edge.weight - weight
        if left > 0:
            composer.put_edge(replace(edge, weight=left, relation=without_word(edge.relation, word)))
        elif DRAWN in edge.attributes:
            composer.drop_edge(kind, here, there)
        else:
            raise ConflictError(
                "Helix drew that edge by itself, and nobody else", hint="`helix forget` one of its ends"
            )
        return Decision((composer.change("edge", relation=kind.value),), edge)

    return store.writer.submit(decision, once="unlink")


def _present(records: Records, kind: Relation, here: Ref, there: Ref) -> Edge | None:
    (held,) = records.edges([DropEdge(type=kind, source=here, target=there)])
    return None if held is None else edge_from(held)


def _strengthened(present: Edge, drawn: Edge) -> Edge:
    edge = drawn_again(present, drawn)
    if drawn.relation not in ("", *words_of(edge.relation)):
        hint = f"there are {present.relation}"
        raise InvalidInputError(f"two memories are related by at most {MOST_WORDS} words of your own", hint=hint)
    weight = min(_MOST_WEIGHT, present.weight + drawn.weight)
    return replace(edge, weight=weight, last_used_at=drawn.created_at)


def edges(index: StoreIndex, name_or_id: str | None, relation: str | None, first: int, after: str | None) -> Page[Edge]:
    """Return a page of the edges of a memory (by name or id), of any other node (by id), or (None) of the whole graph.

    A node's are in the order of the relations, what people draw before what Helix writes. Raises NotFoundError, and
    InvalidInputError for an unknown relation.
    """
    kind = None if relation is None else known_relation(relation)
    if name_or_id is None:
        return _of_all(index, kind, first, after)
    found = [op for op in index.records.edges_at(node_of(index, name_or_id)) if kind in (None, op.type)]
    return page_of(found, _place, first=first, after=after).each(edge_from)


def _place(op: PutEdge) -> Key:
    return (_ORDER[op.type], *edge_key(op)[1:])


def _of_all(index: StoreIndex, kind: Relation | None, first: int, after: str | None) -> Page[Edge]:
    behind = None if after is None else cast(EdgeKey, key_of(after, ("",) * 5))
    found = index.records.edges_of(kind, first + 1, behind)
    known = index.edge_count if kind is None else None  # counting reads every edge
    total = index.records.edge_count(kind) if known is None else known
    return cut(found, first, total, lambda op: cursor_of(edge_key(op))).each(edge_from)
