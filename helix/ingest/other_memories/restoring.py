"""Restoring: puts the nodes and edges of an own export into a store as they were, for a person who stands for them.

What is there already stays as it is, and what was erased or is private here stays out. Everything is redacted once
more: somebody may have written into the file. What says the same here and is less trusted goes behind, as a copy does
(`Copies`): what of the export was ingested before as somebody's word, under another id.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import fields, replace
from itertools import islice, takewhile
from typing import Any

from helix.errors import ConflictError, InvalidInputError, PausedError
from helix.ingest.erased_text import attributes_without
from helix.ingest.linking import ImportTally
from helix.ingest.other_memories.adapter import key_of
from helix.ingest.other_memories.left_out import LeftOut
from helix.ingest.other_memories.own_export import OwnNode, OwnRecord
from helix.memory.capture.sessions import PrivateSessions, name_of_session, private_sessions
from helix.memory.change.compose import Composer, Prepared, ReadText, prepare
from helix.memory.change.intake import OWN_ATTRIBUTE, Intake
from helix.memory.change.versions import take_place
from helix.memory.contradiction.classify import NewStatement, outranks, same_words
from helix.memory.contradiction.rivals import settle_stored
from helix.memory.erasure.stored_secrets import texts_of
from helix.memory.extraction.excluded import Erased, ErasedSince, is_gone
from helix.model.edge import MERGED, Edge, Label, Ref, drawn_again
from helix.model.episode import Episode, Session
from helix.model.memory import Memory, Status, body
from helix.model.operations import Change, Props
from helix.model.provenance import Provenance
from helix.model.records import Node, edge_from, label_of, put_edge, put_record
from helix.model.reports import IngestProblem, IngestReport
from helix.model.told import normal
from helix.model.tombstone import is_erased
from helix.store.index import StoreIndex
from helix.store.store import Store
from helix.store.writer import Decision
from helix.text.cleaning import slug
from helix.text.client_ids import told_id
from helix.text.secrets.redact import redact

_BATCH = 48
_NAMED = frozenset({"id", "source"})


class Restorer:
    """Takes one export into a store, some dozen nodes or edges in one transaction."""

    def __init__(self, store: Store, source: str) -> None:
        store.check_space()
        self._store = store
        self._tally = ImportTally(source)
        self._generation = store.index.generation
        self._copies = Copies(store.index, source)
        self._erased = ErasedSince(store.index)  # an import and an erasure exclude each other
        self._instead: dict[Ref, Ref] = {}
        """Of nodes of which a copy is here, that copy."""
        self._names_taken: set[tuple[str, str]] = set()
        """Scopes and names that were taken from a memory here."""
        self._out = LeftOut()
        self._came: set[Ref] = set()
        self._vouched: list[Node] = []
        """Nodes of the batch that are among these."""

    def run(
        self,
        read: Callable[[], Iterable[OwnRecord]],
        progress: Callable[[int], None],
        cancelled: Callable[[], bool],
        *,
        plan: bool,
    ) -> IngestReport:
        """Import what an export holds and is not there yet; stops between two batches. A `plan` writes nothing.

        The export is `read` twice: what stays out is known before anything is written.
        """
        self._look_through(read(), cancelled)
        stream, done = iter(read()), 0
        while not cancelled() and not self._store.paused and (batch := list(islice(stream, _BATCH))):
            nodes = list(self._new(batch))
            edges = [self._between_those_here(one) for one in self._without_secrets(batch)]
            if plan:
                self._tally.edges += len(edges)
                for one in nodes:
                    _count(self._tally, one.node)
            else:
                self._write(nodes, edges)
            done += len(batch)
            progress(done)
        if self._store.paused:
            raise PausedError("capture was paused", hint="`helix pause --off`, then the same command goes on")
        return self._tally.report()

    def _look_through(self, records: Iterable[OwnRecord], cancelled: Callable[[], bool]) -> None:
        hidden = private_sessions(self._store.journal)
        for one in takewhile(lambda _: not cancelled(), records):
            if isinstance(one, Edge):
                self._out.edge(one)
            elif isinstance(one, OwnNode):
                left = _without(one, self._erased.of(one.node))
                stays_out = left is None or _is_hidden(one.node, hidden) or is_gone(self._store, _ref(one.node))
                is_cut = left is not None and _words(left.node) != _words(one.node)
                self._out.node(one.node, stays_out=stays_out, is_cut=is_cut)
        self._out.belonging()

    def _new(self, batch: Sequence[OwnRecord]) -> Iterator[OwnNode]:
        """Yield the nodes that are not there and may be, cleaned."""
        for one in batch:
            if isinstance(one, IngestProblem):
                self._tally.problems.append(one)
            elif isinstance(one, OwnNode):
                if _ref(one.node) in self._store.index or _ref(one.node) in self._out.refs:
                    self._tally.skipped += 1
                    continue
                intake = Intake(self._store.runtime.settings.text_limit)
                try:
                    cleaned = _without(_cleaned(intake, one), self._erased.of(one.node))
                    if cleaned is None:
                        self._tally.skipped += 1
                    elif not self._is_said(cleaned.node):
                        yield cleaned
                except InvalidInputError as error:
                    self._tally.problems.append(
                        IngestProblem(where=f"{_ref(one.node).label} {one.node.id}", why=error.message)
                    )
                self._tally.redacted += bool(intake.redacted)

    def _without_secrets(self, batch: Sequence[OwnRecord]) -> Iterator[Edge]:
        """Yield the edges that say nothing of what stays out, without secrets in their texts."""
        for edge in batch:
            if isinstance(edge, Edge) and not self._speaks_of_erased(edge):
                intake = Intake(self._store.runtime.settings.text_limit)
                try:
                    yield replace(
                        edge,
                        relation=intake.label(edge.relation, "relation"),
                        attributes=_attributes(intake, edge.attributes),
                        provenance=_told_provenance(intake, edge.provenance),
                    )
                except InvalidInputError as error:
                    self._tally.problems.append(IngestProblem(where=f"{edge.type} {edge.source.id}", why=error.message))
                self._tally.redacted += bool(intake.redacted)

    def _speaks_of_erased(self, edge: Edge) -> bool:
        if not self._out.refs.isdisjoint((edge.source, edge.target)) or self._out.is_of_cut_words(edge):
            return True
        return bool(self._erased) and _says_erased(put_edge(edge).props, self._erased.all)

    def _is_said(self, node: Node) -> bool:
        held = self._copies.saying(node)
        if held is not None:
            self._instead[_ref(node)] = _ref(held)
            self._vouched.append(node)
            self._tally.skipped += 1
        return held is not None

    def _between_those_here(self, edge: Edge) -> Edge:
        source, target = (self._instead.get(ref, ref) for ref in (edge.source, edge.target))
        return replace(edge, source=source, target=target)

    def _write(self, nodes: Sequence[OwnNode], edges: Sequence[Edge]) -> None:
        ready = prepare(self._store, [_reading(one) for one in nodes])
        vouched, self._vouched = self._vouched, []

        def decide() -> Decision[ImportTally]:
            if self._store.index.generation != self._generation:
                raise ConflictError("the store was replaced meanwhile", hint="the same command goes on")
            composer, changes = Composer(self._store, self._store.runtime.clock()), list[Change]()
            written = ImportTally()
            fresh = {_ref(one.node) for one in nodes}
            for one, prepared in zip(nodes, ready, strict=True):
                if _ref(one.node) not in self._store.index:
                    self._put(composer, one, prepared)
                    _count(written, one.node)
                    changes.append(composer.change("ingest", source=self._tally.source))
            for node in vouched:
                self._raise_trust(composer, node)
            if composer.pending:
                changes.append(composer.change("vouch", source=self._tally.source))
            drawn = [told for edge in edges if (told := self._drawn(edge, fresh)) is not None]
            for edge in drawn:
                composer.put_edge(edge)
            if drawn:
                changes.append(composer.change("ingest", source=self._tally.source))
            self._came |= fresh
            written.edges = len(drawn)
            return Decision(tuple(changes), written)

        self._tally.add(self._store.writer.submit(decide))
        for node in self._store.records.present([_ref(one.node) for one in nodes]):
            if isinstance(node, Memory) and node.status is Status.ACTIVE and self._copies.knows(node):
                settle_stored(self._store, node)  # something else may have been said in its copy's place

    def _put(self, composer: Composer, one: OwnNode, prepared: Prepared) -> None:
        node, behind = one.node, None
        if isinstance(node, Memory):
            node, behind = self._placed(composer, node)
        ref = _ref(node)
        if one.found_by is None and isinstance(node, Memory | Episode):  # what it mentions is read anew
            composer.node(node)
            opening = f"{node.trigger}\n{node.resolution}" if isinstance(node, Memory) else node.content
            composer.mentions(ref, node.scope, prepared.mentions, node.provenance, opening=opening)
        else:
            composer.add([put_record(node)])
        composer.passages(ref, prepared)
        if behind is not None and isinstance(node, Memory):
            take_place(composer, self._store.records, behind, node)

    def _raise_trust(self, composer: Composer, node: Node) -> None:
        """Give what stands for an episode of the import the trust of that, for which a person stands."""
        copy = self._instead[_ref(node)]
        (held,) = self._store.records.present([copy])
        if isinstance(held, Episode) and isinstance(node, Episode) and outranks(node, held):
            composer.patch(copy, trust=node.provenance.trust, consolidated_at=None)  # it is read once more

    def _placed(self, composer: Composer, memory: Memory) -> tuple[Memory, Memory | None]:
        """Return a memory, if active under a name that no other one of its scope has; the better founded one keeps it.

        And what said the same here and is less trusted: it goes behind, also where the memory holds no more.
        """
        if memory.status is not Status.ACTIVE:
            return memory, self._copies.behind(memory)
        key, behind = (memory.scope, memory.name), self._copies.behind(memory)
        ref, other = self._store.index.named(*key), composer.name(*key)
        (holder,) = (None,) if ref is None or key in self._names_taken else self._store.records.present([ref])
        if not isinstance(holder, Memory) or not outranks(memory, holder):
            return replace(memory, name=other), behind
        self._names_taken.add(key)
        if holder != behind:
            composer.patch(holder.ref, name=other)
        return memory, behind

    def _drawn(self, edge: Edge, fresh: Set[Ref]) -> Edge | None:
        """Return what an edge adds to what is between its ends, None for nothing; they are here, or `fresh` with it."""
        if not all(ref in fresh or ref in self._store.index for ref in (edge.source, edge.target)):
            return None
        was_here = edge.target not in fresh and edge.target not in self._came
        if MERGED in edge.attributes and was_here and self._store.index.status_of(edge.target) is Status.ACTIVE:
            return None  # a person has undone that merge here
        ends = (edge.type, edge.source, edge.target)
        held = (op for op in self._store.records.edges_at(edge.source) if (op.type, op.source, op.target) == ends)
        present = next(map(edge_from, held), None)
        told = edge if present is None else drawn_again(present, edge)
        return None if told == present else told


def _ref(node: Node) -> Ref:
    return Ref(label=label_of(node), id=node.id)


def _count(tally: ImportTally, node: Node) -> None:
    tally.memories += isinstance(node, Memory)
    tally.episodes += isinstance(node, Episode)


def _reading(one: OwnNode) -> Any:
    node = one.node
    if one.found_by is None:
        return ReadText.of(_words(node))
    found = [ReadText.of(text) for text in one.found_by]
    return replace(
        ReadText.of(""),
        pieces=tuple(piece for each in found for piece in each.pieces),
        tokens=tuple(token for each in found for token in each.tokens),
    )


def _cleaned(intake: Intake, one: OwnNode) -> OwnNode:
    """Return a node without secrets in any of its texts; raises InvalidInputError where one is too long."""
    node, changed = one.node, dict[str, Any]()
    for field in fields(node):
        value = getattr(node, field.name)
        if field.name in _NAMED:
            changed[field.name] = told_id(value)
        elif type(value) is str:
            changed[field.name] = intake.text(value, field.name, required=False)
        elif field.name == "attributes":
            changed[field.name] = _attributes(intake, value)
    if isinstance(node, Memory) and not _is_bare(node):
        changed["trigger"], changed["resolution"] = intake.pair(node.trigger, node.resolution)
    provenance = getattr(node, "provenance", None)
    if provenance is not None:
        changed["provenance"] = _told_provenance(intake, provenance)
    texts = one.found_by
    found = None if texts is None else tuple(intake.text(text, "text") for text in texts)
    return OwnNode(node=replace(node, **changed), found_by=found)


def _attributes(intake: Intake, value: Mapping[str, Any]) -> dict[str, Any]:
    own = {name: held for name, held in value.items() if name.startswith(OWN_ATTRIBUTE)}
    free = {name: held for name, held in value.items() if name not in own}
    return {**intake.attributes(free), **{k: v for k, v in own.items() if redact(str(v)).text == str(v)}}


def _told_provenance(intake: Intake, provenance: Provenance) -> Provenance:
    return replace(
        provenance,
        slice=told_id(provenance.slice),
        extractor=intake.label(provenance.extractor, "extractor"),
        model=intake.label(provenance.model, "model"),
        agent=intake.label(provenance.agent, "agent"),
    )


_STANDING = frozenset({Status.ACTIVE, Status.QUARANTINED})


class Copies:
    """Finds the copy of a node of an export; `adapter` is what the sources of copies begin with."""

    def __init__(self, index: StoreIndex, adapter: str) -> None:
        self._index = index
        self._refs: dict[tuple[Label, str], Ref] = {}
        self._known: set[str] = set()
        for label in (Label.MEMORY, Label.EPISODE):
            for node in index.present(index.from_sources(label, f"{adapter}:")):
                if isinstance(node, Memory | Episode):
                    key = node.source.removeprefix(f"{adapter}:").partition("@")[0]
                    self._known.add(key)
                    if node.status in _STANDING:
                        self._refs[label, key] = Ref(label=label, id=node.id)

    def knows(self, memory: Memory) -> bool:
        """Return whether a memory of the export was ingested before, whatever became of that."""
        return key_of(memory.id) in self._known

    def saying(self, node: Node) -> Memory | Episode | None:
        """Return what says the same as an import's node in its scope, so that it does not come in.

        Of memories that is what is no less trusted. A less trusted one stands for nothing: its name, files and
        attributes would be taken for the better founded one's.
        """
        for held in self._held(node) if getattr(node, "status", None) is Status.ACTIVE else ():
            if isinstance(held, Memory) and isinstance(node, Memory) and held.scope == node.scope:
                if not outranks(node, held) and same_words(held, NewStatement.of(node)):
                    return held
            elif isinstance(held, Episode) and isinstance(node, Episode) and _told(held) == _told(node):
                return held
        return None

    def behind(self, memory: Memory) -> Memory | None:
        """Return what is to go behind a memory of an import: what says it here, is less trusted and nobody else's."""
        weaker = (held for held in self._held(memory) if isinstance(held, Memory) and outranks(memory, held))
        said = NewStatement.of(memory)
        return next((one for one in weaker if not one.provenance.is_strangers and same_words(one, said)), None)

    def _held(self, node: Node) -> list[Node | None]:
        """Return the copy of a node, and the memory of its name where it is active."""
        if not isinstance(node, Memory | Episode):
            return []
        copy = self._refs.get((label_of(node), key_of(node.id)))
        is_one = isinstance(node, Memory) and node.status is Status.ACTIVE
        named = self._index.named(node.scope, str(getattr(node, "name", ""))) if is_one else None
        return self._index.records.present([ref for ref in (copy, named) if ref is not None])


