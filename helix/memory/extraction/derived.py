"""Derived memories: how one that the episodes ask for is written, renewed, strengthened and retired in a store.

A derived memory is known by its key, in its source and its attributes. What people and outcomes made of it - other
words, feedback, the reset of a clock - is kept with the key: whatever version comes next has it. What somebody stored
and episodes ask for too stays one memory, and is grounded in those episodes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import cast

from helix.journal.state import Records
from helix.memory.change.compose import Composer, Prepared
from helix.memory.change.intake import OWN_ATTRIBUTE
from helix.memory.change.versions import OWN_WORD, supersede, take_place
from helix.memory.contradiction.classify import (
    ContradictionVerdict,
    NewStatement,
    Thresholds,
    decide,
    same_words,
    says_the_same,
    why_contrary,
)
from helix.memory.contradiction.resolve import disputes_of
from helix.memory.extraction.cluster import go_on
from helix.memory.extraction.derive import Desired, digest
from helix.memory.neighbours import nearest_active
from helix.memory.scores import count_sighting, half_life_of
from helix.model.edge import Edge, Label, Ref, Relation
from helix.model.episode import Episode
from helix.model.memory import CLAIMED, DERIVED_SOURCE, ROOM, Memory, Status
from helix.model.provenance import BY_MODEL, Provenance, Trust
from helix.model.records import edge_from
from helix.model.tombstone import KEY
from helix.scopes import same_scope
from helix.store.index import StoreIndex
from helix.store.store import Store
from helix.store.whole_numbers import Rest
from helix.text.cleaning import is_numbered, slug

DERIVED = f"{OWN_ATTRIBUTE}derived"
"""Attribute of a derived memory: what was derived, to be told from what people made of it."""
EXTRACTOR = "consolidation"
"""Extractor of the edges to the episodes that a memory was derived from."""
_TELLING = frozenset({Relation.GROUNDED_IN, Relation.SUPERSEDES})
_MOST_FORMER = 20
_EARNED = ("helped", "failed", "uses", "easiness", "half_life_days", "last_used_at")
_LIVE = frozenset({Status.ACTIVE, Status.ARCHIVED, Status.QUARANTINED, Status.FORGOTTEN})


@dataclass(frozen=True, slots=True, kw_only=True)
class Existing:
    """The newest version of a derived memory, and the ids of the episodes that it was derived from."""

    memory: Memory
    grounding: frozenset[str]
    heir: Memory | None
    """What stands for it, a retired one: it was merged, or somebody stored the same."""

    @property
    def ref(self) -> Ref:
        """The node of a derived memory."""
        return self.memory.ref

    @property
    def key(self) -> str:
        """What it is known by."""
        return str(self.memory.attributes.get(KEY, ""))

    @property
    def live(self) -> bool:
        """Whether a derived memory stands, in whatever place a person or a rule has put it."""
        return self.memory.status in _LIVE

    @property
    def stored(self) -> bool:
        """Whether what stands for it was stored: then all of its episodes speak for that."""
        return self.heir is not None and not self.heir.is_derived

    @property
    def edited(self) -> bool:
        """Whether its words are somebody's: they are not those that were derived, or a person has confirmed them."""
        noted, trust = _noted(self.memory), self.memory.provenance.trust.value
        told = (noted.get("words"), noted.get("trust", trust))
        return bool(told[0]) and told != (_words(self.memory), trust)


def existing(index: StoreIndex, scope: str, rest: Rest = go_on) -> list[Existing]:
    """Return the newest version of each derived memory of exactly this scope, by key."""
    newest: dict[str, Memory] = {}
    for row in index.from_sources(Label.MEMORY, DERIVED_SOURCE, scope):
        rest()
        (memory,) = index.records.present([index.ref_of(row)])
        key = str(memory.attributes.get(KEY, "")) if isinstance(memory, Memory) else ""
        if isinstance(memory, Memory) and key and (key not in newest or _version(newest[key]) < _version(memory)):
            newest[key] = memory
    found = []
    for _, memory in sorted(newest.items()):
        rest()
        found.append(_existing_of(index.records, memory))
    return found


def rejoining(records: Records, there: Sequence[Existing], orphaned: Sequence[Existing]) -> list[Existing]:
    """Return the live derived memories that may be one again, as what was said between them goes (`orphaned`)."""
    ends = {
        ref.id for one in orphaned for edge in disputes_of(records, one.memory) for ref in (edge.source, edge.target)
    }
    held: dict[object, list[Existing]] = defaultdict(list)
    for one in there:
        if one.live:
            held[_words(one.memory), one.memory.valid_to].append(one)
    return [one for alike in held.values() for one in alike if len(alike) > 1 or one.memory.id in ends]


