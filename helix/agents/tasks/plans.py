"""Plans: what a planner answered becomes a node with its tasks and their order, and is read back from there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from helix.agents.answers.loose_json import best_object, mapping, word
from helix.agents.answers.planner_answer import (
    CLARIFY,
    PlannedTask,
    PlannerAnswer,
    answer_problems,
    order_problems,
    plan_tasks,
    read_planner,
)
from helix.agents.tasks import dag
from helix.agents.tasks.board import find_task, task_id, waits_for
from helix.agents.tasks.exclusion import NOT_KEPT, Exclusion, exclusion_of
from helix.agents.tasks.task_names import mapped, plan_key, unknown_to
from helix.errors import InvalidInputError, NotFoundError
from helix.memory.capture.sessions import is_private
from helix.memory.change.compose import Composer
from helix.memory.change.intake import Intake
from helix.model.edge import Label, Ref, Relation
from helix.model.memory import GLOBAL_SCOPE
from helix.model.task import (
    BUDGET,
    CLIENT_TASK,
    COMPLETED,
    DELIVERED,
    DELTA,
    PENDING,
    PLAN,
    RELEVANT_FILES,
    SEQ,
    SKIPPED,
    SLUG,
    SUMMARY,
    VERIFY,
    Exploration,
    Plan,
    Task,
)
from helix.model.task_answers import Cascade, PlanReport, PlanTask
from helix.model.tombstone import is_erased
from helix.store.index import StoreIndex
from helix.store.store import Store
from helix.store.writer import Decision

OPEN, COMPLETE = "open", "complete"
"""What the status of a plan may be."""
_OBJECTIVE = "objective"
_KEPT = ("framework", "idioms")
"""What else of a planner's answer goes with the plan."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRequest:
    """A planner's whole answer, JSON alone or in prose. `objective` counts where the answer names none.

    `exploration` is the id of what it is based on; empty: the newest of the scope for this objective. The client's
    tasks of `session` that the answer maps its own to become the plan's.
    """

    answer: str
    objective: str = ""
    scope: str = GLOBAL_SCOPE
    session: str = ""
    exploration: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Draft:
    """What is to be written: the tasks with their client's ids, in the same order, and what else was said."""

    answer: PlannerAnswer
    objective: str
    exploration: str
    tasks: tuple[PlannedTask, ...]
    client_ids: tuple[str, ...]
    attributes: Mapping[str, Any]
    is_whole: bool


def save_plan(store: Store, request: PlanRequest) -> PlanReport:
    """Write nodes for a plan, its tasks and their order; one that maps to the client's tasks only once, however often.

    Without an objective it is that of the newest exploration, where no plan is based on that yet. Raises
    InvalidInputError where it asks to clarify something, has no tasks, or nobody could work through it: two tasks of
    one number, one that waits for what is no task, or tasks that wait for each other.
    """
    intake = Intake(store.runtime.settings.text_limit)
    scope, session = intake.scope(request.scope), intake.session(request.session)
    if is_private(store.journal, session):
        raise InvalidInputError("nothing of a private session is kept", hint="plan without saving the plan")
    draft = _drafted(store, request, scope, session, intake)
    strangers = unknown_to(store.index, scope, session, draft.answer.mapping)
    own = task_id(scope, session, "\x1f".join(("plan", *draft.client_ids))) if all(draft.client_ids) else ""

    def decision() -> Decision[tuple[str, bool]]:
        composer = Composer(store, store.runtime.clock())
        ident = own or composer.new_id()
        ref = Ref.plan(ident)
        if ref in store.index:
            return Decision((), (ident, False))
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
        if draft.exploration:
            composer.edge(Relation.BASED_ON, ref, _exploration(store.index, draft.exploration))
        _write_tasks(store.index, composer, draft, scope=scope, session=session, plan=ident)
        return Decision((composer.change("plan", plan=ident),), (ident, True))

    ident, new = store.writer.submit(decision)
    problems = [*answer_problems(replace(draft.answer, tasks=draft.tasks)), *strangers]
    if not new:
        problems.append("a plan of the same tasks of the client was saved before and stays as it was")
    if not draft.is_whole:
        problems.append(NOT_KEPT)
    if not draft.objective:
        problems.append("the plan has no objective")
    return replace(load_plan(store.index, ident), problems=tuple(problems))


