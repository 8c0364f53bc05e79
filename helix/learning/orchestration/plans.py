"""Plans: what a planner answered becomes a node with its tasks and their order, and is read back from there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from helix.errors import InvalidInputError, NotFoundError
from helix.learning.contracts.loose import best_object, mapping, word
from helix.learning.contracts.planner import (
    CLARIFY,
    PlannedTask,
    order_problems,
    plan_problems,
    plan_tasks,
    read_planner,
)
from helix.learning.orchestration import dag
from helix.learning.orchestration.board import find_task, task_id
from helix.learning.orchestration.order import waits_for
from helix.lifecycle.capture.sessions import is_private
from helix.lifecycle.compose import Composer
from helix.lifecycle.intake import Intake
from helix.model.edge import Label, Ref, Relation
from helix.model.memory import GLOBAL_SCOPE
from helix.model.planned import PlanReport, PlanTask
from helix.model.task import (
    BUDGET,
    CLIENT_TASK,
    DELTA,
    PLAN,
    RELEVANT_FILES,
    SEQ,
    SLUG,
    SUMMARY,
    VERIFY,
    Plan,
    Task,
)
from helix.model.tombstone import is_erased
from helix.store.columns import LABEL_CODE
from helix.store.store import Store
from helix.store.writer import Decision

OPEN, COMPLETE = "open", "complete"
"""What the status of a plan may be."""
_KEPT = ("framework", "idioms")
"""What else of a planner's answer goes with the plan."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRequest:
    """A planner's whole answer, JSON alone or in prose. `objective` counts where the answer names none.

    `exploration` is the id of what it is based on. The client's tasks of `session` that the answer maps its own to
    become the plan's.
    """

    answer: str
    objective: str = ""
    scope: str = GLOBAL_SCOPE
    session: str = ""
    exploration: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Draft:
    """What is to be written: the tasks with their client's ids, in the same order, and what else was said."""

    objective: str
    tasks: tuple[PlannedTask, ...]
    client_ids: tuple[str, ...]
    attributes: Mapping[str, Any]


def save_plan(store: Store, request: PlanRequest) -> PlanReport:
    """Write a plan with its tasks and their order; one that maps to the client's tasks is written once, however often.

    Raises InvalidInputError where it asks to clarify something, has no tasks, or nobody could work through it: two
    tasks of one number, one that waits for what is no task, or tasks that wait for each other.
    """
    intake = Intake(store.settings.text_limit)
    scope, session = intake.scope(request.scope), intake.label(request.session, "session")
    if is_private(store, session):
        raise InvalidInputError("nothing of a private session is kept", hint="plan without saving the plan")
    draft = _drafted(store, request, scope, session, intake)
    mapped = bool(draft.client_ids) and all(draft.client_ids)
    own = task_id(scope, session, "\x1f".join(("plan", *draft.client_ids))) if mapped else ""

    def decision() -> Decision[str]:
        composer = Composer(store, store.clock())
        ident = own or store.make_id(composer.now)
        ref = _plan(ident)
        if store.catalogue.row_of(ref) is not None:
            return Decision((), ident)
        composer.node(
            Plan(
                id=ident,
                objective=draft.objective,
                recorded_at=composer.now,
                scope=scope,
                status=OPEN,
                attributes=draft.attributes,
            )
        )
        if request.exploration:
            composer.edge(Relation.BASED_ON, ref, _exploration(store, request.exploration))
        _write_tasks(store, composer, draft, scope=scope, session=session, plan=ident)
        return Decision((composer.change("plan", plan=ident),), ident)

    report = load_plan(store, store.writer.submit(decision))
    return replace(report, problems=tuple(plan_problems(draft.tasks)))


