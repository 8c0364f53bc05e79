"""Consequences: what a memory that was just stored means for others - a failure that recurs, a gap answered."""

from __future__ import annotations

from helix.lifecycle.truth import gaps, systemic
from helix.model.edge import Label, Ref
from helix.model.memory import Kind, Status
from helix.store.store import Store


def follow_up(store: Store, memory_id: str) -> None:
    """Promote or count a failure, close the gaps that anything else answers; nothing for what is not active."""
    row = store.catalogue.row_of(Ref(label=Label.MEMORY, id=memory_id))
    memory = None if row is None else store.memory(row)
    if memory is None or memory.status is not Status.ACTIVE:
        return
    if memory.kind is Kind.FAILURE:
        systemic.notice(store, memory_id)
    gaps.notice(store, memory_id)
