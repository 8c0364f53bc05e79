"""Embedding what has no vector: after a model was installed, and when the store moves to another model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from helix.errors import ModelError
from helix.model.operations import Change, PutPassage
from helix.store.index import StoreIndex
from helix.store.jobs import Ticket
from helix.store.store import Store
from helix.store.writer import Decision
from helix.text.tokens import lexical_tokens

_BATCH = 64


def lacking(store: Store) -> int:
    """Return how many passages lack a vector while an embedding model could make them one."""
    if store.runtime.embedder is None or store.mismatch:
        return 0
    return len(store.index.lacking_vectors())


def fill_in(store: Store, rest: Callable[[], bool]) -> int:
    """Embed up to 64 passages that have no vector, through the journal like any change; return how many got one.

    `rest` is called before every text and may wait; where it answers True, what is embedded is written and the others
    are left. They are embedded one at a time, so that whoever asks meanwhile has the other cores. Raises ModelError
    when the model cannot be loaded.
    """
    numbers = store.index.lacking_vectors()[:_BATCH]
    found = [passage for number in numbers if (passage := store.records.passage(number)) is not None]
    filled: list[PutPassage] = []
    for passage in found:
        if rest():
            break
        (vector,) = store.embed([passage.text])
        filled.append(replace(passage, vector=vector, tokens=" ".join(lexical_tokens(passage.text))))
    return store.writer.submit(lambda: _put(store.index, filled))


def _put(index: StoreIndex, filled: Sequence[PutPassage]) -> Decision[int]:
    """Write the passages that are still there as they were read; each keeps its number, for its text is the same."""
    lacking = set(index.lacking_vectors())
    same = [passage for passage in filled if passage.number in lacking]
    return Decision((Change(kind="embed", operations=tuple(same)),) if same else (), len(same))


def reembed(store: Store, ticket: Ticket) -> Mapping[str, int]:
    """Embed every passage anew with the model that is set, then make its space the store's own at once.

    Vectors already made stay when it is interrupted; the old space serves until the last one is there. Raises
    ModelError when there is no model.
    """
    if store.runtime.embedder is None:
        raise ModelError(
            "there is no embedding model to embed with", hint="`helix models install`, or set embedding_model"
        )
    wanted = store.runtime.embedder.space
    space = store.journal.spaces.prepare(model=wanted.model, dimension=wanted.dimension, digest=wanted.digest)
    total = store.records.counts()["passages"]

    def step() -> int:
        missing = store.journal.spaces.missing(space, _BATCH)
        if missing and store.runtime.embedder is not None:
            vectors = store.runtime.embedder.embed([text for _, text in missing])
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
