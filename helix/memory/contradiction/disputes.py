"""Disputes: contradicting memories are flagged, settled by rule or resolved by a person; all of it reversibly."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import cast

from helix.errors import ConflictError, InvalidInputError, NotFoundError
from helix.journal.state import Records
from helix.memory.change.compose import Composer
from helix.memory.change.find import standing_memory_of
from helix.memory.change.intake import Intake
from helix.memory.change.versions import claimed_since, hold_until, take_back_retirement
from helix.memory.contradiction.detect import Ground
from helix.memory.contradiction.resolve import (
    FIRST,
    SECOND,
    begin,
    decided_against,
    disputes_of,
    doubted,
    held_without,
    stated_end,
)
from helix.memory.contradiction.rivals import settle_stored
from helix.memory.contradiction.validity import recompute_validity
from helix.model.clock import to_micros
from helix.model.dispute import REWORDED, Dispute, DisputeStatus, Outcome, dispute_status
from helix.model.edge import DRAWN, Edge, Ref, Relation
from helix.model.memory import Memory, Status
from helix.model.operations import PutEdge
from helix.model.paging import Key
from helix.model.provenance import provenance_word
from helix.model.records import edge_from
from helix.store.index import StoreIndex
from helix.store.store import Store
from helix.store.writer import Decision

_ALL = 1_000_000_000
_NOT_DECIDED = frozenset({Status.RETIRED, Status.FORGOTTEN, Status.QUARANTINED})
"""Of what is gone nothing is left to decide, and what is in quarantine is told to nobody before it is accepted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Case:
    """A contradiction at work: its edge, whose source is `first` and whose target is `second`."""

    edge: Edge
    first: Memory
    second: Memory

    @property
    def sides(self) -> Mapping[str, Memory]:
        return {FIRST: self.first, SECOND: self.second}

    def since(self, side: str) -> datetime:
        """Since when a side claimed to hold when the contradiction was found."""
        told = cast(Mapping[str, str], self.edge.attributes.get("since", {}))
        return _moment(told.get(side)) or claimed_since(self.sides[side])

    @property
    def taken(self) -> dict[str, float]:
        """What the contradiction has taken of each side's confidence, and not given back."""
        taken = cast(Mapping[str, float], self.edge.attributes.get("taken", {}))
        return {side: taken.get(side, 0.0) for side in (FIRST, SECOND)}

    @property
    def status(self) -> DisputeStatus:
        # An edge that a person drew by hand says nothing of itself: it waits to be resolved.
        return dispute_status(self.edge.attributes)


def contradictions(
    index: StoreIndex, scope: str | None = None, status: DisputeStatus | None = DisputeStatus.OPEN
) -> list[Dispute]:
    """Return the contradictions of a scope (None: of all) in a state (None: in any), the oldest first."""
    found = []
    for op in _contradicting(index):
        case = _case(index.records, edge_from(op))
        if case is None or status not in (None, case.status) or scope not in (None, case.first.scope):
            continue
        if case.status is DisputeStatus.OPEN and not _NOT_DECIDED.isdisjoint((case.first.status, case.second.status)):
            continue
        found.append(_dispute(case))
    return sorted(found, key=place)


def place(dispute: Dispute) -> Key:
    """Return the place of a contradiction in the order of disputes: the oldest first."""
    return (to_micros(dispute.since), dispute.first.id, dispute.second.id)


def _contradicting(index: StoreIndex) -> list[PutEdge]:
    """Return every edge of a contradiction, read where the graph in memory has one: there are few among many others."""
    if not index.whole:
        return index.records.edges_of(Relation.CONTRADICTS, _ALL)
    sources = index.sources_of(Relation.CONTRADICTS)
    return [op for ref in sources for op in index.records.edges_at(ref, Relation.CONTRADICTS) if op.source == ref]