def held_by(index: StoreIndex, scope: str, keys: Collection[str]) -> list[Memory]:
    """Return the active derived memories of a scope with one of these keys, by key."""
    refs = [index.ref_of(row) for row in index.from_sources(Label.MEMORY, DERIVED_SOURCE, scope)]
    found = (one for one in index.records.present(refs) if isinstance(one, Memory) and one.status is Status.ACTIVE)
    return sorted(
        (one for one in found if one.attributes.get(KEY) in keys), key=lambda one: (str(one.attributes[KEY]), one.id)
    )


def _version(memory: Memory) -> tuple[bool, datetime, str]:
    return memory.status in _LIVE, memory.recorded_at, memory.id


def _existing_of(records: Records, memory: Memory) -> Existing:
    ref = memory.ref
    edges = [edge_from(op) for op in records.edges_at(ref) if op.type in _TELLING]
    grounding = frozenset(edge.target.id for edge in edges if _is_own(edge, ref))
    heir = _heir(records, memory) if memory.status is Status.RETIRED else None
    return Existing(memory=memory, grounding=grounding, heir=heir)


def _heir(records: Records, memory: Memory) -> Memory | None:
    """Return the memory that stands for a retired one, whatever versions came in between, or None.

    A version of the same derived memory under a later key is no other memory.
    """
    passed = {memory.id}
    successors = _successors(records, memory.ref, passed)
    while successors:
        passed.update(ref.id for ref in successors)
        found = [cast(Memory, node) for node in records.nodes(successors)]
        standing = [one for one in found if one.status in _LIVE and not _goes_on(one, memory)]
        if standing:
            return max(standing, key=lambda one: (one.recorded_at, one.id))
        over = (one.ref for one in found if one.status is Status.RETIRED)
        later = {successor for ref in over for successor in _successors(records, ref, passed)}
        successors = sorted(later, key=lambda ref: ref.id)
    return None


def _successors(records: Records, ref: Ref, passed: Collection[str]) -> list[Ref]:
    edges = (edge for edge in records.edges_at(ref) if edge.type is Relation.SUPERSEDES and edge.target == ref)
    return [edge.source for edge in edges if edge.source.id not in passed]


def _goes_on(successor: Memory, memory: Memory) -> bool:
    former = _noted(successor).get("former", [])
    return successor.is_derived and isinstance(former, list) and memory.attributes.get(KEY) in former


def _is_own(edge: Edge, ref: Ref) -> bool:
    return edge.type is Relation.GROUNDED_IN and edge.source == ref and edge.provenance.extractor == EXTRACTOR


def _called(composer: Composer, scope: str, wanted: Desired, former: Memory | None) -> str:
    """Return the name of a derived memory: that of what it takes the place of, unless a weaker voice gave it."""
    made = slug(wanted.trigger)
    if former is not None and (former.provenance.trust.rank <= wanted.trust.rank or is_numbered(former.name, made)):
        return former.name
    return composer.name(scope, made)


def add(
    composer: Composer, records: Records, scope: str, wanted: Desired, prepared: Prepared, former: Memory | None = None
) -> Memory:
    """Write a new derived memory; it takes the place of `former`, what it has earned included."""
    memory = Memory(
        id=composer.new_id(),
        name=_called(composer, scope, wanted, former),
        kind=wanted.kind,
        trigger=wanted.trigger,
        resolution=wanted.resolution,
        recorded_at=composer.now,
        scope=scope,
        status=wanted.status,
        confidence=wanted.confidence,
        importance=wanted.importance,
        half_life_days=half_life_of(wanted.kind),
        valid_from=wanted.since,
        source=f"{DERIVED_SOURCE}{wanted.key}",
        attributes=_attributes({}, wanted),
        provenance=_provenance(wanted),
    )
    if former is not None:
        apart = {name: former.attributes[name] for name in (ROOM, CLAIMED) if name in former.attributes}
        earned = {name: getattr(former, name) for name in _EARNED}
        memory = replace(memory, **earned, attributes={**memory.attributes, **apart})
    ref = composer.node(memory)
    composer.passages(ref, prepared)
    composer.mentions(ref, scope, prepared.mentions, memory.provenance)
    composer.touches(ref, scope, wanted.files, memory.provenance)
    if former is not None:
        take_place(composer, records, former, memory)
    _ground(composer, ref, wanted.grounding, memory.provenance)
    return memory


