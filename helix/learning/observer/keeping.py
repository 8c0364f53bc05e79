"""Keeping: what is done with what an agent's work gives to learn: shown, stored as far as it is sure, or queued."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from helix.learning.observer.candidates import Stored, cleaned, store_candidates
from helix.learning.observer.observe import Origin
from helix.learning.observer.queue import enqueue
from helix.model.candidate import Candidate, Certainty
from helix.model.memory import GLOBAL_SCOPE
from helix.model.observed import Observed
from helix.store.store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class Keeping:
    """Whose work it is that is observed, and what is to be done with what it gives to learn.

    `store` remembers what is at least as sure as `min_confidence`, `queue` has everything else wait to be looked at.
    """

    store: bool = False
    queue: bool = False
    min_confidence: Certainty = Certainty.MEDIUM
    scope: str = GLOBAL_SCOPE
    session: str = ""
    task_id: str = ""
    agent: str = ""
    source: str = ""

    @property
    def writes(self) -> bool:
        """Whether anything is to be kept."""
        return self.store or self.queue

    def origin(self, at: datetime) -> Origin:
        """Return where candidates come from that are seen now."""
        return Origin(
            at=at,
            scope=self.scope,
            session=self.session,
            task=self.task_id,
            agent=self.agent,
            source=self.source,
        )


def keep(store: Store, seen: Sequence[Candidate], keeping: Keeping) -> Observed:
    """Store and queue candidates as far as that was asked for; all are answered as they may be kept."""
    clean = tuple(cleaned(store, one) for one in seen)
    outcome = store_candidates(store, clean, keeping.min_confidence) if keeping.store else Stored(skipped=clean)
    queued = enqueue(store, outcome.skipped) if keeping.queue else []
    return Observed(
        candidates=clean,
        stored=outcome.results,
        skipped=outcome.skipped if keeping.store else (),
        queued=tuple(queued),
    )
