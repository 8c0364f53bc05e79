"""Remembering: stores one memory on request, grounded in an episode of its own, or counts it on one that is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from helix.errors import ConflictError, InvalidInputError
from helix.lifecycle import intake as checks
from helix.lifecycle.capture.quarantine import screen, texts_of
from helix.lifecycle.compose import Composer, Prepared, prepare, read
from helix.lifecycle.intake import OWN_ATTRIBUTE, Intake
from helix.lifecycle.neighbours import nearest_active
from helix.lifecycle.truth.closing import hold_until
from helix.lifecycle.truth.consequences import follow_up
from helix.lifecycle.truth.consolidate import (
    Newcomer,
    Ruling,
    Verdict,
    against,
    came_later,
    claim_of,
    decide,
    meet,
    rule,
    same_words,
)
from helix.lifecycle.truth.disputes import oppose
from helix.lifecycle.truth.systemic import note_sighting
from helix.lifecycle.truth.thresholds import thresholds_of
from helix.lifecycle.versions import supersede
from helix.lifecycle.worth.importance import importance_of
from helix.model.clock import to_micros
from helix.model.edge import Label, Ref, Relation
from helix.model.episode import Episode
from helix.model.held import Screening
from helix.model.memory import GLOBAL_SCOPE, TIER_HALF_LIFE_DAYS, Kind, Memory, Status, tier_of
from helix.model.provenance import Provenance, Trust
from helix.model.reports import StoreResult, StoreStatus
from helix.store.store import Store
from helix.store.writer import Decision
from helix.text.names import slug

# How many of the nearest are looked at: a contradiction is often farther off than a refinement.
_NEAREST = 20
_DEFAULT_CONFIDENCE = 0.7
# Each further sighting closes this share of the distance to certainty.
_SIGHTING = 0.1
_MOST_CONFIDENCE = 0.99
SEEN = f"{OWN_ATTRIBUTE}seen"
"""Attribute that counts how often a memory was met."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreRequest:
    """What a caller asks to remember, as it came.

    Trust that is not stated is a person's, or an agent's where the text reads like an instruction.
    """

    trigger: str
    resolution: str
    kind: str
    scope: str = GLOBAL_SCOPE
    name: str | None = None
    confidence: float | None = None
    importance: float | None = None
    files: Sequence[str] = ()
    trust: Trust | None = None
    source: str = ""
    agent: str = ""
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    attributes: Mapping[str, object] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ready:
    """A request cleaned, redacted, checked and embedded."""

    draft: Memory
    screening: Screening
    wanted_name: str
    files: tuple[str, ...]
    prepared: Prepared
    redacted: tuple[str, ...] = field(default=())

    @property
    def newcomer(self) -> Newcomer:
        draft = self.draft
        return Newcomer(
            kind=draft.kind, trigger=draft.trigger, resolution=draft.resolution, trust=draft.provenance.trust
        )


def remember(store: Store, request: StoreRequest) -> StoreResult:
    """Store a memory: added, merged into one that says the same, or a new version of one it refines.

    Raises InvalidInputError, ConflictError (a name that is taken) or EmbeddingSpaceError.
    """
    ready = _ready(store, request)

    def decision() -> Decision[StoreResult]:
        composer = Composer(store, store.clock())
        if ready.screening.held:
            return _hold(composer, store, ready)
        verdict, known = _verdict(store, ready)
        contradicts: tuple[str, ...] = ()
        if verdict is Verdict.NOOP and known is not None:
            counted = count_sighting(composer, known, ready.draft.provenance.trust)
            if same_words(known, ready.newcomer):
                note_sighting(composer, counted)
            else:
                # What was said in other words is kept as evidence: a merge must not lose any.
                _ground(composer, store, Ref(label=Label.MEMORY, id=known.id), ready.draft)
            status, memory = StoreStatus.MERGED, known
        elif verdict is Verdict.UPDATE and known is not None and came_later(ready.draft, known):
            status, memory = StoreStatus.UPDATED, _succeed(composer, store, ready, known)
        elif verdict is Verdict.UPDATE and known is not None:
            status, memory = StoreStatus.UPDATED, _refine(composer, store, ready, known)
        elif verdict is Verdict.SUPERSEDE and known is not None and meet(ready.draft, known):
            status, memory, known = _contradict(composer, store, ready, known)
            contradicts = (known.name,)
        else:
            status, memory = StoreStatus.ADDED, _add(composer, store, ready)
        answer = StoreResult(
            status=status,
            name=memory.name,
            id=memory.id,
            redacted=ready.redacted,
            suspicious=ready.screening.reasons,
            contradicts=contradicts,
        )
        return Decision((composer.change("store", status=status.value),), answer)

    answer = store.writer.submit(decision)
    follow_up(store, answer.id)
    return answer


