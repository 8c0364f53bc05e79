"""Workspaces: attempts at a task; each begins with what memory has for it and ends with what it came to.

They say which attempts somebody may still be at work in, and how those end when another one begins.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, cast

from helix.agents.answers.planner_answer import sequence
from helix.agents.answers.prompt import MEMORY_LIMIT, BuilderParams
from helix.agents.answers.task_record import client_task
from helix.agents.tasks import board
from helix.agents.tasks.board import waits_for
from helix.agents.tasks.exclusion import NOT_KEPT, exclusion_of
from helix.agents.tasks.plans import COMPLETE as CLOSED
from helix.agents.tasks.plans import as_planned, load_plan
from helix.errors import ConflictError, InvalidInputError, NotFoundError
from helix.journal.state import Records
from helix.memory.change.compose import Composer
from helix.memory.change.intake import Intake
from helix.model.clock import to_micros
from helix.model.edge import Label, Ref, Relation
from helix.model.memory import GLOBAL_SCOPE
from helix.model.paging import Key, page_of
from helix.model.reports import Page
from helix.model.task import (
    ACTIVE,
    BLOCKED,
    BLOCKED_REASON,
    CLIENT_TASK,
    COMPLETE,
    COMPLETED,
    DELIVERED,
    ERROR,
    HELD_BACK,
    IN_PROGRESS,
    PLAN,
    REASON,
    SUMMARY,
    SUPERSEDED,
    TRIED,
    UTILIZED,
    Plan,
    Shown,
    Task,
    Workspace,
)
from helix.model.task_answers import PlanTask, WorkspaceReport
from helix.store.index import StoreIndex
from helix.store.store import Store
from helix.store.writer import Decision
from helix.text.excerpts import shortened


class GivenContext(Protocol):
    """What is put before an agent, and which memories are in that."""

    @property
    def text(self) -> str:
        """The block of memories for an attempt at a task as it goes into a prompt."""
        ...

    @property
    def shown(self) -> tuple[Shown, ...]:
        """The memories that the workspace of an attempt at a task is given."""
        ...


STATUSES = (ACTIVE, COMPLETE, BLOCKED, SUPERSEDED)
"""What the status of a workspace may be."""
Give = Callable[[BuilderParams, str, bool], GivenContext]
"""Makes what is put before a builder out of what a scope remembers; the last argument says whether memories may be in
it."""
Settle = Callable[[str, str, Sequence[str]], object]
"""Is told a task's id, what its agent says it came to, and the memories it says it used."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkspaceRequest:
    """What to begin with: a task by its id, or by its `seq` in a plan (without `plan`, the newest of `scope`)."""

    task: str
    plan: str = ""
    scope: str = GLOBAL_SCOPE
    warning: str = ""
    limit: int = MEMORY_LIMIT


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How an attempt ended, in the agent's words: what it delivered, or why it was blocked."""

    delivered: str = ""
    reason: str = ""
    tried: str = ""
    error: str = ""
    utilized: Sequence[str] = ()


def create_workspace(
    store: Store, request: WorkspaceRequest, *, give: Give, treatment: Callable[[str], str]
) -> WorkspaceReport:
    """Begin an attempt at a task: it is in progress, and the report has its memories, or they are held back.

    `treatment` decides, for the task's id, whether memories are shown. Attempts at the task that nobody has ended are
    superseded, and told. Raises NotFoundError for an unknown task, InvalidInputError for one that cannot begin because
    what it waits for was not delivered, and ConflictError where it was delivered itself, or its plan is complete.
    """
    task = _task_of(store.index, request)
    parents = _parents(store.index, task)
    _check_can_begin(store.index, task, parents)
    params = _params(task, parents, request)
    given = give(params, task.scope, True)
    held_back = treatment(task.id) == HELD_BACK
    board.note(store, task.id, status=IN_PROGRESS)
    board.inject(store, task.id, given.shown, held_back=held_back)

    def decision() -> Decision[tuple[Workspace, tuple[str, ...]]]:
        composer = Composer(store, store.runtime.clock())
        left = supersede(store.records, composer, task.id)
        made = Workspace(id=composer.new_id(), recorded_at=composer.now, scope=task.scope)
        ref = composer.node(made)
        composer.edge(Relation.FOR_TASK, ref, task.ref)
        return Decision((composer.change("workspace", task=task.id),), (made, left))

    made, left = store.writer.submit(decision)
    return WorkspaceReport(
        workspace=made,
        task=_planned(store.index, task.id),
        prompt=give(params, task.scope, False).text if held_back else given.text,
        injected=() if held_back else given.shown,
        held_back=held_back and bool(given.shown),
        problems=tuple(f"attempt {one} had not been ended: it is superseded" for one in left),
    )