def resolve_contradiction(store: Store, a: str, b: str, winner: str, note: str = "") -> Dispute:
    """Have a person decide which of two contradicting memories stays: the name or id of one, `both` or `neither`.

    A winner that began later ends the loser's validity where its own begins; otherwise the loser never held and is
    retired now. `known_at` goes on answering with what was believed before. What stays gets its confidence back. What
    a rule decided may be overruled, and what a person chose ends, by rule, whatever else had ended it; what a person
    decided is taken back with `reopen_contradiction`, and what they decided against cannot win elsewhere before that.
    Raises NotFoundError, ConflictError or InvalidInputError.
    """
    said = Intake(store.runtime.settings.text_limit).text(note, "note", required=False)

    def decision() -> Decision[Dispute]:
        composer = Composer(store, store.runtime.clock())
        case = _found(store.index, a, b)
        outcome = _outcome_of(case, winner)
        if case.status is DisputeStatus.RESOLVED:
            raise ConflictError(
                f"the contradiction of {case.first.name!r} and {case.second.name!r} is resolved already",
                hint="take that back first",
            )
        _check_not_refused(store.records, case, outcome)
        if case.status is DisputeStatus.SETTLED and _outcome(case.edge) is not outcome:
            case = _undone(composer, store.index, case)
        applied = _apply(composer, store.index, case, outcome)
        taken = _give_back(composer, case, outcome)
        edge = _with(
            case.edge,
            status=DisputeStatus.RESOLVED,
            outcome=outcome,
            taken=taken,
            note=said,
            resolved_at=composer.now.isoformat(),
            **applied,
        )
        composer.put_edge(edge)
        recompute_validity(composer, store)
        change = composer.change("resolve", first=case.first.id, second=case.second.id, outcome=outcome.value)
        return Decision((change,), _dispute(replace(case, edge=edge)))

    return _settled_beside(store, store.writer.submit(decision))


def reopen_contradiction(store: Store, a: str, b: str) -> Dispute:
    """Reopen a contradiction that was settled or resolved: both hold again, less sure, until decided.

    Raises ConflictError where a memory was changed since, or the contradiction is open.
    """

    def decision() -> Decision[Dispute]:
        composer = Composer(store, store.runtime.clock())
        case = _found(store.index, a, b)
        if case.status is DisputeStatus.OPEN:
            raise ConflictError(f"the contradiction of {case.first.name!r} and {case.second.name!r} is open")
        case = _undone(composer, store.index, case)
        taken = {
            side: case.taken[side] or doubted(composer, memory, by=rival)
            for side, memory, rival in ((FIRST, case.first, case.second), (SECOND, case.second, case.first))
        }
        edge = _with(case.edge, status=DisputeStatus.OPEN, taken=taken)
        composer.put_edge(edge)
        recompute_validity(composer, store)
        change = composer.change("reopen", first=case.first.id, second=case.second.id)
        return Decision((change,), _dispute(replace(case, edge=edge)))

    return _settled_beside(store, store.writer.submit(decision))


def ruled_apart(index: StoreIndex) -> list[Edge]:
    """Return the contradictions that two machines decided otherwise, and whose memories do not stand again yet."""
    edges = map(edge_from, _contradicting(index))
    return [one for one in edges if dispute_status(one.attributes) is DisputeStatus.OPEN and "before" in one.attributes]


def stand_again(composer: Composer, records: Records, edge: Edge) -> bool:
    """Have both memories of a contradiction stand as before it was decided, but for what was edited or forgotten since.

    It comes to the same on every machine. Returns whether both are there.
    """
    case = _case(records, edge)
    if case is None:
        return False
    kept = cast(Mapping[str, Mapping[str, object]], edge.attributes["before"])
    for side, memory in case.sides.items():
        if memory.status in (Status.ACTIVE, Status.RETIRED) and not _edited(records, memory, case):
            held = {name: _moment(moment) for name, moment in kept.get(side, {}).items()}
            name = memory.name if memory.status is Status.ACTIVE else composer.name(memory.scope, memory.name)
            composer.patch(_ref(memory), name=name, status=Status.ACTIVE, retired_at=None, **held)
    composer.put_edge(_opened(composer, case))
    return True


