"""Contexts: what is put before an agent: by its task, at its action, as its session begins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Any

from helix.agents.answers.prompt import MEMORY_LIMIT, BuilderParams
from helix.agents.context import exact_lookup
from helix.agents.context import role_contexts as for_builder
from helix.agents.context import role_contexts as for_explorer
from helix.agents.context import role_contexts as for_planner
from helix.agents.context.brief import brief as brief_of
from helix.agents.context.notes import notes_by_user
from helix.agents.context.relevant import LIMIT, Sources
from helix.agents.context.role_contexts import lineage_of
from helix.agents.tasks.plans import load_plan
from helix.command_outcome.command_run import CommandRun
from helix.errors import InvalidInputError
from helix.model.context_answers import ActionContext, Brief, BuilderContext, Delivery, ExplorerContext, PlannerContext
from helix.model.ids import Id
from helix.model.memory import GLOBAL_SCOPE
from helix.model.recall import RecallAnswer, RecallQuery
from helix.operations.checks import page_size
from helix.operations.listed import query, scoped_query
from helix.service import Helix


@dataclass(frozen=True, slots=True, kw_only=True)
class BuilderRequest:
    """What a builder is to do. `lineage` holds the tasks before it as a client lists them, or what they delivered.

    `no_inject` asks for a context without memories.
    """

    objective: Annotated[str, "What is to be built."]
    task: Annotated[str, "The task in other words, where there are any."] = ""
    files: Annotated[
        Sequence[str], "Files the task is about: what touches one of them is told, however little it fits else."
    ] = ()
    lineage: Annotated[
        Sequence[Mapping[str, Any]],
        "The tasks before it as the client lists them, or `{seq, slug, delivered}` of each.",
    ] = ()
    warning: Annotated[str, "A warning to put first."] = ""
    limit: Annotated[int, "At most this many memories; 0 for none."] = MEMORY_LIMIT
    scope: str | None = None
    session: str = ""
    no_inject: Annotated[bool, "Put no memories in."] = False


@scoped_query
def explorer_context(
    helix: Helix,
    objective: Annotated[str, "What is to be reached."],
    focus: Annotated[str, "What the explorer looks for."] = "",
    scope: Annotated[str | None, "The scope that the agent works in; `global` is seen too."] = None,
    limit: int = LIMIT,
    session: str = "",
) -> ExplorerContext:
    """Tell an explorer what is known already and which failures to watch for."""
    return for_explorer.explorer_context(
        _sources(helix, session),
        objective,
        scope,
        page_size(helix, "limit", limit),
        focus=focus,
    )


@scoped_query
def planner_context(
    helix: Helix,
    objective: Annotated[str, "What is to be planned."],
    scope: Annotated[str | None, "The scope that the agent works in; `global` is seen too."] = None,
    limit: int = LIMIT,
    session: str = "",
) -> PlannerContext:
    """Tell a planner what was decided, how things are done here and what has changed lately."""
    return for_planner.planner_context(
        _sources(helix, session),
        objective,
        scope,
        page_size(helix, "limit", limit),
    )


@scoped_query
def builder_context(helix: Helix, request: BuilderRequest) -> BuilderContext:
    """Tell a builder what matters to its task, by the objective and by the files."""
    params = BuilderParams(
        objective=request.objective,
        task=request.task,
        relevant_files=tuple(request.files),
        warning=request.warning,
        lineage=tuple(request.lineage),
        memory_limit=0 if request.no_inject else request.limit,
    )
    return for_builder.builder_context(
        _sources(helix, request.session),
        params,
        request.scope,
    )


@query
def lineage(
    helix: Helix,
    tasks: Annotated[
        Sequence[Mapping[str, Any]] | None,
        "Tasks as the client lists them, with `metadata`, or `{seq, slug, delivered}` of each.",
    ] = None,
    plan: Annotated[Id | None, "The id of a plan; the newest where none is given."] = None,
    scope: str = GLOBAL_SCOPE,
) -> list[Delivery]:
    """List what tasks delivered: those of a client's list, else of a plan, by default the newest of a scope."""
    return list(lineage_of(load_plan(helix.store.index, plan or "", scope).tasks if tasks is None else tasks))


@scoped_query
def brief(
    helix: Helix,
    scope: Annotated[str | None, "The scope that the session is in; `global` is seen too."] = None,
    budget_tokens: Annotated[
        int | None, "About how many tokens it may take; by default the setting `brief_tokens`."
    ] = None,
    without: Annotated[Sequence[str], "Names or ids of memories that are known already, to exclude."] = (),
) -> Brief:
    """Tell what there is to know of a project as a session begins, without a question."""
    budget, known = helix.settings.brief_tokens if budget_tokens is None else budget_tokens, frozenset(without)
    with helix.foreground.request():
        return brief_of(helix.store, scope, budget, is_loaded=lambda memory: bool(known & {memory.name, memory.id}))


@scoped_query
def at_action(
    helix: Helix,
    command: Annotated[str, "A command line, as it is typed."] = "",
    files: Annotated[Sequence[str], "Files that an edit changes."] = (),
    output: Annotated[str, "What the command printed, where it has failed."] = "",
    folder: Annotated[str, "The folder it is run in."] = "",
    project: Annotated[str, "The top of the project, from which paths are seen; by default that folder."] = "",
    scope: Annotated[str | None, "The scope that the agent works in; `global` is seen too."] = None,
    limit: int = exact_lookup.MOST,
) -> ActionContext:
    """Look up what is remembered about exactly a command, the error it ended with, or the files an edit changes."""
    if not (command.strip() or output.strip() or any(one.strip() for one in files)):
        raise InvalidInputError("there is nothing to look up", hint="say a command, what it printed, or files")
    action = CommandRun(command=command, files=tuple(files), output=output, folder=folder, root=project)
    size, budget = page_size(helix, "limit", limit), helix.settings.action_tokens
    with helix.foreground.request():
        found = exact_lookup.look_up(helix.store, action, scope, size)
    return exact_lookup.action_context(found, budget_tokens=budget)


def _sources(helix: Helix, session: str) -> Sources:
    def recall(query: RecallQuery) -> RecallAnswer:
        return helix.recall(replace(query, session=session))

    return Sources(recall, partial(notes_by_user, helix.store), helix.settings.context_floor)
