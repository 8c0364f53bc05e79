"""Linking: joins what a slice brought to what is there, and ends or revives the memories that it speaks of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from helix.ingest.draft import LinkDraft, Slice
from helix.ingest.letting_go import Reread
from helix.memory.change.compose import Composer
from helix.memory.change.versions import hold_until
from helix.memory.contradiction.resolve import end_by_rivals, ended_before
from helix.model.edge import DRAWN, Edge, Label, Ref, Relation, drawn_again
from helix.model.episode import Episode
from helix.model.memory import Memory, Status
from helix.model.provenance import Provenance, Trust
from helix.model.records import edge_from
from helix.model.reports import IngestProblem, IngestReport
from helix.store.index import StoreIndex
from helix.store.store import Store
from helix.store.writer import Decision


@dataclass(slots=True)
class ImportTally:
    """Counts of one import, added to as it goes."""

    source: str = ""
    episodes: int = 0
    memories: int = 0
    edges: int = 0
    skipped: int = 0
    redacted: int = 0
    quarantined: int = 0
    vouched: int = 0
    problems: list[IngestProblem] = field(default_factory=list)

    def add(self, more: ImportTally) -> None:
        """Count what an import has written besides."""
        self.episodes += more.episodes
        self.memories += more.memories
        self.edges += more.edges
        self.skipped += more.skipped
        self.quarantined += more.quarantined
        self.vouched += more.vouched

    def report(self) -> IngestReport:
        return IngestReport(
            source=self.source,
            episodes=self.episodes,
            memories=self.memories,
            edges=self.edges,
            skipped=self.skipped,
            redacted=self.redacted,
            quarantined=self.quarantined,
            vouched=self.vouched,
            problems=tuple(self.problems),
        )


@dataclass(slots=True)
class Writing:
    """A batch on its way into changes: what of it the catalogue does not know before it is written."""

    composer: Composer
    scope: str
    """The scope of the import, for what names none itself."""
    episodes: dict[tuple[str, str], Ref | None] = field(default_factory=dict)
    """Episodes by scope and source; None while one is being written."""
    written: dict[str, Ref] = field(default_factory=dict)
    """Memories by source, those found in the store included."""
    named: dict[tuple[str, str], Memory] = field(default_factory=dict)
    """Memories by scope and name, as they are after the latest change."""
    worded: dict[tuple[str, str], Memory] = field(default_factory=dict)
    """Memories of this batch by scope and what tells their words in their source."""
    fresh: set[Ref] = field(default_factory=set)
    """Memories that this batch has made."""
    ends: dict[Ref, datetime | None] = field(default_factory=dict)
    """Until when memories hold that this batch has ended or revived."""
    times: dict[str, datetime] = field(default_factory=dict)
    """When what this batch brings happened, by source."""
    read: list[Reread] = field(default_factory=list)
    """Slices of places that this batch has read."""
    last: dict[tuple[str, str], Ref] = field(default_factory=dict)
    """The last episode of each session, by scope and session."""
    tally: ImportTally = field(default_factory=ImportTally)


def link(index: StoreIndex, writing: Writing, item: Slice, *, held: bool) -> int:
    """Write the links of an ingested slice, and end and revive memories; return how many links have both their ends.

    `held`: the slice is quarantined, so it ends and revives nothing.
    """
    scope = item.episode.scope or writing.scope
    links = 0
    for draft in item.links:
        source = _memory(index, writing, draft.source, scope)
        target = _target(index, writing, draft, scope)
        if source is not None and target is not None and source != target:
            writing.composer.edge(draft.type, source, target, relation=draft.relation)
            links += 1
    if not held:
        _end_and_revive(index, writing, item)
    return links


def draw(store: Store, links: Sequence[LinkDraft], scope: str, extractor: str) -> Decision[int]:
    """Return the decision that draws links between memories of an import, in its scope or any other that it named.

    They are what somebody says, as an edge is that an agent draws, and no versions.
    """
    provenance = Provenance(extractor=extractor, trust=Trust.TOOL_OUTPUT)
    composer, known = Composer(store, store.runtime.clock()), dict[Ref, dict[tuple[Relation, Ref], Edge]]()
    drawn = 0
    for draft in links:
        source, target = (_anywhere(store.index, end, scope) for end in (draft.source, draft.target))
        if source is None or target is None or source == target:
            continue
        if source not in known:
            held = (edge_from(op) for op in store.records.edges_at(source) if op.source == source)
            known[source] = {(edge.type, edge.target): edge for edge in held}
        edge = Edge(
            type=draft.type,
            source=source,
            target=target,
            created_at=composer.now,
            relation=draft.relation,
            attributes={DRAWN: True},
            provenance=provenance,
        )
        present = known[source].get((edge.type, target))
        if (told := edge if present is None else drawn_again(present, edge)) != present:
            known[source][edge.type, target] = told
            composer.put_edge(told)
            drawn += 1
    return Decision((composer.change("ingest"),) if drawn else (), drawn)


def _anywhere(index: StoreIndex, source: str, scope: str) -> Ref | None:
    return memory_ref(index, source, scope) or memory_ref(index, source, None)


def memory_ref(index: StoreIndex, source: str, scope: str | None) -> Ref | None:
    """Return the memory ingested from that source which holds at present, if there is one."""
    held = index.all_from_source(Label.MEMORY, source, scope)
    standing = (ref for ref in reversed(held) if index.status_of(ref) is not Status.RETIRED)  # no copy of a former one
    return next(standing, None)


def _memory(index: StoreIndex, writing: Writing, source: str, scope: str) -> Ref | None:
    return writing.written.get(source) or memory_ref(index, source, scope)


def _target(index: StoreIndex, writing: Writing, draft: LinkDraft, scope: str) -> Ref | None:
    if draft.type is not Relation.GROUNDED_IN:
        return _memory(index, writing, draft.target, scope)
    return writing.episodes.get((scope, draft.target)) or index.from_source(draft.target, scope=scope)


def _time_of(index: StoreIndex, writing: Writing, source: str, scope: str) -> datetime | None:
    ref = None if source in writing.times else index.from_source(source, label=Label.EPISODE, scope=scope)
    (episode,) = index.records.present([ref]) if ref is not None else [None]
    return episode.occurred_at if isinstance(episode, Episode) else writing.times.get(source)


def _end_and_revive(index: StoreIndex, writing: Writing, item: Slice) -> None:
    """End the memories of some sources, and let those of others hold on, where the slice is no worse founded.

    What is revived holds as long as it would have held without what is taken back here: what it lost to in a
    contradiction still stands against it, and an end that somebody else set is not touched.
    """
    scope = item.episode.scope or writing.scope
    now = writing.times[item.episode.source] = item.episode.occurred_at or writing.composer.now
    taken_back = {_time_of(index, writing, one, scope) for one in item.ends} if item.revives else set()
    for source, ends in (*((one, True) for one in item.ends), *((one, False) for one in item.revives)):
        ref = _memory(index, writing, source, scope)
        known = None if ref is None else index.memory_by_id(ref.id)
        if ref is None or (known is not None and known.provenance.trust.rank < item.episode.trust.rank):
            continue
        held = writing.ends.get(ref, None if known is None else known.valid_to)
        until = now if ends else None if known is None else end_by_rivals(index.records, known)
        if until == held or (held is not None if ends else held not in taken_back):
            continue
        if known is not None and held is not None:
            for edge in ended_before(index.records, known, held):
                writing.composer.put_edge(edge)
        if known is None or ref in writing.ends:  # it came in with this very batch: nobody can have believed it yet
            writing.composer.patch(ref, valid_to=until)
        else:
            hold_until(writing.composer, index, known, until)
        writing.ends[ref] = until
