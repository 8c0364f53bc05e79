"""Versions: a memory is never rewritten; a new version takes its place and the old one stays as it was."""

from __future__ import annotations

from dataclasses import replace

from helix.lifecycle.compose import Composer, Prepared
from helix.model.edge import OPEN_RELATIONS, Label, Ref, Relation
from helix.model.episode import Episode
from helix.model.memory import Memory, Status
from helix.model.records import edge_from
from helix.store.store import Store

# What a version passes on: the links people and outcomes made, and its evidence. Mentions are read anew from the text.
_INHERITED = frozenset(OPEN_RELATIONS) - {Relation.SUPERSEDES} | {Relation.GROUNDED_IN, Relation.LEARNED}


def supersede(
    composer: Composer, store: Store, old: Memory, new: Memory, prepared: Prepared, files: tuple[str, ...]
) -> Ref:
    """Write `new` as the version that replaces `old`, which is retired; return the new node.

    A version better founded than the old one does not stand on weaker evidence: that stays with the old version.
    """
    after = composer.node(new)
    composer.passages(after, prepared)
    composer.mentions(after, new.scope, prepared.mentions, new.provenance)
    composer.touches(after, new.scope, files, new.provenance)
    take_place(composer, store, old, new)
    return after


def take_place(composer: Composer, store: Store, old: Memory, new: Memory) -> None:
    """Retire `old` in favour of `new`, a node that is written already, and pass on what a version passes on."""
    before, after = Ref(label=Label.MEMORY, id=old.id), Ref(label=Label.MEMORY, id=new.id)
    composer.edge(Relation.SUPERSEDES, after, before, provenance=new.provenance)
    composer.patch(before, status=Status.RETIRED, retired_at=composer.now)
    for stored in store.records.edges_at(before):
        if stored.type not in _INHERITED:
            continue
        edge = edge_from(stored)
        if edge.type is Relation.GROUNDED_IN and edge.source == before and not _bears(store, edge.target, old, new):
            continue
        composer.put_edge(
            replace(
                edge,
                source=after if edge.source == before else edge.source,
                target=after if edge.target == before else edge.target,
            )
        )


def _bears(store: Store, evidence: Ref, old: Memory, new: Memory) -> bool:
    """Return whether evidence of an old version is good enough for the new one."""
    if new.provenance.trust.rank >= old.provenance.trust.rank:
        return True
    (held,) = store.records.nodes([evidence])
    return not isinstance(held, Episode) or held.provenance.trust.rank <= new.provenance.trust.rank


def files_of(store: Store, memory: Memory) -> tuple[str, ...]:
    """Return the paths of the files a memory touches."""
    ref = Ref(label=Label.MEMORY, id=memory.id)
    touched = [op.target for op in store.records.edges_at(ref) if op.type is Relation.TOUCHES and op.source == ref]
    return tuple(node.name for node in store.records.nodes(touched) if hasattr(node, "name"))
