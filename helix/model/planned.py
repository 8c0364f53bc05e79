"""Planned: a plan with its tasks, and an attempt at one of them, as they are told to whoever works on them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from helix.model.injection import Shown
from helix.model.task import Plan, Workspace


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
