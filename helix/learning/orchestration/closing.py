"""Closing: a plan that nobody works on any more, and what of it is left."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from helix.learning.orchestration.attempts import active_attempts
from helix.learning.orchestration.plans import COMPLETE, load_plan
from helix.lifecycle.compose import Composer
from helix.model.edge import Label, Ref
from helix.model.memory import GLOBAL_SCOPE
from helix.model.planned import PlanReport, PlanTask
from helix.model.task import COMPLETED, DELIVERED, IN_PROGRESS, PENDING
from helix.store.store import Store
from helix.store.writer import Decision


def complete_plan(store: Store, plan_id: str = "", scope: str = GLOBAL_SCOPE) -> PlanReport:
    """Say that nobody works on a plan any more, whatever became of its tasks; what is left of it is told.

    Without an id the newest plan of exactly the scope is meant. Saying it twice changes nothing. Raises NotFoundError.
    """
    ident = load_plan(store, plan_id, scope).plan.id

    def decision() -> Decision[None]:
        if load_plan(store, ident).plan.status == COMPLETE:
            return Decision((), None)
        composer = Composer(store, store.clock())
        composer.patch(Ref(label=Label.PLAN, id=ident), status=COMPLETE)
        return Decision((composer.change("plan", plan=ident),), None)

    store.writer.submit(decision)
    report = load_plan(store, ident)
    return replace(report, problems=tuple(_left(store, report.tasks)))


def _left(store: Store, tasks: Sequence[PlanTask]) -> Iterator[str]:
    """Yield in sentences what of a plan is not over."""
    for status in (PENDING, IN_PROGRESS):
        if left := [task.seq for task in tasks if task.status == status]:
            yield f"tasks {status.replace('_', ' ')}: {', '.join(left)}"
    over = [task for task in tasks if task.status == COMPLETED and task.outcome != DELIVERED]
    if over:
        yield "tasks over and not delivered: " + ", ".join(f"{task.seq} {task.outcome}".strip() for task in over)
    if active := [one.id for task in tasks for one in active_attempts(store, task.id)]:
        yield f"attempts that nobody has ended: {', '.join(active)}"
