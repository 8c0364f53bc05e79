"""Contexts: what the service offers of memories put before an agent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from helix.learning.action import sites
from helix.learning.action.sites import Site
from helix.learning.context.brief import Brief, brief
from helix.learning.context.builder import BuilderContext, builder_context
from helix.learning.context.explorer import ExplorerContext, explorer_context
from helix.learning.context.lineage import Delivery, lineage
from helix.learning.context.planner import PlannerContext, planner_context
from helix.learning.context.relevant import LIMIT, Recall
from helix.learning.context.written import Note, written
from helix.learning.contracts.prompt import MEMORY_LIMIT, BuilderParams
from helix.learning.orchestration.plans import load_plan
from helix.lifecycle.work.foreground import Foreground
from helix.model.action import Action
from helix.model.injection import Shown
from helix.model.memory import GLOBAL_SCOPE
from helix.model.recall import RecallAnswer, RecallQuery
from helix.settings import Settings
from helix.store.store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class BuilderRequest:
    """What a builder is to do. `lineage` holds the tasks before it as a client lists them, or what they delivered.

    `no_inject` asks for a context without memories.
    """

    objective: str
    task: str = ""
    files: Sequence[str] = ()
    lineage: Sequence[Mapping[str, Any]] = ()
    warning: str = ""
    limit: int = MEMORY_LIMIT
    scope: str | None = None
    session: str = ""
    no_inject: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionContext:
    """What is remembered of exactly one command, error or file: the memories, and what an agent is told of them."""

    sites: tuple[Site, ...]
    text: str
    shown: tuple[Shown, ...]


class Contexts:
    """The part of the service that memories are put before agents with; every method may be called from any thread."""

    _store: Store
    _foreground: Foreground
    settings: Settings

    if TYPE_CHECKING:

        def recall(self, query: RecallQuery) -> RecallAnswer:
            """Answer a question."""
            ...

    def explorer_context(
        self, objective: str, scope: str | None = None, limit: int = LIMIT, focus: str = "", session: str = ""
    ) -> ExplorerContext:
        """Return the facts and failures that matter to an explorer's objective."""
        floor = self.settings.context_floor
        return explorer_context(
            self._asking(session), objective, scope, limit, focus=focus, floor=floor, written=self._written
        )

    def planner_context(
        self, objective: str, scope: str | None = None, limit: int = LIMIT, session: str = ""
    ) -> PlannerContext:
        """Return the decisions, conventions and changes that matter to a planner's objective."""
        floor = self.settings.context_floor
        return planner_context(self._asking(session), objective, scope, limit, floor=floor, written=self._written)

    def builder_context(self, request: BuilderRequest) -> BuilderContext:
        """Return what matters to a builder's task, by its objective and by its files."""
        params = BuilderParams(
            objective=request.objective,
            task=request.task,
            relevant_files=tuple(request.files),
            warning=request.warning,
            lineage=tuple(request.lineage),
            memory_limit=0 if request.no_inject else request.limit,
        )
        floor = self.settings.context_floor
        return builder_context(self._asking(request.session), params, request.scope, floor=floor, written=self._written)

    def lineage(
        self, tasks: Sequence[Mapping[str, Any]] | None = None, plan: str = "", scope: str = GLOBAL_SCOPE
    ) -> tuple[Delivery, ...]:
        """Return what tasks delivered: those of a client's list, or of a plan, by default the newest of a scope."""
        if tasks is not None:
            return lineage(tasks)
        return lineage(load_plan(self._store, plan, scope).tasks)

    def brief(self, scope: str | None = None, budget_tokens: int | None = None) -> Brief:
        """Return what there is to know of a project when a session begins."""
        budget = self.settings.brief_tokens if budget_tokens is None else budget_tokens
        with self._foreground.request():
            return brief(self._store, scope, budget)

    def at_action(
        self, action: Action, scope: str | None = None, limit: int = sites.MOST, root: str = ""
    ) -> ActionContext:
        """Return what is remembered about exactly this command, the error it ended with, or the files it edits."""
        budget = self.settings.action_tokens
        with self._foreground.request():
            found = sites.look_up(self._store, action, scope, limit, root=root)
        return ActionContext(
            sites=found,
            text=sites.text(found, budget_tokens=budget),
            shown=sites.shown(found, budget_tokens=budget),
        )

    def _written(self, question: str, scope: str | None) -> tuple[Note, ...] | None:
        return written(self._store, question, scope)

    def _asking(self, session: str) -> Recall:
        return lambda query: self.recall(replace(query, session=session))