def complete_workspace(store: Store, ident: str, ending: Ending, *, settle: Settle) -> WorkspaceReport:
    """Complete the workspace of an attempt at a task that delivered.

    Evidence says what that is worth to the memories it was shown.
    Saying it twice changes nothing. Raises NotFoundError, or ConflictError for one that ended otherwise.
    """
    return _end(store, ident, COMPLETE, ending, settle)


def block_workspace(store: Store, ident: str, ending: Ending, *, settle: Settle) -> WorkspaceReport:
    """Block an attempt at a task that came to nothing, and say why; as `complete_workspace` does."""
    return _end(store, ident, BLOCKED, ending, settle)


def list_workspaces(
    index: StoreIndex,
    *,
    plan: str = "",
    scope: str | None = None,
    status: str | None = None,
    first: int = 50,
    after: str | None = None,
) -> Page[WorkspaceReport]:
    """Return a page of the workspaces of a plan (empty: of any), of exactly this scope and of a status (None: any).

    The newest come first. Raises NotFoundError for an unknown plan.
    """
    if status not in (None, *STATUSES):
        raise InvalidInputError(f"{status!r} is not a status of a workspace", hint=f"one of: {', '.join(STATUSES)}")
    tasks = {task.id for task in load_plan(index, plan).tasks} if plan else None
    held = (cast(Workspace, node) for node in index.present(index.where(Label.WORKSPACE, scope=scope)))
    attempts = [(one, _task_at(index.records, one.id)) for one in held if status in (None, one.status)]
    found = [one for one in attempts if one[1] and (tasks is None or one[1] in tasks)]
    page = page_of(found, _recorded, first=first, after=after, newest_first=True)
    return page.each(lambda one: WorkspaceReport(workspace=one[0], task=_planned(index, one[1])))


def _recorded(attempt: tuple[Workspace, str]) -> Key:
    return (to_micros(attempt[0].recorded_at), attempt[0].id)


def _end(store: Store, ident: str, status: str, ending: Ending, settle: Settle) -> WorkspaceReport:
    known = _found(store.index, ident)
    task = _task_at(store.records, known.id)
    if not task:
        raise NotFoundError(f"the task of workspace {ident!r} is gone", hint="`helix workspace list` shows the others")
    if known.status not in (ACTIVE, status):
        raise ConflictError(f"workspace {ident!r} is {known.status}", hint="create another one for another attempt")
    problems: list[str] = []
    if known.status == ACTIVE:
        intake = Intake(store.runtime.settings.text_limit)
        texts = {DELIVERED: ending.delivered, REASON: ending.reason, TRIED: ending.tried, ERROR: ending.error}
        told = {
            name: intake.text(shortened(text, intake.text_limit), name, required=False)
            for name, text in texts.items()
            if text
        }
        kept = exclusion_of(store.runtime.settings.home, known.scope).without(told)
        problems += [NOT_KEPT] if kept != told else []
        utilized = list(intake.labels(ending.utilized, "utilized"))
        outcome = DELIVERED if status == COMPLETE else BLOCKED
        names = {DELIVERED: SUMMARY, REASON: BLOCKED_REASON}
        board.note(
            store, task, status=COMPLETED, attributes={names.get(name, name): text for name, text in told.items()}
        )
        settle(task, outcome, utilized)
        _close(store, known.id, status, {**{name: text for name, text in kept.items() if text}, UTILIZED: utilized})
    shown = {
        name for one in board.injections(store.index, task) if not one.held_back for name in (one.name, one.memory_id)
    }
    return WorkspaceReport(
        workspace=_found(store.index, ident),
        task=_planned(store.index, task),
        problems=(
            *problems,
            *(
                f"{name} was not shown to this task: nothing is credited for it"
                for name in dict.fromkeys(ending.utilized)
                if name not in shown
            ),
        ),
    )


