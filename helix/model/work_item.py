"""Work item: a piece of background work that was asked for, as the queue holds it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any

from helix.model.worded import Worded

EPISODES_READ, EPISODES_HELD_BACK = "episodes read", "episodes held back by the gate"
"""What a consolidation counts once of each episode: that it was read, and that no sentence of it passed the gate."""
_LEFT = (
    "memories unchanged",
    "stored memories unchanged",
    "memories left as people or rules put them",
    "memories kept out: erased or undone",
)
_LOOKED_AT = frozenset({EPISODES_READ, EPISODES_HELD_BACK, *_LEFT, "asked", "unanswered"})


class WorkState(Worded):
    """Where a piece of work stands."""

    QUEUED = "queued", "It waits for its turn."
    RUNNING = "running", "It is at work."
    DONE = "done", "It is done."
    FAILED = "failed", "It was tried as often as may be, and failed."


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkItem:
    """One piece of work. Its id is the job under which its changes are journalled and can be undone.

    `kind` and `key` say what is asked for: of the same there is one unfinished item at most. `attempts` counts how
    often it was begun; `error` is why it was put off or failed, `result` what it came to, as counts.
    """

    id: Annotated[str, "Its id, by which `undo` takes it back."]
    kind: Annotated[str, "What is done: consolidate, reflect, roll_up, merge_similar and others."]
    key: Annotated[str, "What of a kind it concerns, such as a scope."]
    payload: Annotated[Mapping[str, Any], "What it was asked for with."]
    state: Annotated[WorkState, "Where it stands."]
    attempts: Annotated[int, "How often it was begun."]
    not_before: Annotated[datetime, "When it is begun at the earliest."]
    created_at: Annotated[datetime, "When it was asked for."]
    started_at: datetime | None = None
    ended_at: datetime | None = None
    error: Annotated[str, "Why it was put off or failed; empty where it did not."] = ""
    result: Annotated[Mapping[str, int], "What it came to."] = field(default_factory=dict)

    @property
    def changed(self) -> bool:
        """Whether this piece of work changed anything: that is what `undo` is of use for."""
        return any(by > 0 and what not in _LOOKED_AT for what, by in self.result.items())
