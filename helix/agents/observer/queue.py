"""Queue: what agents' work gives to learn is shown, stored as far as it is sure, or queued.

What is queued waits here until a person or an orchestrator accepts or rejects it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Annotated, cast

from helix.agents.observer.candidates import (
    Stored,
    become_memory,
    cleaned,
    find_candidate,
    proposable,
    put_candidate,
    settle_candidate,
    store_candidates,
)
from helix.agents.observer.observe import Origin
from helix.agents.tasks.exclusion import Exclusion, exclusion_of
from helix.errors import ConflictError, NotFoundError
from helix.memory.capture.sessions import is_private
from helix.memory.change.compose import Composer
from helix.model.candidate import Accepted, Candidate, CandidateStatus, Certainty, Observed
from helix.model.clock import to_micros
from helix.model.memory import GLOBAL_SCOPE
from helix.model.paging import Key, page_of
from helix.model.reports import Page
from helix.store.index import StoreIndex
from helix.store.store import Store
from helix.store.writer import Decision

LONGEST = 200
"""How many candidates wait at most; with one more the least sure of them gives way, of equals the oldest."""
DECIDED_BY = "decided_by"
"""Attribute of a candidate: who accepted or rejected it."""
MET_IN = "met_in"
"""Attribute of a candidate: the tasks that it was proposed in, where there are several; the latest of them."""
_MOST_MET = 20
_A_PERSON = "a person"
_WANT_OF_ROOM = "want of room"


def fit_to_keep(candidates: Sequence[Candidate], exclusion: Exclusion) -> list[Candidate]:
    """Return the observer's candidates that name no file of a project's `.helixignore`, nor are about its command."""
    told = ({"trigger": one.trigger, "resolution": one.resolution, **one.attributes} for one in candidates)
    return [one for one, table in zip(candidates, told, strict=True) if not exclusion.of(table)]


def enqueue(store: Store, candidates: Sequence[Candidate]) -> list[Candidate]:
    """Put candidates into the observer's learning queue, redacted and screened; return those that are new in it.

    The same words are ingested once, whatever became of them: what was rejected does not come again. What is met again
    while it waits is as sure as it ever was, and says in which
    tasks. Nothing is kept of a private session, nor of what says what was erased.
    """
    found: dict[str, Candidate] = {}
    for given in candidates:
        if is_private(store.journal, given.session):
            continue
        one = cleaned(store, given)
        if one.trigger and (one.id not in found or one.confidence.rank < found[one.id].confidence.rank):
            found[one.id] = one
    found = {one.id: one for one in proposable(store, list(found.values()))}
    if not found:
        return []

    def decision() -> Decision[list[Candidate]]:
        composer = Composer(store, store.runtime.clock())
        here = {one.id: one for one in reversed(_waiting(store.index, None))}
        added: list[Candidate] = []
        for one in found.values():
            known = here.get(one.id) or find_candidate(store.index, one.id)
            if known is None or known.attributes.get(DECIDED_BY) == _WANT_OF_ROOM:
                one = replace(one, recorded_at=composer.now)
                put_candidate(store.index, composer, one)
                here[one.id] = one
                added.append(one)
            elif known.status is CandidateStatus.WAITING and (again := _met_again(known, one)) != known:
                here[one.id] = again
                composer.node(again)
        given_up = {one.id for one in _too_many(list(here.values()))}
        for ident in sorted(given_up):
            composer.node(
                replace(
                    here[ident],
                    status=CandidateStatus.REJECTED,
                    decided_at=composer.now,
                    attributes={**here[ident].attributes, DECIDED_BY: _WANT_OF_ROOM},
                )
            )
        change = composer.change("enqueue")
        waiting = [one for one in added if one.id not in given_up]
        return Decision((change,) if change.operations else (), waiting)

    return store.writer.submit(decision)


def waiting(index: StoreIndex, scope: str | None = None, first: int = 50, after: str | None = None) -> Page[Candidate]:
    """Return a page of the candidates in the observer's learning queue of exactly this scope (None: of any).

    The surest come first, of equals the newest.
    """
    return page_of(_waiting(index, scope), _place, first=first, after=after)


def count_waiting(index: StoreIndex, scope: str | None = None) -> int:
    """Return how many candidates of exactly this scope (None: of any) wait in the observer's learning queue."""
    return len(_waiting(index, scope))


def accept(store: Store, ident: str, by: str = "") -> Accepted:
    """Make a memory of a candidate in the observer's learning queue: trusted as its source, and learned in its task.

    That a person accepted it says that it is worth keeping, not that it is true: `confirm` says that. What reads like
    an instruction to an agent is quarantined as it is everywhere. Raises NotFoundError, or ConflictError where it does
    not wait any more.
    """
    candidate = _one(store.index, ident)
    result = become_memory(store, candidate)
    settled = settle_candidate(
        store, candidate, CandidateStatus.ACCEPTED, memory=result.id, why={DECIDED_BY: by or _A_PERSON}
    )
    return Accepted(candidate=settled, result=result)