def half_life_of(kind: Kind) -> float:
    """Return the salience half-life in days that a memory of the kind starts with; 0 stands for "never fades"."""
    days = TIER_HALF_LIFE_DAYS[tier_of(kind)]
    return 0.0 if days == float("inf") else days


def body(trigger: str, resolution: str) -> str:
    """Return the text by which a memory is found."""
    return f"{trigger}\n{resolution}" if resolution else trigger


def count_sighting(composer: Composer, known: Memory, trust: Trust) -> Memory:
    """Count a memory that was met again, and return it: with one more sighting, its words untouched.

    It is surer where the one who says it again is trusted no less than its own source: a weaker voice raises nothing.
    """
    seen = known.attributes.get(SEEN, 1)
    attributes = {**known.attributes, SEEN: (seen if isinstance(seen, int) else 1) + 1}
    step = 0.0 if trust.rank > known.provenance.trust.rank else _SIGHTING
    confidence = max(known.confidence, min(_MOST_CONFIDENCE, known.confidence + step * (1.0 - known.confidence)))
    composer.patch(Ref(label=Label.MEMORY, id=known.id), attributes=attributes, confidence=confidence)
    return replace(known, attributes=attributes, confidence=confidence)


def _ready(store: Store, request: StoreRequest) -> _Ready:
    store.check_space()
    intake = Intake(store.settings.text_limit)
    kind = checks.known_kind(request.kind)
    trigger = intake.text(request.trigger, "trigger")
    resolution = intake.text(request.resolution, "resolution", required=False)
    files = intake.labels(request.files, "file")
    if request.valid_from and request.valid_to and to_micros(request.valid_to) <= to_micros(request.valid_from):
        raise InvalidInputError("valid_to is not later than valid_from", hint="a memory is valid from ... to ...")
    agent, source = intake.label(request.agent, "agent"), intake.label(request.source, "source")
    attributes = intake.attributes(request.attributes)
    screening = screen(request.trust, body(trigger, resolution), agent, source, *files, *texts_of(attributes))
    trust = request.trust or (Trust.AGENT_INFERRED if screening.held else Trust.USER_ASSERTED)
    prepared = prepare(store, [read(body(trigger, resolution), files)])[0]
    draft = Memory(
        id="",
        name="",
        kind=kind,
        trigger=trigger,
        resolution=resolution,
        recorded_at=store.clock(),
        scope=intake.scope(request.scope),
        confidence=checks.fraction(request.confidence, "confidence", _DEFAULT_CONFIDENCE),
        importance=checks.poignancy(
            request.importance, importance_of(body(trigger, resolution), prepared.mentions, kind)
        ),
        half_life_days=half_life_of(kind),
        valid_from=request.valid_from,
        valid_to=request.valid_to,
        source=source,
        attributes=attributes,
        provenance=Provenance(slice=source, extractor="explicit", agent=agent, trust=trust),
    )
    return _Ready(
        draft=draft,
        screening=screening,
        wanted_name=slug(intake.label(request.name, "name")) if request.name else "",
        files=files,
        prepared=prepared,
        redacted=tuple(intake.redacted),
    )


def _hold(composer: Composer, store: Store, ready: _Ready) -> Decision[StoreResult]:
    """Keep a memory from recall until a person has looked at it; what was said and held before is not kept twice.

    It is compared with nothing, so that it neither counts for, replaces nor contradicts what others have said.
    """
    draft = ready.draft
    name = ready.wanted_name or slug(draft.trigger)
    known = next((one for one in store.memories_named(name) if _told_before(one, ready)), None)
    memory = known or _add(composer, store, replace(ready, draft=replace(draft, status=Status.QUARANTINED)), name=name)
    answer = StoreResult(
        status=StoreStatus.QUARANTINED if memory.status is Status.QUARANTINED else StoreStatus.MERGED,
        name=memory.name,
        id=memory.id,
        redacted=ready.redacted,
        suspicious=ready.screening.reasons,
    )
    return Decision(() if known else (composer.change("store", status=answer.status.value),), answer)


def _told_before(known: Memory, ready: _Ready) -> bool:
    """Return whether a memory of the same scope says the very same, be it quarantined, accepted or rejected since."""
    return known.status is not Status.RETIRED and known.scope == ready.draft.scope and same_words(known, ready.newcomer)


def _verdict(store: Store, ready: _Ready) -> tuple[Verdict, Memory | None]:
    draft, thresholds = ready.draft, thresholds_of(store)
    if ready.wanted_name and (named := _named(store, draft.scope, ready.wanted_name)) is not None:
        return _against_named(named, draft)
    vector = ready.prepared.vectors[0]
    if vector is None:
        # Without a model only the very same words can be recognised, under the name they would be given.
        known = _named(store, draft.scope, slug(draft.trigger))
        found = [(known, thresholds.related)] if known is not None else []
    else:
        found = nearest_active(store, vector, draft.scope, _NEAREST)
    return decide(ready.newcomer, found, thresholds)