def _apply(composer: Composer, index: StoreIndex, case: _Case, outcome: Outcome) -> dict[str, object]:
    """Close what does not stay; return what the edge is to say of it. What a rule closed already stays closed."""
    if case.status is DisputeStatus.SETTLED and _outcome(case.edge) is outcome:
        return {}
    losers = [side for side in (FIRST, SECOND) if side not in _STAYING[outcome]]
    before = {side: _standing(memory, memory.valid_to) for side, memory in case.sides.items()} if losers else {}
    for side in losers:
        loser, rival = case.sides[side], SECOND if side == FIRST else FIRST
        until = case.since(rival)
        if outcome is not Outcome.NEITHER and until > case.since(side):
            begin(composer, case.sides[rival], until)
            if loser.valid_to is None or until < loser.valid_to:
                hold_until(composer, index, loser, until)
            return {
                "before": before | {side: _standing(loser, stated_end(index.records, loser))},
                "until": until.isoformat(),
            }
        end = min(loser.valid_to or composer.now, composer.now)
        composer.patch(_ref(loser), status=Status.RETIRED, retired_at=composer.now, valid_to=end)
    return {"before": before}


def _undone(composer: Composer, index: StoreIndex, case: _Case) -> _Case:
    """Bring back what the decision closed, and return the case as it was while it was open."""
    restored = dict(case.sides)
    kept = cast(Mapping[str, Mapping[str, object]], case.edge.attributes.get("before", {}))
    for side, fields in sorted(kept.items()):
        memory = case.sides[side]
        if memory.status in (Status.FORGOTTEN, Status.ARCHIVED) or _edited(index.records, memory, case):
            raise ConflictError(
                f"{memory.name!r} ({memory.id}) was changed since", hint="restore it first, or edit the present version"
            )
        since, until = _moment(fields.get("valid_from")), _moment(fields.get("valid_to"))
        if "until" in case.edge.attributes:
            until = held_without(index.records, memory, case.edge)
        if memory.status is Status.RETIRED:
            memory = take_back_retirement(composer, index, replace(memory, valid_to=until))
        if memory.valid_to != until:
            hold_until(composer, index, memory, until)
        if memory.valid_from != since:
            composer.patch(_ref(memory), valid_from=since)
        restored[side] = replace(memory, valid_from=since, valid_to=until)
    return _Case(edge=_opened(composer, case), first=restored[FIRST], second=restored[SECOND])


def _opened(composer: Composer, case: _Case) -> Edge:
    """Take away what a decision drew between the two, and return the contradiction without what it said of it."""
    for source, target in ((case.first, case.second), (case.second, case.first)):
        composer.drop_edge(Relation.SUPERSEDES, _ref(source), _ref(target))
    attributes = {name: value for name, value in case.edge.attributes.items() if name not in _DECIDED}
    return replace(case.edge, attributes={**attributes, "status": DisputeStatus.OPEN.value})


def _settled_beside(store: Store, dispute: Dispute) -> Dispute:
    """Settle by rule anew what a decision changes for the contradictions beside it, and return it as it is then."""
    for memory in (dispute.first, dispute.second):
        settle_stored(store, cast(Memory, store.records.node(_ref(memory))))
    first, second = (cast(Memory, store.records.node(_ref(memory))) for memory in (dispute.first, dispute.second))
    return replace(dispute, first=first, second=second)


def _check_not_refused(records: Records, case: _Case, outcome: Outcome) -> None:
    """Refuse to let stay what a person decided against elsewhere: it would not be served for all that."""
    for side in _STAYING[outcome]:
        against = decided_against(records, case.sides[side])
        if against is not None:
            rivals = (cast(Memory, node) for node in records.nodes([against.source, against.target]))
            rival = next(memory for memory in rivals if memory.id != case.sides[side].id)
            raise ConflictError(
                f"{case.sides[side].name!r} cannot stay: it was decided against where it contradicts {rival.name!r}",
                hint=f"take that back first: `helix resolve {case.sides[side].id} {rival.id} --reopen`",
            )


