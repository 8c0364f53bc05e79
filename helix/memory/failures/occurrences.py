"""Occurrences: a failure, when it was met here, and what tells it from failures of like words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import cast

from helix.memory.change.compose import Composer
from helix.memory.change.intake import OWN_ATTRIBUTE
from helix.model.edge import Ref, Relation
from helix.model.entity import EntityKind, Mention
from helix.model.episode import Episode
from helix.model.memory import Kind, Memory
from helix.model.provenance import JSON_LINES, TOLD_BY_OTHERS, Trust
from helix.model.records import Node
from helix.store.index import StoreIndex
from helix.text.about import about
from helix.text.error_lines import names_something

SEEN_AT = f"{OWN_ATTRIBUTE}seen_at"
"""Attribute of a failure: when it was met again in the very same words, which leaves no episode, and by whose word (a
class of trust); the last few."""
_KEPT_SIGHTINGS = 8
_MOST_READ = 100
"""Most of the episodes or of the systemic memories of a failure, and of the failures of a systemic one, that are read:
whoever stores a failure waits for it, and a strand may bring very many."""


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Occurrence:
    """One time that something failed; `effort` names what was being done then, `trust` is the class of who says so.

    Whoever works on a failure meets it again until it is mended: within one session that is one occurrence.
    """

    at: datetime
    effort: str
    trust: Trust = field(compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A failure and when it occurred, earliest first.

    `marks` are the commands and named errors by which it is told from failures of like words; there may be none.
    `causes` are the systemic memories that count it.
    """

    memory: Memory
    marks: frozenset[Mention]
    occurred: tuple[Occurrence, ...]
    episodes: tuple[Ref, ...]
    causes: frozenset[Ref]


def failure_of(index: StoreIndex, memory: Memory) -> Failure:
    """Return a failure with the times it was met: by its latest episodes, and by notes of the same words."""
    episodes = cast(list[Episode], _latest(index, memory, index.supports_of, Relation.GROUNDED_IN))
    causes = cast(list[Memory], _latest(index, memory, index.supports_of, Relation.CAUSES))
    met = [_occurrence(episode) for episode in episodes if _happened_here(episode)]
    seen = cast(Sequence[str], memory.attributes.get(SEEN_AT, ()))
    met += [_sighting(memory, text) for text in seen]
    return Failure(
        memory=memory,
        marks=marks_of(memory),
        occurred=_once_each(met),
        episodes=tuple(episode.ref for episode in episodes),
        causes=frozenset(one.ref for one in causes if one.kind is Kind.SYSTEMIC),
    )


def failures_behind(index: StoreIndex, systemic: Memory) -> list[Memory]:
    """Return the latest failures that a systemic memory counts, whatever became of them."""
    return cast(list[Memory], _latest(index, systemic, index.supported_by, Relation.CAUSES))


def _latest(
    index: StoreIndex,
    memory: Memory,
    beside: Callable[[Sequence[int], Relation], list[list[int]]],
    relation: Relation,
) -> list[Node]:
    row = index.row_of(memory.ref)
    return [] if row is None else index.nodes(beside([row], relation)[0][-_MOST_READ:])


def _happened_here(episode: Episode) -> bool:
    """Return whether an episode tells of what happened to somebody here, at its own time.

    A history tells what others mended, the web what failed elsewhere. What was imported without a time has the time of
    the import, which is no time.
    """
    if episode.provenance.extractor in TOLD_BY_OTHERS or episode.provenance.trust is Trust.WEB:
        return False
    return episode.provenance.extractor != JSON_LINES or episode.occurred_at < episode.recorded_at


def _occurrence(episode: Episode) -> Occurrence:
    effort = f"{episode.scope} {episode.session}" if episode.session else episode.id
    return Occurrence(at=episode.occurred_at, effort=effort, trust=episode.provenance.trust)


def _sighting(memory: Memory, text: str) -> Occurrence:
    """Return what a failure's attribute says of one sighting; an older one does not say by whose word it was noted."""
    at, _, trust = text.partition(" ")
    told = Trust(trust) if trust else memory.provenance.trust
    return Occurrence(at=datetime.fromisoformat(at), effort=f"{memory.id} {at}", trust=told)


def _once_each(met: Iterable[Occurrence]) -> tuple[Occurrence, ...]:
    """Return the first occurrence of each effort, earliest first, by the best word that there is for it."""
    first: dict[str, Occurrence] = {}
    for one in sorted(met):
        known = first.setdefault(one.effort, one)
        if one.trust.rank < known.trust.rank:
            first[one.effort] = replace(known, trust=one.trust)
    return tuple(first.values())


def marks_of(memory: Memory) -> frozenset[Mention]:
    """Return the marks of a failure: the commands it is about and the errors whose line names something."""
    told = about(memory.trigger, memory.attributes)
    return frozenset(one for one in told if one.kind is EntityKind.COMMAND or _names(one.name))


def _names(error: str) -> bool:
    """Return whether an error's line names what it is about; its kind, of which the names are left out, does not."""
    return names_something(error) and "'…'" not in error


def note_sighting(composer: Composer, memory: Memory, trust: Trust) -> None:
    """Keep count, as upkeep, of a failure that was met again in the very same words, by a word of that class.

    Other kinds of memory note nothing, and nothing is noted of what the web says: it did not fail here.
    """
    if memory.kind is not Kind.FAILURE or trust is Trust.WEB:
        return
    before = cast(Sequence[str], memory.attributes.get(SEEN_AT, ()))
    kept = [*before, f"{composer.now.isoformat()} {trust}"][-_KEPT_SIGHTINGS:]
    composer.patch(memory.ref, attributes={**memory.attributes, SEEN_AT: kept})
