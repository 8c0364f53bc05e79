"""Clearing: the tasks of a saved plan that were left in progress, given back to whoever works on it next."""

from __future__ import annotations

from helix.learning.orchestration.board import find_task
from helix.learning.orchestration.plans import load_plan
from helix.lifecycle.compose import Composer
from helix.model.edge import Label, Ref
from helix.model.task import IN_PROGRESS, PENDING
from helix.store.store import Store
from helix.store.writer import Decision


def clear_plan(store: Store, plan_id: str = "", scope: str | None = None, session: str = "") -> tuple[str, ...]:
    """Have the tasks of a plan that are in progress be pending again, and return their `seq`, in order.

    That somebody is at work on a task is the only checkpoint there is; whoever asks for this says that nobody is. Tasks
    of `session`, the one that goes on, keep it. Without an id the newest plan of exactly the scope (None: of any) is
    meant. Raises NotFoundError.
    """
    plan = load_plan(store, plan_id, scope)

    def decision() -> Decision[tuple[str, ...]]:
        composer = Composer(store, store.clock())
        cleared = []
        for planned in plan.tasks:
            task = find_task(store, planned.id)
            if task is None or task.status != IN_PROGRESS or (session and task.session == session):
                continue
            composer.patch(Ref(label=Label.TASK, id=task.id), status=PENDING)
            cleared.append(planned.seq)
        changes = (composer.change("clear", plan=plan.plan.id),) if cleared else ()
        return Decision(changes, tuple(cleared))

    return store.writer.submit(decision)