def reject(store: Store, ident: str, by: str = "") -> Candidate:
    """Reject a candidate in the observer's learning queue, also when proposed again. Raises as `accept` does."""
    return settle_candidate(
        store, _one(store.index, ident), CandidateStatus.REJECTED, why={DECIDED_BY: by or _A_PERSON}
    )


def reopen(store: Store, ident: str) -> Candidate:
    """Put a rejected candidate back into the observer's queue. Raises NotFoundError, or ConflictError for no such."""

    def decision() -> Decision[Candidate]:
        candidate = _known(store.index, ident)
        if candidate.status is not CandidateStatus.REJECTED:
            raise ConflictError(f"the candidate {candidate.id} is not rejected: it is {candidate.status}")
        attributes = {name: value for name, value in candidate.attributes.items() if name != DECIDED_BY}
        back = replace(candidate, status=CandidateStatus.WAITING, decided_at=None, attributes=attributes)
        composer = Composer(store, store.runtime.clock())
        composer.node(back)
        return Decision((composer.change("candidate", status=back.status.value),), back)

    return store.writer.submit(decision)


def _met_again(known: Candidate, one: Candidate) -> Candidate:
    """Return a candidate that waits as it is when it is proposed again: as sure as ever, and in which tasks."""
    surer = one if one.confidence.rank < known.confidence.rank else known
    before = [str(task) for task in cast(Sequence[object], known.attributes.get(MET_IN, [known.task]))]
    tasks = [task for task in dict.fromkeys((*before, one.task)) if task][-_MOST_MET:]
    attributes = {**known.attributes, MET_IN: tasks} if len(tasks) > 1 else known.attributes
    return replace(known, confidence=surer.confidence, attributes=attributes)


def _known(index: StoreIndex, ident: str) -> Candidate:
    candidate = find_candidate(index, ident.strip())
    if candidate is None:
        raise NotFoundError(f"no candidate has the id {ident!r}", hint="`helix queue list` shows those that wait")
    return candidate


def _one(index: StoreIndex, ident: str) -> Candidate:
    candidate = _known(index, ident)
    if candidate.status is not CandidateStatus.WAITING:
        raise ConflictError(
            f"the candidate {candidate.id} no longer waits: it is {candidate.status}",
            hint="`helix queue list` shows those that wait; `helix store` remembers anything",
        )
    return candidate


def _waiting(index: StoreIndex, scope: str | None) -> list[Candidate]:
    undecided = index.undecided() if scope is None else index.undecided() & index.of_scope(scope)
    nodes = (cast(Candidate, node) for node in index.present(index.newest(undecided)))
    found = [node for node in nodes if node.status is CandidateStatus.WAITING]
    return sorted(found, key=lambda one: one.confidence.rank)


def _place(one: Candidate) -> Key:
    return (one.confidence.rank, -to_micros(one.recorded_at), one.id)


def _too_many(candidates: list[Candidate]) -> list[Candidate]:
    """Return those that give way; `candidates` are in the order in which they came."""
    ranked = sorted(candidates, key=lambda one: (-one.confidence.rank, one.recorded_at))
    return ranked[: max(len(ranked) - LONGEST, 0)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Keeping:
    """Whose work it is that is observed, and what is to be done with what it gives to learn.

    `store` remembers what is at least as sure as `min_confidence`, `queue` has everything else wait to be looked at.
    """

    store: Annotated[bool, "Remember what is sure enough."] = False
    queue: Annotated[bool, "Have what is not stored wait to be looked at."] = False
    min_confidence: Annotated[Certainty, "How sure something must be to be stored."] = Certainty.MEDIUM
    scope: str = GLOBAL_SCOPE
    session: str = ""
    task_id: Annotated[str, "The task that it was learned in, by its id on the board."] = ""
    agent: str = ""
    source: str = ""

    @property
    def writes(self) -> bool:
        """Whether anything that the observer sees is to be kept."""
        return self.store or self.queue

    def origin(self, at: datetime) -> Origin:
        """Return where the observer's candidates come from that are seen now."""
        return Origin(
            at=at,
            scope=self.scope,
            session=self.session,
            task=self.task_id,
            agent=self.agent,
            source=self.source,
        )


def keep_candidates(store: Store, seen: Sequence[Candidate], keeping: Keeping) -> Observed:
    """Store and queue the observer's candidates as far as that was asked for; all are answered as they may be kept.

    Of what names a file of a `.helixignore` nothing is kept, where a folder of the scope is known on this machine.
    """
    clean = tuple(cleaned(store, one) for one in seen)
    fit = fit_to_keep(clean, exclusion_of(store.runtime.settings.home, keeping.scope)) if keeping.writes else ()
    outcome = store_candidates(store, fit, keeping.min_confidence) if keeping.store else Stored(skipped=tuple(fit))
    queued = enqueue(store, outcome.skipped) if keeping.queue else []
    return Observed(
        candidates=clean,
        stored=outcome.results,
        skipped=(*outcome.skipped, *(one for one in clean if one not in fit)) if keeping.store else (),
        queued=tuple(queued),
    )
