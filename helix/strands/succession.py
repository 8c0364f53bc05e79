"""Succession: what one machine did to a memory reaches the version that another one made of it meanwhile.

Where that version says the same words, it is as if they had been confirmed, forgotten, held or decided on after it was
made. Where it says others, it stays as it is, and whoever takes it in is told so where the old words were taken out of
recall.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime

from helix.journal.state import Records
from helix.memory.capture.quarantine import restate_evidence
from helix.memory.change.compose import Composer
from helix.memory.change.versions import OWN_WORD, is_succession
from helix.memory.contradiction.resolve import by_person, disputes_of, has_lost, held_without, stays
from helix.memory.job_run.run import Run
from helix.model.dispute import DisputeStatus, dispute_status
from helix.model.edge import MERGED, Edge, Ref, Relation
from helix.model.memory import Memory, Status, unproven_of, with_claimed
from helix.model.provenance import Trust
from helix.model.records import edge_from
from helix.model.tombstone import is_erased
from helix.store.store import Store
from helix.strands.merging import MOST_EXAMPLES, Merge

LEFT_STANDING = "versions left standing"
"""What is counted: versions with other words than the ones that another machine forgot or held."""
_TAKEN_OUT = (Status.FORGOTTEN, Status.QUARANTINED)
_TOLD_OF = (Status.ACTIVE, Status.ARCHIVED)


def hand_on(run: Run, merge: Merge) -> None:
    """Hand on what came in for an old version to the present one; only the person's own machines may do that."""
    if not merge.received.signer.is_own:
        return
    index = merge.store.index
    for ref in dict.fromkeys(merge.memories):
        if index.status_of(ref) in (*_TAKEN_OUT, Status.RETIRED):
            run.write(f"handed on {ref.id}", lambda composer, ref=ref: _handed_on(composer, merge, ref))  # type: ignore[misc]
            run.write(f"decided on {ref.id}", lambda composer, ref=ref: _decided_on(composer, merge, ref))  # type: ignore[misc]


def _handed_on(composer: Composer, merge: Merge, ref: Ref) -> None:
    (old,) = merge.store.records.present([ref])
    if not isinstance(old, Memory) or is_erased(old) or old.retired_at is None:
        return  # a newer version never took its place, whatever else stands beside it
    for version in _present_versions(merge.store, old):
        strangers = old.provenance.is_strangers and not version.provenance.is_strangers
        if strangers or not merge.within.holds(version.id, version.scope):
            continue
        if old.status is Status.RETIRED:
            changed = _vouched(old, version)
        elif _words(old) == _words(version):
            changed = replace(version, status=old.status)
            composer.patch(ref, status=Status.RETIRED)
        else:
            merge.counts[LEFT_STANDING] += 1
            if len(merge.examples) < MOST_EXAMPLES:
                merge.examples.append(f"left standing: {version.name}")
            continue
        if changed != version:
            composer.node(changed)
            restate_evidence(merge.store.index, composer, version, changed)
            merge.counts["memories changed"] += 1
            merge.fresh.append(version.ref)


def _decided_on(composer: Composer, merge: Merge, ref: Ref) -> None:
    """Hand on what a person decided of the contradictions of a memory to those of its version, where that differs."""
    records = merge.store.records
    (old,) = records.present([ref])
    if not isinstance(old, Memory) or is_erased(old) or old.retired_at is None:
        return
    for edge in filter(by_person, disputes_of(records, old)):
        (other,) = records.present([edge.target if edge.source == ref else edge.source])
        for version in _alike(merge, old):
            for rival in (_alike(merge, other) or [other]) if isinstance(other, Memory) else ():
                sides = (version, rival) if edge.source == ref else (rival, version)
                if _decided(composer, records, edge, sides, old.retired_at):
                    merge.fresh += [memory.ref for memory in sides]


def _decided(
    composer: Composer, records: Records, told: Edge, sides: tuple[Memory, Memory], replaced_at: datetime
) -> bool:
    """Decide a contradiction as that of an old version was; return False where a person decided it, or opened it since.

    Each machine comes to the same, whichever does it.
    """
    first, second = (memory.ref for memory in sides)
    edge = replace(told, source=first, target=second)
    held = next((one for one in disputes_of(records, sides[0]) if {one.source, one.target} == {first, second}), None)
    at, status = datetime.fromisoformat(str(told.attributes["resolved_at"])), held and dispute_status(held.attributes)
    if status is DisputeStatus.RESOLVED or (status is DisputeStatus.OPEN and at <= replaced_at):
        return False
    if held is not None:
        composer.drop_edge(Relation.CONTRADICTS, held.source, held.target)
        for source, target in ((first, second), (second, first)):
            composer.drop_edge(Relation.SUPERSEDES, source, target)
    composer.put_edge(edge)
    for memory in sides:
        if memory.ref not in (told.source, told.target):
            composer.patch(memory.ref, **_standing(edge, memory, held_without(records, memory, held or edge), at))
    return True


def _standing(edge: Edge, memory: Memory, until: datetime | None, at: datetime) -> dict[str, object]:
    """Return what a decision of then makes of a memory that holds until some time without it."""
    if stays(edge, memory):
        return {"valid_to": until}
    end = datetime.fromisoformat(str(edge.attributes["until"])) if has_lost(edge, memory) else at
    gone = {} if has_lost(edge, memory) else {"status": Status.RETIRED, "retired_at": at}
    return {"valid_to": end if until is None else min(end, until), **gone}


def _present_versions(store: Store, old: Memory) -> Iterator[Memory]:
    """Yield the versions of a memory that are told, and behind which no newer one stands.

    What a stranger calls a version of somebody's words is none.
    """
    seen, ahead = {old.ref}, [old.ref]
    while ahead:
        here = ahead.pop()
        edges = map(edge_from, store.records.edges_at(here, Relation.SUPERSEDES))
        later = (
            edge
            for edge in edges
            if is_succession(edge)
            and MERGED not in edge.attributes
            and edge.provenance.is_strangers <= old.provenance.is_strangers
        )
        newer = {edge.source for edge in later if edge.target == here}
        for one in store.records.present(sorted(newer - seen, key=str)):
            if isinstance(one, Memory) and one.status in _TOLD_OF:
                yield one
            elif isinstance(one, Memory) and one.status is Status.RETIRED:
                ahead.append(one.ref)
        seen |= newer


def _is_vouched(memory: Memory) -> bool:
    return OWN_WORD in memory.attributes and memory.provenance.trust is Trust.USER_ASSERTED


def _vouched(old: Memory, version: Memory) -> Memory:
    """Return a version as confirmed where it differs from the confirmed one by no more than its name and its weight."""
    if not _is_vouched(old) or _is_vouched(version) or _stated(old) != _stated(version):
        return version
    return replace(
        version,
        confidence=max(old.confidence, version.confidence),
        provenance=replace(version.provenance, trust=Trust.USER_ASSERTED),
        attributes={**with_claimed(version.attributes, unproven_of(version)), OWN_WORD: True},
    )


def _alike(merge: Merge, old: Memory) -> list[Memory]:
    """Return the present versions of a memory that say the same, and that the merge may change."""
    found = _present_versions(merge.store, old) if old.status is Status.RETIRED else ()
    return [one for one in found if _words(one) == _words(old) and merge.within.holds(one.id, one.scope)]


def _words(memory: Memory) -> tuple[str, str]:
    return memory.trigger, memory.resolution


def _stated(memory: Memory) -> tuple[object, ...]:
    return *_words(memory), memory.kind, memory.scope, memory.valid_from, memory.valid_to