def _told(episode: Episode) -> tuple[object, ...]:
    said = episode.scope, episode.content, episode.role, episode.session
    return *said, episode.provenance.agent, episode.occurred_at


def _is_hidden(node: Node, hidden: PrivateSessions) -> bool:
    """Return whether a node is a session that is private here, or was recorded in one."""
    if isinstance(node, Session):
        return hidden.hold(name_of_session(node.scope, node.id))
    return hidden.hold(str(getattr(node, "session", "")))


def _is_bare(node: Node) -> bool:
    """Return whether a node is the tombstone of what was erased where the export comes from."""
    return is_erased(node) and not normal(_words(node))


def _words(node: Node) -> str:
    return body(node.trigger, node.resolution) if isinstance(node, Memory) else str(getattr(node, "content", ""))


def _says_erased(props: Props, erased: Erased) -> bool:
    texts = [told.text for told in texts_of(props)]
    return [*map(erased.words.cut, texts)] != texts


def _without(one: OwnNode, erased: Erased) -> OwnNode | None:
    """Return a node without what was erased, as any reading brings it in; None where nothing else is left of it."""
    node = one.node
    if not erased:
        return one
    if _is_bare(node):
        return None if _says_erased(put_record(node).props, erased) else one
    cut = erased.words.cut
    found = None if one.found_by is None else tuple(kept for text in one.found_by if (kept := cut(text).strip()))
    if isinstance(node, Episode):
        content = cut(node.content)
        if erased.has_episode(node.source, node.content) or not normal(content):
            return None
        content = content if content == node.content else content.strip()
        same = content == node.content
        return OwnNode(node=replace(node, content=content), found_by=found if same else None)
    if not isinstance(node, Memory):
        return None if _says_erased(put_record(node).props, erased) else OwnNode(node=node, found_by=found)
    said = (node.trigger, node.resolution)
    left = erased.words.cut_statement(*said)
    if left is None:
        return None
    if left == said:
        node = replace(node, attributes=attributes_without(node.attributes, erased.words))
        return OwnNode(node=node, found_by=found)
    trigger, resolution = left[0].strip(), left[1].strip()
    return OwnNode(node=replace(node, trigger=trigger, resolution=resolution, name=slug(trigger), attributes={}))
