"""Order: which tasks wait for which, as edges between them."""

from __future__ import annotations

from collections.abc import Iterable

from helix.lifecycle.compose import Composer
from helix.model.edge import Label, Ref, Relation
from helix.store.store import Store


def put_order(store: Store, composer: Composer, ident: str, blockers: Iterable[str]) -> None:
    """Let a task wait for others, as a part of somebody's change; for what is no task yet there is no waiting."""
    here = Ref(label=Label.TASK, id=ident)
    known = waits_for(store, ident)
    for blocker in dict.fromkeys(blockers):
        there = Ref(label=Label.TASK, id=blocker)
        if blocker not in known and store.catalogue.row_of(there) is not None:
            composer.edge(Relation.BLOCKED_BY, here, there)


def waits_for(store: Store, ident: str) -> frozenset[str]:
    """Return the ids of the tasks that a task waits for."""
    here = Ref(label=Label.TASK, id=ident)
    if store.catalogue.view.row_of(here) is None:
        return frozenset()
    edges = store.records.edges_at(here)
    return frozenset(op.target.id for op in edges if op.type is Relation.BLOCKED_BY and op.source == here)