def _write_tasks(index: StoreIndex, composer: Composer, draft: _Draft, *, scope: str, session: str, plan: str) -> None:
    keys = [client or plan_key(plan, task.seq) for task, client in zip(draft.tasks, draft.client_ids, strict=True)]
    idents = {task.seq: task_id(scope, session, key) for task, key in zip(draft.tasks, keys, strict=True)}
    for planned, client in zip(draft.tasks, draft.client_ids, strict=True):
        ident = idents[planned.seq]
        known = find_task(index, ident)
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
        composer.edge(Relation.HAS_TASK, Ref.plan(plan), Ref.task(ident))
    for planned in draft.tasks:
        known_before = waits_for(index, idents[planned.seq])
        for one in dict.fromkeys(planned.depends):
            if idents[one] not in known_before:
                composer.edge(
                    Relation.BLOCKED_BY,
                    Ref.task(idents[planned.seq]),
                    Ref.task(idents[one]),
                )


def load_plan(index: StoreIndex, plan_id: str = "", scope: str = GLOBAL_SCOPE) -> PlanReport:
    """Return a plan by its id, or without one the newest of exactly this scope.

    Raises NotFoundError.
    """
    plan = _found(index, plan_id, scope)
    ref = Ref.plan(plan.id)
    edges = index.records.edges_at(ref)
    refs = [op.target for op in edges if op.type is Relation.HAS_TASK and op.source == ref]
    tasks = [cast(Task, node) for node in index.records.present(refs) if node is not None]
    seqs = {task.id: _seq(task) for task in tasks}
    told = (as_planned(task, sorted(seqs[one] for one in waits_for(index, task.id) if one in seqs)) for task in tasks)
    based_on = next((op.target.id for op in edges if op.type is Relation.BASED_ON), "")
    return PlanReport(plan=plan, tasks=tuple(sorted(told, key=_place)), exploration=based_on)


def ready_tasks(index: StoreIndex, plan_id: str = "", scope: str = GLOBAL_SCOPE) -> tuple[PlanTask, ...]:
    """Return the tasks of a plan that can begin now, in their order."""
    tasks = load_plan(index, plan_id, scope).tasks
    ready = set(dag.get_ready_tasks(as_listed(tasks)))
    return tuple(task for task in tasks if task.seq in ready)


def cascade_status(index: StoreIndex, plan_id: str = "", scope: str = GLOBAL_SCOPE) -> Cascade:
    """Return where a plan stands; its tasks are named by their `seq`."""
    return dag.cascade_status(as_listed(load_plan(index, plan_id, scope).tasks))


