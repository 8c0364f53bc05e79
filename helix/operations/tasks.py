"""Tasks: what explorers found, plans and the order of their tasks, attempts at them, and what came of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from functools import partial
from typing import Annotated, Any

from helix.agents.answers.prompt import MEMORY_LIMIT, BuilderParams
from helix.agents.answers.task_record import client_task, helix_task_state
from helix.agents.context.notes import notes_by_user
from helix.agents.context.relevant import Sources
from helix.agents.context.role_contexts import builder_context
from helix.agents.experiment.holdback import treatment
from helix.agents.experiment.memory_effect import showings_of
from helix.agents.outcomes import noting
from helix.agents.outcomes.ledger import ledger_of
from helix.agents.outcomes.task_end import settle_task, tell_outcome
from helix.agents.tasks import dag, explorations, plan_end, task_lists
from helix.agents.tasks import plans as planning
from helix.agents.tasks import workspaces as attempts
from helix.agents.tasks.board import find_task, learned_in, tasks_of, waits_for
from helix.agents.tasks.exclusion import exclusion_of
from helix.agents.tasks.explorations import ExplorationRequest
from helix.agents.tasks.plans import PlanRequest
from helix.agents.tasks.workspaces import Ending, WorkspaceRequest
from helix.command_outcome.command_evidence import classify, takes_back
from helix.command_outcome.command_run import CommandRun, changes_nothing
from helix.errors import NotFoundError
from helix.model.context_answers import BuilderContext
from helix.model.edge import Label
from helix.model.evidence import Evidence
from helix.model.ids import Id
from helix.model.memory import GLOBAL_SCOPE
from helix.model.principal import Role
from helix.model.reports import Page
from helix.model.task import CLIENT_TASK, PLAN, VERIFY, Exploration, ExplorationReport, Plan, Task
from helix.model.task_answers import (
    Cascade,
    Check,
    Cleared,
    PlanReport,
    PlanTask,
    Stalled,
    TaskOutcome,
    TaskReport,
    TaskState,
    WorkspaceReport,
)
from helix.operations.checks import page_size
from helix.operations.listed import mutation, query
from helix.service import Helix
from helix.store.index import StoreIndex
from helix.store.listing import page
from helix.store.store import Store


@query
def exploration(
    helix: Helix,
    id: Annotated[Id | None, "The exploration's id; by default the newest of the scope is meant."] = None,
    scope: Annotated[str, "Whose newest is meant: of exactly this scope."] = GLOBAL_SCOPE,
) -> Exploration:
    """Read what explorers found: one exploration by its id, or the newest of a scope."""
    return explorations.load_exploration(helix.store.index, id or "", scope)


@mutation(Role.AGENT, adds=True)
def save_exploration(
    helix: Helix,
    answer: Annotated[str, "An exploration as JSON, or the answers of explorers, one after another."],
    objective: Annotated[str, "What was explored for, where the answer does not say."] = "",
    scope: str = GLOBAL_SCOPE,
    session: str = "",
) -> ExplorationReport:
    """Keep what explorers found: an exploration as JSON, or the answers of one or more explorers."""
    helix.store.check_capture()
    request = ExplorationRequest(answer=answer, objective=objective, scope=scope, session=session)
    with helix.foreground.request():
        return explorations.save_exploration(helix.store, request)


@query
def plan(
    helix: Helix,
    id: Annotated[Id | None, "The plan's id; by default the newest of the scope is meant."] = None,
    scope: Annotated[str, "Whose newest is meant: of exactly this scope."] = GLOBAL_SCOPE,
) -> PlanReport:
    """Read a plan with its tasks as they stand: one by its id, or the newest of a scope."""
    return planning.load_plan(helix.store.index, id or "", scope)


@query
def plans(
    helix: Helix,
    scope: Annotated[str | None, "Only of this scope; all where it is not said."] = None,
    first: int = 50,
    after: str | None = None,
) -> Page[Plan]:
    """List plans page by page, newest first."""
    rows = helix.store.index.where(Label.PLAN, scope=scope)
    return page(helix.store, rows, (Label.PLAN,), page_size(helix, "first", first), after)


@query
def task(helix: Helix, id: Annotated[Id, "The id of the task, or what its client calls it."]) -> TaskReport:
    """Show a task with what it was shown, what proves what came of it, and what was learned in it."""
    index = helix.store.index
    found = task_named(index, id)
    ledger = ledger_of(found)
    return TaskReport(
        task=found,
        plan=str(found.attributes.get(PLAN) or ""),
        waits_for=tuple(sorted(waits_for(index, found.id))),
        claimed=ledger.said(found),
        evidence=tuple(map(_check, ledger.evidence)),
        showings=showings_of(index, found),
        learned=tuple(learned_in(index, found.id)),
    )


@mutation(Role.AGENT, adds=True)
def save_plan(
    helix: Helix,
    answer: Annotated[str, "The planner's whole answer: JSON, alone or in prose."],
    objective: Annotated[str, "What the plan is for, where the answer does not say."] = "",
    scope: str = GLOBAL_SCOPE,
    session: Annotated[str, "The session whose tasks the answer maps its own to."] = "",
    exploration: Annotated[
        Id | None, "What it is based on; by default the scope's newest exploration for this objective."
    ] = None,
) -> PlanReport:
    """Keep what a planner answered, as tasks and their order; refused where nobody could work through it."""
    helix.store.check_capture()
    request = PlanRequest(
        answer=answer, objective=objective, scope=scope, session=session, exploration=exploration or ""
    )
    with helix.foreground.request():
        return planning.save_plan(helix.store, request)


@mutation(Role.AGENT)
def complete_plan(
    helix: Helix,
    plan: Id | None = None,
    scope: Annotated[str, "Whose newest plan is meant: of exactly this scope."] = GLOBAL_SCOPE,
) -> PlanReport:
    """Say that nobody works on a plan any more, whatever became of its tasks; what is left is among the problems."""
    with helix.foreground.request():
        return plan_end.complete_plan(helix.store, plan or "", scope)


@query
def ready_tasks(
    helix: Helix,
    plan: Id | None = None,
    scope: Annotated[str, "Whose newest plan is meant: of exactly this scope."] = GLOBAL_SCOPE,
) -> list[PlanTask]:
    """List the tasks of a plan that can begin now: pending, with all they wait for delivered."""
    return list(planning.ready_tasks(helix.store.index, plan or "", scope))


@query
def cascade_status(
    helix: Helix,
    plan: Id | None = None,
    scope: Annotated[str, "Whose newest plan is meant: of exactly this scope."] = GLOBAL_SCOPE,
) -> Cascade:
    """Say where a plan stands as a whole, and which of its tasks can never begin as things are."""
    return planning.cascade_status(helix.store.index, plan or "", scope)


@query
def workspaces(
    helix: Helix,
    plan: Annotated[Id | None, "Only those of this plan."] = None,
    scope: Annotated[str | None, "Only of this scope; all where it is not said."] = None,
    status: Annotated[str | None, "Only those that are `active`, `complete`, `blocked` or `superseded`."] = None,
    first: int = 50,
    after: str | None = None,
) -> Page[WorkspaceReport]:
    """List attempts at tasks page by page, the newest first."""
    size = page_size(helix, "first", first)
    return attempts.list_workspaces(
        helix.store.index, plan=plan or "", scope=scope, status=status, first=size, after=after
    )


@mutation(Role.AGENT, adds=True)
def create_workspace(
    helix: Helix,
    task: Annotated[str, "The task's id, or its number in the plan."],
    plan: Id | None = None,
    scope: Annotated[
        str, "Whose newest plan the task is looked for in, where it is named by its number."
    ] = GLOBAL_SCOPE,
    warning: Annotated[str, "What the agent is to be told before all else."] = "",
    limit: Annotated[int, "How many memories at most."] = MEMORY_LIMIT,
) -> WorkspaceReport:
    """Begin an attempt at a task: what is to be put before the agent, with the memories that fit, or without them."""
    size = page_size(helix, "limit", limit)
    request = WorkspaceRequest(task=task, plan=plan or "", scope=scope, warning=warning, limit=size)
    helix.store.check_capture()

    def given(params: BuilderParams, scope: str, with_memory: bool) -> BuilderContext:
        sources = Sources(helix.recall, partial(notes_by_user, helix.store))
        return builder_context(sources, params if with_memory else replace(params, memory_limit=0), scope)

    with helix.foreground.request():
        return attempts.create_workspace(helix.store, request, give=given, treatment=partial(treatment, helix.store))


@mutation(Role.AGENT)
def complete_workspace(
    helix: Helix,
    id: Annotated[Id, "The workspace's id."],
    delivered: Annotated[str, "What was delivered, in a line."],
    utilized: Sequence[str] = (),
) -> WorkspaceReport:
    """Say that an attempt delivered; what that is worth to the memories it was shown is for evidence to say."""
    ending = Ending(delivered=delivered, utilized=utilized)
    with helix.foreground.request():
        return attempts.complete_workspace(helix.store, id, ending, settle=partial(_settle_attempt, helix.store))


@mutation(Role.AGENT)
def block_workspace(
    helix: Helix,
    id: Annotated[Id, "The workspace's id."],
    reason: Annotated[str, "Why it was blocked."],
    tried: Annotated[str, "What was tried."] = "",
    error: Annotated[str, "The error it ended with."] = "",
    utilized: Sequence[str] = (),
) -> WorkspaceReport:
    """Say that an attempt came to nothing, and why."""
    ending = Ending(reason=reason, tried=tried, error=error, utilized=utilized)
    with helix.foreground.request():
        return attempts.block_workspace(helix.store, id, ending, settle=partial(_settle_attempt, helix.store))


@query
def task_state(
    helix: Helix,
    task: Annotated[Mapping[str, Any], "The task, as the client lists it."],
    others: Annotated[Sequence[Mapping[str, Any]], "The other tasks of the list."] = (),
) -> TaskState:
    """Say where a task of a client's list stands; what it waits for was delivered only where `others` say so."""
    return helix_task_state(task, task_lists.objects(others))


