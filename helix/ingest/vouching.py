"""Vouching: a user stands for notes that are in the store already, whatever weaker voices made of them since."""

from __future__ import annotations

from functools import partial
from typing import Any

from helix.ingest.draft import MemoryDraft, Slice, name_of
from helix.ingest.preparing import Cleaned, clean
from helix.ingest.rereading import PlacesReadAgain
from helix.memory.change.compose import Composer
from helix.memory.change.versions import take_place
from helix.memory.contradiction.classify import NewStatement, same_words
from helix.memory.contradiction.rivals import settle_stored
from helix.memory.remember.remember import remember
from helix.memory.remember.request import StoreRequest
from helix.memory.scores import bounded_confidence, importance_of
from helix.memory.upkeep.merge import is_decided
from helix.model.edge import Ref, Relation
from helix.model.episode import Episode
from helix.model.memory import Kind, Memory, Status, body
from helix.model.reports import StoreStatus
from helix.scopes import same_scope
from helix.store.store import Store
from helix.store.writer import Decision
from helix.text.cleaning import is_numbered


def vouch(store: Store, item: Slice, scope: str, again: PlacesReadAgain) -> int:
    """Have a user stand for ingested notes: raise their memories' trust to what a slice has now; count them.

    Times and weight are the notes' again, and what was forgotten while nobody stood for it comes back. Where a weaker
    voice made something else of a note, or said it or its contrary first, the user says it now, as `helix store` would;
    what a person reworded stands as it is. What is quarantined waits for its review all the same.
    """
    (cleaned,) = clean([item], store.runtime.settings.text_limit)
    if not isinstance(cleaned, Cleaned):
        return 0
    looked = _vouching(store, cleaned.slice, scope, again)
    if not looked.changes and not looked.answer[1]:
        return 0
    raised, unsaid = store.writer.submit(lambda: _vouching(store, cleaned.slice, scope, again))
    for memory in store.index.records.present(raised):
        if isinstance(memory, Memory):
            settle_stored(store, memory)  # a weaker voice's contrary may have ended it
    for draft, instead in unsaid:
        own = remember(store, _request(draft, scope))
        if own.status is not StoreStatus.QUARANTINED:
            store.writer.submit(partial(_in_its_place, store, again, draft, instead.ref, Ref.memory(own.id)))
    return len(raised) + len(unsaid)


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


def _in_its_place(store: Store, again: PlacesReadAgain, draft: MemoryDraft, instead: Ref, own: Ref) -> Decision[None]:
    """Retire what was made of a note, which the note never said, in favour of what it says.

    Other places say that too, for which nobody stands: it is grounded in their readings, and holds as long as they do.
    """
    composer = Composer(store, store.runtime.clock())
    old, new = store.index.records.nodes([instead, own])
    if not isinstance(old, Memory) or not isinstance(new, Memory) or old.id == new.id:
        return Decision((), None)
    if old.status is not Status.RETIRED:
        if old.source != draft.source:
            return Decision((), None)
        take_place(composer, store.records, old, new)
    of_notes, held = f"{draft.source.partition(':')[0]}:", again.places(own)  # a stranger's strand read nothing here
    for place, readings in again.places(instead).items():
        for reading in readings if place.startswith(of_notes) and place not in held else ():
            composer.edge(Relation.GROUNDED_IN, own, reading)
    return Decision((composer.change("vouch", memory=new.id),) if composer.pending else (), None)


def _vouching(
    store: Store, item: Slice, scope: str, again: PlacesReadAgain
) -> Decision[tuple[list[Ref], list[tuple[MemoryDraft, Memory]]]]:
    composer, raised, unsaid = Composer(store, store.runtime.clock()), list[Ref](), list[tuple[MemoryDraft, Memory]]()
    ref = store.index.from_source(item.episode.source, scope=scope)
    node = None if ref is None else store.index.records.node(ref)
    known = node if isinstance(node, Episode) and node.content == item.episode.content else None
    if known is not None and known.provenance.trust.rank > item.episode.trust.rank:
        composer.patch(known.ref, trust=item.episode.trust)
    for draft in item.memories:
        found = again.standing(draft)
        if found is None:
            continue
        memory = found.memory
        if found.gives_way(draft):
            here = not _is_an_agents(memory, draft)  # a person may have moved it to another scope
            stands = found.is_own and (here or same_scope(memory.scope, draft.scope or scope))
            same = same_words(memory, _said(draft, memory.kind))
            if found.is_merged and same:
                composer.patch(memory.ref, trust=draft.trust)
            elif stands and same:
                _raise_trust(composer, memory, draft)
            elif found.is_merged and is_decided(store.records, memory):
                continue  # a person has it said in those words, whoever wrote them
            else:
                unsaid.append((draft, memory))
                continue
            raised.append(memory.ref)
        if known is not None and item.supersedes and not again.is_held(memory, item.supersedes, draft.trust):
            composer.edge(Relation.GROUNDED_IN, memory.ref, known.ref)
    changes = (composer.change("vouch", source=item.episode.source),) if composer.pending else ()
    return Decision(changes, (raised, unsaid))


def _said(draft: MemoryDraft, kind: Kind) -> NewStatement:
    return NewStatement(kind=kind, trigger=draft.trigger, resolution=draft.resolution, trust=draft.trust)


def _is_an_agents(memory: Memory, draft: MemoryDraft) -> bool:
    return memory.provenance.agent != draft.agent


def _raise_trust(composer: Composer, memory: Memory, draft: MemoryDraft) -> None:
    """Have a memory count as the user's, with the note's times, and its kind and name where an agent changed it."""
    fields: dict[str, Any] = {"valid_from": draft.valid_from, "valid_to": draft.valid_to}
    gone, name = memory.status in (Status.FORGOTTEN, Status.ARCHIVED), name_of(draft)
    if by_agent := _is_an_agents(memory, draft):
        fields["kind"] = draft.kind
    if gone or (by_agent and not is_numbered(memory.name, name)):
        fields["name"] = composer.name(memory.scope, name)
    if gone:
        fields["status"] = Status.ACTIVE
    told = draft.importance or importance_of(body(draft.trigger, draft.resolution), (), draft.kind)
    confidence = max(memory.confidence, bounded_confidence(draft.confidence, draft.trust))
    importance = max(told, memory.importance)
    composer.patch(memory.ref, trust=draft.trust, confidence=confidence, importance=importance, **fields)
