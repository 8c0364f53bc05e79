"""Orchestrating: what the service offers to whoever plans work and has it done."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from helix.learning.context.builder import BuilderContext, builder_context
from helix.learning.context.written import written
from helix.learning.contracts.prompt import BuilderParams
from helix.learning.orchestration import closing, explorations, plans, workspaces
from helix.learning.orchestration.dag import Cascade
from helix.learning.orchestration.explorations import ExplorationRequest
from helix.learning.orchestration.plans import PlanRequest
from helix.learning.orchestration.workspaces import Ending, WorkspaceRequest
from helix.learning.outcomes.noting import note_use
from helix.learning.outcomes.settle import settle
from helix.learning.proof.holdback import treatment
from helix.lifecycle.work.foreground import Foreground
from helix.model.exploration import Exploration, ExplorationReport
from helix.model.memory import GLOBAL_SCOPE
from helix.model.planned import PlanReport, PlanTask, WorkspaceReport
from helix.model.recall import RecallAnswer, RecallQuery
from helix.store.store import Store


class Orchestration:
    """The part of the service that plans are kept with; every method blocks and may be called from any thread."""

    _store: Store
    _foreground: Foreground

    if TYPE_CHECKING:

        def recall(self, query: RecallQuery) -> RecallAnswer:
            """Answer a question."""
            ...

    def save_exploration(self, request: ExplorationRequest) -> ExplorationReport:
        """Keep what explorers found."""
        self._store.check_capture()
        with self._foreground.request():
            return explorations.save_exploration(self._store, request)

    def exploration(self, ident: str = "", scope: str = GLOBAL_SCOPE) -> Exploration:
        """Return an exploration, by default the newest of a scope."""
        return explorations.load_exploration(self._store, ident, scope)

    def save_plan(self, request: PlanRequest) -> PlanReport:
        """Keep what a planner answered, as tasks and their order."""
        self._store.check_capture()
        with self._foreground.request():
            return plans.save_plan(self._store, request)

    def plan(self, ident: str = "", scope: str = GLOBAL_SCOPE) -> PlanReport:
        """Return a plan with its tasks as they stand, by default the newest of a scope."""
        return plans.load_plan(self._store, ident, scope)

    def ready_tasks(self, plan: str = "", scope: str = GLOBAL_SCOPE) -> tuple[PlanTask, ...]:
        """Return the tasks of a plan that can begin now."""
        return plans.ready_tasks(self._store, plan, scope)

    def cascade_status(self, plan: str = "", scope: str = GLOBAL_SCOPE) -> Cascade:
        """Return where a plan stands as a whole."""
        return plans.cascade_status(self._store, plan, scope)

    def complete_plan(self, plan: str = "", scope: str = GLOBAL_SCOPE) -> PlanReport:
        """Say that nobody works on a plan any more."""
        with self._foreground.request():
            return closing.complete_plan(self._store, plan, scope)

    def create_workspace(self, request: WorkspaceRequest) -> WorkspaceReport:
        """Begin an attempt at a task, with what memory has for it."""
        self._store.check_capture()
        with self._foreground.request():
            return workspaces.create_workspace(
                self._store, request, give=self._given, treatment=partial(treatment, self._store)
            )

    def complete_workspace(self, ident: str, ending: Ending) -> WorkspaceReport:
        """Say that an attempt delivered."""
        with self._foreground.request():
            return workspaces.complete_workspace(self._store, ident, ending, settle=self._settle)

    def block_workspace(self, ident: str, ending: Ending) -> WorkspaceReport:
        """Say that an attempt came to nothing, and why."""
        with self._foreground.request():
            return workspaces.block_workspace(self._store, ident, ending, settle=self._settle)

    def _given(self, params: BuilderParams, scope: str, with_memory: bool) -> BuilderContext:
        return builder_context(
            self.recall, params, scope, limit=None if with_memory else 0, written=partial(written, self._store)
        )

    def _settle(self, task: str, outcome: str, utilized: Sequence[str]) -> None:
        note_use(self._store, task, utilized=utilized)
        settle(self._store, task, outcome=outcome)

    def list_workspaces(
        self, plan: str = "", scope: str | None = None, status: str | None = None, limit: int = 50
    ) -> list[WorkspaceReport]:
        """Return attempts at tasks, the oldest first."""
        return workspaces.list_workspaces(self._store, plan=plan, scope=scope, status=status, limit=limit)