def renew(composer: Composer, records: Records, known: Existing, wanted: Desired, prepared: Prepared) -> Memory:
    """Write a derived memory's new version with today's words; counters, clocks and links go over to it.

    Where a better class of source says it now, nothing is left of what a weaker one had made of it.
    """
    old, outranked = known.memory, is_outranked(known, wanted)
    edited = known.edited and not outranked
    kept = old.attributes if edited else {name: held for name, held in old.attributes.items() if name != OWN_WORD}
    memory = replace(
        old,
        id=composer.new_id(),
        name=old.name if known.live else composer.name(old.scope, old.name),
        kind=old.kind if edited else wanted.kind,
        trigger=old.trigger if edited else wanted.trigger,
        resolution=old.resolution if edited else wanted.resolution,
        recorded_at=composer.now,
        retired_at=None,
        status=_status(old, wanted),
        confidence=_shifted(old, wanted),
        importance=old.importance if edited else wanted.importance,
        half_life_days=old.half_life_days if old.kind is wanted.kind else half_life_of(wanted.kind),
        valid_from=_valid_from(old, wanted),
        source=f"{DERIVED_SOURCE}{wanted.key}",
        attributes=_attributes(kept, wanted),
        provenance=replace(_provenance(wanted), trust=old.provenance.trust if edited else wanted.trust),
    )
    if outranked:
        memory = replace(
            memory,
            name=_called(composer, old.scope, wanted, old),
            status=wanted.status,
            confidence=wanted.confidence,
            valid_from=wanted.since,
            valid_to=None,
            failed=0.0,
        )
    ref = supersede(composer, records, old, memory, prepared, wanted.files)
    _ground(composer, ref, wanted.grounding, memory.provenance)
    for episode in sorted(known.grounding - set(wanted.grounding)):
        composer.drop_edge(Relation.GROUNDED_IN, ref, Ref.episode(episode))
    return memory


def strengthen(composer: Composer, known: Existing, wanted: Desired) -> None:
    """Bring a derived memory whose words stay to the evidence that there is now."""
    old, ref = known.memory, known.ref
    provenance = _provenance(wanted)
    composer.patch(
        ref,
        status=_status(old, wanted),
        confidence=_shifted(old, wanted),
        importance=old.importance if known.edited else wanted.importance,
        valid_from=_valid_from(old, wanted),
        attributes=_attributes(old.attributes, wanted),
        trust=old.provenance.trust if known.edited else wanted.trust,
    )
    _ground(composer, ref, (episode for episode in wanted.grounding if episode not in known.grounding), provenance)
    for episode in sorted(known.grounding - set(wanted.grounding)):
        composer.drop_edge(Relation.GROUNDED_IN, ref, Ref.episode(episode))


def retire(composer: Composer, known: Existing) -> None:
    """Retire a derived memory whose grounding is gone; it stays on disk, and comes back with its grounding."""
    composer.patch(known.ref, status=Status.RETIRED, retired_at=composer.now)


def agrees_with(known: Existing, wanted: Desired) -> bool:
    """Return whether a derived memory needs no change: words, evidence, and what follows from it."""
    noted = _attributes(known.memory.attributes, wanted)
    return known.grounding == set(wanted.grounding) and dict(known.memory.attributes) == noted


def reads_the_same(known: Existing, wanted: Desired) -> bool:
    """Return whether a memory says already, in a person's words or its own, what is derived now.

    What a better class of source says is written anew.
    """
    return not is_outranked(known, wanted) and (known.edited or _words(known.memory) == wanted.words)


def is_outranked(known: Existing, wanted: Desired) -> bool:
    """Return whether a better class of source says what is derived now than what it was derived from before.

    An agent's edit of what the user had said stays: the user may have asked for it.
    """
    told = {known.memory.provenance.trust.value, str(_noted(known.memory).get("trust", wanted.trust.value))}
    return all(wanted.trust.rank < Trust(one).rank for one in told)


def ground(composer: Composer, memory: Memory, episodes: Iterable[str]) -> None:
    """Ground a memory that is not derived in more of the episodes."""
    provenance = Provenance(extractor=EXTRACTOR, trust=memory.provenance.trust)
    _ground(composer, memory.ref, episodes, provenance)


def _ground(composer: Composer, ref: Ref, episodes: Iterable[str], provenance: Provenance) -> None:
    plain = Provenance(extractor=EXTRACTOR, trust=provenance.trust)
    for episode in episodes:
        composer.edge(Relation.GROUNDED_IN, ref, Ref.episode(episode), provenance=plain)


def _provenance(wanted: Desired) -> Provenance:
    model = BY_MODEL if wanted.by_model else ""
    return Provenance(slice=f"{DERIVED_SOURCE}{wanted.key}", extractor=EXTRACTOR, model=model, trust=wanted.trust)


def _attributes(old: Mapping[str, object], wanted: Desired) -> dict[str, object]:
    noted: dict[str, object] = {
        "words": wanted.words,
        "confidence": wanted.confidence,
        "trust": wanted.trust.value,
        "status": wanted.status.value,
        "support": wanted.support,
        "since": wanted.since.isoformat(),
    }
    former = _former(old, wanted.key)
    if former:
        noted["former"] = former
    steps = {"steps": list(wanted.steps)} if wanted.steps else {}
    return {**old, **steps, KEY: wanted.key, DERIVED: noted}


