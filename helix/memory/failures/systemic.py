"""Systemic failures: the third similar failure within a week becomes a memory of its own, which counts what follows."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, cast

from helix.memory.capture.quarantine import screen
from helix.memory.change.compose import Composer, Prepared, ReadText, prepare
from helix.memory.change.intake import OWN_ATTRIBUTE
from helix.memory.contradiction.classify import thresholds_of
from helix.memory.failures.occurrences import Failure, failure_of, failures_behind, marks_of
from helix.memory.job_run.run import Run
from helix.memory.scores import half_life_of, importance_of
from helix.model.clock import to_micros
from helix.model.edge import Label, Ref, Relation
from helix.model.entity import Mention
from helix.model.memory import Kind, Memory, Status
from helix.model.provenance import TOLD_BY_OTHERS, Provenance, Trust, weakest_trust
from helix.recall.similar import nearest
from helix.store.index import StoreIndex
from helix.store.store import Store
from helix.store.writer import Decision
from helix.text.cleaning import slug

TIMES = 3
"""How often a failure occurs before it is systemic."""
WINDOW = timedelta(days=7)
"""Within which it has to occur so often."""
OCCURRENCES = f"{OWN_ATTRIBUTE}occurrences"
"""Attribute of a systemic memory: how often its failures have occurred by now."""
NOTE = "This has occurred three times or more: ask for an architectural change instead of one more fix."
EXTRACTOR = "systemic"
_STANDING = (Status.ACTIVE, Status.ARCHIVED)
_MOST_MEMBERS = 50
_MOST_KNOWN = 10
"""Most systemic memories of like failures of which one is chosen; seldom are there two."""
_MOST_TEXT = 2_000
UNSOLVED = "Not solved"
"""How the resolution of a failure begins that nothing has mended yet: what was tried is no fix."""
_FIXED_BY = re.compile(r"^(?:fix(?:ed)?|solved|resolved)(?: it| this| that)?(?: by|:) +(?=\S)", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Finding:
    """Similar failures that make or belong to a systemic one: `known` where there is one already.

    `trust` is the weakest class of what it needs: of the failures, whose words it has, and of so many times.
    """

    members: tuple[Failure, ...]
    known: Memory | None
    trust: Trust

    @property
    def occurrences(self) -> int:
        return _times(self.members)


@dataclass(frozen=True, slots=True)
class _Promoted:
    """A systemic memory, and whether it was made just now or counted on."""

    memory: Memory
    made: bool


_Compose = Callable[[Composer], _Promoted | None]


def notice(store: Store, failure_id: str) -> Memory | None:
    """Promote or count a failure that recurs, as upkeep does once it was stored.

    Return its systemic failure, or None.
    """
    found = _promote(store, failure_id, lambda compose: store.writer.submit(lambda: _decision(store, compose)))
    return None if found is None else found.memory


def promote_systemic(run: Run, payload: Mapping[str, Any]) -> Mapping[str, int]:
    """Promote a scope's recurring failures to systemic ones, as a job; payload {"scope": one, or None for all}.

    It looks at what was recorded within the last week, whenever that happened; what is older was looked at when it was
    new. Running it again changes nothing.
    """
    failures = _failures(run.store.index, payload.get("scope"), run.now)
    for done, memory in enumerate(failures):
        if run.cancelled:
            break
        run.progress(done, len(failures), "similar failures")

        def write(compose: _Compose, step: str = f"systemic {memory.id}") -> _Promoted | None:
            return run.write(step, compose)

        found = _promote(run.store, memory.id, write)
        if found is not None and found.made:
            run.count("systemic failures")
            run.say(f"systemic: {found.memory.name}")
    return dict(run.counts)


def _decision(store: Store, compose: _Compose) -> Decision[_Promoted | None]:
    composer = Composer(store, store.runtime.clock())
    systemic = compose(composer)
    change = composer.change("systemic")
    return Decision((change,) if change.operations else (), systemic)


def _promote(store: Store, failure_id: str, write: Callable[[_Compose], _Promoted | None]) -> _Promoted | None:
    """Find, make the text ready outside the writer, and look again on its thread before anything is written."""
    found = _find(store, failure_id)
    if found is None:
        return None
    text = _body(found)
    prepared = prepare(store, [ReadText.of(text)])[0] if found.known is None else None

    def compose(composer: Composer) -> _Promoted | None:
        present = _find(store, failure_id)
        if present is None:
            return None
        if present.known is not None:
            return _Promoted(_count(composer, store.index, present, present.known), made=False)
        if prepared is None or _body(present) != text:
            return None  # others came in meanwhile: they were noticed themselves
        return _Promoted(_add(composer, present, prepared), made=True)

    return write(compose)


def _find(store: Store, failure_id: str) -> _Finding | None:
    index = store.index
    failure = index.memory_by_id(failure_id)
    if failure is None or not index.whole:
        return None
    newest = failure_of(index, failure)
    if not _counts(newest.memory) or not newest.occurred:
        return None
    bar = thresholds_of(store.runtime).similar
    alike = [newest, *(failure_of(index, memory) for memory in _similar(index, newest.memory, bar))]
    found = [one for group in _groups(alike) if (one := _finding(index, newest, group)) is not None]
    best = max(found, key=lambda one: (one.known is not None, one.occurrences), default=None)
    return None if best is None or (best.known is not None and best.known.status not in _STANDING) else best


def _groups(alike: Sequence[Failure]) -> list[list[Failure]]:
    """Return which of failures of like words are one failure with the first: for each mark of it those that share it.

    One without marks may be any of them, so it belongs to each group. Where the first has none, any mark makes one.
    """
    newest = alike[0]
    marks = newest.marks or frozenset[Mention]().union(*(one.marks for one in alike))
    groups = [[one for one in alike if not one.marks or mark in one.marks] for mark in sorted(marks, key=str)]
    return groups or [list(alike)]


def _finding(index: StoreIndex, newest: Failure, alike: Sequence[Failure]) -> _Finding | None:
    """Return what a group of alike failures comes to: the systemic one it belongs to, or is by now; else None."""
    known = _known(index, alike)
    end = newest.occurred[-1].at
    members = [
        member
        for member in alike
        if member is newest
        or (known is not None and known.ref in member.causes)
        or any(_within(one.at, end) for one in member.occurred)
    ]
    lately: dict[str, Trust] = {}
    for one in (one for member in members for one in member.occurred if _within(one.at, end)):
        lately[one.effort] = min(one.trust, lately.get(one.effort, one.trust), key=_rank)
    times = sorted(lately.values(), key=_rank)[:TIMES]
    if known is None and len(times) < TIMES:
        return None
    trust = weakest_trust(*(member.memory.provenance.trust for member in members), *times)
    return _Finding(members=tuple(sorted(members, key=_earliest)), known=known, trust=trust)


def _rank(trust: Trust) -> int:
    return trust.rank


def _within(at: datetime, end: datetime) -> bool:
    """Whether something was in the window that ends then, which may begin before all dates."""
    return timedelta() <= end - at <= WINDOW


def _times(failures: Iterable[Failure]) -> int:
    return len({one.effort for failure in failures for one in failure.occurred})


def _known(index: StoreIndex, alike: Sequence[Failure]) -> Memory | None:
    """Return the systemic memory that one of the failures belongs to, whatever became of it.

    One that counts failures of other marks too is another's. Of several it is one that stands, then one that counts
    the first of the failures, then the oldest: who asks again is given the same.
    """
    refs = frozenset[Ref]().union(*(member.causes for member in alike))
    shared = frozenset.intersection(*marks) if (marks := [one.marks for one in alike if one.marks]) else frozenset()
    own = {ref.id for ref in alike[0].causes}
    held = sorted(
        cast(list[Memory], index.records.nodes(list(refs))),
        key=lambda one: (one.status not in _STANDING, one.id not in own, one.id),
    )
    bears: dict[Ref, bool] = {}
    return next((one for one in held[:_MOST_KNOWN] if _all_marked(index, one, shared, bears)), None)


def _all_marked(index: StoreIndex, systemic: Memory, shared: frozenset[Mention], bears: dict[Ref, bool]) -> bool:
    """Return whether each failure that a systemic memory counts bears one of the marks, or none at all.

    `bears` keeps what was found out of each: many systemic memories may count the same ones.
    """
    for one in failures_behind(index, systemic):
        if one.ref not in bears:
            marks = marks_of(one)
            bears[one.ref] = not marks or not marks.isdisjoint(shared)
        if not bears[one.ref]:
            return False
    return True


def _similar(index: StoreIndex, failure: Memory, bar: float) -> list[Memory]:
    own = index.vectors_of(failure.ref)
    if not own:
        return []
    statuses = [Status.ACTIVE, Status.ARCHIVED]
    rows = index.where(Label.MEMORY, scope=failure.scope, statuses=statuses, kinds=[Kind.FAILURE])
    others = rows.without(index.row_of(failure.ref))
    near = nearest(index, own[0], others, threshold=bar, limit=_MOST_MEMBERS)
    return [memory for memory, _ in near if _counts(memory)]


def _counts(memory: Memory) -> bool:
    """Return whether a failure is one of ours: what the web, a history or notes say failed did not fail here."""
    others = memory.provenance.extractor in TOLD_BY_OTHERS or memory.provenance.trust is Trust.WEB
    return memory.kind is Kind.FAILURE and not others


def _failures(index: StoreIndex, scope: str | None, now: datetime) -> list[Memory]:
    """Return the active failures of a scope (None: of all) recorded within the last week, the earliest first."""
    rows = index.where(Label.MEMORY, scope=scope, statuses=[Status.ACTIVE], kinds=[Kind.FAILURE])
    recent = rows & index.recorded_since(to_micros(now - WINDOW))
    return sorted(map(index.memory, recent), key=lambda memory: (memory.recorded_at, memory.id))


def _earliest(failure: Failure) -> tuple[datetime, str]:
    return (failure.occurred[0].at if failure.occurred else failure.memory.recorded_at, failure.memory.id)


def _body(found: _Finding) -> str:
    trigger, resolution = _summary_of(found)
    return f"{trigger}\n{resolution}"


def _summary_of(found: _Finding) -> tuple[str, str]:
    told_of = (_FIXED_BY.sub("", member.memory.resolution) for member in found.members)
    fixes = dict.fromkeys(fix for fix in told_of if fix and not fix.startswith(UNSOLVED))
    told = f"{NOTE}\nFixed so far by: {'; '.join(fixes)}" if fixes else NOTE
    return found.members[0].memory.trigger, told[:_MOST_TEXT]


def _add(composer: Composer, found: _Finding, prepared: Prepared) -> Memory:
    trigger, resolution = _summary_of(found)
    members = [member.memory for member in found.members]
    scope = members[0].scope
    provenance = Provenance(extractor=EXTRACTOR, trust=found.trust)
    systemic = Memory(
        id=composer.new_id(),
        name=composer.name(scope, f"systemic-{slug(trigger)}"),
        kind=Kind.SYSTEMIC,
        trigger=trigger,
        resolution=resolution,
        recorded_at=composer.now,
        scope=scope,
        status=screen(provenance.trust, trigger, resolution).status,
        confidence=max(memory.confidence for memory in members),
        importance=max(importance_of(f"{trigger}\n{resolution}", prepared.mentions, Kind.SYSTEMIC), *_weights(members)),
        half_life_days=half_life_of(Kind.SYSTEMIC),
        attributes={OCCURRENCES: found.occurrences},
        provenance=provenance,
    )
    ref = composer.node(systemic)
    composer.passages(ref, prepared)
    composer.mentions(ref, scope, prepared.mentions, provenance)
    _link(composer, found, ref, provenance)
    return systemic


def _count(composer: Composer, index: StoreIndex, found: _Finding, known: Memory) -> Memory:
    """Link what is new to a systemic memory, once each, and count how often its failures have occurred.

    A version that another has taken the place of no longer counts.
    """
    ref, behind = known.ref, failures_behind(index, known)
    counted = (failure_of(index, memory) for memory in behind if memory.status in _STANDING)
    times = _times((*found.members, *counted))
    fresh = replace(found, members=tuple(member for member in found.members if ref not in member.causes))
    stale = [memory.ref for memory in behind if memory.status is Status.RETIRED]
    if fresh.members or stale or known.attributes.get(OCCURRENCES) != times:
        _link(composer, fresh, ref, known.provenance)
        for version in stale:
            composer.drop_edge(Relation.CAUSES, version, ref)
        attributes = {**known.attributes, OCCURRENCES: times}
        composer.patch(ref, attributes=attributes)
    return known


def _link(composer: Composer, found: _Finding, systemic: Ref, provenance: Provenance) -> None:
    for member in found.members:
        trust = weakest_trust(provenance.trust, member.memory.provenance.trust)
        drawn = replace(provenance, trust=trust)
        composer.edge(Relation.CAUSES, member.memory.ref, systemic, provenance=drawn)
        for episode in member.episodes:
            composer.edge(Relation.GROUNDED_IN, systemic, episode, provenance=drawn)


def _weights(members: Sequence[Memory]) -> tuple[float, ...]:
    return tuple(memory.importance for memory in members)
