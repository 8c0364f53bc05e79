"""Versions: a memory is never rewritten; a new version takes its place and the old one stays as it was."""

from __future__ import annotations

from dataclasses import replace

from helix.lifecycle.compose import Composer, Prepared
from helix.model.edge import OPEN_RELATIONS, Label, Ref, Relation
from helix.model.memory import Memory, Status
from helix.model.records import edge_from
from helix.store.store import Store

# What a version passes on: the links people and outcomes made, and its evidence. Mentions are read anew from the text.
_INHERITED = frozenset(OPEN_RELATIONS) - {Relation.SUPERSEDES} | {Relation.GROUNDED_IN, Relation.LEARNED}


def supersede(
    composer: Composer, store: Store, old: Memory, new: Memory, prepared: Prepared, files: tuple[str, ...]
) -> Ref:
    """Write `new` as the version that replaces `old`, which is retired; return the new node."""
    before = Ref(label=Label.MEMORY, id=old.id)
    after = composer.node(new)
    composer.passages(after, prepared)
    composer.mentions(after, new.scope, prepared.mentions, new.provenance)
    composer.touches(after, new.scope, files, new.provenance)
    composer.edge(Relation.SUPERSEDES, after, before, provenance=new.provenance)
    composer.patch(before, status=Status.RETIRED, retired_at=composer.now)
    for stored in store.records.edges_at(before):
        if stored.type not in _INHERITED:
            continue
        edge = edge_from(stored)
        composer.put_edge(
            replace(
                edge,
                source=after if edge.source == before else edge.source,
                target=after if edge.target == before else edge.target,
            )
        )
    return after


def files_of(store: Store, memory: Memory) -> tuple[str, ...]:
    """Return the paths of the files a memory touches."""
    ref = Ref(label=Label.MEMORY, id=memory.id)
    touched = [op.target for op in store.records.edges_at(ref) if op.type is Relation.TOUCHES and op.source == ref]
    return tuple(node.name for node in store.records.nodes(touched) if hasattr(node, "name"))
