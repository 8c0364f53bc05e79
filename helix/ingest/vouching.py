"""Vouching: a user stands for notes that are in the store already, whatever weaker voices made of them since."""

from __future__ import annotations

from typing import Any

from helix.ingest.draft import MemoryDraft, Slice, name_of
from helix.ingest.preparing import Cleaned, clean
from helix.journal.state import Records
from helix.memory.change.compose import Composer
from helix.memory.contradiction.classify import NewStatement, same_words
from helix.memory.extraction.derived import heir_of
from helix.memory.remember.remember import remember
from helix.memory.remember.request import StoreRequest
from helix.memory.scores import bounded_confidence, importance_of
from helix.model.edge import Label, Ref
from helix.model.episode import Episode
from helix.model.memory import Memory, Status, body
from helix.model.records import Node
from helix.store.index import StoreIndex
from helix.store.store import Store
from helix.store.writer import Decision


def vouch(store: Store, item: Slice, scope: str) -> int:
    """Have a user stand for ingested notes: raise their memories' trust to what a slice has now; count them.

    Times and weight are the notes' again, and what was forgotten while nobody stood for it comes back. Where a weaker
    voice reworded or contradicted a note, the user says it now, as `helix store` would. What is quarantined waits for
    its review all the same.
    """
    (cleaned,) = clean([item], store.runtime.settings.text_limit)
    if not isinstance(cleaned, Cleaned):
        return 0
    raised, unsaid = store.writer.submit(lambda: _vouching(store, cleaned.slice, scope))
    for draft in unsaid:
        remember(store, _request(draft, scope))
    return raised + len(unsaid)


def _request(draft: MemoryDraft, scope: str) -> StoreRequest:
    return StoreRequest(
        trigger=draft.trigger,
        resolution=draft.resolution,
        kind=draft.kind,
        scope=draft.scope or scope,
        confidence=draft.confidence,
        importance=draft.importance,
        files=draft.files,
        trust=draft.trust,
        source=draft.source,
        valid_from=draft.valid_from,
        valid_to=draft.valid_to,
        attributes=draft.attributes,
    )


def _vouching(store: Store, item: Slice, scope: str) -> Decision[tuple[int, list[MemoryDraft]]]:
    composer, raised, unsaid = Composer(store, store.runtime.clock()), 0, list[MemoryDraft]()
    for ref, node in _nodes_from(store.index, Label.EPISODE, item.episode.source, scope):
        if not isinstance(node, Episode) or node.content != item.episode.content:
            continue
        if node.provenance.trust.rank > item.episode.trust.rank:
            composer.patch(ref, trust=item.episode.trust)
    for draft in item.memories:
        for ref, node in _nodes_from(store.index, Label.MEMORY, draft.source, draft.scope or scope):
            if isinstance(node, Memory) and _is_still_said(node, draft):
                _raise_trust(composer, ref, node, draft)
                raised += 1
            elif isinstance(node, Memory) and _is_gainsaid(store.index.records, node, draft, item.supersedes):
                unsaid.append(draft)
    changes = (composer.change("vouch", source=item.episode.source),) if composer.pending else ()
    return Decision(changes, (raised, unsaid))


def _nodes_from(index: StoreIndex, label: Label, source: str, scope: str) -> list[tuple[Ref, Node]]:
    ref = index.from_source(source, label=label, scope=scope)
    refs = [] if ref is None else [ref]
    return list(zip(refs, index.records.nodes(refs), strict=True))


def _is_still_said(memory: Memory, draft: MemoryDraft) -> bool:
    said = NewStatement(kind=memory.kind, trigger=draft.trigger, resolution=draft.resolution, trust=draft.trust)
    weaker = memory.provenance.trust.rank > draft.trust.rank
    return memory.status is not Status.RETIRED and weaker and same_words(memory, said)


def _is_gainsaid(records: Records, memory: Memory, draft: MemoryDraft, place: str) -> bool:
    """Return whether a weaker voice made something else of a note, or has something else stand in its place."""
    standing = heir_of(records, memory) if memory.status is Status.RETIRED else memory
    if standing is None or (standing is not memory and standing.source.startswith(place)):
        return False  # the file itself said something else meanwhile
    return standing.provenance.trust.rank > draft.trust.rank


def _raise_trust(composer: Composer, ref: Ref, memory: Memory, draft: MemoryDraft) -> None:
    fields: dict[str, Any] = {"valid_from": draft.valid_from, "valid_to": draft.valid_to, "kind": draft.kind}
    gone, name = memory.status in (Status.FORGOTTEN, Status.ARCHIVED), name_of(draft)
    if gone or not memory.name.startswith(name):
        fields["name"] = composer.name(memory.scope, name)
    if gone:
        fields["status"] = Status.ACTIVE
    told = draft.importance or importance_of(body(draft.trigger, draft.resolution), (), draft.kind)
    confidence = max(memory.confidence, bounded_confidence(draft.confidence, draft.trust))
    composer.patch(ref, trust=draft.trust, confidence=confidence, importance=max(told, memory.importance), **fields)
