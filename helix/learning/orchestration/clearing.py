"""Clearing: the tasks of a saved plan that were left in progress, given back to whoever works on it next."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import cast

from helix.learning.orchestration.attempts import supersede
from helix.learning.orchestration.board import find_task
from helix.learning.orchestration.plans import load_plan
from helix.lifecycle.compose import Composer
from helix.model.clock import to_micros
from helix.model.edge import Label, Ref
from helix.model.episode import Session, session_id
from helix.model.memory import GLOBAL_SCOPE
from helix.model.task import IN_PROGRESS, PENDING, Task
from helix.store.store import Store
from helix.store.writer import Decision

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
    """Have the tasks of a plan that a dead session left in progress be pending again; attempts at them are superseded.

    A session is dead where it has ended, has done nothing for a day, or nobody ever opened it. Tasks of `session`, the
    one that goes on, stay as they are; those of other sessions that may live too, unless it is done by `force`. Without
    an id the newest plan of exactly the scope is meant. Raises NotFoundError.
    """
    plan = load_plan(store, plan_id, scope)

    def decision() -> Decision[Clearing]:
        composer = Composer(store, store.clock())
        cleared, kept = [], []
        for planned in plan.tasks:
            task = find_task(store, planned.id)
            if task is None or task.status != IN_PROGRESS or (session and task.session == session):
                continue
            if not force and _may_live(store, task):
                kept.append(planned.seq)
                continue
            composer.patch(Ref(label=Label.TASK, id=task.id), status=PENDING)
            supersede(store, composer, task.id)
            cleared.append(planned.seq)
        changes = (composer.change("clear", plan=plan.plan.id),) if cleared else ()
        return Decision(changes, Clearing(cleared=tuple(cleared), kept=tuple(kept)))

    return store.writer.submit(decision)


def _may_live(store: Store, task: Task) -> bool:
    """Return whether a task's session is open and has done something within a day."""
    ref = Ref(label=Label.SESSION, id=session_id(task.scope, task.session))
    view = store.catalogue.view
    if not task.session or view.row_of(ref) is None:
        return False
    session = cast(Session, store.records.node(ref))
    columns, lookups = view.columns, view.lookups
    mask = (columns.session == lookups.sessions.code(task.session)) & (columns.scope == lookups.scopes.code(task.scope))
    last = max(int(columns.recorded_at[mask].max(initial=0)), to_micros(session.started_at))
    return session.ended_at is None and to_micros(store.clock() - SILENT) < last
