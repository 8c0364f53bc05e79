"""Resolve: what follows for two memories from their contradicting each other, whichever of them was known first.

A memory ends where the first of those begins that it loses to, whatever was found in what order: every edge says until
when it lets its loser hold, and the memory holds until the earliest of these. What a person chose counts as told anew
when they chose it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import cast

from helix.journal.state import Records
from helix.memory.change.compose import Composer
from helix.memory.change.versions import claimed_since, hold_until
from helix.memory.contradiction.classify import Claim, Ruling, plain_words, rule
from helix.memory.contradiction.detect import Contradiction
from helix.model.dispute import REWORDED, DisputeStatus, Outcome
from helix.model.edge import Edge, Relation
from helix.model.memory import Memory, Status
from helix.model.records import edge_from
from helix.store.index import StoreIndex

FIRST, SECOND = "first", "second"
_RIVAL = {FIRST: SECOND, SECOND: FIRST}
_WINS = {FIRST: Ruling.FIRST, SECOND: Ruling.SECOND}
_LOSES = {Ruling.FIRST: SECOND, Ruling.SECOND: FIRST}
_DOUBT = 0.25
"""Share of its confidence that a contradicted memory loses while the contradiction is open."""


def oppose(
    composer: Composer, index: StoreIndex, newer: Memory, known: Memory, why: Contradiction, former: Edge | None = None
) -> Ruling:
    """Settle or flag a contradiction of two memories, or do it anew (`former`); return how it was ruled.

    `newer` is the edge's source; it may be written by the same change. The loser's validity ends where the winner's
    begins (now, where the winner's began earlier). What is too close to call, and what is not sure, is flagged: both
    lose some of their confidence, and what was taken is written down.
    """
    first, second = (memory.ref for memory in (newer, known))
    held = {FIRST: _own(newer, former), SECOND: _own(known, former)}
    since = {side: _since(memory, side, former) for side, memory in held.items()}
    chosen = choices(index.records, newer, known)
    ruling = ruled(index.records, newer, known, why, since)
    attributes: dict[str, object] = {
        "ground": why.ground.value,
        "left": why.left,
        "right": why.right,
        "since": {side: moment.isoformat() for side, moment in since.items()},
        "trust": trust_of(newer, known),
        "chosen": {side: moment.isoformat() for side, moment in chosen.items()},
    }
    before = {side: _before(index.records, memory, former) for side, memory in held.items()}
    for source, target in ((first, second), (second, first)) if former is not None else ():
        composer.drop_edge(Relation.SUPERSEDES, source, target)
    loser = _LOSES.get(ruling)
    if loser is None:
        taken = {
            side: doubted(composer, held[side], by=held[rival]) for side, rival in ((FIRST, SECOND), (SECOND, FIRST))
        }
        attributes |= {"status": DisputeStatus.OPEN.value, "taken": taken}
    else:
        winner = _RIVAL[loser]
        until = since[winner] if since[winner] > since[loser] else max(chosen.get(winner, composer.now), since[loser])
        if since[winner] > since[loser]:
            begin(composer, held[winner], since[winner])
        outcome = Outcome.FIRST if winner == FIRST else Outcome.SECOND
        attributes |= {"status": DisputeStatus.SETTLED.value, "outcome": outcome.value, "taken": {}}
        attributes |= {"before": before, "until": until.isoformat()}
        ends = (second, first) if loser == FIRST else (first, second)
        composer.edge(Relation.SUPERSEDES, *ends, provenance=newer.provenance)
    for side, memory in held.items():
        lost = attributes["until"] if side == loser else None
        end = _earliest(before[side]["valid_to"], lost, *_lost(index.records, memory, former))
        _end(composer, index, memory, end, side)
    created = composer.now if former is None else former.created_at
    composer.put_edge(
        Edge(
            type=Relation.CONTRADICTS,
            source=first,
            target=second,
            created_at=created,
            attributes=attributes,
            provenance=newer.provenance,
        )
    )
    return ruling


def take_back(composer: Composer, index: StoreIndex, one: Memory, other: Memory, former: Edge) -> None:
    """Take back a contradiction that no person decided and that is none any longer: both memories hold as before."""
    for side, memory in ((FIRST, one), (SECOND, other)):
        back = _own(memory, former)
        stated = _before(index.records, memory, former)["valid_to"]
        _end(composer, index, back, _earliest(stated, *_lost(index.records, memory, former)), side)
        if back.confidence != memory.confidence:
            composer.patch(memory.ref, confidence=back.confidence)
    for source, target in ((former.source, former.target), (former.target, former.source)):
        composer.drop_edge(Relation.SUPERSEDES, source, target)
    composer.drop_edge(Relation.CONTRADICTS, former.source, former.target)


def ruled(
    records: Records, one: Memory, other: Memory, why: Contradiction, since: Mapping[str, datetime] | None = None
) -> Ruling:
    """Return which of two contradicting memories a rule lets hold; OPEN where the contradiction is not sure.

    What disputes took from their confidence counts as theirs: else it would matter which dispute was found first. What
    a person chose loses by rule to nothing that was told or chosen before, and to the rest as if it were told then. It
    wins over the very words that they chose it over, whoever else had said them before.
    """
    begun = since or {side: _since(memory, side, None) for side, memory in ((FIRST, one), (SECOND, other))}
    for side, memory, rival in ((FIRST, one, other), (SECOND, other, one)):
        chosen_at = _chosen_over(records, memory, rival)
        if chosen_at is not None and begun[_RIVAL[side]] <= chosen_at:
            return _WINS[side]
    claims = [
        Claim(
            since=begun[side],
            confidence=memory.confidence + sum(_taken_by(edge, memory) for edge in disputes_of(records, memory)),
            trust=memory.provenance.trust,
            derived=memory.is_derived,
        )
        for side, memory in ((FIRST, one), (SECOND, other))
    ]
    ruling = rule(*claims) if why.sure else Ruling.OPEN
    loser, chosen = _LOSES.get(ruling), choices(records, one, other)
    if loser is None or loser not in chosen:
        return ruling
    winner = _RIVAL[loser]
    told = {side: max(moment, chosen.get(side, moment)) for side, moment in begun.items()}
    if told[winner] <= told[loser]:
        return _WINS[loser]
    if winner in chosen and chosen[winner] > chosen[loser]:
        return ruling
    return rule(*(replace(claim, since=told[side]) for side, claim in zip((FIRST, SECOND), claims, strict=True)))


def trust_of(first: Memory, second: Memory) -> dict[str, str]:
    """Return how two contradicting memories are trusted, by their sides."""
    return {FIRST: first.provenance.trust.value, SECOND: second.provenance.trust.value}


def choices(records: Records, first: Memory, second: Memory) -> dict[str, datetime]:
    """Return when a person last chose each of two contradicting memories over another; one never chosen is excluded."""
    chosen = {}
    for side, memory in ((FIRST, first), (SECOND, second)):
        decided = filter(by_person, disputes_of(records, memory))
        won = [edge for edge in decided if stays(edge, memory) and REWORDED not in edge.attributes]
        if won:
            chosen[side] = max(datetime.fromisoformat(str(edge.attributes["resolved_at"])) for edge in won)
    return chosen


def _chosen_over(records: Records, memory: Memory, rival: Memory) -> datetime | None:
    """Return when a person last chose a memory over another one that says the same as its rival, or None."""
    ruled = (edge for edge in disputes_of(records, memory) if by_person(edge) and REWORDED not in edge.attributes)
    won = [edge for edge in ruled if edge.attributes.get("outcome") != Outcome.BOTH.value and stays(edge, memory)]
    ends = [edge.target if edge.source.id == memory.id else edge.source for edge in won]
    lost = (cast(Memory, node) for node in records.nodes(ends))
    said = plain_words(rival.trigger, rival.resolution)
    return max(
        (
            datetime.fromisoformat(str(edge.attributes["resolved_at"]))
            for edge, other in zip(won, lost, strict=True)
            if other.id != rival.id and plain_words(other.trigger, other.resolution) == said
        ),
        default=None,
    )


def decided_against(records: Records, memory: Memory) -> Edge | None:
    """Return a contradiction in which a person decided against a memory, or None."""
    return next((e for e in disputes_of(records, memory) if by_person(e) and not stays(e, memory)), None)


def disputes_of(records: Records, memory: Memory) -> list[Edge]:
    """Return the contradictions at a memory, whichever end it is."""
    return [edge_from(op) for op in records.edges_at(memory.ref, Relation.CONTRADICTS)]


def doubted(composer: Composer, memory: Memory, *, by: Memory) -> float:
    """Lower the confidence of a memory that a contradiction puts in doubt, and return what was taken.

    A weaker voice takes nothing from a better founded memory: it may contradict it any number of times.
    """
    if by.provenance.trust.rank > memory.provenance.trust.rank:
        return 0.0
    taken = _DOUBT * memory.confidence
    composer.patch(memory.ref, confidence=memory.confidence - taken)
    return taken


def begin(composer: Composer, winner: Memory, since: datetime) -> None:
    """Set since when the winner of a contradiction holds, where it did not say so itself."""
    if winner.valid_from is None:
        composer.patch(winner.ref, valid_from=since)


def stated_end(records: Records, memory: Memory) -> datetime | None:
    """Return until when a memory was said to hold, whatever contradiction it has lost since."""
    told = _before(records, memory, None)["valid_to"]
    return None if told is None else datetime.fromisoformat(str(told))


def end_beyond_rules(records: Records, memory: Memory) -> datetime | None:
    """Return until when a memory was said to hold, or does as a person decided, whatever a rule has ended it since."""
    return held_beside(records, memory, ((edge, Status.FORGOTTEN) for edge in disputes_of(records, memory)))


def end_by_rivals(records: Records, memory: Memory) -> datetime | None:
    """Return until when a memory holds by the contradictions alone that it has lost, None where it has lost none."""
    return _earliest(*_lost(records, memory, None))


def ended_before(records: Records, memory: Memory, end: datetime) -> list[Edge]:
    """Return a memory's contradictions that say it had ended so before they came up, as they are without that."""
    found = []
    for edge in disputes_of(records, memory):
        before = cast(Mapping[str, Mapping[str, str | None]], edge.attributes.get("before", {}))
        side = _side(edge, memory)
        if before.get(side, {}).get("valid_to") == end.isoformat():
            without = {**before, side: {**before[side], "valid_to": None}}
            found.append(replace(edge, attributes={**edge.attributes, "before": without}))
    return found


def held_without(records: Records, memory: Memory, edge: Edge) -> datetime | None:
    """Return until when a memory holds without one contradiction."""
    return _earliest(_before(records, memory, edge)["valid_to"], *_lost(records, memory, edge))


def held_beside(records: Records, memory: Memory, rivals: Iterable[tuple[Edge, Status]]) -> datetime | None:
    """Return until when a memory holds beside those that contradict it: each with the edge, and where it stands."""
    return _earliest(_before(records, memory, None)["valid_to"], *_ends(memory, rivals))


def _own(memory: Memory, former: Edge | None) -> Memory:
    """Return a memory with what a former ruling on the same contradiction took from its confidence."""
    taken = 0.0 if former is None else _taken_by(former, memory)
    return replace(memory, confidence=min(1.0, memory.confidence + taken)) if taken else memory


def _since(memory: Memory, side: str, former: Edge | None) -> datetime:
    told = {} if former is None else cast(Mapping[str, str], former.attributes.get("since", {}))
    return memory.valid_from or (datetime.fromisoformat(told[side]) if side in told else claimed_since(memory))


def _before(records: Records, memory: Memory, former: Edge | None) -> dict[str, str | None]:
    """Return how a memory stood before it first lost to another one."""
    settled = [edge for edge in disputes_of(records, memory) if "before" in edge.attributes]
    if former is not None and "before" in former.attributes:
        settled.append(former)
    for edge in sorted(settled, key=lambda edge: (edge.created_at, edge.source.id, edge.target.id)):
        sides = cast(Mapping[str, Mapping[str, str | None]], edge.attributes["before"])
        told = sides.get(_side(edge, memory), {})
        if has_lost(edge, memory):
            return {"valid_from": told.get("valid_from"), "valid_to": told.get("valid_to")}
    held = {"valid_from": memory.valid_from, "valid_to": memory.valid_to}
    return {name: None if moment is None else moment.isoformat() for name, moment in held.items()}


def _lost(records: Records, memory: Memory, former: Edge | None) -> list[str]:
    """Return the ends that contradictions set which were decided against a memory, but for one."""
    ends = None if former is None else (former.source, former.target)
    found = [edge for edge in disputes_of(records, memory) if (edge.source, edge.target) != ends]
    rivals = records.nodes([edge.target if edge.source.id == memory.id else edge.source for edge in found])
    return _ends(memory, ((edge, cast(Memory, rival).status) for edge, rival in zip(found, rivals, strict=True)))


def _ends(memory: Memory, rivals: Iterable[tuple[Edge, Status]]) -> list[str]:
    """Return the ends that its rivals set to a memory.

    What a rule decided counts while the winner is there; what a person decided stays, whatever becomes of it. Those of
    a version that another one has replaced no longer count: the new one has them, too.
    """
    return [
        str(edge.attributes["until"])
        for edge, status in rivals
        if has_lost(edge, memory) and (status is Status.ACTIVE or (by_person(edge) and status is not Status.RETIRED))
    ]


def _end(composer: Composer, index: StoreIndex, memory: Memory, until: datetime | None, side: str) -> None:
    """Set a memory's end where it differs; one that this change may have written is no older version of itself."""
    if memory.valid_to == until:
        return
    if side == FIRST and memory.recorded_at == composer.now:
        composer.patch(memory.ref, valid_to=until)
    else:
        hold_until(composer, index, memory, until)


def has_lost(edge: Edge, memory: Memory) -> bool:
    """Return whether a contradiction was decided against a memory, which ended by it."""
    return "until" in edge.attributes and _loser(edge) == _side(edge, memory)


def begins_sooner(edge: Edge, memory: Memory) -> bool:
    """Return whether a memory holds sooner than its contradiction says that it does."""
    told = cast(Mapping[str, str], edge.attributes.get("since", {})).get(_side(edge, memory))
    return told is not None and datetime.fromisoformat(told) > claimed_since(memory)


def said_anew(edge: Edge, memory: Memory) -> Edge:
    """Return a contradiction in which a memory says what it says since now, whenever it was said before."""
    told = cast(Mapping[str, str], edge.attributes.get("since", {}))
    since = {side: moment for side, moment in told.items() if side != _side(edge, memory)}
    return replace(edge, attributes={**edge.attributes, "since": since})


def _taken_by(edge: Edge, memory: Memory) -> float:
    taken = cast(Mapping[str, float], edge.attributes.get("taken", {}))
    return taken.get(_side(edge, memory), 0.0)


def _side(edge: Edge, memory: Memory) -> str:
    return FIRST if edge.source.id == memory.id else SECOND


def by_person(edge: Edge) -> bool:
    """Return whether a person decided a contradiction."""
    return edge.attributes.get("status") == DisputeStatus.RESOLVED.value


def stays(edge: Edge, memory: Memory) -> bool:
    """Return whether a contradiction was decided so that a memory stays."""
    return edge.attributes.get("outcome") in (_side(edge, memory), Outcome.BOTH.value)


def _loser(edge: Edge) -> str:
    return SECOND if edge.attributes.get("outcome") == Outcome.FIRST.value else FIRST


def _earliest(*moments: object) -> datetime | None:
    return min((datetime.fromisoformat(str(moment)) for moment in moments if moment is not None), default=None)
