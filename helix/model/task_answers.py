"""Answers about tasks: where one stands, where a plan does, and how a task stands by its evidence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any

from helix.model.evidence import EvidenceKind, Verification
from helix.model.ids import Id
from helix.model.memory import Memory
from helix.model.outcome import Gain
from helix.model.proof import Showing
from helix.model.task import Task
from helix.model.worded import Worded


class Progress(Worded):
    """Where a plan as a whole stands."""

    COMPLETE = "complete", "Every task is over."
    IN_PROGRESS = "in_progress", "Somebody works on it, or a task can begin."
    ALL_BLOCKED = "all_blocked", "Nothing was delivered, and something is blocked."
    STUCK = "stuck", "Tasks are left that can no longer begin."


@dataclass(frozen=True, slots=True, kw_only=True)
class Cascade:
    """Where a plan stands: what can begin, what is over, and what can never begin as things are."""

    status: Annotated[Progress, "Where the plan stands."]
    ready: Annotated[tuple[str, ...], "The tasks that can begin."] = ()
    in_progress: Annotated[tuple[str, ...], "The tasks that somebody works on."] = ()
    delivered: Annotated[tuple[str, ...], "The tasks that were delivered."] = ()
    blocked: Annotated[tuple[str, ...], "The tasks that were blocked."] = ()
    unreachable: Annotated[tuple[str, ...], "The tasks that can never begin as things are."] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Stall:
    """Why nothing can go on: the tasks that wait, what each of them waits for, and what of that is wrong.

    `blocked` are the tasks in the way that are over without being delivered, `missing` the ids that no task has.
    """

    pending: Annotated[tuple[str, ...], "The tasks that are left."] = ()
    waiting: Annotated[Mapping[str, tuple[str, ...]], "What each of them still waits for."]
    blocked: Annotated[tuple[str, ...], "What they wait for that is over and was not delivered."] = ()
    missing: Annotated[tuple[str, ...], "What they wait for that is no task."] = ()
    cycles: Annotated[tuple[tuple[str, ...], ...], "Those that wait for each other."] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Stalled:
    """Whether nothing can go on, and why."""

    stalled: Annotated[bool, "Whether tasks are left of which none is at work and none can begin."]
    info: Annotated[Stall | None, "Why; null where it is not so."]


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskState:
    """Where a task stands.

    `executable`: pending, and every task it waits for was delivered. `outcome`: what Helix was told came of it, else
    the client's status. `blocks_dependents`: it is over and was not delivered, so what waits for it cannot begin.
    """

    executable: Annotated[bool, "Whether it can begin: pending, and everything it waits for delivered."]
    finished: Annotated[bool, "Whether it is over."]
    successful: Annotated[bool, "Whether it is over and was delivered."]
    outcome: Annotated[str, "`delivered`, `blocked` or `skipped`, else the client's status."]
    blocks_dependents: Annotated[
        bool, "Whether it is over and was not delivered, so that what waits for it cannot begin."
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cleared:
    """The tasks that are pending again, those whose session may still be at work, and the whole list as it is then."""

    cleared: Annotated[tuple[str, ...], "The tasks that were in progress."]
    kept: Annotated[tuple[str, ...], "The tasks that stay in progress, as their session may still be at work."]
    tasks: Annotated[tuple[Mapping[str, Any], ...], "All tasks as they are now."]


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One command that said whether the work holds."""

    kind: Annotated[EvidenceKind, "What was run."]
    command: Annotated[str, "The command, redacted; empty for a person's word."]
    passed: Annotated[bool, "Whether it speaks for the work."]
    exit_status: Annotated[int | None, "What it ended with; null where that is not known."]
    tests_passed: Annotated[int | None, "How many tests passed, as its output says; null where it does not."]
    tests_failed: Annotated[
        int | None, "How many tests failed, or what a linter found; null where its output does not say."
    ]
    commit: Annotated[str, "The commit that landed, or of a revert the one that was taken back."]
    verify: Annotated[bool, "Whether it is the task's own verify command."]
    at: Annotated[datetime | None, "When it ended."]


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskOutcome:
    """How a task stands by its evidence, and what the memories got that were shown to it."""

    task: Annotated[Id, "The id of the task."]
    outcome: Annotated[str, "What came of it by the evidence: `delivered`, `blocked`, `skipped`, or empty."]
    claimed: Annotated[str, "What the agent said of it."]
    verification: Annotated[Verification, "What all the evidence comes to."]
    evidence: Annotated[tuple[Check, ...], "The evidence, in the order in which it came."]
    gains: Annotated[tuple[Gain, ...], "What each memory got that was shown to it."]
    changed: Annotated[bool, "Whether this has changed anything."]


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskReport:
    """A task with all that is kept of it: what it was shown, what proves what came of it, and what it gave to learn."""

    task: Annotated[Task, "The task itself."]
    plan: Annotated[str, "The id of its plan; empty for none."]
    waits_for: Annotated[tuple[str, ...], "The ids of the tasks that it waits for."]
    claimed: Annotated[str, "What the agent said came of it; empty where it said nothing."]
    evidence: Annotated[tuple[Check, ...], "What proves what came of it, in the order in which it came."]
    showings: Annotated[tuple[Showing, ...], "The memories that it was shown, and those held out from it."]
    learned: Annotated[tuple[Memory, ...], "The memories that were learned in it."]