_STAYING: Mapping[Outcome, tuple[str, ...]] = {
    Outcome.FIRST: (FIRST,),
    Outcome.SECOND: (SECOND,),
    Outcome.BOTH: (FIRST, SECOND),
    Outcome.NEITHER: (),
}
_DECIDED = frozenset({"outcome", "before", "until", "note", "resolved_at", REWORDED})


def _edited(records: Records, memory: Memory, case: _Case) -> bool:
    """Return whether something other than a memory that it contradicts has taken its place."""
    ref, rivals = _ref(memory), {_ref(case.first), _ref(case.second)}
    rivals |= {end for edge in disputes_of(records, memory) for end in (edge.source, edge.target)}
    edges = (edge_from(op) for op in records.edges_at(ref) if op.type is Relation.SUPERSEDES)
    return any(edge.target == ref and edge.source not in rivals and DRAWN not in edge.attributes for edge in edges)


def _give_back(composer: Composer, case: _Case, outcome: Outcome) -> dict[str, float]:
    """Give what stays its confidence back; return what remains taken."""
    taken = case.taken
    for side in _STAYING[outcome]:
        memory = case.sides[side]
        composer.patch(_ref(memory), confidence=min(1.0, memory.confidence + taken[side]))
        taken[side] = 0.0
    return taken


def _standing(memory: Memory, until: datetime | None) -> dict[str, object]:
    held = {"valid_from": memory.valid_from, "valid_to": until}
    return {name: None if moment is None else moment.isoformat() for name, moment in held.items()}


def _moment(text: object) -> datetime | None:
    return None if text is None else datetime.fromisoformat(str(text))


def _outcome_of(case: _Case, winner: str) -> Outcome:
    word = winner.strip()
    if word.lower() in (Outcome.BOTH, Outcome.NEITHER):
        return Outcome(word.lower())
    for side, memory in case.sides.items():
        if word in (memory.id, memory.name, f"{memory.scope}:{memory.name}"):
            return Outcome(side)
    raise InvalidInputError(
        f"{winner!r} is neither of the two", hint=f"one of: {case.first.name}, {case.second.name}, both, neither"
    )


def _found(index: StoreIndex, a: str, b: str) -> _Case:
    one, other = _ref(standing_memory_of(index, a)), _ref(standing_memory_of(index, b))
    for op in index.records.edges_at(one):
        if op.type is Relation.CONTRADICTS and {op.source, op.target} == {one, other}:
            case = _case(index.records, edge_from(op))
            if case is not None:
                return case
    raise NotFoundError(f"no contradiction of {a!r} and {b!r} is known", hint="`helix contradictions` lists them")


def _case(records: Records, edge: Edge) -> _Case | None:
    first, second = records.present([edge.source, edge.target])
    if not isinstance(first, Memory) or not isinstance(second, Memory):
        return None
    return _Case(edge=edge, first=first, second=second)


def _dispute(case: _Case) -> Dispute:
    said = case.edge.attributes
    return Dispute(
        first=case.first,
        second=case.second,
        status=case.status,
        ground=str(said.get("ground", Ground.VALUE.value)),
        left=str(said.get("left", "")),
        right=str(said.get("right", "")),
        since=case.edge.created_at,
        outcome=_outcome(case.edge),
        resolved_at=_moment(said.get("resolved_at")),
        note=str(said.get("note", "")),
        drawn_by=provenance_word(case.edge.provenance) if said.get(DRAWN) else "",
    )


def _outcome(edge: Edge) -> Outcome | None:
    said = edge.attributes.get("outcome")
    return None if said is None else Outcome(str(said))


def _with(edge: Edge, **attributes: object) -> Edge:
    return replace(edge, attributes={**edge.attributes, **attributes})


def _ref(memory: Memory) -> Ref:
    return memory.ref
