"""Held: what is quarantined until a person has looked at it, and what a screening came to."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from helix.model.edge import Ref
from helix.model.memory import Status
from helix.model.provenance import Trust


@dataclass(frozen=True, slots=True, kw_only=True)
class Screening:
    """The status that a new text may have, and why it reads like an instruction to an agent; no reasons: it does not.

    There may be reasons although the status is active: a trusted source is served, and told.
    """

    status: Status
    reasons: tuple[str, ...] = ()

    @property
    def held(self) -> bool:
        """Whether the text is quarantined."""
        return self.status is Status.QUARANTINED


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """What is quarantined, as a person is shown it. Only a memory has a `name`; `source` is where it came from."""

    ref: Annotated[Ref, "The memory or episode."]
    name: Annotated[str, "Its name; empty for an episode."]
    scope: str
    text: Annotated[str, "What it says."]
    trust: Trust
    said_by: str
    source: str
    agent: str
    recorded_at: datetime
    reasons: Annotated[tuple[str, ...], "Why it reads like an instruction to an agent."]

    @property
    def id(self) -> str:
        """The id of the node."""
        return self.ref.id