@query
def dag_cycles(
    helix: Helix,
    dependencies: Annotated[Mapping[str, Any], 'Tasks, each with the list of those it waits for: `{"002": ["001"]}`.'],
) -> list[tuple[str, ...]]:
    """List circles of tasks that wait for each other, a shortest one of each knot."""
    return task_lists.cycles(dependencies)


@query
def dag_ready(
    helix: Helix,
    tasks: Annotated[
        Sequence[Mapping[str, Any]] | None, "Tasks as the client lists them: `id`, `status`, `blockedBy`, `metadata`."
    ] = None,
    plan: Annotated[
        Id | None, "The id of a saved plan; the scope's newest one where neither tasks nor a plan are given."
    ] = None,
    scope: Annotated[str, "Whose newest plan is meant: of exactly this scope."] = GLOBAL_SCOPE,
) -> list[str]:
    """List the tasks that can begin now: pending, with everything they wait for delivered."""
    return dag.get_ready_tasks(task_lists.listed(helix.store.index, tasks, plan or "", scope))


@query
def dag_stalled(
    helix: Helix,
    tasks: Annotated[
        Sequence[Mapping[str, Any]] | None, "Tasks as the client lists them: `id`, `status`, `blockedBy`, `metadata`."
    ] = None,
    plan: Annotated[
        Id | None, "The id of a saved plan; the scope's newest one where neither tasks nor a plan are given."
    ] = None,
    scope: Annotated[str, "Whose newest plan is meant: of exactly this scope."] = GLOBAL_SCOPE,
) -> Stalled:
    """Say whether tasks are left of which none is at work and none can begin, and why."""
    stall = dag.check_stalled(task_lists.listed(helix.store.index, tasks, plan or "", scope))[1]
    return Stalled(stalled=stall is not None, info=stall)


