"""Plans and tasks of the orchestrator, as nodes, so that what was injected into a task can be asked in Cypher."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from helix.model.memory import GLOBAL_SCOPE


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """An objective broken into tasks."""

    id: str
    objective: str
    recorded_at: datetime
    scope: str = GLOBAL_SCOPE
    status: str = "open"
    attributes: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One unit of work of a plan; the client's own task list is the source of truth."""

    id: str
    objective: str
    recorded_at: datetime
    scope: str = GLOBAL_SCOPE
    status: str = "pending"
    outcome: str = ""
    attributes: Mapping[str, object] = field(default_factory=dict)