def as_planned(task: Task, depends: Sequence[str] = ()) -> PlanTask:
    """Return a plan's task as it was planned and stands now."""
    said = task.attributes
    budget = said.get(BUDGET, 0)
    return PlanTask(
        id=task.id,
        client_task=str(said.get(CLIENT_TASK, "")),
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
    answer = mapped(store.index, scope, session, read_planner(request.answer))
    whole = best_object(request.answer, ("decision", "plan", "tasks", "objective"))
    plan = mapping(whole.get("plan")) or whole
    tasks = answer.tasks or plan_tasks(plan.get("tasks"))
    if not tasks and answer.mapping:
        tasks = tuple(_mirrored(store.index, task_id(scope, session, key), seq) for seq, key in answer.mapping.items())
    if answer.decision == CLARIFY and not tasks:
        raise InvalidInputError(
            "the planner asks before it plans: " + "; ".join(answer.questions), hint="answer it, and plan again"
        )
    if not tasks:
        raise InvalidInputError("there is no task in the plan", hint="hand in JSON with a list `tasks`")
    clean = tuple(_clean(task, intake) for task in tasks)
    if problems := order_problems(clean):
        raise InvalidInputError("; ".join(problems), hint="have the planner mend it; nothing was saved")
    exclusion = exclusion_of(store.runtime.settings.home, scope)
    kept = tuple(_without_excluded(task, exclusion) for task in clean)
    client_ids = tuple(intake.label(answer.mapping.get(task.seq, ""), "client's task") for task in clean)
    for one in client_ids:
        if one and client_ids.count(one) > 1:
            raise InvalidInputError(f"two tasks are mapped to the client's task {one}", hint="map each to its own")
    objective = intake.text(word(plan.get("objective")) or request.objective, "objective", required=False)
    based_on = _based_on(store.index, request.exploration, objective, scope)
    attributes = intake.attributes(
        {name: plan[name] for name in _KEPT if name in plan}, store.runtime.settings.text_limit
    )
    said = {_OBJECTIVE: objective, **attributes}
    whole_kept = exclusion.without(said)
    return _Draft(
        answer=answer,
        objective=whole_kept[_OBJECTIVE] or (based_on.objective if based_on is not None else ""),
        exploration=based_on.id if based_on is not None else "",
        tasks=kept,
        client_ids=client_ids,
        attributes={name: whole_kept[name] for name in attributes},
        is_whole=(kept, whole_kept) == (clean, said),
    )


def _based_on(index: StoreIndex, ident: str, objective: str, scope: str) -> Exploration | None:
    """Return the exploration of that id; without one the newest of the scope, where it fits the objective.

    It does where it has the same one, but for case and white space. A plan without an objective takes up one that no
    plan is based on yet.
    """
    if ident:
        return cast(Exploration, index.records.node(_exploration(index, ident)))
    if (newest := newest_of(index, Label.EXPLORATION, scope)) is None:
        return None
    found = cast(Exploration, index.records.node(newest))
    if objective:
        return found if _folded(found.objective) == _folded(objective) else None
    taken = any(op.type is Relation.BASED_ON for op in index.records.edges_at(newest))
    return None if taken else found


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())


def _mirrored(index: StoreIndex, ident: str, seq: str) -> PlannedTask:
    task = find_task(index, ident)
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


def _without_excluded(task: PlannedTask, exclusion: Exclusion) -> PlannedTask:
    """Return a planned task without what names a file of a `.helixignore`; its number stands for such an objective."""
    said = {name: getattr(task, name) for name in (SLUG, _OBJECTIVE, DELTA, VERIFY, RELEVANT_FILES)}
    kept = exclusion.without(said)
    return replace(
        task,
        slug=kept[SLUG],
        objective=kept[_OBJECTIVE] or (task.objective and (kept[SLUG] or task.seq)),
        delta=tuple(kept[DELTA]),
        verify=kept[VERIFY],
        relevant_files=tuple(kept[RELEVANT_FILES]),
    )


def _found(index: StoreIndex, plan_id: str, scope: str = GLOBAL_SCOPE) -> Plan:
    if plan_id:
        ref = Ref.plan(plan_id.strip())
        if ref not in index:
            raise NotFoundError(f"there is no plan {plan_id!r}", hint="`helix plan load` shows the newest")
        return cast(Plan, index.records.node(ref))
    newest = newest_of(index, Label.PLAN, scope)
    if newest is None:
        raise NotFoundError(f"no plan was saved yet in {scope}", hint="`helix plan save` saves what a planner answers")
    return cast(Plan, index.records.node(newest))


def newest_of(index: StoreIndex, label: Label, scope: str) -> Ref | None:
    """Return the newest plan of tasks or exploration: the node of a label and this scope recorded last, or None."""
    newest = index.newest(index.where(label, scope=scope), 1)
    return index.ref_of(newest[0]) if newest else None


def _exploration(index: StoreIndex, ident: str) -> Ref:
    ref = Ref(label=Label.EXPLORATION, id=ident.strip())
    if ref not in index:
        raise NotFoundError(f"there is no exploration {ident!r}", hint="`helix exploration load` shows the newest")
    return ref


def as_listed(tasks: Sequence[PlanTask]) -> list[dict[str, Any]]:
    """Return a plan's tasks in the form of the client's own task list; what was said to be delivered is over there."""
    return [
        {
            "id": task.seq,
            "status": COMPLETED if task.status == PENDING and task.outcome in (DELIVERED, SKIPPED) else task.status,
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
