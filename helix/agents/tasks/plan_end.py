"""Plan end: a plan that nobody works on any more, and what of it is left.

The tasks of a saved plan that were left in progress are given back to whoever works on it next.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import cast

from helix.agents.tasks.board import find_task
from helix.agents.tasks.plans import COMPLETE, load_plan
from helix.agents.tasks.workspaces import active_attempts, supersede
from helix.journal.state import Records
from helix.memory.change.compose import Composer
from helix.model.clock import to_micros
from helix.model.edge import Ref
from helix.model.episode import Session, session_id
from helix.model.memory import GLOBAL_SCOPE
from helix.model.task import COMPLETED, DELIVERED, IN_PROGRESS, PENDING, Task
from helix.model.task_answers import PlanReport, PlanTask
from helix.store.store import Store
from helix.store.writer import Decision


def complete_plan(store: Store, plan_id: str = "", scope: str = GLOBAL_SCOPE) -> PlanReport:
    """Complete a plan of tasks, whatever became of them; what is left of it is told.

    Without an id the newest plan of exactly the scope is meant. Saying it twice changes nothing. Raises NotFoundError.
    """
    ident = load_plan(store.index, plan_id, scope).plan.id

    def decision() -> Decision[None]:
        if load_plan(store.index, ident).plan.status == COMPLETE:
            return Decision((), None)
        composer = Composer(store, store.runtime.clock())
        composer.patch(Ref.plan(ident), status=COMPLETE)
        return Decision((composer.change("plan", plan=ident),), None)

    store.writer.submit(decision)
    report = load_plan(store.index, ident)
    return replace(report, problems=tuple(_left(store.records, report.tasks)))


def _left(records: Records, tasks: Sequence[PlanTask]) -> Iterator[str]:
    """Yield in sentences what of a plan is not over."""
    for status in (PENDING, IN_PROGRESS):
        if left := [task.seq for task in tasks if task.status == status]:
            yield f"tasks {status.replace('_', ' ')}: {', '.join(left)}"
    over = [task for task in tasks if task.status == COMPLETED and task.outcome != DELIVERED]
    if over:
        yield "tasks over and not delivered: " + ", ".join(f"{task.seq} {task.outcome}".strip() for task in over)
    if active := [one.id for task in tasks for one in active_attempts(records, task.id)]:
        yield f"attempts that nobody has ended: {', '.join(active)}"


SILENT = timedelta(days=1)
"""For how long a session that is open may do nothing before it counts as dead."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Clearing:
    """The `seq` of the tasks that are pending again, and of those whose session may still be at work, in order."""

    cleared: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()


def clear_plan(
    store: Store, plan_id: str = "", scope: str = GLOBAL_SCOPE, session: str = "", *, force: bool = False
) -> Clearing:
    """Clear a dead session's plan: its tasks in progress are pending again, attempts at them superseded.

    A session is dead where it has ended, has done nothing for a day, or nobody ever opened it. Tasks of `session`, the
    one that goes on, stay as they are; those of other sessions that may live too, unless it is done by `force`. Without
    an id the newest plan of exactly the scope is meant. Raises NotFoundError.
    """
    plan = load_plan(store.index, plan_id, scope)

    def decision() -> Decision[Clearing]:
        composer = Composer(store, store.runtime.clock())
        cleared, kept = [], []
        for planned in plan.tasks:
            task = find_task(store.index, planned.id)
            if task is None or task.status != IN_PROGRESS or (session and task.session == session):
                continue
            if not force and _may_live(store, task):
                kept.append(planned.seq)
                continue
            composer.patch(task.ref, status=PENDING)
            supersede(store.records, composer, task.id)
            cleared.append(planned.seq)
        changes = (composer.change("clear", plan=plan.plan.id),) if cleared else ()
        return Decision(changes, Clearing(cleared=tuple(cleared), kept=tuple(kept)))

    return store.writer.submit(decision)


def _may_live(store: Store, task: Task) -> bool:
    """Return whether a task's session is open and has done something within a day."""
    ref = Ref.session(session_id(task.scope, task.session))
    index = store.index
    if not task.session or ref not in index:
        return False
    session = cast(Session, store.records.node(ref))
    done = index.of_scope(task.scope) & index.of_session(task.session)
    last = max(*map(index.recorded_at, index.newest(done, 1)), to_micros(session.started_at), 0)
    return session.ended_at is None and to_micros(store.runtime.clock() - SILENT) < last
