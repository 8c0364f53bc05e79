"""Rereading: what an import that reads places again finds of what they said before, and what of it is gone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from helix.ingest.draft import EpisodeDraft, MemoryDraft, Slice, WholeReading, name_of
from helix.ingest.earlier import END_OF_PLACE, GONE, Earlier
from helix.memory.change.versions import OWN_WORD
from helix.memory.contradiction.classify import NewStatement, same_words
from helix.memory.contradiction.resolve import by_person, disputes_of
from helix.model.edge import MERGED, Label, Ref, Relation
from helix.model.episode import Episode
from helix.model.memory import Kind, Memory, Status, body
from helix.model.operations import DropEdge, PutEdge
from helix.model.provenance import Trust
from helix.model.records import Node, edge_from
from helix.store.store import Store


@dataclass(frozen=True, slots=True)
class Standing:
    """A memory that stands for what is read, and whether it came of the same place."""

    memory: Memory
    is_own: bool
    is_merged: bool = False
    """Whether it is another thing that was read, into which what the place said was merged."""

    def gives_way(self, draft: MemoryDraft) -> bool:
        """Return whether a draft is better founded, and says no less than a person: who reworded a rule means that."""
        better = draft.trust.rank < self.memory.provenance.trust.rank
        return better and (OWN_WORD not in self.memory.attributes or same_words(self.memory, statement_of(draft)))


class PlacesReadAgain:
    """What the store holds of the places that one import reads; `kind` is what its memories are said to be made by.

    A place is what an import reads as a whole, such as a section of a file, and may read again when it has changed.
    """

    def __init__(self, store: Store, kind: str, scope: str) -> None:
        self._store = store
        self._kind = kind
        self._scope = scope
        self._earlier = Earlier()
        self._moved_from = set[str]()
        self._ruled: dict[str, dict[tuple[str, Kind, str], Memory]] = {}

    def known(self, item: Slice) -> Ref | None:
        """Return the episode that a slice became.

        None also where another reading of its place came after it, or where what it says is read otherwise now.
        """
        index, scope = self._store.index, item.episode.scope or self._scope
        known = index.from_source(item.episode.source, scope=scope)
        if known is None or not item.supersedes:
            return known
        if self.readings(item.supersedes, scope)[-1:] != [known]:
            return None
        return known if all(self._is_said(memory, item.supersedes) for memory in item.memories) else None

    def _is_said(self, draft: MemoryDraft, place: str) -> bool:
        """Return whether what stands for a draft came of its place, or is grounded in what that read."""
        found = self.standing(draft)
        return found is not None and (found.is_own or place in self.places(found.memory.ref))

    def standing(self, draft: MemoryDraft) -> Standing | None:
        """Return the memory that stands for what a draft says, whatever a person made of it since, or None.

        It came of the same place or, in the same words, of another one, and may have been edited, moved to another
        scope or merged since; or somebody stored it in the draft's words. What the place itself said later is another
        thing.
        """
        index, scope = self._store.index, draft.scope or self._scope
        own = index.all_from_source(Label.MEMORY, draft.source, scope)
        before, end, _ = draft.source.rpartition(END_OF_PLACE)
        place = before + end
        for made in index.records.present(own[::-1]):
            if (found := self._heir(made)) is not None:
                return Standing(found, is_own=True, is_merged=self._is_read(found) and found.source != draft.source)
        same = reversed(self._earlier.same(index, draft.source, scope)) if place else ()
        for made in index.records.present([index.ref_of(row) for row in same]):
            found = self._heir(made)
            edited = found is not None and found.provenance.trust.rank <= draft.trust.rank
            if found is not None and (edited or same_words(found, statement_of(draft))):
                return Standing(found, is_own=False)
        ruled = self._ruled_on(scope).get((place.partition("#")[0], *_told_apart(draft))) if draft.resolution else None
        if place and ruled is not None:
            return Standing(ruled, is_own=False)
        named = index.named(scope, name_of(draft))
        stored = self._in_words_of(draft, scope) if place else ()
        readings = self.readings(place, scope) if place else ()
        met = [edge.source for reading in readings for edge in self._grounded(reading)]
        for known in index.records.present([*([] if named is None else [named]), *stored, *dict.fromkeys(met)]):
            stands = isinstance(known, Memory) and known.status is not Status.RETIRED
            if isinstance(known, Memory) and stands and self._has_said(known, draft):
                return Standing(known, is_own=False)
        return None

    def _ruled_on(self, scope: str) -> Mapping[tuple[str, Kind, str], Memory]:
        """Return what was forgotten, changed or merged of what imports of this kind made: by file, kind and words.

        The heading of a section stands for when its rule counts: under another one it is the same rule. Where the file
        says the same under one more heading, and that stands, it is not known which one it is.
        """
        if scope not in self._ruled:
            index, found = self._store.index, dict[tuple[str, Kind, str], Memory]()
            standing = list[tuple[str, tuple[str, Kind, str]]]()
            statuses = [Status.ACTIVE, Status.FORGOTTEN, Status.RETIRED]
            rows = index.where(Label.MEMORY, scope=scope, statuses=statuses)
            for made in index.nodes([row for row in rows if END_OF_PLACE in index.source_of(row)]):
                if not isinstance(made, Memory) or not self._is_read(made) or not made.resolution:
                    continue
                key = (made.source.rpartition(END_OF_PLACE)[0].partition("#")[0], *_told_apart(made))
                heir = self._heir(made)
                if heir is not None and (heir.status is Status.FORGOTTEN or _stated(heir) != _stated(made)):
                    found[key] = heir
                elif made.status is Status.ACTIVE:
                    standing.append((made.id, key))
            heirs = {heir.id for heir in found.values()}
            several = {key for ident, key in standing if ident not in heirs}
            self._ruled[scope] = {key: heir for key, heir in found.items() if key not in several}
        return self._ruled[scope]

    def _in_words_of(self, draft: MemoryDraft, scope: str) -> list[Ref]:
        """Return the active memories of a scope that have all words of a draft, whatever they are called."""
        index = self._store.index
        if not (rows := index.with_all_words(body(draft.trigger, draft.resolution))):
            return []
        rows &= index.where(Label.MEMORY, scope=scope, statuses=[Status.ACTIVE], kinds=[draft.kind])
        return [index.ref_of(row) for row in rows]

    def _grounded(self, reading: Ref) -> list[DropEdge | PutEdge]:
        edges = self._store.index.records.edges_at(reading)
        return [edge for edge in edges if edge.type is Relation.GROUNDED_IN and edge.source.label is Label.MEMORY]

    def _has_said(self, memory: Memory, draft: MemoryDraft) -> bool:
        """Return whether a memory says what a draft does, or did before it was edited."""
        passed, left = {memory.id}, [memory]
        while left:
            one = left.pop()
            if same_words(one, statement_of(draft)):
                return True
            for edge in self._store.records.edges_at(one.ref):
                if edge.type is not Relation.SUPERSEDES or edge.source != one.ref or edge.target.id in passed:
                    continue
                (former,) = self._store.records.present([edge.target])
                if isinstance(former, Memory) and former.source == one.source:
                    passed.add(former.id)
                    left.append(former)
        return False

    def _heir(self, node: Node | None) -> Memory | None:
        """Return what a person made of a memory, or has stand in its place; not what a later reading said.

        Nor what contradicts it, but where a person chose that: it ended what the memory said, and does not say it.
        """
        passed = set[str]()
        while isinstance(node, Memory) and node.status is Status.RETIRED and node.id not in passed:
            passed.add(node.id)
            node = self._next(node)
        return node if isinstance(node, Memory) and node.status is not Status.RETIRED else None

    def _next(self, memory: Memory) -> Memory | None:
        records = self._store.records
        ruled = [edge for edge in disputes_of(records, memory) if not by_person(edge)]
        contrary = {end for edge in ruled for end in (edge.source, edge.target)}
        edges = [edge_from(op) for op in records.edges_at(memory.ref) if op.type is Relation.SUPERSEDES]
        after = sorted(
            (edge for edge in edges if edge.target == memory.ref and edge.source not in contrary),
            key=lambda edge: edge.created_at,
            reverse=True,
        )
        for edge in after:
            (found,) = records.present([edge.source])
            if isinstance(found, Memory) and (
                not self._is_read(found) or found.source == memory.source or MERGED in edge.attributes
            ):
                return found
        return None

    def _is_read(self, memory: Memory) -> bool:
        return memory.provenance.extractor == self._kind

    def places(self, memory: Ref) -> dict[str, list[Ref]]:
        """Return the places that an imported memory stands on, each with its readings that say it."""
        index, found = self._store.index, defaultdict[str, list[Ref]](list)
        for edge in index.records.edges_at(memory):
            row = index.row_of(edge.target)
            if edge.type is Relation.GROUNDED_IN and edge.source == memory and row is not None:
                before, end, _ = index.source_of(row).rpartition(END_OF_PLACE)
                if end:
                    found[before + end].append(edge.target)
        return found

    def is_held(self, memory: Memory, place: str, trust: Trust) -> bool:
        """Return whether a reading of a place that is at least so well founded says a memory."""
        said = self._store.index.records.nodes(self.places(memory.ref).get(place, []))
        return any(isinstance(one, Episode) and one.provenance.trust.rank <= trust.rank for one in said)

    def told(self, readings: Sequence[Ref], place: str, scope: str) -> list[Memory]:
        """Return the memories that imports of this kind made of a place, or met again in its readings."""
        index = self._store.index
        rows = self._earlier.of(index, Label.MEMORY, place, scope)
        met = [edge.source for reading in readings for edge in self._grounded(reading)]
        made = {*map(index.ref_of, rows)}
        nodes = index.records.nodes([*made, *dict.fromkeys(ref for ref in met if ref not in made)])
        return [
            one
            for one in nodes
            if isinstance(one, Memory) and (one.ref in made or one.source.startswith(f"{place.partition(':')[0]}:"))
        ]

    def _elsewhere(self, draft: MemoryDraft, place: str) -> Iterator[str]:
        """Yield the other places at which imports met the very words of a memory."""
        index = self._store.index
        for row in self._earlier.same(index, draft.source, draft.scope or self._scope) if place else ():
            others = (index.source_of(row).rpartition(END_OF_PLACE)[0] + END_OF_PLACE, *self.places(index.ref_of(row)))
            yield from (other for other in others if other != place)

    def is_said_elsewhere(self, memory: Memory) -> bool:
        """Return whether somebody else than what is read says a memory, and is no less founded than it."""
        index = self._store.index
        refs = [edge.target for edge in index.records.edges_at(memory.ref) if edge.source == memory.ref]
        for episode in index.records.present([ref for ref in refs if ref.label is Label.EPISODE]):
            if not isinstance(episode, Episode) or END_OF_PLACE in episode.source:
                continue
            if episode.provenance.trust.rank <= memory.provenance.trust.rank:
                return True
        return False

    def meet(self, item: Slice) -> None:
        """Note the other places whose words are met in a slice."""
        self._moved_from |= {place for memory in item.memories for place in self._elsewhere(memory, item.supersedes)}

    def readings(self, place: str, scope: str) -> list[Ref]:
        """Return the episodes that a place was read as, oldest first."""
        index = self._store.index
        return [index.ref_of(row) for row in self._earlier.of(index, Label.EPISODE, place, scope)]

    def gone(self, reading: WholeReading) -> Iterator[Slice]:
        """Yield a slice that says nothing for each place that was read before and is not there any more.

        So is all of a file that is not there, and of whose words some were met in what was read: it has moved.
        """
        scope, index = reading.scope or self._scope, self._store.index
        moved = {f"{one.partition('#')[0]}#" for one in self._moved_from if not reading.is_there(one)}
        self._moved_from.clear()
        left = [one for one in self._earlier.places(index, reading.prefix, scope) if not reading.holds(one)]
        for file in sorted(moved):
            left += [one for one in self._earlier.places(index, file, scope) if one not in left]
        for place in left:
            words = f"{place.removesuffix(END_OF_PLACE)} is there no more"
            told = EpisodeDraft(
                source=f"{place}{GONE}", content=words, trust=reading.trust, scope=reading.scope, silent=True
            )
            yield Slice(episode=told, position=reading.position, supersedes=place)


def _stated(memory: Node | None) -> tuple[object, ...]:
    said = cast(Memory, memory)
    return said.trigger, said.resolution, said.kind, said.name, said.scope


def _told_apart(said: Memory | MemoryDraft) -> tuple[Kind, str]:
    return said.kind, " ".join(said.resolution.split())


def statement_of(draft: MemoryDraft) -> NewStatement:
    """Return what a draft says, as it is compared with memories."""
    return NewStatement(
        kind=draft.kind,
        trigger=draft.trigger,
        resolution=draft.resolution,
        trust=draft.trust,
        attributes=draft.attributes,
    )
