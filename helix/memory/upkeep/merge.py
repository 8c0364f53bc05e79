"""Merging: near-identical memories of a kind become one, which takes over what the other earned; all reversibly."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, cast

from helix.errors import ConflictError, InvalidInputError
from helix.journal.state import Records
from helix.memory.change.compose import Composer
from helix.memory.change.find import standing_memory_of
from helix.memory.change.intake import OWN_ATTRIBUTE
from helix.memory.change.versions import take_back_retirement
from helix.memory.contradiction.classify import agrees, other_commands, thresholds_of
from helix.memory.contradiction.detect import Statement, contradiction
from helix.memory.contradiction.validity import recompute_validity
from helix.memory.job_run.run import Run
from helix.model.clock import to_micros
from helix.model.edge import MERGED, OPEN_RELATIONS, Edge, Label, Ref, Relation
from helix.model.memory import Memory, Status, agents_said, claimed_of, unproven_of, with_claimed
from helix.model.operations import DropEdge
from helix.model.provenance import QUOTED, Provenance, provenance_word
from helix.model.records import edge_from, flatten
from helix.recall.similar import nearest
from helix.store.index import StoreIndex
from helix.store.store import Store
from helix.store.writer import Decision
from helix.text.cleaning import slug
from helix.text.statement.subsumption import adds
from helix.text.statement.wording import adds_code

_NEAREST = 20
_CARRIED = frozenset(OPEN_RELATIONS) - {Relation.SUPERSEDES} | {
    Relation.GROUNDED_IN,
    Relation.LEARNED,
    Relation.MENTIONS,
    Relation.TOUCHES,
}
"""Edges that say what is known. What was shown to a task stays with the memory that was shown: a task that gives its
outcome to both would give it twice."""
_DECIDED = "decided"
_APART = f"{OWN_ATTRIBUTE}apart"
"""Attribute of a memory that a person took out of another again: the ids it is never folded into again."""
_SEEN = f"{OWN_ATTRIBUTE}seen"
_ADDED, _SAID = ("helped", "failed", "uses"), ("helped", "failed")
_TOLD = ("name", "valid_from", "valid_to")
_BEST = ("confidence", "importance", "easiness", "half_life_days")


def merge_similar(run: Run, payload: Mapping[str, Any]) -> Mapping[str, int]:
    """Fold near-identical memories of a kind and scope into one, as a job that can be undone.

    Payload {"threshold": a cosine, by default that of the same thing, "scope": a scope, or None for all}. Texts that
    differ in a number, a negation, a name or an exchanged word are never folded, nor is what adds a clause, nor are
    memories that hold at other times or belong to other commands. The better founded one stays, then the one with more
    use, then the older. Running it again changes nothing.
    """
    threshold = payload.get("threshold") or thresholds_of(run.store.runtime).duplicate
    if not 0.0 < threshold <= 1.0:
        raise InvalidInputError(f"threshold must be above 0 and at most 1, not {threshold!r}")
    ranked = _ranked(run.store.index, payload.get("scope"))
    gone: set[str] = set()
    for done, winner in enumerate(ranked):
        if run.cancelled:
            break
        run.progress(done, len(ranked), "memories compared")
        if winner.id in gone:
            continue
        for loser in _alike(run.store, winner, threshold):
            if loser.id in gone or rank(loser) < rank(winner):
                continue
            if _merge(run, winner.id, loser.id):
                gone.add(loser.id)
                run.count("memories merged")
                run.say(f"merge: {loser.name} into {winner.name}")
    return dict(run.counts)


def unmerge(store: Store, name_or_id: str) -> Memory:
    """Take a memory out of the one it was folded into: both are as if they had never met, and are not folded again.

    What the two have earned together since stays with the one that stayed. Raises ConflictError for a memory that was
    not folded into another.
    """

    def decision() -> Decision[Memory]:
        composer = Composer(store, store.runtime.clock())
        loser = standing_memory_of(store.index, name_or_id)
        edge = _merging(store.records, loser)
        if edge is None or loser.status is not Status.RETIRED:
            raise ConflictError(f"{loser.name!r} ({loser.id}) is folded into no other memory")
        if not isinstance(edge.attributes[MERGED], Mapping):  # others do not say what one of theirs took over
            raise ConflictError(f"{loser.name!r} ({loser.id}) was folded elsewhere, and how is not known here")
        _take_out(composer, store.records, edge)
        attributes = {**loser.attributes, _APART: [*apart_from(loser), edge.source.id]}
        back = take_back_retirement(composer, store.index, replace(loser, attributes=attributes))
        composer.drop_edge(Relation.SUPERSEDES, edge.source, edge.target)
        recompute_validity(composer, store)
        return Decision((composer.change("unmerge", memory=loser.id),), back)

    return store.writer.submit(decision)


def apart_from(memory: Memory) -> Sequence[str]:
    """Return the ids of the memories that a person keeps from being merged with this one, by what it says itself."""
    return cast(Sequence[str], memory.attributes.get(_APART, ()))


def kept_apart(records: Records) -> list[Memory]:
    """Return the memories that a person keeps from being merged with others, by what they say themselves."""
    held = (cast(Memory, node) for node in records.nodes_with(Label.MEMORY, _APART))
    return [memory for memory in held if apart_from(memory)]


def set_apart(composer: Composer, one: Memory, other: Memory, *, apart: bool = True) -> None:
    """Keep two like memories from being merged by upkeep, or (not `apart`) no longer, as a part of a change."""
    for memory, rival in ((one, other), (other, one)):
        kept = [ident for ident in apart_from(memory) if ident != rival.id]
        others = {name: value for name, value in memory.attributes.items() if name != _APART}
        kept += [rival.id] if apart and memory is one else []
        composer.patch(memory.ref, attributes={**others, _APART: kept} if kept else others)


def _merge(run: Run, winner_id: str, loser_id: str) -> bool:
    def compose(composer: Composer) -> bool:
        winner, loser = (standing_memory_of(run.store.index, found) for found in (winner_id, loser_id))
        if winner.status is not Status.ACTIVE or loser.status is not Status.ACTIVE or not _one(winner, loser):
            return False
        fold(composer, run.store.records, winner, loser)
        return True

    return bool(run.write(f"merge {loser_id} into {winner_id}", compose))


def is_decided(records: Records, memory: Memory) -> bool:
    """Return whether a person merged something into a memory."""
    edges = (edge_from(op) for op in records.edges_at(memory.ref, Relation.SUPERSEDES) if op.source == memory.ref)
    merged = (edge.attributes.get(MERGED) for edge in edges)
    return any(isinstance(one, Mapping) and one.get(_DECIDED) is True for one in merged)


def fold(composer: Composer, records: Records, winner: Memory, loser: Memory, *, decided: bool = False) -> None:
    """Merge one duplicate into another memory, which takes over what it earned, as a part of somebody's change.

    `decided`: a person has the one stand for the other.

    What agents said of the duplicate without a task stays with it: they may say so much of each memory, and make any
    number of copies.
    """
    spoken = dict(zip(_SAID, agents_said(loser), strict=True))
    added = {name: max(0, round(getattr(loser, name) - spoken.get(name, 0), 9)) for name in _ADDED}
    claimed = max(0.0, unproven_of(loser) - spoken["helped"])
    here, there = winner.ref, loser.ref
    carried = list(_carried(records, winner, there))
    for edge in carried:
        composer.put_edge(edge)
    after = {
        **{name: getattr(winner, name) + amount for name, amount in added.items()},
        **{name: _best(name, winner, loser) for name in _BEST},
        **_told(winner, loser),
        "last_used_at": max((m.last_used_at for m in (winner, loser) if m.last_used_at), default=None),
        "attributes": {
            **with_claimed(winner.attributes, claimed_of(winner) + claimed),
            _SEEN: _seen(winner) + _seen(loser),
        },
    }
    composer.patch(here, **after)
    composer.patch(there, status=Status.RETIRED, retired_at=composer.now)
    kept = {name: [flatten(getattr(winner, name)), flatten(after[name])] for name in (*_BEST, *_TOLD, "last_used_at")}
    composer.put_edge(
        Edge(
            type=Relation.SUPERSEDES,
            source=here,
            target=there,
            created_at=composer.now,
            attributes={
                MERGED: {
                    "added": added,
                    "seen": _seen(loser),
                    "claimed": claimed,
                    "kept": kept,
                    "edges": [[e.type.value, *_end(e.source), *_end(e.target)] for e in carried],
                    **({_DECIDED: True} if decided else {}),
                }
            },
            provenance=winner.provenance,
        )
    )


def _take_out(composer: Composer, records: Records, edge: Edge) -> None:
    """Take back from the memory that stayed what it took over, as far as nothing has changed it since."""
    merged = cast(Mapping[str, Any], edge.attributes[MERGED])
    winner = cast(Memory, records.node(edge.source))
    fields: dict[str, object] = {
        name: max(0, getattr(winner, name) - amount) for name, amount in merged["added"].items()
    }
    for name, (before, after) in merged["kept"].items():
        if flatten(getattr(winner, name)) == after:
            fields[name] = before
    kept = with_claimed(winner.attributes, claimed_of(winner) - merged.get("claimed", 0.0))
    fields["attributes"] = {**kept, _SEEN: max(1, _seen(winner) - int(merged["seen"]))}
    composer.patch(edge.source, **fields)
    for kind, source_label, source, target_label, target in merged["edges"]:
        ends = Ref.of(source_label, source), Ref.of(target_label, target)
        composer.drop_edge(Relation(kind), *ends)


def _carried(records: Records, winner: Memory, loser: Ref) -> Iterator[Edge]:
    """Yield the loser's edges as the winner's, without those that the winner has already or that join the two.

    What contradicts the winner, and what the winner is about, is not for a weaker voice of elsewhere to say: the one is
    found anew, the other its own words tell. Evidence is evidence whoever said it.
    """
    here = winner.ref
    taken = []
    for op in records.edges_at(loser):
        if op.type in _CARRIED and here not in (op.source, op.target):
            source, target = (here if end == loser else end for end in (op.source, op.target))
            taken.append(replace(edge_from(op), source=source, target=target))
    present = records.edges([DropEdge(type=edge.type, source=edge.source, target=edge.target) for edge in taken])
    for edge, held in zip(taken, present, strict=True):
        says = (edge.type is not Relation.GROUNDED_IN and here == edge.source) or edge.type is Relation.CONTRADICTS
        if held is None and not (says and _from_elsewhere(edge.provenance, winner)):
            yield edge


def _from_elsewhere(provenance: Provenance, winner: Memory) -> bool:
    """Return whether a stranger says something, and not the memory that stays, or nobody here stands for it and it is
    believed less.
    """
    if provenance.is_strangers > winner.provenance.is_strangers:
        return True
    weaker = provenance.trust.rank > winner.provenance.trust.rank
    return weaker and (provenance.is_strangers or provenance_word(provenance) in QUOTED)


def _merging(records: Records, loser: Memory) -> Edge | None:
    ref = loser.ref
    found = [
        edge
        for op in records.edges_at(ref)
        if op.type is Relation.SUPERSEDES and op.target == ref and MERGED in (edge := edge_from(op)).attributes
    ]
    return max(found, key=lambda edge: (edge.created_at, edge.source.id), default=None)


def _ranked(index: StoreIndex, scope: str | None) -> list[Memory]:
    return sorted(index.memories(Status.ACTIVE, scope), key=rank)


def rank(memory: Memory) -> tuple[bool, int, float, int, datetime, str]:
    """Return the rank of a memory among those to merge, by how well it may stand for another: the lowest best.

    What came from a stranger is the last, however it is believed: they may say it anew, and would change or end what is
    one's own.
    """
    told = memory.provenance
    return (told.is_strangers, told.trust.rank, -memory.helped, -memory.uses, memory.recorded_at, memory.id)


def _alike(store: Store, memory: Memory, threshold: float) -> list[Memory]:
    index = store.index
    own = index.vectors_of(memory.ref)
    if len(own) != 1:
        return []  # a long text is known by the vectors of its pieces: one alike piece does not make it the same
    rows = index.where(Label.MEMORY, scope=memory.scope, statuses=[Status.ACTIVE], kinds=[memory.kind])
    rows &= index.holding(to_micros(store.runtime.clock()))
    near = nearest(index, own[0], rows.without(index.row_of(memory.ref)), threshold=threshold, limit=_NEAREST)
    return [other for other, _ in near if _one(memory, other)]


def _one(memory: Memory, other: Memory) -> bool:
    """Return whether a memory may stand for a near one: it says all of it, they hold alike, and met no veto."""
    one, two = (Statement(trigger=held.trigger, resolution=held.resolution) for held in (memory, other))
    return (
        (memory.valid_from, memory.valid_to) == (other.valid_from, other.valid_to)
        and not other_commands(memory, other)
        and agrees(one.text, two.text)
        and not adds(one.text, two.text)
        and not adds_code(one.text, two.text)
        and contradiction(one, two) is None
        and other.id not in apart_from(memory)
        and memory.id not in apart_from(other)
    )


def _best(name: str, winner: Memory, loser: Memory) -> float:
    ours, theirs = float(getattr(winner, name)), float(getattr(loser, name))
    if name == "confidence" and loser.provenance.trust.rank > winner.provenance.trust.rank:
        return ours  # a weaker voice makes nothing surer
    if _from_elsewhere(loser.provenance, winner):
        return ours  # and one of elsewhere nothing weightier: it may say of itself what it likes
    return max(ours, theirs)


def _told(winner: Memory, loser: Memory) -> dict[str, object]:
    """Return name and times of what stays: what somebody said of the duplicate, where nobody did of it.

    A weaker voice says nothing of a better founded memory.
    """
    if loser.provenance.trust.rank > winner.provenance.trust.rank or _from_elsewhere(loser.provenance, winner):
        return {name: getattr(winner, name) for name in _TOLD}
    return {
        "name": loser.name if _is_given(loser) and not _is_given(winner) else winner.name,
        "valid_from": winner.valid_from or loser.valid_from,
        "valid_to": winner.valid_to or loser.valid_to,
    }


def _is_given(memory: Memory) -> bool:
    """Return whether somebody named a memory, as its name is not made of its trigger."""
    return not f"{memory.name}-".startswith(f"{slug(memory.trigger)}-")


def _seen(memory: Memory) -> int:
    seen = memory.attributes.get(_SEEN, 1)
    return seen if isinstance(seen, int) else 1


def _end(ref: Ref) -> tuple[str, str]:
    return ref.label.value, ref.id