def _check_can_begin(index: StoreIndex, task: Task, parents: Sequence[Task]) -> None:
    if task.outcome == DELIVERED:
        raise ConflictError(
            f"task {_name(task)} was delivered already",
            hint=f"if it was not, `helix task outcome {task.id} blocked` says so",
        )
    ref = Ref.plan(str(task.attributes.get(PLAN, "")))
    if ref in index and cast(Plan, index.records.node(ref)).status == CLOSED:
        raise ConflictError(f"the plan of task {_name(task)} is complete", hint="`helix plan save` begins another one")
    if waiting := [_name(parent) for parent in parents if parent.outcome != DELIVERED]:
        raise InvalidInputError(
            f"task {_name(task)} waits for {', '.join(waiting)}, not delivered yet",
            hint="`helix plan ready-tasks` shows what can begin",
        )


def _close(store: Store, ident: str, status: str, attributes: Mapping[str, object]) -> None:
    def decision() -> Decision[None]:
        composer = Composer(store, store.runtime.clock())
        known = _found(store.index, ident)
        composer.node(
            replace(known, status=status, ended_at=composer.now, attributes={**known.attributes, **attributes})
        )
        return Decision((composer.change("workspace", workspace=ident),), None)

    store.writer.submit(decision)


def _task_of(index: StoreIndex, request: WorkspaceRequest) -> Task:
    wanted = request.task.strip()
    task = None if request.plan else board.find_task(index, wanted)
    if task is None:
        tasks = load_plan(index, request.plan, request.scope).tasks
        seq, client = sequence(wanted), client_task(wanted)
        planned = next((one for one in tasks if seq == one.seq or wanted == one.id), None) or next(
            (one for one in tasks if client and client == one.client_task), None
        )
        task = None if planned is None else board.find_task(index, planned.id)
    if task is None:
        raise NotFoundError(f"there is no task {wanted!r}", hint="`helix plan load` shows the tasks of a plan")
    return task


def _params(task: Task, parents: Sequence[Task], request: WorkspaceRequest) -> BuilderParams:
    planned = as_planned(task)
    lineage: list[Mapping[str, Any]] = [
        {"seq": one.seq, "slug": one.slug, "delivered": one.delivered} for one in map(as_planned, parents)
    ]
    return BuilderParams(
        task_id=str(task.attributes.get(CLIENT_TASK, "")) or task.id,
        task=planned.objective,
        objective=planned.objective,
        verify=planned.verify,
        relevant_files=tuple(dict.fromkeys((*planned.delta, *planned.relevant_files))),
        lineage=tuple(lineage),
        warning=request.warning,
        memory_limit=request.limit,
    )


def _parents(index: StoreIndex, task: Task) -> list[Task]:
    found = [board.find_task(index, ident) for ident in waits_for(index, task.id)]
    return sorted((one for one in found if one is not None), key=lambda one: (as_planned(one).seq, one.id))


def _planned(index: StoreIndex, ident: str) -> PlanTask:
    task = cast(Task, index.records.node(Ref.task(ident)))
    return as_planned(task, [as_planned(parent).seq for parent in _parents(index, task)])


def _name(task: Task) -> str:
    return as_planned(task).seq


def _task_at(records: Records, workspace: str) -> str:
    """Return the id of the task that an attempt is at; empty where it is gone."""
    edges = records.edges_at(Ref(label=Label.WORKSPACE, id=workspace))
    return next((op.target.id for op in edges if op.type is Relation.FOR_TASK), "")


def _found(index: StoreIndex, ident: str) -> Workspace:
    ref = Ref(label=Label.WORKSPACE, id=ident.strip())
    if ref not in index:
        raise NotFoundError(f"there is no workspace {ident!r}", hint="`helix workspace list` shows them")
    return cast(Workspace, index.records.node(ref))


def active_attempts(records: Records, task: str) -> list[Workspace]:
    """Return the attempts at a task that nobody has ended, the oldest first."""
    here = Ref.task(task)
    edges = records.edges_at(here)
    refs = [op.source for op in edges if op.type is Relation.FOR_TASK and op.target == here]
    nodes = (cast(Workspace, node) for node in records.present(refs) if node is not None)
    return sorted((node for node in nodes if node.status == ACTIVE), key=lambda one: (one.recorded_at, one.id))


def supersede(records: Records, composer: Composer, task: str) -> tuple[str, ...]:
    """End the attempts at a task that nobody has ended, as a part of somebody's change; return their ids."""
    left = active_attempts(records, task)
    for one in left:
        composer.node(replace(one, status=SUPERSEDED, ended_at=composer.now))
    return tuple(one.id for one in left)
