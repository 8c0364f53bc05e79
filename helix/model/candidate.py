"""Candidate: something that might be worth remembering, which waits until somebody has looked at it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated

from helix.model.memory import GLOBAL_SCOPE, Kind
from helix.model.provenance import Provenance, provenance_word
from helix.model.reports import StoreResult
from helix.model.worded import Worded


class Certainty(Worded):
    """How much speaks for a candidate: it happened, the evidence is strong, or only its use will tell."""

    HIGH = "high", "It happened, and the evidence shows it."
    MEDIUM = "medium", "The evidence is strong."
    LOW = "low", "Only its use will tell."

    @property
    def rank(self) -> int:
        """0 for the surest, 2 for the least sure."""
        return list(Certainty).index(self)


class CandidateStatus(Worded):
    """Where a candidate stands; `stored` ones became a memory without having waited."""

    WAITING = "waiting", "A person has to look at it."
    ACCEPTED = "accepted", "A person took it in."
    REJECTED = "rejected", "A person turned it down."
    STORED = "stored", "It became a memory without having waited."


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """What an agent's work gives to learn, before it is a memory; `trigger` and `resolution` as a memory has them.

    `agent` is who said it, `task` the id of the task it came from, `source` what tells it apart where it came from.
    `memory` is the id of the memory that it became. The files it is about are attribute `files`.
    """

    id: str
    kind: Kind
    trigger: str
    resolution: str
    recorded_at: datetime
    scope: str = GLOBAL_SCOPE
    confidence: Annotated[Certainty, "How much speaks for it."] = Certainty.LOW
    status: Annotated[CandidateStatus, "Where it stands."] = CandidateStatus.WAITING
    agent: str = ""
    session: str = ""
    task: Annotated[str, "The id of the task it was learned in; empty for none."] = ""
    source: str = ""
    memory: Annotated[str, "The id of the memory that it became; empty before."] = ""
    decided_at: Annotated[datetime | None, "When it was accepted or rejected; null before."] = None
    attributes: Mapping[str, object] = field(default_factory=dict)
    provenance: Provenance = field(default_factory=Provenance)

    @property
    def said_by(self) -> str:
        """Where it comes from, in a word; see `provenance_word`."""
        return provenance_word(self.provenance)


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """Everything that was seen in an agent's work; what of it was stored, skipped, and put in the learning queue.

    Nothing is `skipped` unless storing was asked for.
    """

    candidates: Annotated[tuple[Candidate, ...], "Everything that was seen."] = ()
    stored: Annotated[tuple[StoreResult, ...], "What was stored of it."] = ()
    skipped: Annotated[
        tuple[Candidate, ...], "What was not: not sure enough, decided on before, or about a file of `.helixignore`."
    ] = ()
    queued: Annotated[tuple[Candidate, ...], "What waits in the learning queue now and did not before."] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """A candidate that was accepted, and what storing it came to."""

    candidate: Annotated[Candidate, "What was accepted."]
    result: Annotated[StoreResult, "What storing it came to."]
