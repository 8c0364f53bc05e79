"""Learning: what agents' work gives to learn, what memory was worth to it, and whether that loop is closed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any

from helix.agents.experiment import memory_effect
from helix.agents.experiment.effect import report as compare
from helix.agents.experiment.report_page import page
from helix.agents.observer import observe, queue
from helix.agents.observer.chunking import ChunkRequest
from helix.agents.observer.chunking import chunk as chunk_of
from helix.agents.observer.observe import Origin
from helix.agents.observer.queue import Keeping, keep_candidates
from helix.agents.observer.verify import verify as examine
from helix.agents.tasks.board import tasks_of
from helix.agents.tasks.task_lists import objects
from helix.errors import InvalidInputError
from helix.memory.change.find import memory_of
from helix.model.candidate import Accepted, Candidate, Observed
from helix.model.ids import Id
from helix.model.principal import Role
from helix.model.proof import LoopHealth, MemoryEffect, Report, Showing
from helix.model.reports import Page, StoreResult
from helix.operations.checks import check_source, page_size
from helix.operations.listed import mutation, query
from helix.service import Helix


@mutation(Role.AGENT, adds=True)
def observe_explorer(
    helix: Helix,
    keeping: Keeping,
    output: Annotated[str, "What the agent answered, JSON with or without prose around it."],
) -> Observed:
    """See what an explorer's answer gives to learn: facts and conventions."""
    return _observe(helix, keeping, lambda origin: observe.observe_explorer(output, origin))


@mutation(Role.AGENT, adds=True)
def observe_planner(
    helix: Helix,
    keeping: Keeping,
    tasks: Annotated[
        Sequence[Mapping[str, Any]], "Tasks as the client lists them: `id`, `status`, `blockedBy`, `metadata`."
    ],
    exploration: Annotated[Mapping[str, Any] | None, "What was explored before, as the planner was given it."] = None,
    learned: Annotated[Sequence[str], "What was learned, in sentences."] = (),
) -> Observed:
    """See what a plan gives to learn: decisions."""
    plan = objects(tasks)
    return _observe(helix, keeping, lambda origin: observe.observe_planner(plan, exploration or {}, origin, learned))


@mutation(Role.AGENT, adds=True)
def observe_builder(
    helix: Helix,
    keeping: Keeping,
    task: Annotated[Mapping[str, Any], "The builder's task, as the client lists it."],
    result: Annotated[str, "The builder's last message."] = "",
    files_changed: Annotated[Sequence[str], "The files that were changed."] = (),
) -> Observed:
    """See what a builder's work gives to learn: what changed, what stood in the way, what it says it learned."""
    return _observe(helix, keeping, lambda origin: observe.observe_builder(task, result, files_changed, origin))


@mutation(Role.AGENT, adds=True)
def observe_session(
    helix: Helix,
    keeping: Keeping,
    objective: str,
    tasks: Annotated[
        Sequence[Mapping[str, Any]] | None,
        "Tasks as the client lists them; where they are not given, those that are kept of `session`.",
    ] = None,
    outcomes: Annotated[
        Mapping[str, Any] | None, "What became of the tasks, by their id or number in the plan."
    ] = None,
) -> Observed:
    """See what a session came to as a whole, by the tasks that are given, else by those that are kept of it."""
    done = _of_session(helix, keeping) if tasks is None else objects(tasks)
    return _observe(helix, keeping, lambda origin: observe.observe_session(objective, done, outcomes or {}, origin))


@query
def learning_queue(
    helix: Helix,
    scope: Annotated[str | None, "Only of this scope; all where it is not said."] = None,
    first: int = 50,
    after: str | None = None,
) -> Page[Candidate]:
    """List what may be learned from agents' work and waits for review, page by page, the surest first."""
    return queue.waiting(helix.store.index, scope, page_size(helix, "first", first), after)


