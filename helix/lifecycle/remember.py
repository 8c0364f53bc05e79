"""Remembering: stores one memory on request, grounded in an episode of its own, or counts it on one that is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from helix.errors import ConflictError, InvalidInputError
from helix.lifecycle import intake as checks
from helix.lifecycle.compose import Composer, Prepared, prepare, read
from helix.lifecycle.consolidate import Newcomer, Thresholds, Verdict, decide, same_words
from helix.lifecycle.importance import importance_of
from helix.lifecycle.intake import OWN_ATTRIBUTE, Intake
from helix.lifecycle.neighbours import nearest_active
from helix.lifecycle.versions import supersede
from helix.model.clock import to_micros
from helix.model.edge import Label, Ref, Relation
from helix.model.episode import Episode
from helix.model.memory import GLOBAL_SCOPE, TIER_HALF_LIFE_DAYS, Kind, Memory, Status, tier_of
from helix.model.provenance import Provenance, Trust
from helix.model.reports import StoreResult, StoreStatus
from helix.store.store import Store
from helix.store.writer import Decision
from helix.text.names import slug

_NEAREST = 8
_DEFAULT_CONFIDENCE = 0.7
# Each further sighting closes this share of the distance to certainty.
_SIGHTING = 0.1
_MOST_CONFIDENCE = 0.99
SEEN = f"{OWN_ATTRIBUTE}seen"
"""Attribute that counts how often a memory was met."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreRequest:
    """What a caller asks to remember, as it came."""

    trigger: str
    resolution: str
    kind: str
    scope: str = GLOBAL_SCOPE
    name: str | None = None
    confidence: float | None = None
    importance: float | None = None
    files: Sequence[str] = ()
    trust: Trust = Trust.USER_ASSERTED
    source: str = ""
    agent: str = ""
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    attributes: Mapping[str, object] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ready:
    """A request cleaned, redacted, checked and embedded."""

    draft: Memory
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
        verdict, known = _verdict(store, ready)
        if verdict is Verdict.NOOP and known is not None:
            count_sighting(composer, known)
            if not same_words(known, ready.newcomer):
                # What was said in other words is kept as evidence: a merge must not lose any.
                _ground(composer, store, Ref(label=Label.MEMORY, id=known.id), ready.draft)
            status, memory = StoreStatus.MERGED, known
        elif verdict is Verdict.UPDATE and known is not None and _came_later(ready.draft, known):
            status, memory = StoreStatus.UPDATED, _succeed(composer, store, ready, known)
        elif verdict is Verdict.UPDATE and known is not None:
            status, memory = StoreStatus.UPDATED, _refine(composer, store, ready, known)
        else:
            status, memory = StoreStatus.ADDED, _add(composer, store, ready)
        answer = StoreResult(status=status, name=memory.name, id=memory.id, redacted=ready.redacted)
        return Decision((composer.change("store", status=status.value),), answer)

    return store.writer.submit(decision)


def half_life_of(kind: Kind) -> float:
    """Return the salience half-life in days that a memory of the kind starts with; 0 stands for "never fades"."""
    days = TIER_HALF_LIFE_DAYS[tier_of(kind)]
    return 0.0 if days == float("inf") else days


def body(trigger: str, resolution: str) -> str:
    """Return the text by which a memory is found."""
    return f"{trigger}\n{resolution}" if resolution else trigger


def count_sighting(composer: Composer, known: Memory) -> Memory:
    """Count a memory that was met again, and return it: surer, with one more sighting, its words untouched."""
    seen = known.attributes.get(SEEN, 1)
    attributes = {**known.attributes, SEEN: (seen if isinstance(seen, int) else 1) + 1}
    confidence = min(_MOST_CONFIDENCE, known.confidence + _SIGHTING * (1.0 - known.confidence))
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
        attributes=intake.attributes(request.attributes),
        provenance=Provenance(slice=source, extractor="explicit", agent=agent, trust=request.trust),
    )
    return _Ready(
        draft=draft,
        wanted_name=slug(intake.label(request.name, "name")) if request.name else "",
        files=files,
        prepared=prepared,
        redacted=tuple(intake.redacted),
    )


def _verdict(store: Store, ready: _Ready) -> tuple[Verdict, Memory | None]:
    settings, draft = store.settings, ready.draft
    if ready.wanted_name and (named := _named(store, draft.scope, ready.wanted_name)) is not None:
        return _against_named(named, draft)
    vector = ready.prepared.vectors[0]
    if vector is None:
        # Without a model only the very same words can be recognised, under the name they would be given.
        known = _named(store, draft.scope, slug(draft.trigger))
        found = [(known, 0.0)] if known is not None else []
    else:
        found = nearest_active(store, vector, draft.scope, _NEAREST)
    thresholds = Thresholds(duplicate=settings.duplicate_threshold, update=settings.update_threshold)
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


def _came_later(draft: Memory, known: Memory) -> bool:
    """Return whether the newcomer says since when it holds, and the known memory held before that."""
    return draft.valid_from is not None and (known.valid_from is None or known.valid_from < draft.valid_from)


def _succeed(composer: Composer, store: Store, ready: _Ready, known: Memory) -> Memory:
    """Write what holds from now on; the known memory stays for the time before, under a name that says so."""
    until = ready.draft.valid_from
    assert until is not None
    before = Ref(label=Label.MEMORY, id=known.id)
    composer.patch(before, name=composer.name(known.scope, f"{known.name}-until-{until:%Y-%m-%d}"), valid_to=until)
    memory = _add(composer, store, ready, name=known.name)
    after = Ref(label=Label.MEMORY, id=memory.id)
    composer.edge(Relation.SUPERSEDES, after, before, provenance=memory.provenance)
    return memory


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
        provenance=memory.provenance,
    )
    composer.edge(Relation.GROUNDED_IN, ref, composer.node(episode), provenance=memory.provenance)
