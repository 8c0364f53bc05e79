"""Candidates: which of them are sure enough to be stored at once, and how one becomes a memory."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import cast

from helix.agents.answers.loose_json import words
from helix.agents.observer.observe import FILES
from helix.agents.tasks.board import find_task, learn
from helix.command_outcome.fixes import COMMAND, ERROR
from helix.memory.capture.quarantine import screen
from helix.memory.capture.sessions import is_private
from helix.memory.change.compose import Composer
from helix.memory.change.intake import Intake
from helix.memory.extraction import excluded
from helix.memory.remember.remember import remember
from helix.memory.remember.request import StoreRequest
from helix.model.candidate import Candidate, CandidateStatus, Certainty
from helix.model.edge import Label, Ref, Relation
from helix.model.provenance import Trust, weakest_trust
from helix.model.reports import StoreResult
from helix.store.index import StoreIndex
from helix.store.store import Store
from helix.store.writer import Decision
from helix.text.excerpts import head, shortened

SUSPICIOUS = "suspicious"
"""Attribute of a candidate: why it reads like an instruction to an agent."""
LONGEST_TRIGGER, LONGEST_RESOLUTION = 600, 4_000
"""Characters that a candidate keeps of what an agent said."""
SURENESS: Mapping[Certainty, float] = MappingProxyType(
    {Certainty.HIGH: 0.75, Certainty.MEDIUM: 0.6, Certainty.LOW: 0.45}
)
"""Confidence (0..1) that the memory of a candidate starts with."""
_LEAST_LETTERS = 8
_MOST_FILES = 50
_SALT = "candidate-salt"
_ABOUT, _LONGEST_ABOUT = (COMMAND, ERROR), 1_000
_LONGEST_FILE = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """What became of candidates: those that are memories now, with what storing them came to, and the others."""

    stored: tuple[Candidate, ...] = ()
    results: tuple[StoreResult, ...] = ()
    skipped: tuple[Candidate, ...] = ()


def should_store(candidate: Candidate, min_confidence: Certainty = Certainty.MEDIUM) -> bool:
    """Return whether the observer's candidate is sure, says enough to be found again, and is not refuted.

    What reads like an instruction to an agent is never stored without a person; nor is what was decided on already.
    """
    said = sum(sign.isalnum() for sign in candidate.trigger + candidate.resolution)
    return (
        candidate.confidence.rank <= min_confidence.rank
        and candidate.status is CandidateStatus.WAITING
        and said >= _LEAST_LETTERS
        and not screen(None, *_texts(candidate)).held
    )


def store_candidates(
    store: Store, candidates: Sequence[Candidate], min_confidence: Certainty = Certainty.MEDIUM
) -> Stored:
    """Store the observer's candidates of an agent's work that `should_store`, each once.

    Skipped is what was decided on before, is private, or says what was erased or undone. Each that was
    stored is kept as a candidate too, with the memory it became.
    """
    stored: list[Candidate] = []
    results: list[StoreResult] = []
    skipped: list[Candidate] = []
    for given in candidates:
        if not should_store(given, min_confidence) or is_private(store.journal, given.session):
            skipped.append(given)
            continue
        one = cleaned(store, given)
        if not proposable(store, [one]):
            skipped.append(one)
            continue
        known = find_candidate(store.index, one.id)
        if known is not None and known.status is not CandidateStatus.WAITING:
            skipped.append(known)
            continue
        result = become_memory(store, one)
        stored.append(settle_candidate(store, known or one, CandidateStatus.STORED, memory=result.id))
        results.append(result)
    return Stored(stored=tuple(stored), results=tuple(results), skipped=tuple(skipped))


def cleaned(store: Store, given: Candidate) -> Candidate:
    """Return the observer's candidate as it may be kept: bounded, redacted, screened, with its words' id here.

    The same words of one scope have one id, but for case, white space and kind; other stores give them other ids.
    """
    intake = Intake(store.runtime.settings.text_limit)
    scope = intake.scope(given.scope)
    trigger, resolution = intake.pair(
        shortened(given.trigger, LONGEST_TRIGGER), shortened(given.resolution, LONGEST_RESOLUTION), required=False
    )
    named = [file for file in words(given.attributes.get(FILES)) if len(file) <= _LONGEST_FILE]
    files = intake.labels(named[:_MOST_FILES], "file")
    agent, source = intake.label(given.agent, "agent"), intake.label(given.source, "source")
    kept = replace(
        given,
        trigger=trigger,
        resolution=resolution,
        scope=scope,
        agent=agent,
        source=source,
        session=intake.session(given.session),
        task=intake.label(given.task, "task"),
        attributes={**_about(intake, given), **({FILES: list(files)} if files else {})},
        provenance=replace(
            given.provenance,
            slice=source,
            agent=agent,
            trust=weakest_trust(given.provenance.trust, Trust.AGENT_INFERRED),
        ),
    )
    reasons = screen(None, *_texts(kept)).reasons
    attributes = {**kept.attributes, SUSPICIOUS: list(reasons)} if reasons else kept.attributes
    return replace(kept, id=_id(store, kept), attributes=attributes)


def proposable(store: Store, candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return the observer's cleaned candidates whose statements were not erased or undone in their scope."""
    held = {scope: excluded.held(store, scope) for scope in {one.scope for one in candidates}}
    return [one for one in candidates if not held[one.scope].holds(one.trigger, one.resolution)]


