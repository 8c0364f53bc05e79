"""Hard forget: works out what goes with a memory or an episode, and takes it away everywhere, for good."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import cast

from helix.errors import InvalidInputError, NotFoundError
from helix.journal import erase, pages
from helix.journal.state import Records
from helix.memory.change.compose import Composer
from helix.memory.change.find import memory_of
from helix.memory.change.versions import OWN_WORD, is_succession
from helix.memory.contradiction.validity import recompute_validity
from helix.memory.erasure.stored_secrets import texts_of
from helix.memory.extraction import derived
from helix.memory.extraction.excluded import is_read
from helix.memory.failures import systemic
from helix.memory.insight import reflect, rollup
from helix.model.candidate import Candidate
from helix.model.clock import from_micros, to_micros
from helix.model.edge import Label, Ref, Relation
from helix.model.entity import Entity
from helix.model.episode import Episode, Session
from helix.model.erasure_report import Erasable, ErasePlan, EraseReport
from helix.model.memory import Memory, body
from helix.model.operations import DropEdge, Props
from helix.model.provenance import NOTES, STATED, Provenance
from helix.model.records import Node, edge_from, label_of, put_record
from helix.model.reflection import Reflection
from helix.model.told import normal, told_sentences
from helix.model.tombstone import WORK, is_erased, origin_of
from helix.store import erasing
from helix.store.erasing import ERASE, ErasureNote
from helix.store.index import StoreIndex
from helix.store.jobs import Ticket
from helix.store.store import Store
from helix.store.writer import Decision

MADE_OF_WORDS = frozenset({derived.EXTRACTOR, rollup.EXTRACTOR, reflect.EXTRACTOR, systemic.EXTRACTOR})
"""Extractors whose texts are sentences of the evidence: they would go on saying what was erased."""
_OWN_ROLE = "store"
_NAMED, _NEWER, _OLDER = "it was named", "a newer version of it", "an older version of it"
_SAME_WORDS, _STORED_IN = "it says the same words", "what it was stored in"
_SAYS_IT = frozenset({_NAMED, _NEWER, _OLDER})
_READ_AT_ONCE = 512
_SHOWN = 80
RESTS_ON = {Label.MEMORY: Relation.GROUNDED_IN, Label.REFLECTION: Relation.CITES}
"""The edges that lead from what rests on something to that."""


def plan_hard_forget(store: Store, name_or_id: str) -> ErasePlan:
    """Return what a hard forget takes away, and what stays though it names the forgotten; nothing is changed.

    A memory goes with its versions and with every episode, task and the like that holds a sentence of theirs, or once
    did; anything else goes as it is. With them goes whatever rests on nothing else, and the names that nothing else
    mentions. Raises NotFoundError or ConflictError as `memory_of` does, InvalidInputError for a node that cannot be
    named here.
    """
    root = _root(store.index, name_or_id)
    copies = tuple(str(path) for path in erasing.copies_of(store))
    if is_erased(store.records.node(root)):
        return ErasePlan(root=root, goes=(), stays=(), copies=copies)
    circle = _Circle(store)
    circle.close_around([root])
    names = {ref: "nothing else mentions it" for ref in erase.names_left(store.journal, circle.goes.keys())}
    return ErasePlan(
        root=root,
        goes=tuple(_erasables(store.records, {**circle.goes, **names})),
        stays=tuple(_erasables(store.records, circle.stays)),
        copies=copies,
    )


def hard_forget(store: Store, plan: ErasePlan, ticket: Ticket) -> EraseReport:
    """Take away what a hard forget's plan names, from every file and from memory; tombstones stay.

    What has come to belong to it since it was asked for goes too: it was promised that nothing stays. It is finished at
    the next start where it was cut short. Done a second time it reaches the copies that could not be reached before,
    and does nothing else. The graph is built anew: until then Cypher has none to ask.
    """
    if not plan.goes:
        return erasing.erase_in_copies(store)
    report = carry_out(store, note(store, plan), lambda stage: ticket.progress(0, 0, stage))
    erasing.rebuild_graph(store, ticket)
    return report


def note(store: Store, plan: ErasePlan) -> ErasureNote:
    """Note durably that a hard forget's plan is to be carried out; who opens the store next does it otherwise.

    Raises ConflictError while another erasure is unfinished.
    """
    noted = ErasureNote(
        kind=ERASE,
        refs=tuple(each.ref for each in plan.goes),
        at=to_micros(store.runtime.clock()),
        keep_out=_kept_out(store.index, {each.ref: each.why for each in plan.goes}),
    )
    if plan.goes:
        erasing.begin_erasure(store, noted)
    return noted


def _as_of_now(store: Store, noted: ErasureNote) -> ErasureNote:
    """Return what a noted erasure takes away by now: all that was noted, and what belongs to it here; durable if more.

    What is gone already took its plan with it: then what was noted is what is left to do.
    """
    if noted.here or noted.closed:
        return noted
    root, circle = noted.refs[0], _Circle(store)
    circle.goes.update(dict.fromkeys((ref for ref in noted.refs if _stands(store, ref)), "it was noted"))
    circle.close_around([root] if root in circle.goes else [])
    found = circle.goes
    refs = dict.fromkeys((*noted.refs, *found))
    refs.update(dict.fromkeys(erase.names_left(store.journal, refs.keys())))
    if refs.keys() == set(noted.refs):
        return noted
    keep_out = dict.fromkeys((*noted.keep_out, *_kept_out(store.index, found)))
    now = replace(noted, refs=tuple(refs), keep_out=tuple(keep_out))
    erasing.begin_erasure(store, now)
    return now


def _stands(store: Store, ref: Ref) -> bool:
    return ref in store.index and not is_erased(store.records.node(ref))


def note_elsewhere(
    store: Store, erased: Sequence[Ref], again: Sequence[Ref], kept_out: Collection[Ref], spared: Callable[[Ref], bool]
) -> ErasureNote | None:
    """Note durably what goes here because it was erased on another machine of the person; None where nothing does.

    That is the `erased` nodes, and what this machine has read `again` of the same; `kept_out` were erased for what they
    say. What belongs to the erased goes too, but for what is `spared` (what the other machine holds was looked at
    there, and what is not shared is not hers to end), and what somebody said here themselves: nobody was shown that it
    would go. Beside what was read again all else that was read stays.
    """
    circle = _Circle(store, spared, again)
    circle.goes.update(dict.fromkeys((ref for ref in erased if _stands(store, ref)), "it was erased elsewhere"))
    circle.goes.update(dict.fromkeys((ref for ref in again if _stands(store, ref)), "it was read of the same"))
    circle.close_around([ref for ref in erased if _stands(store, ref) and ref in kept_out])
    if not circle.goes:
        return None
    refs = dict.fromkeys(circle.goes)
    refs.update(dict.fromkeys(erase.names_left(store.journal, refs.keys())))
    said = _kept_out(store.index, circle.goes)
    noted = ErasureNote(kind=ERASE, refs=tuple(refs), at=to_micros(store.runtime.clock()), keep_out=said, closed=True)
    erasing.begin_erasure(store, noted)
    return noted


def _kept_out(index: StoreIndex, goes: Mapping[Ref, str]) -> tuple[Ref, ...]:
    """Return the nodes whose words are not to come back; of notes that say them among others the rest may."""

    def says_nothing_else(ref: Ref) -> bool:
        row = index.row_of(ref)
        return row is not None and not index.source_of(row).startswith(f"{NOTES}:")

    told = ((ref, why) for ref, why in goes.items() if ref.label in (Label.MEMORY, Label.EPISODE))
    saying = (_SAME_WORDS, _STORED_IN)
    return tuple(ref for ref, why in told if why in _SAYS_IT or (why in saying and says_nothing_else(ref)))


def carry_out(store: Store, noted: ErasureNote, tell: Callable[[str], None]) -> EraseReport:
    """Do all of a hard forget that was noted, whatever of it is done already; the graph is left to be built anew."""
    note = _as_of_now(store, noted)

    def entombed() -> Decision[None]:
        composer = Composer(store, store.runtime.clock())
        at = from_micros(note.at)
        composer.add(erase.entombing(store.journal, note.refs, at, note.keep_out, sources=not note.closed))
        recompute_validity(composer, store)
        return Decision((composer.change(ERASE),) if composer.pending else (), None)

    return erasing.erase_everywhere(
        store,
        note,
        texts=list(_texts(store.index, note.refs)),
        remove=lambda: store.writer.submit(entombed),
        in_copy=lambda copy: erasing.forget_in(copy, note.refs, note.at, note.keep_out, closed=note.closed),
        tell=tell,
    )


class _Circle:
    """What goes with a node, and what touches that and stays; each with the reason, in the order it was found."""

    def __init__(self, store: Store, spared: Callable[[Ref], bool] | None = None, again: Collection[Ref] = ()) -> None:
        self._store = store
        self._elsewhere = spared is not None
        self._spared = spared or (lambda _: False)
        self._beside = set(again)
        """Episodes that were read and say something else, too, which stays."""
        self._edges: dict[Ref, list[DropEdge]] = {}
        self.goes: dict[Ref, str] = {}
        self.stays: dict[Ref, str] = {}

    def close_around(self, roots: Sequence[Ref]) -> None:
        """Add what says the same as the roots (versions of memories, repetitions of episodes), and what rests on them.

        Each step away from the roots looks at what the step before it found, and at nothing else.
        """
        self.goes.update(dict.fromkeys(roots, _NAMED))
        if versions := [ref for root in roots if root.label is Label.MEMORY for ref in self._versions(root)]:
            self._saying_it(list(dict.fromkeys(versions)))
        if episodes := [root for root in roots if root.label is Label.EPISODE]:
            self._repeating(episodes)
        found = list(self.goes)
        while found:
            found = self._resting_on(found)
        self.stays = {ref: why for ref, why in self.stays.items() if ref not in self.goes}

    def _repeating(self, roots: Sequence[Ref]) -> None:
        """Add the episodes of the same commit or call, and those that say the same from beginning to end."""
        told = [cast(Episode, node) for node in self._store.records.nodes(roots)]
        origins, said = {origin_of(one.source) for one in told} - {""}, {normal(one.content) for one in told} - {""}
        for ref, other in _episodes(self._store.index):
            if (
                ref not in self.goes
                and (is_read(other) or not self._elsewhere)
                and (origin_of(other.source) in origins or normal(other.content) in said)
                and not self._spared(ref)
            ):
                self.goes[ref] = _SAME_WORDS

    def _at(self, refs: Iterable[Ref]) -> Iterator[DropEdge]:
        wanted, index = list(refs), self._store.index
        lacking = [ref for ref in wanted if ref not in self._edges]
        known = [ref for ref in lacking if index.whole and ref in index]
        self._edges.update((ref, index.edges_at(ref)) for ref in known)
        if len(known) < len(lacking):  # the journal finds them by reading every edge there is
            self._edges.update(erase.edges_at(self._store.journal, set(lacking).difference(known)))
        for ref in wanted:
            yield from self._edges[ref]

    def _versions(self, root: Ref) -> list[Ref]:
        """Add the versions of the root, what took its place and what it took the place of, and return them with it."""
        versions = {root: None}
        for newer, why in ((True, _NEWER), (False, _OLDER)):
            edge_of = {root: ""}
            while edge_of:
                step = self._succeeding(edge_of)
                ends = [edge.source for edge in step if edge.target in edge_of] if newer else []
                ends += [edge.target for edge in step if edge.source in edge_of] if not newer else []
                edge_of = {ref: why for ref in ends if ref not in versions and not self._spared(ref)}
                versions.update(dict.fromkeys(edge_of))
                self.goes.update(edge_of)
        return list(versions)

    def _succeeding(self, refs: Collection[Ref]) -> list[DropEdge]:
        """Return the edges between versions at the nodes.

        A memory that lost to a contrary one is no version of it, nor is what its notes say instead.
        """
        edges = list(self._at(refs))
        contrary = {frozenset((edge.source, edge.target)) for edge in edges if edge.type is Relation.CONTRADICTS}
        held = (self._store.records.edges_at(ref, Relation.SUPERSEDES) for ref in refs)
        said = map(edge_from, chain.from_iterable(held))
        versions = {frozenset((edge.source, edge.target)) for edge in said if is_succession(edge)} - contrary
        return [
            edge
            for edge in edges
            if edge.type is Relation.SUPERSEDES and frozenset((edge.source, edge.target)) in versions
        ]

    def _saying_it(self, versions: list[Ref]) -> None:
        """Add the episodes in which it was stored or that say a sentence of it; others it was drawn from stay."""
        memories = [cast(Memory, node) for node in self._store.records.nodes(versions)]
        wanted = _sentences(memories)
        drawn_from = {
            edge.target: None
            for edge in self._at(versions)
            if edge.type is Relation.GROUNDED_IN and edge.target.label is Label.EPISODE
        }
        whole = {normal(_words(memory)) for memory in memories}
        for ref, episode in _episodes(self._store.index):
            if self._spared(ref):
                continue
            said = normal(episode.content)
            if ref in drawn_from and (episode.role == _OWN_ROLE or said in whole):
                self.goes[ref] = _STORED_IN
            elif not self._elsewhere and any(sentence in f" {said} " for sentence in wanted):
                self.goes[ref] = _SAME_WORDS
                self._beside |= {ref} if episode.provenance.extractor == NOTES else set()
            elif ref in drawn_from:
                self.stays[ref] = "it was drawn from this, in other words"
        for sentence in wanted:
            for node in self._store.index.nodes(list(self._store.index.with_all_words(sentence))):
                if isinstance(node, Memory | Reflection) and sentence in f" {normal(_words(node))} ":
                    self.stays.setdefault(node.ref, "it says the same words, and stands by itself")
        for ref, props in _works(self._store):
            if self._spared(ref):
                continue
            said = "\n".join(f" {normal(one.text)} " for one in texts_of(props))
            if not self._elsewhere and any(sentence in said for sentence in wanted):
                self.goes[ref] = _SAME_WORDS
            elif ref.label is Label.CANDIDATE and Ref.memory(str(props.get("memory"))) in versions:
                self.goes[ref] = "it became this memory"

    def _resting_on(self, found: Sequence[Ref]) -> list[Ref]:
        """Add and return what rests on what was found and on nothing but what goes, or was made of its words by Helix.

        That is memories and reflections.
        """
        resting = {
            edge.source: None
            for edge in self._at(found)
            if edge.type is RESTS_ON.get(edge.source.label)
            and edge.source not in self.goes
            and edge.target in self.goes
        }
        list(self._at(resting))
        for ref in resting:
            grounds = [
                edge.target for edge in self._edges[ref] if edge.source == ref and edge.type is RESTS_ON[ref.label]
            ]
            node = self._store.records.node(ref)
            if self._spared(ref) or (self._elsewhere and _is_somebodys(node)):
                continue
            if all(ground in self.goes and ground not in self._beside for ground in grounds):
                self.goes[ref] = "it rests on nothing else"
            elif _extractor(node) in MADE_OF_WORDS:
                self.goes[ref] = "it was made of its words; `helix consolidate --anew` makes it from what is left"
            else:
                self.stays[ref] = "it rests on other evidence too, or was read beside it, and may repeat it"
        return [ref for ref in resting if ref in self.goes]


def _sentences(memories: Iterable[Memory]) -> tuple[str, ...]:
    """Return the sentences of the memories by their words, a blank at either end."""
    told = (one for memory in memories for one in told_sentences(memory.trigger, memory.resolution))
    return tuple(dict.fromkeys(f" {words} " for words in told))


def _episodes(index: StoreIndex) -> Iterator[tuple[Ref, Episode]]:
    """Yield every episode there is, the first recorded first."""
    rows = index.newest(index.where(Label.EPISODE))[::-1]
    for start in range(0, len(rows), _READ_AT_ONCE):
        for node in index.nodes(rows[start : start + _READ_AT_ONCE]):
            yield cast(Episode, node).ref, cast(Episode, node)


def _works(store: Store) -> Iterator[tuple[Ref, Props]]:
    """Yield what plans, tasks and the like say or said: unlike an episode, one is written over as the work goes on."""
    index = store.index
    there = {index.ref_of(row): None for row in index.newest(index.where(*WORK))[::-1]}
    for ref, node in zip(there, store.records.present(list(there)), strict=True):
        if node is not None:
            yield ref, put_record(node).props
    if there:
        yield from ((ref, props) for ref, props in pages.log_nodes(store.journal, WORK) if ref in there)


def _is_somebodys(node: Node) -> bool:
    """Return whether somebody said a memory themselves, or stands for it."""
    return isinstance(node, Memory) and (OWN_WORD in node.attributes or node.provenance.extractor == STATED)


def _extractor(node: Node) -> str:
    return getattr(node, "provenance", Provenance()).extractor


def _root(index: StoreIndex, name_or_id: str) -> Ref:
    wanted = name_or_id.strip()
    for label in Label:
        ref = Ref(label=label, id=wanted)
        if ref not in index:
            continue
        if label in (Label.ENTITY, Label.SESSION):
            raise InvalidInputError(
                f"{wanted!r} is a {label.lower()}", hint="name a memory, an episode or a reflection: it goes with them"
            )
        return ref
    try:
        return memory_of(index, wanted).ref
    except NotFoundError as error:
        raise NotFoundError(
            f"nothing is called {wanted!r}", hint="name a memory, or the id of an episode or a reflection"
        ) from error


def _erasables(records: Records, found: dict[Ref, str]) -> Iterator[Erasable]:
    for (ref, why), node in zip(found.items(), records.nodes(list(found)), strict=True):
        yield Erasable(ref=ref, name=_name_of(node), why=why)


def _name_of(node: Node) -> str:
    match node:
        case Memory() | Entity():
            return node.name
        case Reflection():
            text = node.question or node.insight
        case Episode():
            text = node.content
        case Candidate():
            text = node.trigger
        case _:
            text = getattr(node, "objective", "") or node.id
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN else f"{line[: _SHOWN - 1]}…"


def _words(node: Node) -> str:
    match node:
        case Memory():
            return body(node.trigger, node.resolution)
        case Episode():
            return node.content
        case Reflection():
            return node.insight
        case _:
            return ""


def _texts(index: StoreIndex, refs: Iterable[Ref]) -> Iterator[str]:
    """Yield what the nodes say, as far as they say it still."""
    for node in index.records.nodes([ref for ref in refs if ref in index]):
        yield _words(node)
        match node:
            case Memory():
                yield from (node.name, node.trigger, node.resolution)
            case Reflection():
                yield node.question
            case Entity():
                yield node.name
            case Session():
                yield node.id
            case _ if label_of(node) in WORK:
                yield from (said.text for said in texts_of(put_record(node).props))
