"""Contexts: queries for what is put before an agent: by its task, at its action, as its session begins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import strawberry

from helix.api.queries import page_size
from helix.learning.action.sites import MOST
from helix.learning.context.brief import Brief
from helix.learning.context.builder import BuilderContext
from helix.learning.context.contexts import ActionContext, BuilderRequest
from helix.learning.context.explorer import ExplorerContext
from helix.learning.context.lineage import Delivery
from helix.learning.context.planner import PlannerContext
from helix.learning.context.relevant import LIMIT
from helix.model.action import Action
from helix.model.memory import GLOBAL_SCOPE
from helix.service import Helix


def explorer_context(
    helix: Helix, *, objective: str, focus: str = "", scope: str | None = None, limit: int = LIMIT, session: str = ""
) -> ExplorerContext:
    """Tell an explorer what is known already and which failures to watch for."""
    return helix.explorer_context(objective, scope, page_size(helix, "limit", limit), focus, session)


def planner_context(
    helix: Helix, *, objective: str, scope: str | None = None, limit: int = LIMIT, session: str = ""
) -> PlannerContext:
    """Tell a planner what was decided, how things are done here and what has changed lately."""
    return helix.planner_context(objective, scope, page_size(helix, "limit", limit), session)


def builder_context(helix: Helix, request: BuilderRequest) -> BuilderContext:
    """Tell a builder what matters to its task, by the objective and by the files."""
    return helix.builder_context(request)


def lineage(
    helix: Helix,
    *,
    tasks: Sequence[Mapping[str, Any]] | None = None,
    plan: strawberry.ID | None = None,
    scope: str = GLOBAL_SCOPE,
) -> list[Delivery]:
    """List what tasks delivered: those of a client's list, else of a plan, by default the newest of a scope."""
    return list(helix.lineage(tasks, plan or "", scope))


def brief(helix: Helix, *, scope: str | None = None, budget_tokens: int | None = None) -> Brief:
    """Tell what there is to know of a project as a session begins, without a question."""
    return helix.brief(scope, budget_tokens)


def at_action(
    helix: Helix,
    *,
    command: str = "",
    files: Sequence[str] = (),
    output: str = "",
    folder: str = "",
    project: str = "",
    scope: str | None = None,
    limit: int = MOST,
) -> ActionContext:
    """Look up what is remembered about exactly a command, the error it ended with, or the files an edit changes."""
    action = Action(command=command, files=tuple(files), output=output, folder=folder)
    return helix.at_action(action, scope, page_size(helix, "limit", limit), project)


QUERIES = (explorer_context, planner_context, builder_context, lineage, brief, at_action)