def _named(store: Store, scope: str, name: str) -> Memory | None:
    row = store.catalogue.name_row(scope, name)
    return None if row is None else store.memory(row)


def _against_named(named: Memory, draft: Memory) -> tuple[Verdict, Memory]:
    """A name that the caller chose and that is taken: the same memory again, or a mistake."""
    if (named.kind, named.trigger, named.resolution) == (draft.kind, draft.trigger, draft.resolution):
        return Verdict.NOOP, named
    raise ConflictError(
        f"an active memory of scope {named.scope!r} is already called {named.name!r}",
        hint=f"choose another name, or change it: `helix edit {named.name}`",
    )


def _succeed(composer: Composer, store: Store, ready: _Ready, known: Memory) -> Memory:
    """Write what holds from now on; the known memory stays for the time before, under a name that says so."""
    until = ready.draft.valid_from
    assert until is not None
    before = Ref(label=Label.MEMORY, id=known.id)
    hold_until(composer, store, known, until, _former_name(composer, known, until))
    memory = _add(composer, store, ready, name=known.name)
    after = Ref(label=Label.MEMORY, id=memory.id)
    composer.edge(Relation.SUPERSEDES, after, before, provenance=memory.provenance)
    return memory


def _contradict(composer: Composer, store: Store, ready: _Ready, known: Memory) -> tuple[StoreStatus, Memory, Memory]:
    """Write a memory that contradicts a known one, which is settled by rule or flagged; return both as they are now.

    A winner that would be called like the memory it wins over takes its name, so that feedback follows.
    """
    draft = replace(ready.draft, recorded_at=composer.now)
    wins = rule(claim_of(draft), claim_of(known)) is Ruling.FIRST
    name = ""
    if wins and not ready.wanted_name and slug(draft.trigger) == slug(known.trigger):
        name = known.name
        known = replace(known, name=_former_name(composer, known, claim_of(draft).since))
        composer.patch(Ref(label=Label.MEMORY, id=known.id), name=known.name)
    memory = _add(composer, store, ready, name=name)
    if (why := against(known, ready.newcomer)) is not None:
        oppose(composer, store, memory, known, why)
    return StoreStatus.UPDATED if wins else StoreStatus.ADDED, memory, known


def _former_name(composer: Composer, known: Memory, until: datetime) -> str:
    return composer.name(known.scope, f"{known.name}-until-{until:%Y-%m-%d}")


def _add(composer: Composer, store: Store, ready: _Ready, name: str = "") -> Memory:
    draft = ready.draft
    name = name or ready.wanted_name or composer.name(draft.scope, slug(draft.trigger))
    memory = replace(draft, id=store.make_id(composer.now), name=name, recorded_at=composer.now)
    ref = composer.node(memory)
    composer.passages(ref, ready.prepared)
    composer.mentions(ref, memory.scope, ready.prepared.mentions, memory.provenance)
    composer.touches(ref, memory.scope, ready.files, memory.provenance)
    _ground(composer, store, ref, memory)
    return memory


def _refine(composer: Composer, store: Store, ready: _Ready, known: Memory) -> Memory:
    draft = ready.draft
    memory = replace(
        draft,
        id=store.make_id(composer.now),
        name=known.name,
        recorded_at=composer.now,
        confidence=max(draft.confidence, known.confidence),
        importance=max(draft.importance, known.importance),
        helped=known.helped,
        failed=known.failed,
        uses=known.uses,
        easiness=known.easiness,
        half_life_days=max(draft.half_life_days, known.half_life_days),
        last_used_at=known.last_used_at,
        valid_from=draft.valid_from or known.valid_from,
        attributes={**known.attributes, **draft.attributes},
        status=Status.ACTIVE,
    )
    _ground(composer, store, supersede(composer, store, known, memory, ready.prepared, ready.files), memory)
    return memory


def _ground(composer: Composer, store: Store, ref: Ref, memory: Memory) -> None:
    """Write the episode that an explicit store is; it has no passage of its own, the memory speaks for it."""
    episode = Episode(
        id=store.make_id(composer.now),
        content=body(memory.trigger, memory.resolution),
        recorded_at=composer.now,
        occurred_at=memory.valid_from or composer.now,
        scope=memory.scope,
        agent=memory.provenance.agent,
        role="store",
        importance=memory.importance,
        source=memory.source,
        status=memory.status,
        provenance=memory.provenance,
    )
    composer.edge(Relation.GROUNDED_IN, ref, composer.node(episode), provenance=memory.provenance)
