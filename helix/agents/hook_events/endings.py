"""Endings: what is learned when a sub-agent stops, an agent rests, and a session is over."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, replace
from functools import partial
from typing import Any

from helix import files
from helix.agents.answers.builder_answer import read_builder
from helix.agents.answers.explorer_answer import read_explorer
from helix.agents.answers.loose_json import words
from helix.agents.answers.planner_answer import PROCEED, read_planner
from helix.agents.answers.prompt import AgentType, detect_agent_type
from helix.agents.hook_events.deferred_queue import Work
from helix.agents.hook_events.hook_context import NOTHING, HookContext, Reaction
from helix.agents.hook_events.hook_events import AgentStopped, Rested, SessionEnded
from helix.agents.hook_events.session_state import SessionWorker
from helix.agents.hook_events.task_list import attributes_said, observed_task
from helix.agents.hook_events.unsolved import blocked_by, remember_unsolved
from helix.agents.observer.observe import Origin, observe_builder, observe_explorer, observe_planner, observe_session
from helix.agents.outcomes.ledger import ledger_of
from helix.agents.outcomes.noting import note_use
from helix.agents.outcomes.task_end import settle_task
from helix.agents.tasks.board import SESSION_KEY, find_task, injections, task_id, tasks_of
from helix.model.candidate import Candidate
from helix.model.edge import Ref
from helix.model.episode import session_id
from helix.model.memory import Kind
from helix.model.task import AGENT, CALL, COMPLETED, DELIVERED, EXCLUDED, IN_PROGRESS, VERIFY, Task
from helix.text.excerpts import ends

_TAIL_BYTES = 256 << 10
_MESSAGE = 65_536


def agent_stopped(context: HookContext, event: AgentStopped) -> Reaction:
    """Read a stopped sub-agent's last words at its hook: its task, the memories it used, what it gives to learn."""
    worker = context.worker(event)
    kind = worker.kind or detect_agent_type("", event.agent_type)
    if kind is None:
        return Reaction(always=(context.when_sure(worker, lambda: _finish(context, context.session.key_of(worker))),))
    message = _of_a_size(event.message or last_words(event.agent_transcript))
    if worker.sure and _claim_of(kind, message)[2]:
        context.session.follow(context.session.key_of(worker), COMPLETED)
    steps = (_tell, _settle_claimed, _learn)

    def step(do: Callable[[HookContext, AgentStopped, SessionWorker, AgentType, str], None]) -> Work:
        return context.when_sure(worker, lambda: do(context, event, worker, worker.kind or kind, message))

    # Each by itself: what an agent says may be refused, and its task is settled all the same.
    return Reaction(always=tuple(map(step, steps)), did=f"reads the {kind}'s last words")


def rested(context: HookContext, event: Rested) -> Reaction:
    """Settle the main thread's task at the hook of an agent that rests; consolidate what happened before a cut."""
    if event.agent:
        return NOTHING
    flush = (lambda: context.memory_worker.flush(context.session.scope),) if event.compacting else ()
    settled = (lambda: _settle_by_evidence(context, SESSION_KEY), lambda: _settle_open(context, of_agents=False))
    return Reaction(always=(*settled, *flush), did="flushes" if event.compacting else "")


def session_ended(context: HookContext, event: SessionEnded) -> Reaction:
    """Hand over what a session's end leaves to do, and return at once: a client kills hooks that take longer."""
    released = partial(context.release, even_unsure=True)
    broken_off = partial(_settle_open, context, of_agents=True)
    ends = (released, broken_off, lambda: _finish(context, SESSION_KEY), lambda: _end(context))
    return Reaction(always=ends, did="ends the session")


def _tell(context: HookContext, event: AgentStopped, worker: SessionWorker, kind: AgentType, message: str) -> None:
    """Write down what an agent says of its task, and that nobody works on it any more: a plan would wait for that.

    Of a task of the client's list an agent that says what came of it says that too: it may not have the list's tools.
    """
    key, (said, _, outcome) = context.session.key_of(worker), _claim_of(kind, message)
    over = bool(outcome) or key.startswith("agent:")
    context.sees(key, {AGENT: event.agent, **said}, status=COMPLETED if over else None)


def _settle_claimed(
    context: HookContext, event: AgentStopped, worker: SessionWorker, kind: AgentType, message: str
) -> None:
    """Settle an agent's task by what it claims and what it did."""
    task = context.session.task_of(worker)
    _, utilized, outcome = _claim_of(kind, message)
    context.ensure(task, context.session.key_of(worker))
    note_use(context.store, task, utilized=utilized, earlier=tuple(worker.files))
    settle_task(context.store, task, outcome=outcome or None)
    remember_unsolved(context, worker, task)


def _learn(context: HookContext, event: AgentStopped, worker: SessionWorker, kind: AgentType, message: str) -> None:
    """Have what an agent's work gives to learn wait to be looked at."""
    task = context.session.task_of(worker)
    origin = Origin(
        at=context.store.runtime.clock(),
        scope=context.session.scope,
        session=context.session.name,
        task=task,
        agent=kind,
        source=f"{context.client}:{context.session.name}:{event.agent}",
    )
    context.propose(_candidates(context, kind, message, worker, origin))