@mutation(Role.AGENT)
def dag_clear(
    helix: Helix,
    tasks: Annotated[
        Sequence[Mapping[str, Any]] | None, "Tasks as the client lists them: `id`, `status`, `blockedBy`, `metadata`."
    ] = None,
    plan: Annotated[
        Id | None, "The id of a saved plan; the scope's newest one where neither tasks nor a plan are given."
    ] = None,
    scope: Annotated[str, "Whose newest plan is meant: of exactly this scope."] = GLOBAL_SCOPE,
    session: Annotated[str, "The session that goes on; its tasks stay in progress."] = "",
    force: Annotated[bool, "Give back those too whose session may still be at work."] = False,
) -> Cleared:
    """Give back the tasks that a dead session left in progress; a plan is changed, a list only answered."""
    done, after = task_lists.clear(helix.store, tasks, plan or "", scope, session, force=force)
    return Cleared(cleared=done.cleared, kept=done.kept, tasks=tuple(after))


@mutation(Role.AGENT, keyed=True)
def task_outcome(
    helix: Helix,
    task: Annotated[Id, "The id of the task, or what its client calls it."],
    outcome: Annotated[str, "`delivered`, `blocked` or `skipped`; empty to take back what was said."],
    claimed: Annotated[bool, "It is the agent's own word, worth half where no command says so."] = False,
    utilized: Annotated[Sequence[str], "Names of the memories that the agent says it used."] = (),
    agent: str = "",
) -> TaskOutcome:
    """Say what came of a task: delivered, blocked, skipped, or nothing to take that back.

    `utilized` are the memories that the agent says it used. What an agent says is its own word, and leaves a person's.
    """
    with helix.foreground.request():
        ident = task_named(helix.store.index, task).id
        if utilized:
            noting.note_use(helix.store, ident, utilized=utilized)
        told = tell_outcome(helix.store, ident, outcome, claimed=claimed or bool(agent))
    return TaskOutcome(
        task=told.task,
        outcome=told.outcome,
        claimed=told.claimed,
        verification=told.verification,
        evidence=tuple(map(_check, told.evidence)),
        gains=told.gains,
        changed=told.changed,
    )


