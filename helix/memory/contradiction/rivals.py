"""Rivals: the memories that contradict a memory, and the rulings on it that no longer fit; settled one by one."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Protocol, TypeVar, cast

from helix.journal.state import Records
from helix.memory.change.compose import Composer
from helix.memory.change.versions import claimed_since
from helix.memory.contradiction.classify import (
    NewStatement,
    can_contradict,
    contraries,
    hold_at_once,
    thresholds_of,
    why_contrary,
)
from helix.memory.contradiction.detect import Contradiction, Ground
from helix.memory.contradiction.resolve import (
    begins_sooner,
    choices,
    disputes_of,
    has_lost,
    oppose,
    said_anew,
    stated_end,
    take_back,
    trust_of,
)
from helix.memory.neighbours import LeftOut, nearest_active
from helix.model.dispute import DisputeStatus
from helix.model.edge import Edge
from helix.model.memory import Memory, Status, body
from helix.store.store import Store
from helix.store.writer import Decision
from helix.text.tokens import lexical_tokens

T = TypeVar("T")

NEAREST = 20
"""How many memories a memory is compared with."""
_ROUNDS = 5
_SAME_WORDS = 0.8
"""Share of the longer one's words from which two memories that contradicted each other say the same."""


class Steps(Protocol):
    """A run of a job (`memory/job_run/run.py`), as far as settling a contradiction needs it."""

    store: Store

    def write(self, step: str, compose: Callable[[Composer], T]) -> T | None:
        """Compose a step of the run and make it durable; return what `compose` does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unsettled:
    """Two memories between which something is to be settled: the later claim and the earlier one.

    `why` None: they contradict each other no longer. `former`: how that was settled before.
    """

    newer: Memory
    known: Memory
    why: Contradiction | None
    former: Edge | None = None


def unsettled(store: Store, memory: Memory, but: LeftOut | None = None, *, reworded: bool = False) -> list[Unsettled]:
    """Return the contradictions to settle between a memory and all others, whatever order they came in.

    `but`: memories that it was set against elsewhere. `reworded`: it says what it says since now.
    """
    if memory.status is not Status.ACTIVE or not can_contradict(memory.kind):
        return []
    disputed = disputes_of(store.records, memory)
    told = {ref.id for edge in disputed for ref in (edge.source, edge.target)}
    fresh = [
        _ordered(memory, other, why)
        for other, why in _contraries(store, memory, but)
        if other.id not in {*told, memory.id} and _meet(store.records, memory, other)
    ]
    return [*_outdated(store.records, disputed, memory if reworded else None), *fresh]


def set_against_all(run: Steps, memories: Iterable[Memory], rest: Callable[[], None]) -> bool:
    """Settle or flag the contradictions of memories; return whether none was changed meanwhile."""
    undisturbed = True
    for memory in memories:
        rest()
        for one in unsettled(run.store, memory):
            undisturbed &= settle_in_run(run, one)
    return undisturbed


def settle_in_run(run: Steps, one: Unsettled) -> bool:
    """Settle or flag one contradiction as a step of a run; return whether both memories were unchanged."""
    name = "|".join(map(str, _words(one.newer) + _words(one.known)))
    step = f"settle:{one.newer.id}:{one.known.id}:{hashlib.sha256(name.encode()).hexdigest()[:16]}"
    return run.write(step, settle_one(run.store, one)) is not False


def settle_stored(store: Store, memory: Memory, *, reworded: bool = False) -> tuple[str, ...]:
    """Settle or flag the contradictions of a stored memory, and return the names of the contrary ones.

    `reworded`: it has taken the place of what was said before.
    """
    _settle(store, memory, lambda now: unsettled(store, now, reworded=reworded))
    ref = memory.ref
    rivals = [edge.target if edge.source == ref else edge.source for edge in disputes_of(store.records, memory)]
    standing = (cast(Memory, node) for node in store.records.nodes(rivals))
    return tuple(sorted(rival.name for rival in standing if rival.status is Status.ACTIVE))


def _settle(store: Store, memory: Memory, found: Callable[[Memory], Iterable[Unsettled]]) -> None:
    """Settle what is found for a memory, anew where settling one has moved since when it holds."""
    for _ in range(_ROUNDS):
        (now,) = store.records.present([memory.ref])
        changes = [settle_one(store, one) for one in found(now)] if isinstance(now, Memory) else []
        if all([_settled(store, change) for change in changes]):
            return


def _settled(store: Store, change: Callable[[Composer], bool]) -> bool:
    """Settle one contradiction; return whether both memories were unchanged."""

    def decision() -> Decision[bool]:
        composer = Composer(store, store.runtime.clock())
        undisturbed = change(composer)
        return Decision((composer.change("settle"),) if undisturbed else (), undisturbed)

    return store.writer.submit(decision)


def settle_one(store: Store, found: Unsettled) -> Callable[[Composer], bool]:
    """Return the decision that settles a contradiction, where both memories are unchanged; it tells whether."""

    def compose(composer: Composer) -> bool:
        newer, known = (cast(Memory, node) for node in store.records.nodes([found.newer.ref, found.known.ref]))
        if any(_words(now) != _words(was) for now, was in ((newer, found.newer), (known, found.known))):
            return False
        if found.why is not None:
            oppose(composer, store.index, newer, known, found.why, found.former)
        elif found.former is not None:
            take_back(composer, store.index, newer, known, found.former)
        return True

    return compose


def _contraries(store: Store, memory: Memory, but: LeftOut | None) -> list[tuple[Memory, Contradiction]]:
    own = store.index.vectors_of(memory.ref)
    if not own:
        return []
    near = nearest_active(store, own[0], memory.scope, NEAREST, ended=True, but=but)
    return contraries(NewStatement.of(memory), near, thresholds_of(store.runtime))


def _outdated(records: Records, disputed: list[Edge], reworded: Memory | None = None) -> list[Unsettled]:
    """Return the contradictions that no person decided and that begin otherwise now, or that are gone: by the words of
    both, an open one, or one of what was derived.

    A person's choice counts for what rules settled, and so does a trust that has changed since, as where a person now
    stands for the loser, and that the loser was `reworded`. What was left open, or opened again, waits for a decision.
    """
    found = []
    for edge in disputed:
        since = edge.attributes.get("since")
        if edge.attributes.get("status") == DisputeStatus.RESOLVED.value or not isinstance(since, dict):
            continue
        newer, known = (cast(Memory, node) for node in records.nodes([edge.source, edge.target]))
        if newer.status is not Status.ACTIVE or known.status is not Status.ACTIVE:
            continue
        why: Contradiction | None
        if edge.attributes.get("ground") == Ground.MODEL.value:
            said = (str(edge.attributes.get(side, "")) for side in ("left", "right"))
            why = Contradiction(ground=Ground.MODEL, left=next(said), right=next(said), sure=False)
        else:
            why = why_contrary(newer, NewStatement.of(known))
        moved = any(
            memory.valid_from is not None and memory.valid_from != datetime.fromisoformat(since[side])
            for side, memory in (("first", newer), ("second", known))
        )
        if edge.attributes.get("status") == DisputeStatus.SETTLED.value:
            chosen = {side: moment.isoformat() for side, moment in choices(records, newer, known).items()}
            trust = trust_of(newer, known)
            moved |= chosen != edge.attributes.get("chosen", {}) or trust != edge.attributes.get("trust", trust)
        # What somebody stored and words anew ended the other all the same; derived words follow from the episodes. An
        # open one has ended nothing; but other words may just be too far off to be compared.
        opened = edge.attributes.get("status") == DisputeStatus.OPEN.value
        lost = False
        if reworded is not None:
            lost = not opened and has_lost(edge, reworded)
            moved |= lost or begins_sooner(edge, reworded)
            edge = said_anew(edge, reworded)
        gone = why is None and (lost or (opened and _agree(newer, known)) or (newer.is_derived and known.is_derived))
        if gone or (why is not None and moved):
            found.append(Unsettled(newer=newer, known=known, why=why, former=edge))
    return found


def _agree(one: Memory, other: Memory) -> bool:
    """Return whether two memories that contradict each other no more say the same, by nearly all of their words."""
    here, there = (set(lexical_tokens(body(memory.trigger, memory.resolution))) for memory in (one, other))
    return len(here & there) >= _SAME_WORDS * max(len(here), len(there), 1)


def _ordered(memory: Memory, other: Memory, why: Contradiction) -> Unsettled:
    """Return the later claim first, whichever of the two was looked at; `why` is told of `other` and then `memory`."""
    if _rank(memory) > _rank(other):
        return Unsettled(newer=memory, known=other, why=why.turned)
    return Unsettled(newer=other, known=memory, why=why)


def _rank(memory: Memory) -> tuple[datetime, str, str]:
    return claimed_since(memory), memory.trigger, memory.resolution


def _meet(records: Records, one: Memory, other: Memory) -> bool:
    """Return whether both claim a time, but for the ends that other claims have set."""
    first, second = (replace(memory, valid_to=stated_end(records, memory)) for memory in (one, other))
    return hold_at_once(first, second)


def _words(memory: Memory) -> tuple[object, ...]:
    return memory.kind, memory.trigger, memory.resolution, memory.status, memory.valid_from