def _former(old: Mapping[str, object], key: str) -> list[str]:
    """Return the keys that a memory had before, the latest few of them."""
    noted = old.get(DERIVED)
    before = noted.get("former", []) if isinstance(noted, Mapping) else []
    keys = [str(one) for one in before] + [str(old[KEY])] if KEY in old else []
    return [one for one in dict.fromkeys(keys) if one != key][-_MOST_FORMER:]


def _noted(memory: Memory) -> Mapping[str, object]:
    noted = memory.attributes.get(DERIVED)
    return noted if isinstance(noted, Mapping) else {}


def _words(memory: Memory) -> str:
    return digest(memory.kind.value, memory.trigger, memory.resolution)


def _shifted(old: Memory, wanted: Desired) -> float:
    """Return the confidence with what others added to it or took from it since it was derived."""
    before = _noted(old).get("confidence")
    if not isinstance(before, float) or before == old.confidence:
        return wanted.confidence
    return min(1.0, max(0.0, round(wanted.confidence + old.confidence - before, 6)))


def _valid_from(old: Memory, wanted: Desired) -> datetime | None:
    """Return since when the memory holds: since it was first said, but where somebody else has set it otherwise."""
    since = _noted(old).get("since")
    moved = old.valid_from is None or since not in (None, old.valid_from.isoformat())
    return old.valid_from if moved else wanted.since


def _status(old: Memory, wanted: Desired) -> Status:
    """Return where the memory stands: where a person or another rule has put it, else where its evidence does."""
    if old.status is Status.RETIRED or old.status.value == _noted(old).get("status"):
        return wanted.status
    return old.status


NEAREST = 20
"""How many memories something wanted is compared with: a contradiction is often farther off than a twin."""


def statement_wanted(wanted: Desired) -> NewStatement:
    """Return a memory that derivation wants as a new statement, which the decision looks at."""
    return NewStatement(kind=wanted.kind, trigger=wanted.trigger, resolution=wanted.resolution, trust=wanted.trust)


def compared(
    store: Store, scope: str, said: NewStatement, prepared: Prepared, thresholds: Thresholds
) -> tuple[ContradictionVerdict, Memory | None]:
    """Return how a memory that derivation wants stands to the active ones: without a model by words alone."""
    vector = prepared.vectors[0]
    if vector is None:
        twins = [one for one in store.index.memories_named(slug(said.trigger)) if _is_same_statement(one, scope, said)]
        return (
            (ContradictionVerdict.NOOP, min(twins, key=lambda one: one.id))
            if twins
            else (ContradictionVerdict.ADD, None)
        )
    return decide(said, nearest_active(store, vector, scope, NEAREST), thresholds)


def twin_of(store: Store, scope: str, said: NewStatement, prepared: Prepared, thresholds: Thresholds) -> Memory | None:
    """Return the stored active memory that says what derivation wants, and is no weaker founded."""
    verdict, other = compared(store, scope, said, prepared, thresholds)
    if verdict is not ContradictionVerdict.NOOP or other is None or other.is_derived:
        return None
    return other if other.provenance.trust.rank <= said.trust.rank else None


def speaks_for(store: Store, memory: Memory, said: NewStatement, prepared: Prepared, thresholds: Thresholds) -> bool:
    """Return whether a stored memory that took over a derived one still says what the episodes say.

    It may say it in other words; it was edited to say something else where a number, a name or a negation differs.
    """
    if same_words(memory, said):
        return True
    vector = prepared.vectors[0]
    if vector is None or memory.kind is not said.kind or why_contrary(memory, said) is not None:
        return False
    found = nearest_active(store, vector, memory.scope, NEAREST)
    near = any(one.id == memory.id and cosine >= thresholds.update for one, cosine in found)
    return near and says_the_same(memory, said)


def sight(composer: Composer, records: Records, known: Memory, wanted: Desired) -> bool:
    """Count a stored memory once for each episode that says it too, and ground it in those; False where none is new."""
    ref = known.ref
    grounded = {op.target.id for op in records.edges_at(ref) if op.type is Relation.GROUNDED_IN and op.source == ref}
    fresh = [episode for episode in wanted.grounding if episode not in grounded]
    for episode in records.nodes([Ref.episode(each) for each in fresh]):
        voice = (episode.session or episode.id) if isinstance(episode, Episode) else ""
        known = count_sighting(composer, known, wanted.trust, voice)
    ground(composer, known, fresh)
    return bool(fresh)


def _is_same_statement(memory: Memory, scope: str, said: NewStatement) -> bool:
    return memory.status is Status.ACTIVE and same_scope(memory.scope, scope) and same_words(memory, said)
