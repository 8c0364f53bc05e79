"""Succession: what one machine did to a memory reaches the version that another one made of it meanwhile.

Where that version says the same words, it is as if they had been confirmed, forgotten or held after it was made. Where
it says others, it stays as it is, and whoever takes it in is told so where the old words were taken out of recall.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from helix.memory.capture.quarantine import restate_evidence
from helix.memory.change.compose import Composer
from helix.memory.change.versions import OWN_WORD
from helix.memory.job_run.run import Run
from helix.model.edge import DRAWN, MERGED, Ref, Relation
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


def _handed_on(composer: Composer, merge: Merge, ref: Ref) -> None:
    (old,) = merge.store.records.present([ref])
    if not isinstance(old, Memory) or is_erased(old) or old.retired_at is None:
        return  # a newer version never took its place, whatever else stands beside it
    for version in _present_versions(merge.store, old):
        if not merge.within.holds(version.id, version.scope):
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


def _present_versions(store: Store, old: Memory) -> Iterator[Memory]:
    """Yield the versions of a memory that are told, and behind which no newer one stands."""
    seen, ahead = {old.ref}, [old.ref]
    while ahead:
        here = ahead.pop()
        edges = map(edge_from, store.records.edges_at(here, Relation.SUPERSEDES))
        newer = {edge.source for edge in edges if edge.target == here and not {DRAWN, MERGED} & edge.attributes.keys()}
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


def _words(memory: Memory) -> tuple[str, str]:
    return memory.trigger, memory.resolution


def _stated(memory: Memory) -> tuple[object, ...]:
    return *_words(memory), memory.kind, memory.scope, memory.valid_from, memory.valid_to
