"""Curation: what a person does to a memory by hand - edit, forget, restore, confirm - and to the links between them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Annotated

from helix.errors import ConflictError, InvalidInputError
from helix.memory.capture.quarantine import released, restate_evidence, screen
from helix.memory.change import intake as checks
from helix.memory.change.compose import Composer, ReadText, prepare
from helix.memory.change.find import standing_memory_of
from helix.memory.change.intake import Intake
from helix.memory.change.versions import OWN_WORD, files_of, present_version, supersede, told_now
from helix.memory.contradiction.classify import NewStatement, why_contrary
from helix.memory.contradiction.resolve import end_beyond_rules
from helix.memory.contradiction.rivals import settle_stored
from helix.memory.contradiction.validity import recompute_validity
from helix.memory.scores import bounded_confidence, reinforced
from helix.memory.upkeep.history import history
from helix.model.edge import Ref, Relation
from helix.model.memory import CLAIMED, FEEDBACK, ROOM, Memory, Status, body, unproven_of, with_claimed
from helix.model.provenance import Trust, weakest_trust
from helix.model.records import edge_from
from helix.store.index import StoreIndex
from helix.store.store import Store
from helix.store.writer import Decision
from helix.text.statement.wording import exchanged

_PERFECT = 5
_CONFIRMED_STEP = 0.5
_RESTED_ON = (Relation.GROUNDED_IN, Relation.MENTIONS, Relation.TOUCHES)
"""Edges of a stranger's memory that a person stands for, too, who stands for it."""
_TAKEN_BACK = ("confirmed", "restored")
"""What history says of the changes that can be taken back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EditRequest:
    """The fields to change; None leaves one as it is.

    `agent` is who changes them where that is no person: what it says anew is trusted as an agent's at most.
    """

    trigger: str | None = None
    resolution: str | None = None
    kind: str | None = None
    name: Annotated[str | None, "Its new name."] = None
    scope: str | None = None
    confidence: float | None = None
    importance: float | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    agent: str = ""


def edit(store: Store, name_or_id: str, request: EditRequest, grounds: Sequence[Ref] = ()) -> Memory:
    """Write a new version of a memory with some fields changed; the old one is retired and stays.

    Where the new words say something else, what the old ones said ends now, in valid time too.
    `grounds` are episodes that the new version stands on too, in the same change.
    Raises NotFoundError, InvalidInputError, or ConflictError where the name is taken or the memory is an old version.
    """
    store.check_space()
    intake = Intake(store.runtime.settings.text_limit)
    old = standing_memory_of(store.index, name_or_id)
    trigger, resolution = old.trigger, old.resolution
    if request.trigger is not None or request.resolution is not None:
        told = (old.trigger if request.trigger is None else request.trigger, request.resolution)
        trigger, resolution = intake.pair(told[0], old.resolution if told[1] is None else told[1])
    changed = replace(
        old,
        trigger=trigger,
        resolution=resolution,
        kind=old.kind if request.kind is None else checks.known_kind(request.kind),
        scope=old.scope if request.scope is None else intake.scope(request.scope),
        name=old.name if request.name is None else intake.name(request.name),
        confidence=checks.fraction(request.confidence, "confidence", old.confidence),
        importance=checks.poignancy(request.importance, old.importance),
        valid_from=checks.moment(request.valid_from) or old.valid_from,
        valid_to=checks.moment(request.valid_to) or old.valid_to,
    )
    if request.valid_from or request.valid_to:
        checks.period(changed.valid_from, checks.moment(request.valid_to) or end_beyond_rules(store.records, old))
    if changed == old and old.status is not Status.RETIRED:
        return old
    agent = intake.label(request.agent, "agent")
    changed = _as_agents(changed, old, agent)
    _check_servable(old, changed)
    changed = _as_persons(changed, old, agent)
    files = files_of(store.records, old)
    prepared = prepare(store, [ReadText.of(body(trigger, resolution), files)])[0]

    def decision() -> Decision[Memory]:
        current = standing_memory_of(store.index, old.id)
        if current.status is Status.RETIRED:
            raise _old_version(store, current)
        _check_name_free(store.index, changed, but=current)
        composer = Composer(store, store.runtime.clock())
        new = replace(told_now(changed, composer.now), id=composer.new_id(), retired_at=None)
        ref = supersede(composer, store.records, current, new, prepared, files)
        if _says_otherwise(current, new):
            ended = min(current.valid_to or composer.now, composer.now)
            composer.patch(current.ref, valid_to=ended)
        for episode in grounds:
            composer.edge(Relation.GROUNDED_IN, ref, episode, provenance=new.provenance)
        return Decision((composer.change("edit", memory=new.id),), new)

    new = store.writer.submit(decision, once="edit")
    if new.status is Status.ACTIVE:
        settle_stored(store, new, reworded=(_words(old), old.valid_from) != (_words(new), new.valid_from))
    return new


def forget(store: Store, name_or_id: str) -> Memory:
    """Do what a person asks for with `forget`: hide a memory from every recall.

    It stays on disk and `restore` brings it back. Raises ConflictError for an old version.
    """

    def forgotten(memory: Memory, _: Composer) -> Memory:
        if memory.status is Status.RETIRED:
            raise _old_version(store, memory)
        return replace(memory, status=Status.FORGOTTEN)

    return _restate(store, name_or_id, "forget", forgotten)


def restore(store: Store, name_or_id: str) -> Memory:
    """Bring a forgotten, archived or quarantined memory back; under another name where its own was taken meanwhile.

    To restore a quarantined one is to accept it, as a person who has looked at it.
    """

    def active(memory: Memory, composer: Composer) -> Memory:
        """Return a memory as it is once a person has restored it; ConflictError for an old version."""
        if memory.status is Status.ACTIVE:
            return memory
        if memory.status is Status.RETIRED:
            raise _old_version(store, memory)
        if memory.status is Status.QUARANTINED:
            return released(memory, composer)
        # Brought back by a person: it counts as used now, or it would be faded the moment it returns.
        name = composer.name(memory.scope, memory.name)
        return replace(memory, status=Status.ACTIVE, name=name, last_used_at=composer.now)

    return _restate(store, name_or_id, "restore", active)


def confirm(store: Store, name_or_id: str) -> Memory:
    """Have a person vouch for a memory: surer, reinforced as by a perfect use, and active again if it had faded.

    Whoever said it, the person says it too from then on, in the words that it has now: it is trusted as theirs. What it
    earned while nobody stood for it proves nothing then either.
    """

    def confirmed(memory: Memory, composer: Composer) -> Memory:
        if memory.status is Status.QUARANTINED:
            raise ConflictError(f"{memory.name!r} is quarantined", hint="look at it first: `helix review`")
        if memory.status is Status.RETIRED:
            raise _old_version(store, memory)
        if memory.status is Status.FORGOTTEN:
            raise ConflictError(
                f"{memory.name!r} is {memory.status}", hint=f"`helix restore {memory.name}` brings it back"
            )
        confidence = memory.confidence + _CONFIRMED_STEP * (1.0 - memory.confidence)
        # An archived memory holds its name no longer: another may have it by now.
        name = memory.name if memory.status is Status.ACTIVE else composer.name(memory.scope, memory.name)
        vouched = reinforced(memory, _PERFECT, composer.now)
        theirs = replace(memory.provenance, trust=Trust.USER_ASSERTED)
        apart = {**with_claimed(memory.attributes, unproven_of(memory)), OWN_WORD: True}
        return replace(
            vouched, status=Status.ACTIVE, name=name, confidence=confidence, provenance=theirs, attributes=apart
        )

    return _restate(store, name_or_id, "confirm", confirmed)


def revert(store: Store, name_or_id: str) -> Memory:
    """Have a person put a memory back as it was before it was confirmed or restored, where nothing came after.

    Raises ConflictError where it was not.
    """
    told = history(store, standing_memory_of(store.index, name_or_id))[-2:]

    def earlier(memory: Memory, _: Composer) -> Memory:
        before, last = told if len(told) == 2 else (None, None)
        if last is None or before is None or last.change not in _TAKEN_BACK or last.memory != memory:
            raise ConflictError(
                f"the last thing done to {memory.name!r} was neither to confirm nor to restore it",
                hint=f"`helix history {memory.name}` shows what was",
            )
        return before.memory

    return _restate(store, name_or_id, "revert", earlier)


def _restate(store: Store, name_or_id: str, kind: str, change: Callable[[Memory, Composer], Memory]) -> Memory:
    def decision() -> Decision[Memory]:
        composer = Composer(store, store.runtime.clock())
        memory = standing_memory_of(store.index, name_or_id)
        changed = change(memory, composer)
        if changed == memory:
            return Decision((), memory)
        composer.node(changed)
        if memory.provenance.is_strangers and not changed.provenance.is_strangers:
            for told in map(edge_from, store.records.edges_at(memory.ref)):
                if told.provenance.is_strangers and told.source == memory.ref and told.type in _RESTED_ON:
                    composer.put_edge(told)
        restate_evidence(store.index, composer, memory, changed)
        recompute_validity(composer, store)
        return Decision((composer.change(kind, memory=memory.id),), changed)

    changed = store.writer.submit(decision, once=kind)
    if changed.status is Status.ACTIVE:
        settle_stored(store, changed)  # what came in meanwhile was not set against it
    return changed


def _old_version(store: Store, memory: Memory) -> ConflictError:
    """Return that a memory was replaced, with the name of what has its place now."""
    present = present_version(store.records, memory)
    same = present.id == memory.id
    hint = "nothing has its place any more" if same else f"the present version is called {present.name}"
    return ConflictError(f"{memory.name!r} ({memory.id}) is an old version", hint=hint)


def _says_otherwise(old: Memory, new: Memory) -> bool:
    """Return whether an edit puts something else in the place of what a memory said, rather than word it better."""
    return why_contrary(old, NewStatement.of(new)) is not None or exchanged(
        body(old.trigger, old.resolution), body(new.trigger, new.resolution)
    )


def _as_agents(changed: Memory, old: Memory, agent: str) -> Memory:
    """Return a changed memory as it is when an agent has changed it (empty: a person has).

    An agent does not weigh what is better founded, and what better founded words have earned does not prove an agent's.
    """
    if not agent:
        return changed
    trust = weakest_trust(old.provenance.trust, Trust.AGENT_INFERRED)
    if _stated(changed) == _stated(old):
        if trust is not old.provenance.trust:
            return replace(changed, importance=old.importance, confidence=old.confidence)
        return replace(changed, confidence=min(changed.confidence, old.confidence))
    provenance = replace(old.provenance, trust=trust, agent=agent)
    theirs = replace(changed, provenance=provenance, confidence=bounded_confidence(changed.confidence, trust))
    if body(changed.trigger, changed.resolution) == body(old.trigger, old.resolution) or trust is old.provenance.trust:
        return theirs
    apart = {name: value for name, value in theirs.attributes.items() if name not in (CLAIMED, FEEDBACK, ROOM)}
    return replace(theirs, helped=0.0, failed=0.0, uses=0, last_used_at=None, attributes=apart)


def _as_persons(changed: Memory, old: Memory, agent: str) -> Memory:
    """Return a changed memory with the mark that its words are a person's, where they are; derived ones tell by it.

    Then the person says it, whoever said the former words; not what waits for a review, in whatever words.
    """
    if body(changed.trigger, changed.resolution) == body(old.trigger, old.resolution):
        return changed
    if not agent and old.status is not Status.QUARANTINED:
        changed = replace(changed, provenance=replace(changed.provenance, trust=Trust.USER_ASSERTED))
    others = {name: value for name, value in changed.attributes.items() if name != OWN_WORD}
    if agent:
        return replace(changed, attributes=others)
    return changed if old.is_derived else replace(changed, attributes={**others, OWN_WORD: True})


def _words(memory: Memory) -> str:
    return body(memory.trigger, memory.resolution)


def _stated(memory: Memory) -> tuple[object, ...]:
    """Return what of a memory is told as its source's word: its name, its project and its times are words too."""
    return (
        *(memory.trigger, memory.resolution, memory.kind, memory.name, memory.scope),
        *(memory.valid_from, memory.valid_to),
    )


def _check_servable(old: Memory, changed: Memory) -> None:
    """Refuse words that would be quarantined in the place of ones that are served: they would hide those."""
    if old.status is Status.QUARANTINED:
        return
    fresh = [after for before, after in ((_words(old), _words(changed)), (old.name, changed.name)) if after != before]
    trust = changed.provenance.trust
    if screen(trust, *fresh).held:
        raise InvalidInputError(
            f"{old.name!r} comes from {trust}, and its new words or name read like an instruction to an agent",
            hint="store them as a memory of their own, with the trust they deserve",
        )


def _check_name_free(index: StoreIndex, memory: Memory, *, but: Memory) -> None:
    holder = index.named(memory.scope, memory.name)
    if holder is not None and holder != but.ref:
        raise ConflictError(
            f"an active memory of scope {memory.scope!r} is already called {memory.name!r}", hint="choose another name"
        )
