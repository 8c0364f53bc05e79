"""Answers about tasks: a plan with its tasks, where one stands, and what came of it by evidence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any

from helix.model.evidence import Evidence, EvidenceKind, Verification
from helix.model.ids import Id
from helix.model.memory import Memory
from helix.model.proof import Showing
from helix.model.requests import kept
from helix.model.task import Plan, Shown, Task, Workspace
from helix.model.worded import Worded


@kept
@dataclass(frozen=True, slots=True, kw_only=True)
class Gain:
    """What one memory got for a task, and why.

    `use` is evidence, claimed, unused or unknown; `signs` are what shows it. `outcome` is helped, failed, unused,
    claimed, skipped or empty. `overridden` marks what a person said instead.
    """

    memory_id: Annotated[str, "The memory, as it was shown."]
    name: str
    use: Annotated[str, "`evidence`, `claimed`, `unused`, or `unknown`."]
    outcome: Annotated[str, "`helped`, `failed`, `unused`, `claimed`, `skipped`, or empty."]
    helped: Annotated[float, "What was added to what it has helped."] = 0.0
    failed: Annotated[float, "What was added to what it has failed."] = 0.0
    quality: Annotated[int | None, "The quality of the verified use, 0 to 5; null where there was none."] = None
    signs: Annotated[tuple[str, ...], "What shows that it was used."] = ()
    overridden: Annotated[bool, "Whether a person said it instead."] = False


@kept
@dataclass(frozen=True, slots=True, kw_only=True)
class Settlement:
    """How a task stands: its outcome by the evidence, the agent's own word for it, and what the memories got.

    `changed` says whether anything was written just now: settling again what has not changed writes nothing.
    """

    task: str
    outcome: str
    claimed: str
    verification: Verification
    evidence: tuple[Evidence, ...] = ()
    gains: tuple[Gain, ...] = ()
    changed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanTask:
    """A task in the order of its plan: `depends` are the `seq` of those it waits for, `delivered` what came of it.

    `client_task` is its id in the client's own list, empty where it has none there; `budget` its number of tool calls,
    0 where none is said.
    """

    id: str
    client_task: Annotated[str, "Its id in the client's own list; empty where it has none there."]
    seq: Annotated[str, "Its number in the plan, such as `001`."]
    slug: Annotated[str, "A few words that name it."]
    objective: str
    delta: Annotated[tuple[str, ...], "The files it may change."]
    verify: Annotated[str, "The command that proves it."]
    depends: Annotated[tuple[str, ...], "The numbers of the tasks that it waits for."]
    budget: Annotated[int, "How many tool calls it may take; 0 where none is said."]
    relevant_files: Annotated[tuple[str, ...], "The files to look at."]
    status: Annotated[str, "`pending`, `in_progress` or `completed`."]
    outcome: Annotated[str, "`delivered`, `blocked` or `skipped`; empty while that is not known."]
    delivered: Annotated[str, "What it delivered, in a line."]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanReport:
    """A plan with its tasks in their order; `problems` say in sentences what is not as it should be, though possible.

    `exploration` is the id of what it is based on, empty for none.
    """

    plan: Annotated[Plan, "The plan itself."]
    tasks: Annotated[tuple[PlanTask, ...], "Its tasks, in their order."]
    exploration: Annotated[str, "The id of the exploration it is based on; empty for none."]
    problems: Annotated[tuple[str, ...], "What is not as it should be, though possible, in sentences."] = ()

    @property
    def task_count(self) -> int:
        """How many tasks it has."""
        return len(self.tasks)


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkspaceReport:
    """An attempt at a task: what it is given to the agent with, and which memories are in that.

    `prompt` is the block to put before the agent, empty where it was not made just now; `held_back` says that memories
    were found and are not in it, to learn what they are worth. `problems` say in sentences what was not as it seemed.
    """

    workspace: Annotated[Workspace, "The attempt itself."]
    task: Annotated[PlanTask, "The task it is an attempt at."]
    prompt: Annotated[str, "The block to put before the agent; empty where it was not made just now."] = ""
    injected: Annotated[tuple[Shown, ...], "The memories in that block."] = ()
    held_back: Annotated[bool, "Whether memories were found and kept out of it, to learn what they are worth."] = False
    problems: Annotated[tuple[str, ...], "What was not as it seemed, in sentences."] = ()


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
    missing: Annotated[tuple[str, ...], "What they wait for that is not a task."] = ()
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
    showings: Annotated[tuple[Showing, ...], "The memories that it was shown, and those held back from it."]
    learned: Annotated[tuple[Memory, ...], "The memories that were learned in it."]