@mutation(Role.AGENT, adds=True)
def accept_candidate(
    helix: Helix, id: Annotated[Id, "The candidate's id."], by: Annotated[str, "Who accepts it."] = ""
) -> Accepted:
    """Make a memory of what waits in the learning queue; it is trusted no further than the one who said it."""
    helix.store.check_capture()
    with helix.foreground.request():
        return queue.accept(helix.store, id, by)


@mutation(Role.AGENT)
def reject_candidate(
    helix: Helix, id: Annotated[Id, "The candidate's id."], by: Annotated[str, "Who rejects it."] = ""
) -> Candidate:
    """Reject a candidate of the learning queue: the same is not proposed again."""
    return queue.reject(helix.store, id, by)


@mutation(Role.AGENT)
def reopen_candidate(helix: Helix, id: Annotated[Id, "The candidate's id."]) -> Candidate:
    """Take back that a candidate was rejected: it waits again."""
    return queue.reopen(helix.store, id)


@mutation(Role.AGENT, scoped=True, adds=True, keyed=True)
def chunk(helix: Helix, request: ChunkRequest) -> StoreResult | None:
    """Remember how a task was done as a pattern; a task that failed gives none."""
    helix.store.check_capture()
    check_source(helix, request.source)
    with helix.foreground.request():
        return chunk_of(helix.store, request)


@query
def verify(
    helix: Helix, scope: Annotated[str | None, "Only of this scope; all where it is not said."] = None
) -> LoopHealth:
    """Check whether agents' work is learned from: whether what was shown was judged, and what is left open."""
    return examine(helix.store, scope)


@query
def report(
    helix: Helix,
    since: Annotated[datetime | None, "Only tasks recorded since then."] = None,
    scope: Annotated[str | None, "Only tasks of exactly this scope."] = None,
) -> Report:
    """Compare tasks that were shown memories with tasks that were shown none."""
    return compare(helix.store, since, scope)


@query
def effect(helix: Helix, name_or_id: str) -> MemoryEffect:
    """Count what came of one memory in the tasks that it was shown to, in all its versions."""
    index = helix.store.index
    return memory_effect.effect(index, memory_of(index, name_or_id))


@query
def showings(
    helix: Helix,
    name_or_id: Annotated[str | None, "Of this memory alone, by its name or id."] = None,
    first: int = 50,
    after: str | None = None,
    *,
    session: Annotated[str | None, "In this session alone."] = None,
    scope: Annotated[str | None, "Whose session is meant; in any scope where it is not said."] = None,
) -> Page[Showing]:
    """List when one memory was shown to a task or held back from it, or what a session was shown, newest first."""
    index, size = helix.store.index, page_size(helix, "first", first)
    if (name_or_id is None) == (session is None):
        raise InvalidInputError("name a memory or a session, and only one of them")
    if name_or_id is not None:
        return memory_effect.showings(index, memory_of(index, name_or_id), size, after)
    return memory_effect.showings_in(index, tasks_of(index, scope=scope, session=session), size, after)


@query
def report_page(
    helix: Helix,
    since: Annotated[datetime | None, "Only tasks recorded since then."] = None,
    scope: Annotated[str | None, "Only tasks of exactly this scope."] = None,
) -> str:
    """Write the report as one HTML document that asks for nothing from anywhere."""
    return page(compare(helix.store, since, scope))


def _of_session(helix: Helix, keeping: Keeping) -> list[dict[str, Any]]:
    """Return the tasks of a session that came to something, in the order in which they were told of."""
    if not keeping.session:
        raise InvalidInputError("neither tasks nor a session are named", hint="give one of them")
    known = tasks_of(helix.store.index, scope=keeping.scope, session=keeping.session)
    return [
        {**task.attributes, "id": task.id, "objective": task.objective, "helix_outcome": task.outcome}
        for task in reversed(known)
        if task.outcome and task.objective
    ]


def _observe(helix: Helix, keeping: Keeping, look: Callable[[Origin], Sequence[Candidate]]) -> Observed:
    if keeping.writes:
        helix.store.check_capture()
    with helix.foreground.request():
        return keep_candidates(helix.store, look(keeping.origin(helix.store.runtime.clock())), keeping)
