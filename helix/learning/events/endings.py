"""Endings: what is learned when a sub-agent stops, an agent rests, and a session is over."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from helix.learning.contracts.builder import read_builder
from helix.learning.contracts.explorer import read_explorer
from helix.learning.contracts.planner import PROCEED, read_planner
from helix.learning.contracts.prompt import AgentType, detect_agent_type
from helix.learning.events.agents import identify_call
from helix.learning.events.desk import NOTHING, Desk, Reaction
from helix.learning.events.events import AgentStopped, Rested, SessionEnded
from helix.learning.events.sessions import Worker
from helix.learning.events.tasks import said_of, told_of
from helix.learning.observer.observe import (
    Origin,
    observe_builder,
    observe_explorer,
    observe_planner,
    observe_session,
)
from helix.learning.observer.queue import enqueue
from helix.learning.orchestration.board import SESSION_KEY, find_task, injections, task_id, tasks_of
from helix.learning.outcomes.noting import note_use
from helix.learning.outcomes.settle import settle
from helix.model.candidate import Candidate
from helix.model.edge import Label, Ref
from helix.model.episode import session_id
from helix.model.task import AGENT, COMPLETED, DELIVERED

_TAIL_BYTES = 256 << 10
_MESSAGE = 65_536


def agent_stopped(desk: Desk, event: AgentStopped) -> Reaction:
    """Read a sub-agent's last words: what it says of its task, what it used, and what it gives to learn."""
    transcript = Path(event.agent_transcript) if event.agent_transcript else None
    identify_call(desk, event.agent, None if transcript is None else transcript.with_suffix(".meta.json"))
    worker = desk.worker(event)
    kind = worker.kind or detect_agent_type("", event.agent_type)
    if kind is None:
        key = desk.session.key_of(worker)
        return Reaction(always=(lambda: _finish(desk, key),))
    return Reaction(always=(lambda: _learn(desk, event, worker, kind),), did=f"reads the {kind}'s last words")


def rested(desk: Desk, event: Rested) -> Reaction:
    """Settle what was shown in the main thread; have what happened so far consolidated before a history is cut."""
    if event.agent:
        return NOTHING
    flush = (lambda: desk.flush(desk.session.scope),) if event.compacting else ()
    return Reaction(always=(lambda: _settle(desk, SESSION_KEY), *flush), did="flushes" if event.compacting else "")


def session_ended(desk: Desk, event: SessionEnded) -> Reaction:
    """Hand over what is left to be done, and return at once: a client kills what takes longer."""
    return Reaction(always=(lambda: _finish(desk, SESSION_KEY), lambda: _end(desk)), did="ends the session")


def _learn(desk: Desk, event: AgentStopped, worker: Worker, kind: AgentType) -> None:
    message = (event.message or last_words(event.agent_transcript))[:_MESSAGE]
    key = desk.session.key_of(worker)
    task = desk.session.task_of(worker)
    origin = Origin(
        at=desk.store.clock(),
        scope=desk.session.scope,
        session=desk.session.name,
        task=task,
        agent=kind,
        source=f"{desk.client}:{desk.session.name}:{event.agent}",
    )
    said, utilized, outcome = _said(kind, message)
    status = COMPLETED if key.startswith("agent:") else None
    desk.sees(key, {AGENT: event.agent, **said}, status=status)
    note_use(desk.store, task, utilized=utilized, files=tuple(worker.files), text=message)
    settle(desk.store, task, outcome=outcome or None)
    enqueue(desk.store, _candidates(desk, kind, message, worker, origin))


def _said(kind: AgentType, message: str) -> tuple[Mapping[str, object], tuple[str, ...], str]:
    """Return what an agent says of its task, which memories it says it used, and the outcome it claims."""
    if kind is AgentType.BUILDER:
        answer = read_builder(message)
        return said_of(answer), answer.utilized, answer.outcome
    if kind is AgentType.EXPLORER:
        explored = read_explorer(message)
        return {}, tuple(memory.name for memory in explored.memories), DELIVERED if explored.succeeded else ""
    return {}, (), DELIVERED if read_planner(message).decision == PROCEED else ""


def _candidates(desk: Desk, kind: AgentType, message: str, worker: Worker, origin: Origin) -> tuple[Candidate, ...]:
    if kind is AgentType.BUILDER:
        task = find_task(desk.store, origin.task)
        return observe_builder(told_of(task), message, tuple(worker.files), origin)
    if kind is AgentType.EXPLORER:
        return observe_explorer(message, origin)
    answer = read_planner(message)
    tasks = [asdict(task) for task in answer.tasks]
    return observe_planner(tasks, {"objective": desk.session.objective}, origin, answer.learned)


def _settle(desk: Desk, key: str) -> None:
    """Settle a task that nobody says the outcome of, where memories were shown to it: by its evidence."""
    task = task_id(desk.session.scope, desk.session.name, key)
    if injections(desk.store, task):
        settle(desk.store, task)


def _finish(desk: Desk, key: str) -> None:
    """Settle such a task, and have nobody work on it any more."""
    _settle(desk, key)
    if find_task(desk.store, task_id(desk.session.scope, desk.session.name, key)) is not None:
        desk.sees(key, {}, status=COMPLETED)


def _end(desk: Desk) -> None:
    session = desk.session
    tasks = [
        {**told_of(task), "id": task.id}
        for task in reversed(tasks_of(desk.store, scope=session.scope, session=session.name))
        if task.outcome and task.objective
    ]
    if tasks and session.objective:
        origin = Origin(
            at=desk.store.clock(),
            scope=session.scope,
            session=session.name,
            agent=desk.client,
            source=f"{desk.client}:{session.name}",
        )
        enqueue(desk.store, observe_session(session.objective, tasks, {}, origin))
    if desk.store.catalogue.row_of(Ref(label=Label.SESSION, id=session_id(session.scope, session.name))) is not None:
        desk.close_session(session.name, session.scope)


def last_words(transcript: str) -> str:
    """Return the last text of an agent from the end of its history, empty where there is none that can be read."""
    try:
        with Path(transcript).open("rb") as file:
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
