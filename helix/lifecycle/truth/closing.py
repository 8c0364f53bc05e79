"""Closing: ends the time for which a memory holds, and keeps what was believed until now for whoever asks later."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

import numpy as np

from helix.lifecycle.compose import Composer, Prepared
from helix.model.edge import Label, Ref, Relation
from helix.model.memory import Memory, Status
from helix.model.records import edge_from
from helix.store.store import Store
from helix.text.tokens import lexical_tokens


def hold_until(composer: Composer, store: Store, memory: Memory, until: datetime | None, name: str = "") -> None:
    """Set when a memory ceases to hold (None: it holds on), and its name where one is given.

    Both time lines stay right: where the end lies in the past, or an end is moved, the memory as it was believed until
    now is kept as a retired copy, which `known_at` finds, and the memory itself counts as recorded now.
    """
    ref = Ref(label=Label.MEMORY, id=memory.id)
    fields: dict[str, object] = {"valid_to": until}
    if name:
        fields["name"] = name
    unseen = memory.valid_to is None and until is not None and until >= composer.now
    if not unseen:
        _keep(composer, store, replace(memory, status=Status.RETIRED, retired_at=composer.now))
        fields["recorded_at"] = composer.now
    composer.patch(ref, **fields)


def take_back_retirement(composer: Composer, store: Store, memory: Memory) -> Memory:
    """Make a retired memory active again, under another name where its own was taken, and return it.

    A copy stays retired, so that `known_at` goes on telling that it was believed, and then not.
    """
    if memory.retired_at is not None:
        _keep(composer, store, memory)
    name = composer.name(memory.scope, memory.name)
    back = replace(memory, name=name, status=Status.ACTIVE, retired_at=None, recorded_at=composer.now)
    composer.node(back)
    return back


def passages_of(store: Store, memory: Memory) -> Prepared:
    """Return the texts and vectors by which a memory is found, to be written under another one's id."""
    view = store.catalogue.view
    row = view.row_of(Ref(label=Label.MEMORY, id=memory.id))
    indexes = view.passages.of_rows(np.array([] if row is None else [row], np.int64), view.count)
    held = [store.records.passage(int(view.passages.numbers[index])) for index in indexes]
    vectors = [
        view.passages.vectors.rows(indexes[place : place + 1])[0].tobytes() if view.passages.embedded[index] else None
        for place, index in enumerate(indexes)
    ]
    found = [(passage.text, vector) for passage, vector in zip(held, vectors, strict=True) if passage is not None]
    texts = tuple(text for text, _ in found)
    return Prepared(
        pieces=texts,
        tokens=tuple(" ".join(lexical_tokens(text)) for text in texts),
        mentions=(),
        vectors=tuple(vector for _, vector in found),
    )


def _keep(composer: Composer, store: Store, memory: Memory) -> None:
    """Write a copy of a memory under an id of its own, with its passages and its evidence."""
    here = Ref(label=Label.MEMORY, id=memory.id)
    there = composer.node(replace(memory, id=store.make_id(composer.now)))
    composer.passages(there, passages_of(store, memory))
    composer.edge(Relation.SUPERSEDES, here, there, provenance=memory.provenance)
    for stored in store.records.edges_at(here):
        if stored.type is Relation.GROUNDED_IN and stored.source == here:
            composer.put_edge(replace(edge_from(stored), source=there))
