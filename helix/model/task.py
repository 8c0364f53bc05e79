"""Plans, tasks, attempts at them and explorations, as nodes: what was injected into a task can be asked in Cypher.

An injection is a memory that was shown to a task, or held back from it, and what came of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated

from helix.model.edge import Ref
from helix.model.memory import GLOBAL_SCOPE

PENDING, IN_PROGRESS, COMPLETED = "pending", "in_progress", "completed"
"""What the status of a task may be; `completed` says that nobody works on it any more, however it ended."""
DELIVERED, BLOCKED, SKIPPED = "delivered", "blocked", "skipped"
"""What the outcome of a task may be; empty where it is not known."""
WITH_MEMORY, HELD_BACK = "memory", "held_back"
"""What the treatment of a task may be: whether it was shown memories; empty while that is undecided."""
PASSED, FAILED, NONE_RAN = "passed", "failed", "none"
"""What the verification of a task may be; empty where nothing was noted."""

# Attributes of a task by name. Those of the first block say what is to be done, those of the second what was done.
CLIENT_TASK, AGENT, PLAN, SEQ, SLUG = "client_task", "agent", "plan", "seq", "slug"
CALL, SILENT = "call", "no_inject"
VERIFY, DELTA, RELEVANT_FILES, BUDGET = "verify", "delta", "relevant_files", "budget"

SUMMARY, BLOCKED_REASON, TRIED, ERROR = "summary", "blocked_reason", "tried", "error"
UTILIZED, TOKENS_INJECTED = "utilized", "tokens_injected"
FILES_CHANGED, COMMANDS, HISTORY_CUT = "files_changed", "commands", "history_cut"
EXCLUDED = "excluded"
"""Attribute of a task: what was told of it and is not kept, by name, as it names a file of a `.helixignore`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """An objective broken into tasks."""

    id: str
    objective: str
    recorded_at: datetime
    scope: str = GLOBAL_SCOPE
    status: Annotated[str, "Where the plan stands."] = "open"
    attributes: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One unit of work; the client's own task list is the source of truth.

    `treatment` says whether it was shown memories or they were held back, `verification` what the commands that check
    it came to. `attributes` holds what else is known, under the names of this module.
    """

    id: str
    objective: str
    recorded_at: datetime
    scope: str = GLOBAL_SCOPE
    status: Annotated[str, "Where the task stands."] = PENDING
    outcome: Annotated[str, "What evidence says it came to."] = ""
    session: Annotated[str, "The session it is worked on in."] = ""
    treatment: Annotated[
        str, "`memory` where it was shown memories, `held_back` where they were not; empty while undecided."
    ] = ""
    verification: Annotated[
        str, "What the commands that check it came to: `passed`, `failed`, `none`; empty where unknown."
    ] = ""
    ended_at: datetime | None = None
    attributes: Mapping[str, object] = field(default_factory=dict)

    @property
    def ref(self) -> Ref:
        """Where it stands in the graph."""
        return Ref.task(self.id)


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Exploration:
    """What explorers found for an objective; `attributes` holds structure, patterns, memory and targets."""

    id: str
    objective: str
    recorded_at: datetime
    scope: str = GLOBAL_SCOPE
    session: str = ""
    attributes: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplorationReport:
    """An exploration that was kept; `problems` say in sentences what of the answers was excluded or is not as asked."""

    exploration: Annotated[Exploration, "The exploration itself."]
    problems: Annotated[tuple[str, ...], "What of the answers was excluded or is not as asked, in sentences."] = ()


RECALL, ACTION, ON_ERROR, BRIEF, PROMPT = "recall", "action", "error", "brief", "prompt"
"""Ways a memory comes to a task: asked for, at a command or edit, at an error, with a session's beginning, with a
prompt."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A memory as it was put before an agent: its place (from 1), score, the way it came and its length in tokens."""

    memory_id: Annotated[str, "The id of the memory."]
    name: Annotated[str, "The name of the memory."]
    kind: Annotated[str, "The kind of the memory."]
    rank: Annotated[int, "Its place, from 1."]
    score: Annotated[float, "How well it fits."]
    arm: Annotated[str, "How it came: `recall`, `action`, `error` or `brief`."] = RECALL
    tokens: Annotated[int, "How long its line is, in tokens."] = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Credit:
    """What a task's outcome gave to a memory, so that a better verdict can take it back."""

    helped: float
    failed: float
    quality: int | None
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Injection:
    """A memory shown to a task or held back from it.

    `outcome` is what came of it: empty while nothing has, helped, failed, unused, claimed or skipped.
    """

    memory_id: str
    name: str
    arm: str
    rank: int
    score: float
    at: datetime
    tokens: int = 0
    outcome: str = ""
    held_back: bool = False
    credited: Credit | None = None
