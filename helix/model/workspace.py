"""Workspace: one attempt at a task, with what the agent was given for it and what it came to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated

from helix.model.memory import GLOBAL_SCOPE

ACTIVE, COMPLETE, SUPERSEDED = "active", "complete", "superseded"
"""What the status of a workspace may be, beside the `blocked` of a task's outcome; superseded: another one began."""
REASON = "reason"
"""Attribute: why it was blocked. Under `delivered`, `tried`, `error` and `utilized` it says what a task says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Workspace:
    """One attempt at a task."""

    id: str
    recorded_at: datetime
    scope: str = GLOBAL_SCOPE
    status: Annotated[str, "`active`, `complete`, `blocked`, or `superseded` where another attempt began."] = ACTIVE
    ended_at: datetime | None = None
    attributes: Mapping[str, object] = field(default_factory=dict)
