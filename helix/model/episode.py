"""Episode: what happened, kept verbatim (after redaction) as evidence; and the session it happened in."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated

from helix.model.edge import Ref
from helix.model.memory import GLOBAL_SCOPE, Status
from helix.model.provenance import Provenance, provenance_word


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode:
    """One thing that happened; never changed after it was recorded, but for `consolidated_at` and `status`.

    `source` identifies it where it came from (`git:<commit>`, `notes:<path>#<heading>`): the same source is recorded
    once only. A quarantined or forgotten episode stays as evidence and is neither recalled nor learned from.
    """

    id: str
    content: str
    recorded_at: datetime
    occurred_at: datetime
    session: str = ""
    scope: str = GLOBAL_SCOPE
    agent: str = ""
    role: str = ""
    importance: float = 3.0
    source: str = ""
    status: Annotated[Status, "Where it stands; only an active episode is recalled and learned from."] = Status.ACTIVE
    consolidated_at: Annotated[datetime | None, "When memories were drawn from it; null before."] = None
    provenance: Provenance = field(default_factory=Provenance)

    @property
    def said_by(self) -> str:
        """Where it comes from, in a word; see `provenance_word`."""
        return provenance_word(self.provenance)

    @property
    def ref(self) -> Ref:
        """Where it stands in the graph."""
        return Ref.episode(self.id)


CAPTURE = "capture"
"""Extractor of the episodes that were recorded as they happened."""


def session_id(scope: str, session: str) -> str:
    """Return the id that a session's record has: two projects may use one word for different sessions."""
    return session if scope == GLOBAL_SCOPE else f"{scope}/{session}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A run of episodes that belong together."""

    id: str
    scope: str = GLOBAL_SCOPE
    agent: str = ""
    started_at: datetime
    ended_at: datetime | None = None
