"""Excluded: what was erased is never derived or read again, and what was undone not until a person asks for it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import cast

from helix.journal.log import Journal
from helix.memory.change.versions import OWN_WORD
from helix.model.edge import Label
from helix.model.episode import CAPTURE, Episode
from helix.model.memory import Memory, Status, body
from helix.model.provenance import STATED
from helix.model.records import Node
from helix.model.tombstone import (
    ERASED_SOURCE,
    KEPT_OUT,
    KeptOut,
    content_digest,
    digests,
    kept_out,
    normal,
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
        return bool(self.words.sentences or self.origins or self.digests)

    def has_episode(self, source: str, content: str) -> bool:
        """Return whether an episode is one that was erased."""
        return self.has_source(source) or content_digest(content) in self.digests

    def has_source(self, source: str) -> bool:
        """Return whether what an episode's source names was erased."""
        return origin_of(source) in self.origins or (bool(source) and source_digest(source) in self.digests)

    def is_read_again(self, node: Node) -> bool:
        """Return whether a node was read where it says what was erased.

        What somebody says themselves is theirs, and what a person made of something that was read, if it says more.
        """
        match node:
            case Memory() if _is_read(node.source, node.provenance.extractor):
                said = body(node.trigger, node.resolution)
                left = self.words.cut(said, "")
                return left != said and not (OWN_WORD in node.attributes and normal(left))
            case Episode() if _is_read(node.source, node.provenance.extractor):
                return self.has_episode(node.source, node.content) or bool(self.words.spans(node.content))
            case Episode(source=source):
                return self.has_source(source)
        return False


def _is_read(source: str, extractor: str) -> bool:
    return bool(source) and extractor not in (CAPTURE, STATED)


def erased(index: StoreIndex) -> Erased:
    """Return what a person has erased of a store."""
    tombstones = index.nodes(
        [*index.from_sources(Label.MEMORY, ERASED_SOURCE), *index.from_sources(Label.EPISODE, ERASED_SOURCE)]
    )
    forgotten = index.where(Label.EPISODE, statuses=[Status.FORGOTTEN])
    return _erased(tombstones, (index.source_of(row) for row in forgotten))


def erased_by(tombstones: Iterable[Node]) -> Erased:
    """Return what these tombstones say was erased, on another machine of the person, too."""
    found = [node for node in tombstones if isinstance(node, Memory | Episode)]
    return _erased(found, (node.source for node in found if isinstance(node, Episode)))


def _erased(tombstones: Iterable[Node], sources: Iterable[str]) -> Erased:
    memories, digests_held = [], set[str]()
    for node in tombstones:
        if isinstance(node, Memory):
            memories.append(_kept_by(node))
        elif isinstance(node, Episode) and node.source.startswith(ERASED_SOURCE):
            digests_held |= {*node.source.removeprefix(ERASED_SOURCE).split(",")} - {""}
    origins = frozenset(origin for source in sources if (origin := origin_of(source)))
    return Erased(kept_out(memories), origins, frozenset(digests_held))


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
