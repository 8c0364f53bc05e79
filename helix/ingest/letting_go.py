"""Letting go: what becomes of memories that a place which was read again says no more.

A memory stands on all readings that say it, those of many places among them. A place that does not say it any more lets
go of it. What then stands on nothing is retired.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import cast

from helix.ingest.draft import Slice
from helix.ingest.rereading import PlacesReadAgain
from helix.memory.change.compose import Composer
from helix.memory.change.versions import OWN_WORD, SAID_INSTEAD
from helix.memory.scores import bounded_confidence
from helix.model.edge import Ref, Relation
from helix.model.episode import Episode
from helix.model.memory import Memory, Status
from helix.model.operations import Change
from helix.model.provenance import Trust
from helix.store.store import Store
from helix.store.writer import Decision


@dataclass(frozen=True, slots=True)
class Reread:
    """A slice of a place that was read, and the first memory that came new of it, if any did."""

    slice: Slice
    successor: Ref | None = None

    @classmethod
    def of(cls, item: Slice, successor: Ref | None = None) -> Reread:
        """Return it without the text of its episode, of which an import may read very much."""
        return cls(replace(item, episode=replace(item.episode, content="")), successor)


@dataclass(slots=True)
class _Leaving:
    """The places that say a memory no more, with how well founded each is that says so, and what came instead."""

    memory: Memory
    places: dict[str, Trust] = field(default_factory=dict)
    successor: Ref | None = None


def let_go(store: Store, again: PlacesReadAgain, read: Sequence[Reread], scope: str) -> Decision[None]:
    """Have places let go of what they said before and say no more; their older readings are no answer any more.

    To be decided when all that was read is written: a rule that moved stands on its new place then.
    """
    composer = Composer(store, store.runtime.clock())
    leaving: dict[Ref, _Leaving] = {}
    for one in read:
        item, here = one.slice, one.slice.episode.scope or scope
        readings = again.readings(item.supersedes, here)
        if not readings or (len(readings) < 2 and item.memories):
            continue  # it has said nothing else, but where an older Helix read rules in what says none
        episodes = [cast(Episode, node) for node in store.index.records.nodes(readings)]
        if episodes[-1].source != item.episode.source or episodes[-1].status is not Status.ACTIVE:
            continue  # it was read once more since, or waits for a review
        for before in episodes[:-1]:
            if before.provenance.trust.rank >= item.episode.trust.rank:
                composer.silence(before.ref)
        for memory in _unsaid(again, item, readings, here):
            told = leaving.setdefault(memory.ref, _Leaving(memory))
            told.places[item.supersedes] = item.episode.trust
            told.successor = told.successor or one.successor
    for told in leaving.values():
        _judge(composer, store, again, told)
    changes: tuple[Change, ...] = (composer.change("ingest"),) if composer.pending else ()
    return Decision(changes, None)


def _unsaid(again: PlacesReadAgain, item: Slice, readings: Sequence[Ref], scope: str) -> list[Memory]:
    """Return the memories of a place that its last reading says no more."""
    said = {found.memory.ref for draft in item.memories if (found := again.standing(draft)) is not None}
    sources = {draft.source for draft in item.memories}
    return [
        one
        for one in again.told(readings, item.supersedes, scope)
        if one.status is Status.ACTIVE and one.scope == scope and one.ref not in said and one.source not in sources
    ]


def _judge(composer: Composer, store: Store, again: PlacesReadAgain, leaving: _Leaving) -> None:
    """Take from a memory what it stood on in the places that it leaves, and decide what becomes of it.

    A reading takes away no better founded one, and retires nothing better founded than itself: what the user stood for
    stays until they stand for notes that say it no more. The words of a person stay, and so does what somebody else
    says too. What is left with weaker readings is those' word from now on.
    """
    memory, trust = leaving.memory, leaving.memory.provenance.trust
    held: dict[Ref, Trust] = {}
    gone: list[Ref] = []
    for place, readings in again.places(memory.ref).items():
        for episode in store.index.records.nodes(readings):
            if not isinstance(episode, Episode):
                continue
            by, founded = leaving.places.get(place), episode.provenance.trust
            if by is not None and by.rank <= founded.rank:
                gone.append(episode.ref)
            else:
                held[episode.ref] = founded
    weaker = all(by.rank > trust.rank for by in leaving.places.values())
    if weaker and not held:
        return
    for reading in gone:
        composer.drop_edge(Relation.GROUNDED_IN, memory.ref, reading)
    if weaker or OWN_WORD in memory.attributes or again.is_said_elsewhere(memory):
        return
    if not held:
        composer.patch(memory.ref, status=Status.RETIRED, retired_at=composer.now)
        if leaving.successor is not None:
            composer.edge(Relation.SUPERSEDES, leaving.successor, memory.ref, relation=SAID_INSTEAD)
        return
    best = min(held.values(), key=lambda founded: founded.rank)
    if best.rank > trust.rank:
        composer.patch(memory.ref, trust=best, confidence=bounded_confidence(memory.confidence, best))