@mutation(Role.AGENT, keyed=True)
def note_action(
    helix: Helix,
    task: Annotated[Id, "The id of the task, or what its client calls it."],
    command: Annotated[str, "The command that has ended; empty for an edit."] = "",
    files: Annotated[Sequence[str], "The files that were edited."] = (),
    exit_status: Annotated[int | None, "What the command ended with."] = None,
    output: Annotated[str, "What it printed: counts of tests are read from it."] = "",
    id: Annotated[str, "What tells this action from others, so that it counts once however often it is told."] = "",
) -> Check | None:
    """Say what was done in a task: a command that ended, or files that were edited; null where it proves nothing.

    It is looked through for use of what the task was shown. Of a command that names a file of a `.helixignore` only
    what it proves is kept, and nothing of the edit of one.
    """
    now = helix.store.runtime.clock()
    run = CommandRun(id=id, command=command, files=tuple(files), exit_status=exit_status, output=output, at=now)
    with helix.foreground.request():
        held = task_named(helix.store.index, task)
        exclusion = exclusion_of(helix.store.runtime.settings.home, held.scope)
        kept = exclusion.without({"command": command, "files": list(files)})
        found = classify(run, str(held.attributes.get(VERIFY) or ""))
        is_whole = kept["command"] == command
        if found is not None:
            found = found if is_whole else replace(found, command="", subject="")
            noting.note_evidence(helix.store, held.id, found)
        ran = run.succeeded(changes_nothing) if is_whole else ()
        edited = now if (run.is_edit and kept["files"]) or takes_back(run) else None
        noting.note_use(helix.store, held.id, files=kept["files"], commands=ran, at=now, edited_at=edited)
    return None if found is None else _check(found)


def task_named(index: StoreIndex, name: str) -> Task:
    """Return the task of an id, or the newest that its client knows by that name; raises NotFoundError."""
    found = find_task(index, name.strip())
    if found is not None:
        return found
    for task in tasks_of(index):
        if task.attributes.get(CLIENT_TASK) in (name.strip(), client_task(name)):
            return task
    raise NotFoundError(
        f"no task {name!r}", hint='list them: helix cypher "MATCH (t:Task) RETURN t.id, t.objective, t.outcome"'
    )


def _settle_attempt(store: Store, task: str, outcome: str, utilized: Sequence[str]) -> None:
    noting.note_use(store, task, utilized=utilized)
    settle_task(store, task, outcome=outcome)


def _check(evidence: Evidence) -> Check:
    return Check(**{field.name: getattr(evidence, field.name) for field in fields(Check)})
