"""Embedding what has no vector: after a model was installed, and when the store moves to another model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import count

from helix.errors import ModelError
from helix.model.operations import Change, Operation
from helix.store.jobs import Ticket
from helix.store.store import Store
from helix.store.writer import Decision

_BATCH = 64


def fill_in(store: Store, ticket: Ticket) -> Mapping[str, int]:
    """Embed the passages that have no vector in the store's own space, through the journal like any change."""
    space = store.journal.spaces.active()
    if space is None or store.embedder is None:
        return {"embedded": 0}
    total = store.journal.spaces.count_missing(space.id)
    done = 0
    while not ticket.cancelled and (missing := store.journal.spaces.missing(space.id, _BATCH)):
        vectors = dict(zip((number for number, _ in missing), store.embed([text for _, text in missing]), strict=True))
        store.writer.submit(_replacing(store, vectors))
        done += len(missing)
        ticket.progress(done, total, "embedding")
    return {"embedded": done}


def _replacing(store: Store, vectors: Mapping[int, bytes | None]) -> Callable[[], Decision[None]]:
    def decide() -> Decision[None]:
        numbers = count(store.catalogue.next_passage_number)
        operations: list[Operation] = []
        for number, vector in vectors.items():
            passage = store.records.passage(number)
            if passage is not None:  # it may have been replaced since it was read
                operations.append(passage.with_vector(next(numbers), vector))
        return Decision((Change(kind="embed", operations=tuple(operations)),) if operations else (), None)

    return decide


def reembed(store: Store, ticket: Ticket) -> Mapping[str, int]:
    """Embed every passage with the model that is set, then make its space the store's own at once.

    Vectors already made stay when it is interrupted; the old space serves until the last one is there. Raises
    ModelError when there is no model.
    """
    if store.embedder is None:
        raise ModelError(
            "there is no embedding model to embed with", hint="`helix models install`, or set embedding_model"
        )
    wanted = store.embedder.space
    space = store.journal.spaces.prepare(model=wanted.model, dimension=wanted.dimension, digest=wanted.digest)
    total = store.records.counts()["passages"]

    def step() -> int:
        missing = store.journal.spaces.missing(space, _BATCH)
        if missing and store.embedder is not None:
            vectors = store.embedder.embed([text for _, text in missing])
            store.journal.spaces.add_vectors(
                space, [(number, row.tobytes()) for (number, _), row in zip(missing, vectors, strict=True)]
            )
        return len(missing)

    while not ticket.cancelled and step():
        ticket.progress(total - store.journal.spaces.count_missing(space), total, "embedding")
    if ticket.cancelled:
        return {"embedded": total - store.journal.spaces.count_missing(space)}

    def switch() -> None:
        while step():  # what came in since the last look
            pass
        store.adopt_space(space)

    store.writer.call(switch)
    store.rebuild_graph(ticket)
    return {"embedded": total}
