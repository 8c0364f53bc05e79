"""Vouching: a user stands for notes that are in the store already, whatever weaker voices made of them since."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from helix.ingest.draft import MemoryDraft, Slice, name_of
from helix.ingest.preparing import Cleaned, clean
from helix.journal.state import Records
from helix.memory.change.compose import Composer
from helix.memory.change.versions import take_place
from helix.memory.contradiction.classify import NewStatement, same_words
from helix.memory.extraction.derived import heir_of
from helix.memory.remember.remember import remember
from helix.memory.remember.request import StoreRequest
from helix.memory.scores import bounded_confidence, importance_of
from helix.model.edge import Label, Ref
from helix.model.episode import Episode
from helix.model.memory import Kind, Memory, Status, body
from helix.model.records import Node
from helix.model.reports import StoreStatus
from helix.scopes import same_scope
from helix.store.index import StoreIndex
from helix.store.store import Store
from helix.store.writer import Decision

Find = Callable[[MemoryDraft], Memory | None]
"""Returns the memory that stands for what a note says."""


def vouch(store: Store, item: Slice, scope: str, find: Find) -> int:
    """Have a user stand for ingested notes: raise their memories' trust to what a slice has now; count them.

    Times and weight are the notes' again, and what was forgotten while nobody stood for it comes back. Where a weaker
    voice made something else of a note, or said it or its contrary first, the user says it now, as `helix store` would.
    What is quarantined waits for its review all the same.
    """
    (cleaned,) = clean([item], store.runtime.settings.text_limit)
    if not isinstance(cleaned, Cleaned):
        return 0
    looked = _vouching(store, cleaned.slice, scope, find)
    if not looked.changes and not looked.answer[1]:
        return 0
    raised, unsaid = store.writer.submit(lambda: _vouching(store, cleaned.slice, scope, find))
    for draft, instead in unsaid:
        own = remember(store, _request(draft, scope))
        if instead.source == draft.source and own.status is not StoreStatus.QUARANTINED:
            store.writer.submit(partial(_in_its_place, store, instead.ref, Ref.memory(own.id)))
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


def _in_its_place(store: Store, instead: Ref, own: Ref) -> Decision[None]:
    """Retire what was made of a note, which the note never said, in favour of what it says."""
    composer = Composer(store, store.runtime.clock())
    old, new = store.index.records.nodes([instead, own])
    if isinstance(old, Memory) and isinstance(new, Memory) and old.id != new.id and old.status is not Status.RETIRED:
        take_place(composer, store.records, old, new)
    return Decision((composer.change("vouch", memory=new.id),) if composer.pending else (), None)


def _vouching(
    store: Store, item: Slice, scope: str, find: Find
) -> Decision[tuple[int, list[tuple[MemoryDraft, Memory]]]]:
    composer, raised, unsaid = Composer(store, store.runtime.clock()), 0, list[tuple[MemoryDraft, Memory]]()
    for ref, node in _nodes_from(store.index, Label.EPISODE, item.episode.source, scope):
        if not isinstance(node, Episode) or node.content != item.episode.content:
            continue
        if node.provenance.trust.rank > item.episode.trust.rank:
            composer.patch(ref, trust=item.episode.trust)
    for draft in item.memories:
        place = draft.scope or scope
        for ref, node in _nodes_from(store.index, Label.MEMORY, draft.source, place) or _elsewhere(
            store, draft, place, find
        ):
            if not isinstance(node, Memory):
                continue
            if same_scope(node.scope, place) and node.source and _is_still_said(node, draft):
                _raise_trust(composer, ref, node, draft)
                raised += 1
            elif (instead := _said_instead(store.index.records, node, draft, item.supersedes)) is not None:
                unsaid.append((draft, instead))
    changes = (composer.change("vouch", source=item.episode.source),) if composer.pending else ()
    return Decision(changes, (raised, unsaid))


def _elsewhere(store: Store, draft: MemoryDraft, scope: str, find: Find) -> list[tuple[Ref, Node]]:
    """Return the memory of a note that was moved to another scope, or the one that said the same before the note."""
    index = store.index
    ref = index.from_source(draft.source, label=Label.MEMORY) or index.named(scope, name_of(draft))
    found = [] if ref is None else list(index.records.nodes([ref]))
    if (standing := find(draft)) is not None and standing.source.partition(":")[0] == draft.source.partition(":")[0]:
        return [(standing.ref, standing)]
    return [
        (node.ref, node)
        for node in found
        if isinstance(node, Memory) and (node.source == draft.source or same_words(node, _said(draft, node.kind)))
    ]


def _nodes_from(index: StoreIndex, label: Label, source: str, scope: str) -> list[tuple[Ref, Node]]:
    ref = index.from_source(source, label=label, scope=scope)
    refs = [] if ref is None else [ref]
    return list(zip(refs, index.records.nodes(refs), strict=True))


def _is_still_said(memory: Memory, draft: MemoryDraft) -> bool:
    weaker = memory.provenance.trust.rank > draft.trust.rank
    return memory.status is not Status.RETIRED and weaker and same_words(memory, _said(draft, memory.kind))


def _said(draft: MemoryDraft, kind: Kind) -> NewStatement:
    return NewStatement(kind=kind, trigger=draft.trigger, resolution=draft.resolution, trust=draft.trust)


def _said_instead(records: Records, memory: Memory, draft: MemoryDraft, place: str) -> Memory | None:
    """Return what a weaker voice made of a note, or has stand in its place, or None."""
    instead = heir_of(records, memory) if memory.status is Status.RETIRED else memory
    if instead is None or (instead.source != draft.source and instead.source.startswith(place)):
        return None  # the file itself said something else meanwhile
    return instead if instead.provenance.trust.rank > draft.trust.rank else None


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
