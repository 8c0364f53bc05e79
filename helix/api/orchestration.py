"""Orchestration: queries and mutations over explorations, plans and attempts at their tasks."""

from __future__ import annotations

from collections.abc import Sequence

import strawberry

from helix.api.queries import page_size
from helix.learning.contracts.prompt import MEMORY_LIMIT
from helix.learning.orchestration.dag import Cascade
from helix.learning.orchestration.explorations import ExplorationRequest
from helix.learning.orchestration.plans import PlanRequest
from helix.learning.orchestration.workspaces import Ending, WorkspaceRequest
from helix.model.exploration import Exploration, ExplorationReport
from helix.model.memory import GLOBAL_SCOPE
from helix.model.planned import PlanReport, PlanTask, WorkspaceReport
from helix.service import Helix


def exploration(helix: Helix, *, id: strawberry.ID | None = None, scope: str = GLOBAL_SCOPE) -> Exploration:
    """Read what explorers found: one exploration by its id, or the newest of a scope."""
    return helix.exploration(id or "", scope)


def plan(helix: Helix, *, id: strawberry.ID | None = None, scope: str = GLOBAL_SCOPE) -> PlanReport:
    """Read a plan with its tasks as they stand: one by its id, or the newest of a scope."""
    return helix.plan(id or "", scope)


def ready_tasks(helix: Helix, *, plan: strawberry.ID | None = None, scope: str = GLOBAL_SCOPE) -> list[PlanTask]:
    """List the tasks of a plan that can begin now: pending, with all they wait for delivered."""
    return list(helix.ready_tasks(plan or "", scope))


def cascade_status(helix: Helix, *, plan: strawberry.ID | None = None, scope: str = GLOBAL_SCOPE) -> Cascade:
    """Say where a plan stands as a whole, and which of its tasks can never begin as things are."""
    return helix.cascade_status(plan or "", scope)


def workspaces(
    helix: Helix,
    *,
    plan: strawberry.ID | None = None,
    scope: str | None = None,
    status: str | None = None,
    limit: int = 50,
) -> list[WorkspaceReport]:
    """List attempts at tasks, the oldest first; of more than `limit` the newest."""
    return helix.list_workspaces(plan or "", scope, status, page_size(helix, "limit", limit))


def save_exploration(
    helix: Helix, *, answer: str, objective: str = "", scope: str = GLOBAL_SCOPE, session: str = ""
) -> ExplorationReport:
    """Keep what explorers found: an exploration as JSON, or the answers of one or more explorers."""
    return helix.save_exploration(ExplorationRequest(answer=answer, objective=objective, scope=scope, session=session))


def save_plan(
    helix: Helix,
    *,
    answer: str,
    objective: str = "",
    scope: str = GLOBAL_SCOPE,
    session: str = "",
    exploration: strawberry.ID | None = None,
) -> PlanReport:
    """Keep what a planner answered, as tasks and their order; refused where nobody could work through it."""
    return helix.save_plan(
        PlanRequest(answer=answer, objective=objective, scope=scope, session=session, exploration=exploration or "")
    )


def complete_plan(helix: Helix, *, plan: strawberry.ID | None = None, scope: str = GLOBAL_SCOPE) -> PlanReport:
    """Say that nobody works on a plan any more, whatever became of its tasks; what is left is among the problems."""
    return helix.complete_plan(plan or "", scope)


def create_workspace(
    helix: Helix,
    *,
    task: str,
    plan: strawberry.ID | None = None,
    scope: str = GLOBAL_SCOPE,
    warning: str = "",
    limit: int = MEMORY_LIMIT,
) -> WorkspaceReport:
    """Begin an attempt at a task: what is to be put before the agent, with the memories that fit, or without them."""
    size = page_size(helix, "limit", limit)
    return helix.create_workspace(
        WorkspaceRequest(task=task, plan=plan or "", scope=scope, warning=warning, limit=size)
    )


def complete_workspace(
    helix: Helix, *, id: strawberry.ID, delivered: str, utilized: Sequence[str] = ()
) -> WorkspaceReport:
    """Say that an attempt delivered; what that is worth to the memories it was shown is for evidence to say."""
    return helix.complete_workspace(id, Ending(delivered=delivered, utilized=utilized))


def block_workspace(
    helix: Helix, *, id: strawberry.ID, reason: str, tried: str = "", error: str = "", utilized: Sequence[str] = ()
) -> WorkspaceReport:
    """Say that an attempt came to nothing, and why."""
    return helix.block_workspace(id, Ending(reason=reason, tried=tried, error=error, utilized=utilized))


QUERIES = (exploration, plan, ready_tasks, cascade_status, workspaces)
MUTATIONS = (
    save_exploration,
    save_plan,
    complete_plan,
    create_workspace,
    complete_workspace,
    block_workspace,
)
