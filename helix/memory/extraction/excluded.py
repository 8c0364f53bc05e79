"""Excluded: what was erased is never derived or read again, and what was undone not until a person asks for it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import cast

from helix.journal.log import Journal
from helix.memory.change.versions import OWN_WORD
from helix.model.edge import Label, Ref
from helix.model.episode import CAPTURE, Episode
from helix.model.memory import Memory, Status
from helix.model.provenance import STATED, Provenance
from helix.model.records import Node
from helix.model.tombstone import (
    ERASED_SOURCE,
    KEPT_OUT,
    WORK,
    KeptOut,
    content_digests,
    digests,
    is_erased,
    kept_out,
    origin_of,
    source_digest,
)
from helix.store.index import StoreIndex
from helix.store.store import Store

_UNDONE = "undone/"
"""How the journal's words on memories begin whose making was undone; the id follows that they had."""


def held(store: Store, scope: str, *, anew: bool = False) -> KeptOut:
    """Return the statements that may not be derived in a scope; `anew`: undone ones may."""
    index = store.index
    memories = (cast(Memory, node) for node in index.nodes(index.from_sources(Label.MEMORY, ERASED_SOURCE)))
    return kept_out((*map(_kept_by, memories), *(() if anew else _undone(store.journal, scope))))


@dataclass(frozen=True, slots=True)
class Erased:
    """What a person has erased, as far as it may be read again: in a history, a file or an export.

    A commit or a client's call is known by its id, whatever its project is called by now; all else by its words.
    """

    words: KeptOut
    origins: frozenset[str]
    digests: frozenset[str]

    def __bool__(self) -> bool:
        return bool(self.words.texts or self.origins or self.digests)

    def has_episode(self, source: str, content: str) -> bool:
        """Return whether an episode is one that was erased."""
        return self.has_source(source) or not self.digests.isdisjoint(content_digests(content))

    def has_source(self, source: str) -> bool:
        """Return whether what an episode's source names was erased."""
        return origin_of(source) in self.origins or (bool(source) and source_digest(source) in self.digests)

    def is_read_again(self, node: Node) -> bool:
        """Return whether a node was read where it says what was erased.

        What somebody says themselves is theirs, and so is what they made of something that was read.
        """
        match node:
            case Memory() if is_read(node) and OWN_WORD not in node.attributes:
                said = (node.trigger, node.resolution)
                return self.words.cut_statement(*said) != said
            case Episode() if is_read(node):
                return self.has_episode(node.source, node.content) or self.words.cut(node.content) != node.content
            case Episode(source=source):
                return self.has_source(source)
        return False


def is_read(node: Memory | Episode) -> bool:
    """Return whether a node was read in a history, a file or an export; not what somebody said here, or stored."""
    return bool(node.source) and node.provenance.extractor not in (CAPTURE, STATED)


def is_gone(store: Store, ref: Ref) -> bool:
    """Return whether a node was erased here; what was planned and done goes on without its words."""
    if ref.label in WORK or store.index.status_of(ref) is not Status.FORGOTTEN:
        return False
    return any(node is not None and is_erased(node) for node in store.records.present([ref]))


def tombstones(index: StoreIndex) -> Iterator[Memory | Episode]:
    """Yield the tombstones that keep something out: of memories by their words, of episodes by their source, too."""
    rows = [*index.from_sources(Label.MEMORY, ERASED_SOURCE), *index.from_sources(Label.EPISODE, ERASED_SOURCE)]
    forgotten = index.where(Label.EPISODE, statuses=[Status.FORGOTTEN])
    rows += [row for row in forgotten if origin_of(index.source_of(row))]
    for node in index.nodes(rows):
        if isinstance(node, Memory | Episode) and is_erased(node):
            yield node


def erased(index: StoreIndex) -> Erased:
    """Return what a person has erased of a store."""
    return erased_by(tombstones(index))


class ErasedSince:
    """What a person has erased of a store, for one node after the other: what they said after an erasure is theirs."""

    def __init__(self, index: StoreIndex) -> None:
        found = ((_erased_at(node), node) for node in tombstones(index))
        self._newest_first = sorted(found, key=lambda one: one[0], reverse=True)
        self.all = self._last = erased_by(node for _, node in self._newest_first)
        self._counted = len(self._newest_first)

    def __bool__(self) -> bool:
        return bool(self.all)

    def of(self, node: Node) -> Erased:
        """Return what was erased since a node was said, or all where it was not said but read or derived."""
        if not isinstance(node, Memory | Episode) or not _is_said(node):
            return self.all
        since = [one for at, one in self._newest_first if at >= node.recorded_at]
        if len(since) == len(self._newest_first):
            return self.all
        if len(since) != self._counted:
            self._counted, self._last = len(since), erased_by(since)
        return self._last


def _is_said(node: Memory | Episode) -> bool:
    """Return whether a node is what somebody said themselves, or made of something that was read."""
    own = isinstance(node, Memory) and OWN_WORD in node.attributes
    return own or node.provenance.extractor in (CAPTURE, STATED)


def _erased_at(tombstone: Node) -> datetime:
    """Return when a node was erased; where its tombstone does not say so, a moment behind all others."""
    try:
        at = datetime.fromisoformat(getattr(tombstone, "provenance", Provenance()).slice)
    except ValueError:
        return datetime.max.replace(tzinfo=UTC)
    return at if at.tzinfo is not None else at.replace(tzinfo=UTC)


def erased_by(tombstones: Iterable[Node]) -> Erased:
    """Return what these tombstones say was erased, on another machine of the person, too."""
    held, known, origins = list[tuple[str, Iterable[str]]](), set[str](), set[str]()
    for node in tombstones:
        if isinstance(node, Memory):
            held.append(_kept_by(node))
        elif isinstance(node, Episode) and node.source.startswith(ERASED_SOURCE):
            told = node.source.removeprefix(ERASED_SOURCE).split(",")
            known.update(told)
            held.append(("", told))
        elif isinstance(node, Episode):
            origins.add(origin_of(node.source))
    return Erased(kept_out(held), frozenset(origins - {""}), frozenset(known - {""}))


def _kept_by(tombstone: Memory) -> tuple[str, Iterable[str]]:
    """Return the salt and the digests of a tombstone."""
    return tombstone.id, cast(Iterable[str], tombstone.attributes.get(KEPT_OUT, ()))


def note_undone(journal: Journal, memories: Iterable[Memory]) -> None:
    """Exclude the statements of undone memories from derivation, from the next run on; on the writer's thread."""
    for memory in memories:
        words = json.dumps({"scope": memory.scope, "digests": digests(memory)}, ensure_ascii=False)
        journal.set_meta(_UNDONE + memory.id, words)


def lift(journal: Journal, scope: str) -> None:
    """Let statements that were undone in a scope be derived again; on the writer's thread."""
    for memory_id, _ in list(_undone(journal, scope)):
        journal.drop_meta(_UNDONE + memory_id)


def _undone(journal: Journal, scope: str) -> Iterator[tuple[str, list[str]]]:
    for key, words in journal.metas(_UNDONE).items():
        try:
            said = json.loads(words)
            known = [one for one in said["digests"] if isinstance(one, str)] if said["scope"] == scope else None
        except (ValueError, TypeError, KeyError, RecursionError):  # damaged, as a restored one may be: it excludes none
            continue
        if known is not None:
            yield key.removeprefix(_UNDONE), known
