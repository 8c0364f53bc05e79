"""Planned: a plan with its tasks, and an attempt at one of them, as they are told to whoever works on them."""

from __future__ import annotations

from dataclasses import dataclass

from helix.model.injection import Shown
from helix.model.task import Plan
from helix.model.workspace import Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanTask:
    """A task in the order of its plan: `depends` are the `seq` of those it waits for, `delivered` what came of it.

    `client_task` is its id in the client's own list, empty where it has none there; `budget` its number of tool calls,
    0 where none is said.
    """

    id: str
    client_task: str
    seq: str
    slug: str
    objective: str
    delta: tuple[str, ...]
    verify: str
    depends: tuple[str, ...]
    budget: int
    relevant_files: tuple[str, ...]
    status: str
    outcome: str
    delivered: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanReport:
    """A plan with its tasks in their order; `problems` say in sentences what is not as it should be, though possible.

    `exploration` is the id of what it is based on, empty for none.
    """

    plan: Plan
    tasks: tuple[PlanTask, ...]
    exploration: str
    problems: tuple[str, ...] = ()

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

    workspace: Workspace
    task: PlanTask
    prompt: str = ""
    injected: tuple[Shown, ...] = ()
    held_back: bool = False
    problems: tuple[str, ...] = ()
