"""Remember: stores one memory on request, grounded in an episode of its own, or counts it on one that is known.

It also notices what the new memory means for others: a failure that recurs, a gap that is answered. A question that
recall could not answer is kept as a gap, for whoever asks to have it kept.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from helix.errors import ConflictError, InvalidInputError
from helix.journal.state import Records
from helix.memory.capture.sessions import is_private
from helix.memory.change.compose import Composer
from helix.memory.change.intake import OWN_ATTRIBUTE
from helix.memory.change.versions import hold_until, supersede, told_now
from helix.memory.contradiction.classify import (
    ContradictionVerdict,
    Ruling,
    came_later,
    decide,
    hold_at_once,
    outranks,
    reworded_for,
    same_words,
    thresholds_of,
    why_contrary,
)
from helix.memory.contradiction.resolve import oppose, ruled
from helix.memory.contradiction.rivals import settle_stored
from helix.memory.failures import systemic
from helix.memory.failures.occurrences import note_sighting
from helix.memory.neighbours import nearest_active
from helix.memory.remember.request import PreparedMemory, StoreRequest, prepare_request
from helix.memory.scores import SEEN, bounded_confidence, count_sighting, seen
from helix.memory.upkeep import gaps
from helix.memory.upkeep.gaps import unanswered
from helix.model.edge import Ref, Relation
from helix.model.episode import Episode
from helix.model.memory import GLOBAL_SCOPE, Kind, Memory, Status, body, unproven_of, with_claimed
from helix.model.provenance import Trust
from helix.model.recall import RecallAnswer
from helix.model.reports import StoreResult, StoreStatus
from helix.scopes import same_scope
from helix.store.index import StoreIndex
from helix.store.store import Store
from helix.store.writer import Decision
from helix.text.cleaning import is_numbered, slug

# How many of the nearest are looked at: a contradiction is often farther off than a refinement.
_NEAREST = 20


def remember(store: Store, request: StoreRequest) -> StoreResult:
    """Store a memory: added, merged into one that says the same, or a new version of one it refines.

    What a better founded voice says takes the place of a weaker one's memory that says the same, in its own words; of
    one that was derived from episodes already where it is no worse founded: it is to stay when those go.
    Raises InvalidInputError, also for a private session, ConflictError (a name that is taken) or EmbeddingSpaceError.
    """
    ready = prepare_request(store, request)

    def decision() -> Decision[StoreResult]:
        if is_private(store.journal, ready.session):
            raise InvalidInputError("nothing of a private session is kept", hint="store it without naming the session")
        composer = Composer(store, store.runtime.clock())
        if ready.screening.held:
            return _hold(composer, store.index, ready)
        verdict, known = _verdict(store, ready)
        if verdict is ContradictionVerdict.NOOP and known is not None and _takes_over(ready.draft, known, composer.now):
            known = replace(known, attributes={**known.attributes, SEEN: seen(known) + 1})
            status, memory = StoreStatus.UPDATED, _refine(composer, store.records, ready, known)
        elif verdict is ContradictionVerdict.NOOP and known is not None:
            counted = count_sighting(composer, known, ready.draft.provenance.trust, ready.voice)
            if same_words(known, ready.said):
                note_sighting(composer, counted, ready.draft.provenance.trust)
            if not same_words(known, ready.said) or known.source:
                # What was said in other words is kept as evidence: a merge must not lose any. So is who says what was
                # read somewhere: it stands when that says it no more.
                _ground(composer, known.ref, ready.draft, ready.session)
            status, memory = StoreStatus.MERGED, known
        elif verdict is ContradictionVerdict.UPDATE and known is not None and came_later(ready.draft, known):
            status, memory = StoreStatus.UPDATED, _succeed(composer, store.index, ready, known)
        elif verdict is ContradictionVerdict.UPDATE and known is not None:
            status, memory = StoreStatus.UPDATED, _refine(composer, store.records, ready, known)
        elif verdict is ContradictionVerdict.SUPERSEDE and known is not None and hold_at_once(ready.draft, known):
            status, memory = _contradict(composer, store.index, ready, known)
        else:
            status, memory = StoreStatus.ADDED, _add(composer, ready)
        answer = StoreResult(
            status=status,
            name=memory.name,
            id=memory.id,
            redacted=ready.redacted,
            suspicious=ready.screening.reasons,
        )
        return Decision((composer.change("store", status=status.value),), answer)

    answer = store.writer.submit(decision, once="store")
    follow_up(store, answer.id)
    if answer.status in (StoreStatus.MERGED, StoreStatus.QUARANTINED):
        return answer
    (memory,) = store.records.nodes([Ref.memory(answer.id)])
    if not isinstance(memory, Memory):
        return answer
    return replace(answer, contradicts=settle_stored(store, memory, reworded=answer.status is StoreStatus.UPDATED))


def _takes_over(draft: Memory, known: Memory, now: datetime) -> bool:
    """Return whether what is said now stands in the place of a memory that says the same."""
    begins = draft.valid_from is None and known.valid_from is not None and known.valid_from > now
    if reworded_for(known, draft.provenance.trust):
        return False
    return outranks(draft, known) or ((known.is_derived or begins) and not outranks(known, draft))


def _hold(composer: Composer, index: StoreIndex, ready: PreparedMemory) -> Decision[StoreResult]:
    """Keep a memory from recall until a person has looked at it; what was said and held before is not kept twice.

    It is compared with nothing, so that it neither counts for, replaces nor contradicts what others have said.
    """
    draft = ready.draft
    name = ready.wanted_name or slug(draft.trigger)
    known = next((one for one in index.memories_named(name) if _told_before(one, ready)), None)
    memory = known or _add(composer, replace(ready, draft=replace(draft, status=Status.QUARANTINED)), name=name)
    answer = StoreResult(
        status=StoreStatus.QUARANTINED if memory.status is Status.QUARANTINED else StoreStatus.MERGED,
        name=memory.name,
        id=memory.id,
        redacted=ready.redacted,
        suspicious=ready.screening.reasons,
    )
    return Decision(() if known else (composer.change("store", status=answer.status.value),), answer)


def _told_before(known: Memory, ready: PreparedMemory) -> bool:
    """Return whether a memory of the same scope says the very same, be it quarantined, accepted or rejected since.

    What a weaker voice said before says nothing for a better one, nor does what was rejected for the user.
    """
    draft = ready.draft
    here = same_scope(known.scope, draft.scope) and not outranks(draft, known)
    rejected = known.status is Status.FORGOTTEN and draft.provenance.trust is Trust.USER_ASSERTED
    return here and known.status is not Status.RETIRED and not rejected and same_words(known, ready.said)


def _verdict(store: Store, ready: PreparedMemory) -> tuple[ContradictionVerdict, Memory | None]:
    draft, thresholds = ready.draft, thresholds_of(store.runtime)
    if ready.wanted_name and (named := _named(store.index, draft.scope, ready.wanted_name)) is not None:
        return _against_named(named, draft)
    vector = ready.prepared.vectors[0]
    if vector is None:
        # Without a model only the very same words can be recognised, under the name they would be given.
        known = _named(store.index, draft.scope, slug(draft.trigger))
        found = [(known, thresholds.related)] if known is not None else []
    else:
        found = nearest_active(store, vector, draft.scope, _NEAREST)
    return decide(ready.said, found, thresholds)


def _named(index: StoreIndex, scope: str, name: str) -> Memory | None:
    ref = index.named(scope, name)
    return None if ref is None else index.memory_by_id(ref.id)


def _against_named(named: Memory, draft: Memory) -> tuple[ContradictionVerdict, Memory]:
    """A name that the caller chose and that is taken: the same memory again, or a mistake."""
    if (named.kind, named.trigger, named.resolution) == (draft.kind, draft.trigger, draft.resolution):
        return ContradictionVerdict.NOOP, named
    raise ConflictError(
        f"an active memory of scope {named.scope!r} is already called {named.name!r}",
        hint=f"choose another name, or change it: `helix edit {named.name}`",
    )


def _succeed(composer: Composer, index: StoreIndex, ready: PreparedMemory, known: Memory) -> Memory:
    """Write what holds from now on; the known memory stays for the time before, under a name that says so."""
    until = ready.draft.valid_from
    assert until is not None
    before = known.ref
    hold_until(composer, index, known, until, _former_name(composer, known, until))
    memory = _add(composer, ready, name=_called(composer, ready, known))
    after = memory.ref
    composer.edge(Relation.SUPERSEDES, after, before, provenance=memory.provenance)
    return memory


def _contradict(
    composer: Composer, index: StoreIndex, ready: PreparedMemory, known: Memory
) -> tuple[StoreStatus, Memory]:
    """Write a memory that contradicts a known one, which is settled by rule or flagged; return it.

    A winner that would be called like the memory it wins over takes its name, so that feedback follows.
    """
    draft = replace(ready.draft, recorded_at=composer.now)
    why = why_contrary(known, ready.said)
    wins = why is not None and ruled(index.records, draft, known, why) is Ruling.FIRST
    name = ""
    if wins and not ready.wanted_name and slug(draft.trigger) == slug(known.trigger):
        name = _called(composer, ready, known)
        known = replace(known, name=_former_name(composer, known, draft.valid_from or composer.now))
        composer.patch(known.ref, name=known.name)
    memory = _add(composer, ready, name=name)
    if why is not None:
        oppose(composer, index, memory, known, why.turned)  # it was told of what is known first
    return StoreStatus.UPDATED if wins else StoreStatus.ADDED, memory


def _called(composer: Composer, ready: PreparedMemory, known: Memory) -> str:
    """Return the name of what takes a known memory's place: the same, unless who says it now is better founded.

    A name that somebody chose is words too, and would be read as that one's.
    """
    if not outranks(ready.draft, known) or is_numbered(known.name, slug(known.trigger)):
        return known.name
    return ready.wanted_name or composer.name(known.scope, slug(ready.draft.trigger))


def _former_name(composer: Composer, known: Memory, until: datetime) -> str:
    return composer.name(known.scope, f"{known.name}-until-{until:%Y-%m-%d}")


def _add(composer: Composer, ready: PreparedMemory, name: str = "") -> Memory:
    draft = ready.draft
    name = name or ready.wanted_name or composer.name(draft.scope, slug(draft.trigger))
    memory = replace(draft, id=composer.new_id(), name=name, recorded_at=composer.now)
    ref = composer.node(memory)
    composer.passages(ref, ready.prepared)
    opening = f"{memory.trigger}\n{memory.resolution}"
    composer.mentions(ref, memory.scope, ready.prepared.mentions, memory.provenance, opening=opening)
    composer.touches(ref, memory.scope, ready.files, memory.provenance)
    _ground(composer, ref, memory, ready.session)
    return memory


def _refine(composer: Composer, records: Records, ready: PreparedMemory, known: Memory) -> Memory:
    """Write a new version of a known memory.

    What a weaker voice said of when and where it holds does not go on, nor what was held against its words.
    """
    draft, attributes = ready.draft, known.attributes
    importance, since, failed = max(draft.importance, known.importance), known.valid_from, known.failed
    if outranks(draft, known):
        importance, since, failed = draft.importance, None, 0.0
        attributes = {name: value for name, value in attributes.items() if name.startswith(OWN_ATTRIBUTE)}
    elif since is not None and since > composer.now:
        since = None  # who says it now, and no time, says that it holds
    memory = replace(
        draft,
        id=composer.new_id(),
        name=_called(composer, ready, known),
        confidence=bounded_confidence(max(draft.confidence, known.confidence), draft.provenance.trust),
        importance=importance,
        helped=known.helped,
        failed=failed,
        uses=known.uses,
        easiness=known.easiness,
        half_life_days=max(draft.half_life_days, known.half_life_days),
        last_used_at=known.last_used_at,
        valid_from=draft.valid_from or since,
        attributes=with_claimed({**attributes, **draft.attributes}, unproven_of(known)),
        status=Status.ACTIVE,
    )
    memory = told_now(memory, composer.now)
    _ground(composer, supersede(composer, records, known, memory, ready.prepared, ready.files), memory, ready.session)
    return memory


def _ground(composer: Composer, ref: Ref, memory: Memory, session: str) -> None:
    """Write the episode that an explicit store is; it has no passage of its own, the memory speaks for it."""
    episode = Episode(
        id=composer.new_id(),
        content=body(memory.trigger, memory.resolution),
        recorded_at=composer.now,
        occurred_at=memory.valid_from or composer.now,
        scope=memory.scope,
        session=session,
        agent=memory.provenance.agent,
        role="store",
        importance=memory.importance,
        source=memory.source,
        status=memory.status,
        provenance=memory.provenance,
    )
    told = composer.node(episode)
    if session:
        composer.join(episode, told, None)
    composer.edge(Relation.GROUNDED_IN, ref, told, provenance=memory.provenance)


def follow_up(store: Store, memory_id: str) -> None:
    """Promote or count a remembered failure, close the gaps that another memory answers; nothing for inactive ones."""
    memory = store.index.memory_by_id(memory_id)
    if memory is None or memory.status is not Status.ACTIVE:
        return
    if memory.kind is Kind.FAILURE:
        systemic.notice(store, memory_id)
    gaps.notice(store, memory_id)


def note_gap(store: Store, answer: RecallAnswer, *, agent: str = "") -> StoreResult | None:
    """Keep the question of a recall that found nothing good as a gap of its scope, counted where it is known; or None.

    Asked in every scope, it is a gap of `global`. A question limited to kinds, classes of trust, files or a time says
    nothing of what is known.
    """
    query = answer.query
    limited = query.kinds or query.trust or query.files or query.as_of or query.known_at or query.since
    if limited or not unanswered(store.runtime, answer):
        return None
    request = StoreRequest(
        trigger=query.query,
        resolution="",
        kind=Kind.GAP.value,
        scope=query.scope or GLOBAL_SCOPE,
        trust=Trust.AGENT_INFERRED,
        agent=agent,
    )
    return remember(store, request)
