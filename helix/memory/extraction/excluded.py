"""Excluded: what was erased is never derived or read again, and what was undone not until a person asks for it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import cast

from helix.journal.log import Journal
from helix.model.edge import Label
from helix.model.episode import CAPTURE, Episode
from helix.model.memory import Memory, Status, body
from helix.model.records import Node
from helix.model.tombstone import ERASED_SOURCE, KEPT_OUT, KeptOut, digests, kept_out, origin_of
from helix.store.index import StoreIndex
from helix.store.store import Store

_UNDONE = "undone/"
"""How the journal's words on memories begin whose making was undone; the id follows that they had."""


def held(store: Store, scope: str, *, anew: bool = False) -> KeptOut:
    """Return the statements that may not be derived in a scope; `anew`: undone ones may."""
    index = store.index
    memories = index.nodes(index.from_sources(Label.MEMORY, ERASED_SOURCE))
    return kept_out((*map(_kept_by, memories), *(() if anew else _undone(store.journal, scope))))


@dataclass(frozen=True, slots=True)
class Erased:
    """What a person has erased, as far as it may be read again: in a history, a file or an export.

    A commit or a client's call is known by its id, whatever its project is called by now; all else by its words.
    """

    words: KeptOut
    origins: frozenset[str]

    def __bool__(self) -> bool:
        return bool(self.words.held or self.origins)

    def has_episode(self, source: str, content: str) -> bool:
        """Return whether an episode is one that was erased."""
        return self.has_source(source) or self.words.holds(content, "")

    def has_source(self, source: str) -> bool:
        """Return whether what an episode's source names was erased."""
        return origin_of(source) in self.origins or self.words.has_source(source)

    def is_said_by(self, trigger: str, resolution: str) -> bool:
        """Return whether a memory says a statement that was erased, or a sentence of it."""
        return self.words.holds(trigger, resolution) or bool(self.words.said_in(body(trigger, resolution)))

    def is_read_again(self, node: Node) -> bool:
        """Return whether a node was read where it says what was erased; what somebody says themselves is theirs."""
        match node:
            case Memory(source=source):
                return bool(source) and self.is_said_by(node.trigger, node.resolution)
            case Episode(source=source) if source and node.provenance.extractor != CAPTURE:
                return self.has_episode(source, node.content) or bool(self.words.said_in(node.content))
            case Episode(source=source):
                return self.has_source(source)
        return False


def erased(index: StoreIndex) -> Erased:
    """Return what a person has erased of a store."""
    tombstones = index.nodes(
        [*index.from_sources(Label.MEMORY, ERASED_SOURCE), *index.from_sources(Label.EPISODE, ERASED_SOURCE)]
    )
    forgotten = index.where(Label.EPISODE, statuses=[Status.FORGOTTEN])
    return Erased(kept_out(map(_kept_by, tombstones)), _origins(index.source_of(row) for row in forgotten))


def erased_by(tombstones: Iterable[Node]) -> Erased:
    """Return what these tombstones say was erased, on another machine of the person, too."""
    found = [node for node in tombstones if isinstance(node, Memory | Episode)]
    sources = (node.source for node in found if isinstance(node, Episode))
    return Erased(kept_out(map(_kept_by, found)), _origins(sources))


def _origins(sources: Iterable[str]) -> frozenset[str]:
    return frozenset(origin for source in sources if (origin := origin_of(source)))


def _kept_by(tombstone: Node) -> tuple[str, Iterable[str]]:
    """Return the salt and the digests of a tombstone."""
    if isinstance(tombstone, Episode):
        known = tombstone.source.startswith(ERASED_SOURCE)
        return tombstone.id, tombstone.source.removeprefix(ERASED_SOURCE).split(",") if known else ()
    memory = cast(Memory, tombstone)
    return memory.id, cast(Iterable[str], memory.attributes.get(KEPT_OUT, ()))


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
