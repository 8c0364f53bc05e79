"""Observation: the part of the service that learns from agents' work, and says how it learns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from helix.errors import InvalidInputError
from helix.learning.observer import observe, queue
from helix.learning.observer.chunk import ChunkRequest, chunk
from helix.learning.observer.keeping import Keeping, keep
from helix.learning.observer.observe import Origin
from helix.learning.observer.verify import verify
from helix.learning.orchestration import dag, listed
from helix.learning.orchestration.board import tasks_of
from helix.learning.orchestration.clearing import Clearing
from helix.learning.orchestration.listed import Json, objects
from helix.learning.orchestration.tasks import TaskState, helix_task_state
from helix.lifecycle.work.foreground import Foreground
from helix.model.candidate import Candidate
from helix.model.memory import GLOBAL_SCOPE
from helix.model.observed import Accepted, Observed
from helix.model.reports import Health, StoreResult
from helix.store.store import Store


class Observation:
    """What is asked of the observer and of plans' order; every method blocks and may be called from any thread."""

    _store: Store
    _foreground: Foreground

    def observe_explorer(self, output: str, keeping: Keeping) -> Observed:
        """Return what an explorer's answer gives to learn."""
        return self._observe(keeping, lambda origin: observe.observe_explorer(output, origin))

    def observe_planner(
        self, tasks: Sequence[Json], exploration: Json, learned: Sequence[str], keeping: Keeping
    ) -> Observed:
        """Return what a plan gives to learn."""
        plan = objects(tasks)
        return self._observe(keeping, lambda origin: observe.observe_planner(plan, exploration, origin, learned))

    def observe_builder(self, task: Json, result: str, files_changed: Sequence[str], keeping: Keeping) -> Observed:
        """Return what a builder's work gives to learn."""
        return self._observe(keeping, lambda origin: observe.observe_builder(task, result, files_changed, origin))

    def observe_session(
        self, objective: str, tasks: Sequence[Json] | None, outcomes: Json, keeping: Keeping
    ) -> Observed:
        """Return what a whole session gives to learn; None as tasks means those that are kept of it."""
        done = self._of_session(keeping) if tasks is None else objects(tasks)
        return self._observe(keeping, lambda origin: observe.observe_session(objective, done, outcomes, origin))

    def learning_queue(self, scope: str | None = None, limit: int = 50) -> list[Candidate]:
        """Return what waits in the learning queue, the surest first."""
        return queue.waiting(self._store, scope, limit)

    def accept_candidate(self, candidate_id: str, by: str = "") -> Accepted:
        """Make a memory of what waits in the learning queue; its trust stays its source's."""
        self._store.check_capture()
        with self._foreground.request():
            return queue.accept(self._store, candidate_id, by)

    def reject_candidate(self, candidate_id: str, by: str = "") -> Candidate:
        """Have what waits in the learning queue come to nothing, for good."""
        return queue.reject(self._store, candidate_id, by)

    def chunk(self, request: ChunkRequest) -> StoreResult | None:
        """Store how a task was done as a pattern; None where it did not succeed."""
        self._store.check_capture()
        with self._foreground.request():
            return chunk(self._store, request)

    def verify(self, scope: str | None = None) -> Health:
        """Say whether the learning loop is closed, and what of it is not."""
        return verify(self._store, scope)

    def task_state(self, task: Json, others: Sequence[Json] = ()) -> TaskState:
        """Return where a task of a client's list stands."""
        return helix_task_state(task, objects(others))

    def dag_cycles(self, dependencies: Json) -> list[tuple[str, ...]]:
        """Return circles of tasks that wait for each other."""
        return listed.cycles(dependencies)

    def dag_ready(self, tasks: Sequence[Json] | None = None, plan: str = "", scope: str = GLOBAL_SCOPE) -> list[str]:
        """Return the tasks that can begin now, of a client's list or of a saved plan."""
        return dag.get_ready_tasks(listed.listed(self._store, tasks, plan, scope))

    def dag_stalled(
        self, tasks: Sequence[Json] | None = None, plan: str = "", scope: str = GLOBAL_SCOPE
    ) -> dag.Stall | None:
        """Return why nothing can go on in a client's list or a saved plan; None where something can, or all is over."""
        return dag.check_stalled(listed.listed(self._store, tasks, plan, scope))[1]

    def dag_clear(
        self,
        tasks: Sequence[Json] | None = None,
        plan: str = "",
        scope: str = GLOBAL_SCOPE,
        session: str = "",
        *,
        force: bool = False,
    ) -> tuple[Clearing, list[dict[str, Any]]]:
        """Give back tasks that a dead session left in progress; return which, and all as they are."""
        return listed.clear(self._store, tasks, plan, scope, session, force=force)

    def _of_session(self, keeping: Keeping) -> list[dict[str, Any]]:
        """Return the tasks of a session that came to something, in the order in which they were told of."""
        if not keeping.session:
            raise InvalidInputError("neither tasks nor a session are named", hint="give one of them")
        known = tasks_of(self._store, scope=keeping.scope, session=keeping.session)
        return [
            {**task.attributes, "id": task.id, "objective": task.objective, "helix_outcome": task.outcome}
            for task in reversed(known)
            if task.outcome and task.objective
        ]

    def _observe(self, keeping: Keeping, look: Callable[[Origin], Sequence[Candidate]]) -> Observed:
        if keeping.writes:
            self._store.check_capture()
        with self._foreground.request():
            return keep(self._store, look(keeping.origin(self._store.clock())), keeping)