def _write_tasks(store: Store, composer: Composer, draft: _Draft, *, scope: str, session: str, plan: str) -> None:
    keys = [client or f"plan:{plan}:{task.seq}" for task, client in zip(draft.tasks, draft.client_ids, strict=True)]
    idents = {task.seq: task_id(scope, session, key) for task, key in zip(draft.tasks, keys, strict=True)}
    for planned, client in zip(draft.tasks, draft.client_ids, strict=True):
        ident = idents[planned.seq]
        known = find_task(store, ident)
        before = known or Task(id=ident, objective="", recorded_at=composer.now, scope=scope, session=session)
        told = {
            PLAN: plan,
            SEQ: planned.seq,
            SLUG: planned.slug,
            DELTA: list(planned.delta),
            VERIFY: planned.verify,
            BUDGET: planned.budget,
            RELEVANT_FILES: list(planned.relevant_files),
            **({CLIENT_TASK: client} if client else {}),
        }
        if is_erased(before):  # no words come back to it
            composer.node(replace(before, attributes={**before.attributes, PLAN: plan}))
        else:
            composer.node(replace(before, objective=planned.objective, attributes={**before.attributes, **told}))
        composer.edge(Relation.HAS_TASK, _plan(plan), Ref(label=Label.TASK, id=ident))
    for planned in draft.tasks:
        known_before = waits_for(store, idents[planned.seq])
        for one in dict.fromkeys(planned.depends):
            if idents[one] not in known_before:
                composer.edge(
                    Relation.BLOCKED_BY,
                    Ref(label=Label.TASK, id=idents[planned.seq]),
                    Ref(label=Label.TASK, id=idents[one]),
                )


def load_plan(store: Store, plan_id: str = "", scope: str | None = None) -> PlanReport:
    """Return a plan by its id, or without one the newest of exactly this scope (None: of any).

    Raises NotFoundError.
    """
    plan = _found(store, plan_id, scope)
    ref = _plan(plan.id)
    edges = store.records.edges_at(ref)
    refs = [op.target for op in edges if op.type is Relation.HAS_TASK and op.source == ref]
    tasks = [cast(Task, node) for node in store.records.present(refs) if node is not None]
    seqs = {task.id: _seq(task) for task in tasks}
    told = (as_planned(task, sorted(seqs[one] for one in waits_for(store, task.id) if one in seqs)) for task in tasks)
    based_on = next((op.target.id for op in edges if op.type is Relation.BASED_ON), "")
    return PlanReport(plan=plan, tasks=tuple(sorted(told, key=_place)), exploration=based_on)


def ready_tasks(store: Store, plan_id: str = "", scope: str | None = None) -> tuple[PlanTask, ...]:
    """Return the tasks of a plan that can begin now, in their order."""
    tasks = load_plan(store, plan_id, scope).tasks
    ready = set(dag.get_ready_tasks(as_listed(tasks)))
    return tuple(task for task in tasks if task.seq in ready)


def cascade_status(store: Store, plan_id: str = "", scope: str | None = None) -> dag.Cascade:
    """Return where a plan stands; its tasks are named by their `seq`."""
    return dag.cascade_status(as_listed(load_plan(store, plan_id, scope).tasks))


def complete_plan(store: Store, plan_id: str = "", scope: str | None = None) -> PlanReport:
    """Say that nobody works on a plan any more, whatever became of its tasks; saying it twice changes nothing."""
    ident = _found(store, plan_id, scope).id

    def decision() -> Decision[None]:
        known = _found(store, ident, None)
        composer = Composer(store, store.clock())
        if known.status == COMPLETE:
            return Decision((), None)
        composer.patch(_plan(ident), status=COMPLETE)
        return Decision((composer.change("plan", plan=ident),), None)

    store.writer.submit(decision)
    return load_plan(store, ident)


def as_planned(task: Task, depends: Sequence[str] = ()) -> PlanTask:
    """Return a task as it was planned and stands now."""
    said = task.attributes
    budget = said.get(BUDGET, 0)
    return PlanTask(
        id=task.id,
        seq=_seq(task),
        slug=str(said.get(SLUG, "")),
        objective=task.objective,
        delta=_texts(said.get(DELTA)),
        verify=str(said.get(VERIFY, "")),
        depends=tuple(depends),
        budget=budget if isinstance(budget, int) else 0,
        relevant_files=_texts(said.get(RELEVANT_FILES)),
        status=task.status,
        outcome=task.outcome,
        delivered=str(said.get(SUMMARY, "")),
    )