def _of_a_size(message: str) -> str:
    """Return a message without its middle where it is long: outcomes stand at its beginning or its end."""
    return ends(message, _MESSAGE)


def _claim_of(kind: AgentType, message: str) -> tuple[Mapping[str, object], tuple[str, ...], str]:
    """Return what an agent says of its task, which memories it says it used, and the outcome it claims."""
    if kind is AgentType.BUILDER:
        answer = read_builder(message)
        return attributes_said(answer), answer.utilized, answer.outcome
    if kind is AgentType.EXPLORER:
        explored = read_explorer(message)
        return {}, tuple(memory.name for memory in explored.memories), DELIVERED if explored.succeeded else ""
    return {}, (), DELIVERED if read_planner(message).decision == PROCEED else ""


def _candidates(
    context: HookContext, kind: AgentType, message: str, worker: SessionWorker, origin: Origin
) -> tuple[Candidate, ...]:
    if kind is AgentType.BUILDER:
        task = find_task(context.store.index, origin.task)
        found = observe_builder(observed_task(task), message, tuple(worker.files), origin)
        unkept = () if task is None else words(task.attributes.get(EXCLUDED))
        # What such a command failed by is about the same file.
        told = (one for one in found if not (VERIFY in unkept and one.kind is Kind.FAILURE))
        return tuple(_placed(one, context, worker, task) for one in told)
    if kind is AgentType.EXPLORER:
        return observe_explorer(message, origin)
    answer = read_planner(message)
    tasks = [asdict(task) for task in answer.tasks]
    return observe_planner(tasks, {"objective": context.session.objective}, origin, answer.learned)


def _placed(candidate: Candidate, context: HookContext, worker: SessionWorker, task: Task | None) -> Candidate:
    """Return a candidate with the command and the error that it is about, where it is a failure of a task."""
    if candidate.kind is not Kind.FAILURE or task is None:
        return candidate
    return replace(candidate, attributes={**candidate.attributes, **blocked_by(context, worker, task)})


def _settle_by_evidence(context: HookContext, key: str) -> None:
    """Settle a task that nobody says the outcome of, where memories were shown to it: by its evidence."""
    task = task_id(context.session.scope, context.session.name, key)
    if injections(context.store.index, task):
        settle_task(context.store, task)


def _settle_open(context: HookContext, *, of_agents: bool) -> None:
    """Settle by their evidence the tasks of the session that are in progress and whose end nobody has told.

    They stay in progress, and what comes later settles them again. Those that a sub-agent was called for, which may be
    at work, are settled only where that is wanted.
    """
    for task in tasks_of(context.store.index, scope=context.session.scope, session=context.session.name):
        mine = of_agents or CALL not in task.attributes
        if task.status == IN_PROGRESS and mine and ledger_of(task).evidence:
            settle_task(context.store, task.id)


def _finish(context: HookContext, key: str) -> None:
    """Settle such a task, and have nobody work on it any more."""
    _settle_by_evidence(context, key)
    if find_task(context.store.index, task_id(context.session.scope, context.session.name, key)) is not None:
        context.sees(key, {}, status=COMPLETED)


def _end(context: HookContext) -> None:
    session = context.session
    tasks = [
        {**observed_task(task), "id": task.id}
        for task in reversed(tasks_of(context.store.index, scope=session.scope, session=session.name))
        if task.outcome and task.objective
    ]
    if tasks and session.objective:
        origin = Origin(
            at=context.store.runtime.clock(),
            scope=session.scope,
            session=session.name,
            agent=context.client,
            source=f"{context.client}:{session.name}",
        )
        context.propose(observe_session(session.objective, tasks, {}, origin))
    if Ref.session(session_id(session.scope, session.name)) in context.store.index:
        context.memory_worker.close_session(session.name, session.scope)


def last_words(transcript: str) -> str:
    """Return an agent's last text from the transcript that its hook names, empty where none can be read."""
    try:
        with files.open_regular(transcript) as file:
            size = file.seek(0, 2)
            file.seek(max(0, size - _TAIL_BYTES))
            lines = file.read(_TAIL_BYTES).splitlines()
    except (OSError, ValueError):
        return ""
    return next((text for line in reversed(lines) if (text := _spoken(line))), "")


def _spoken(line: bytes) -> str:
    """Return what the agent says in a line of a history; a line that was cut, or is another's, says nothing."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return ""
    message = record.get("message") if isinstance(record, dict) and record.get("type") == "assistant" else None
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, str):
        return content.strip()
    return "\n".join(_texts(content if isinstance(content, list) else ())).strip()


def _texts(blocks: Iterable[Any]) -> Iterable[str]:
    for block in blocks:
        if isinstance(block, dict) and block.get("type") == "text" and isinstance(block.get("text"), str):
            yield block["text"]
