"""Vouching: a person says that notes are theirs which were ingested before as somebody's."""

from __future__ import annotations

from helix.ingest.draft import MemoryDraft, Slice
from helix.ingest.preparing import Cleaned, clean
from helix.memory.change.compose import Composer
from helix.memory.contradiction.classify import NewStatement, same_words
from helix.memory.scores import bounded_confidence
from helix.model.edge import Label, Ref
from helix.model.episode import Episode
from helix.model.memory import Memory, Status
from helix.model.records import Node
from helix.store.index import StoreIndex
from helix.store.store import Store
from helix.store.writer import Decision


def vouch(store: Store, item: Slice, scope: str) -> None:
    """Raise the trust of ingested notes' memories to what a slice has now, where they still have the same words.

    What an edit has changed since is not what the notes say. What is quarantined waits for its review all the same.
    """
    (cleaned,) = clean([item], store.runtime.settings.text_limit)
    if isinstance(cleaned, Cleaned):
        store.writer.submit(lambda: _decision(store, cleaned.slice, scope))


def _decision(store: Store, item: Slice, scope: str) -> Decision[None]:
    composer = Composer(store, store.runtime.clock())
    for ref, node in _from(store.index, Label.EPISODE, item.episode.source, scope):
        if isinstance(node, Episode) and node.provenance.trust.rank > item.episode.trust.rank:
            composer.patch(ref, trust=item.episode.trust)
    for draft in item.memories:
        for ref, node in _from(store.index, Label.MEMORY, draft.source, draft.scope or scope):
            if isinstance(node, Memory) and _stands(node, draft):
                _raise(composer, ref, node, draft)
    changes = (composer.change("vouch", source=item.episode.source),) if composer.pending else ()
    return Decision(changes, None)


def _from(index: StoreIndex, label: Label, source: str, scope: str) -> list[tuple[Ref, Node]]:
    ref = index.from_source(source, label=label, scope=scope)
    refs = [] if ref is None else [ref]
    return list(zip(refs, index.records.nodes(refs), strict=True))


def _stands(memory: Memory, draft: MemoryDraft) -> bool:
    said = NewStatement(kind=draft.kind, trigger=draft.trigger, resolution=draft.resolution, trust=draft.trust)
    weaker = memory.provenance.trust.rank > draft.trust.rank
    return memory.status is not Status.RETIRED and weaker and same_words(memory, said)


def _raise(composer: Composer, ref: Ref, memory: Memory, draft: MemoryDraft) -> None:
    confidence = max(memory.confidence, bounded_confidence(draft.confidence, draft.trust))
    composer.patch(ref, trust=draft.trust, confidence=confidence)