def _drafted(store: Store, request: PlanRequest, scope: str, session: str, intake: Intake) -> _Draft:
    answer = read_planner(request.answer)
    whole = best_object(request.answer, ("decision", "plan", "tasks", "objective"))
    plan = mapping(whole.get("plan")) or whole
    tasks = answer.tasks or plan_tasks(plan.get("tasks"))
    if not tasks and answer.mapping:
        tasks = tuple(_mirrored(store, task_id(scope, session, key), seq) for seq, key in answer.mapping.items())
    if answer.decision == CLARIFY and not tasks:
        raise InvalidInputError(
            "the planner asks before it plans: " + "; ".join(answer.questions), hint="answer it, and plan again"
        )
    if not tasks:
        raise InvalidInputError("there is no task in the plan", hint="hand in JSON with a list `tasks`")
    clean = tuple(_clean(task, intake) for task in tasks)
    if problems := order_problems(clean):
        raise InvalidInputError("; ".join(problems), hint="have the planner mend it; nothing was saved")
    client_ids = tuple(intake.label(answer.mapping.get(task.seq, ""), "client's task") for task in clean)
    for one in client_ids:
        if one and client_ids.count(one) > 1:
            raise InvalidInputError(f"two tasks are mapped to the client's task {one}", hint="map each to its own")
    return _Draft(
        objective=intake.text(word(plan.get("objective")) or request.objective, "objective", required=False),
        tasks=clean,
        client_ids=client_ids,
        attributes=intake.attributes({name: plan[name] for name in _KEPT if name in plan}, store.settings.text_limit),
    )


def _mirrored(store: Store, ident: str, seq: str) -> PlannedTask:
    task = find_task(store, ident)
    if task is None:
        raise InvalidInputError(
            f"task {seq} is mapped to one of the client's that is not known here",
            hint="name the session it belongs to, or hand in the tasks themselves",
        )
    known = as_planned(task)
    return PlannedTask(
        seq=seq,
        slug=known.slug,
        objective=known.objective or known.slug or seq,
        delta=known.delta,
        verify=known.verify,
        budget=known.budget,
        relevant_files=known.relevant_files,
    )


def _clean(task: PlannedTask, intake: Intake) -> PlannedTask:
    return PlannedTask(
        seq=intake.label(task.seq, "seq"),
        slug=intake.label(task.slug, "slug"),
        objective=intake.text(task.objective, "objective", required=False),
        delta=tuple(intake.text(one, "delta", required=False) for one in task.delta),
        verify=intake.text(task.verify, "verify", required=False),
        depends=intake.labels(task.depends, "depends"),
        budget=task.budget,
        relevant_files=tuple(intake.text(one, "relevant_files", required=False) for one in task.relevant_files),
    )


def _found(store: Store, plan_id: str, scope: str | None) -> Plan:
    if plan_id:
        ref = _plan(plan_id.strip())
        if store.catalogue.view.row_of(ref) is None:
            raise NotFoundError(f"there is no plan {plan_id!r}", hint="`helix plan load` shows the newest")
        return cast(Plan, store.records.node(ref))
    newest = newest_of(store, Label.PLAN, scope)
    if newest is None:
        raise NotFoundError("no plan was saved yet", hint="`helix plan save` saves what a planner answers")
    return cast(Plan, store.records.node(newest))


def newest_of(store: Store, label: Label, scope: str | None) -> Ref | None:
    """Return the node of a label and of exactly this scope (None: of any) that was recorded last, or None."""
    view = store.catalogue.view
    mask = view.columns.label == LABEL_CODE[label]
    if scope is not None:
        mask &= view.columns.scope == view.lookups.scopes.code(scope)
    rows = view.newest(mask, 1)
    return view.ref_of(int(rows[0])) if len(rows) else None


def _exploration(store: Store, ident: str) -> Ref:
    ref = Ref(label=Label.EXPLORATION, id=ident.strip())
    if store.catalogue.row_of(ref) is None:
        raise NotFoundError(f"there is no exploration {ident!r}", hint="`helix exploration load` shows the newest")
    return ref


def as_listed(tasks: Sequence[PlanTask]) -> list[dict[str, Any]]:
    """Return the tasks as the client lists its own."""
    return [
        {
            "id": task.seq,
            "status": task.status,
            "blockedBy": list(task.depends),
            "metadata": {"helix_outcome": task.outcome},
        }
        for task in tasks
    ]


def _place(task: PlanTask) -> tuple[bool, int, str]:
    """Numbers come before words, and by their size."""
    return (not task.seq.isdecimal(), int(task.seq) if task.seq.isdecimal() else 0, task.seq)


def _seq(task: Task) -> str:
    return str(task.attributes.get(SEQ) or task.id)


def _texts(value: object) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, list | tuple) else ()


def _plan(ident: str) -> Ref:
    return Ref(label=Label.PLAN, id=ident)
