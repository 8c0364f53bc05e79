"""Work: a piece of background work that was asked for, as the queue holds it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any


class WorkState(StrEnum):
    """Where a piece of work stands."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkItem:
    """One piece of work. Its id is the job under which its changes are journalled and can be undone.

    `kind` and `key` say what is asked for: of the same there is one unfinished item at most. `attempts` counts how
    often it was begun; `error` is why it was put off or failed, `result` what it came to, as counts.
    """

    id: str
    kind: str
    key: str
    payload: Mapping[str, Any]
    state: WorkState
    attempts: int
    not_before: datetime
    created_at: datetime
    started_at: datetime | None = None
    ended_at: datetime | None = None
    error: str = ""
    result: Mapping[str, Any] = field(default_factory=dict)