def become_memory(store: Store, candidate: Candidate) -> StoreResult:
    """Store the observer's candidate as a memory, as far trusted as its source is, and as learned in its task."""
    result = remember(
        store,
        StoreRequest(
            trigger=candidate.trigger,
            resolution=candidate.resolution,
            kind=candidate.kind,
            scope=candidate.scope,
            confidence=SURENESS[candidate.confidence],
            files=words(candidate.attributes.get(FILES)),
            trust=weakest_trust(candidate.provenance.trust, Trust.AGENT_INFERRED),
            source=candidate.source,
            agent=candidate.agent,
            attributes={name: candidate.attributes[name] for name in _ABOUT if name in candidate.attributes},
        ),
    )
    if candidate.task:
        learn(store, candidate.task, result.id)
    return result


def settle_candidate(
    store: Store,
    candidate: Candidate,
    status: CandidateStatus,
    *,
    memory: str = "",
    why: Mapping[str, object] | None = None,
) -> Candidate:
    """Write the decision on a candidate of the observer, and return it; somebody else's decision meanwhile stays."""

    def decision() -> Decision[Candidate]:
        known = find_candidate(store.index, candidate.id)
        if known is not None and known.status is not CandidateStatus.WAITING:
            return Decision((), known)
        composer = Composer(store, store.runtime.clock())
        settled = replace(
            candidate,
            status=status,
            memory=memory,
            decided_at=composer.now,
            attributes={**candidate.attributes, **(why or {})},
        )
        put_candidate(store.index, composer, settled)
        return Decision((composer.change("candidate", status=status.value),), settled)

    return store.writer.submit(decision)


def put_candidate(index: StoreIndex, composer: Composer, candidate: Candidate) -> None:
    """Write a candidate of the observer with the source that proposed it, as a part of somebody's change."""
    ref = composer.node(candidate)
    if candidate.task and find_task(index, candidate.task) is not None:
        here = Ref.task(candidate.task)
        composer.edge(Relation.PROPOSED, here, ref, provenance=candidate.provenance)


def find_candidate(index: StoreIndex, ident: str) -> Candidate | None:
    """Return the observer's candidate of that id, or None."""
    ref = Ref(label=Label.CANDIDATE, id=ident)
    if ref not in index:
        return None
    (node,) = index.records.present([ref])
    return cast(Candidate | None, node)


def _about(intake: Intake, given: Candidate) -> dict[str, object]:
    """Return the command and the error that a candidate is about, which are no part of its words."""
    said = ((name, given.attributes.get(name)) for name in _ABOUT)
    kept = {
        name: intake.text(head(text, _LONGEST_ABOUT), name, required=False)
        for name, text in said
        if isinstance(text, str)
    }
    return {name: text for name, text in kept.items() if text}


def _texts(candidate: Candidate) -> tuple[str, ...]:
    return (candidate.trigger, candidate.resolution, candidate.agent, candidate.source)


def _id(store: Store, candidate: Candidate) -> str:
    """Return 32 hexadecimal digits that words, scope and this store decide: they do not tell what was erased."""
    salt = store.journal.meta(_SALT) or store.writer.call(lambda: _salt(store))
    said = "\x1f".join((candidate.scope, _plain(candidate.trigger), _plain(candidate.resolution)))
    return hmac.new(salt.encode("ascii"), said.encode("utf-8"), hashlib.sha256).hexdigest()[:32]


def _salt(store: Store) -> str:
    """Return the salt of this store's candidates, made with the first one; on the writer's thread."""
    salt = store.journal.meta(_SALT)
    if salt is None:
        salt = store.runtime.make_id(store.runtime.clock())
        store.journal.set_meta(_SALT, salt)
    return salt


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()
