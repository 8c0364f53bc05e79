"""Subagents: which of them does which task: as the client says, or writes beside its histories, or the store knows."""

from __future__ import annotations

import json
from pathlib import Path

from helix import files
from helix.agents.answers.prompt import detect_agent_type
from helix.agents.hook_events.hook_context import NOTHING, HookContext, Reaction
from helix.agents.hook_events.hook_events import AgentJoined, AgentStarted, AgentStopped, HookEvent
from helix.agents.hook_events.session_state import SessionWorker
from helix.agents.tasks.board import task_id, tasks_of
from helix.agents.tasks.task_names import key_of
from helix.model.task import AGENT, CALL, SILENT

_META_BYTES = 65_536
_PROMPT_BYTES = 1 << 20


def recognise(context: HookContext, event: HookEvent) -> None:
    """Find out which call a hook's sub-agent came of, so that what it does is told of the right task.

    What the client has written beside the agent's history decides, else the agent's prompt, where no other call has the
    same; of a session that this daemon has not seen begin, the store knows.
    """
    if not event.agent:
        return
    session, new = context.session, not context.session.knows(event.agent)
    worker = context.worker(event)
    if worker.sure and not (new and worker.kind is None):
        return
    history = _history(event)
    call = "" if history is None else _call_of(history.with_suffix(".meta.json"))
    if call:
        session.joined(call, event.agent)
    if worker.sure and worker.kind is None:
        _from_store(context, event.agent, event.agent_type, call)
    elif not worker.sure and history is not None:
        session.asked(event.agent, _prompt_of(history))


def worker_of(context: HookContext, agent: str, history: Path) -> SessionWorker:
    """Return whose transcript a hook's path is: the main thread's (no `agent`), or a sub-agent's, with its task."""
    if agent and not context.session.knows(agent):
        _from_store(context, agent, "", _call_of(history.with_suffix(".meta.json")))
    return context.session.read_of(agent)


def agent_started(context: HookContext, event: AgentStarted) -> Reaction:
    """Note by a hook which sub-agent does a task, as soon as that is certain."""
    return _noted(context, context.worker(event), event.agent)


def agent_joined(context: HookContext, event: AgentJoined) -> Reaction:
    """Note which sub-agent came of which call, as the client's hook says it."""
    if not event.started:
        return NOTHING
    context.session.joined(event.call, event.started)
    worker = context.session.worker(event.started)
    if worker.kind is None:
        _from_store(context, event.started, "", event.call)
    return _noted(context, worker, event.started)


def _noted(context: HookContext, worker: SessionWorker, agent: str) -> Reaction:
    if worker.kind is None:
        return NOTHING
    kept = context.when_sure(worker, lambda: context.sees(worker.key, {AGENT: agent}))
    return Reaction(always=(kept,), did=f"is {'the' if worker.sure else 'a'} {worker.kind}")


def _from_store(context: HookContext, agent: str, agent_type: str, call: str) -> None:
    """Take note of the task of an agent that was called before the daemon was started anew."""
    for task in tasks_of(context.store.index, scope=context.session.scope, session=context.session.name):
        known = task.attributes
        if known.get(AGENT) == agent or (call and known.get(CALL) == call):
            key = key_of(task)
            if task_id(context.session.scope, context.session.name, key) == task.id:
                kind = detect_agent_type("", agent_type)
                context.session.belongs(agent, key, kind, silent=bool(known.get(SILENT)))
                return


def _history(event: HookEvent) -> Path | None:
    """Return where a sub-agent's history is, None where that is not known or a name could lead out of its folder."""
    if isinstance(event, AgentStopped) and event.agent_transcript:
        return Path(event.agent_transcript)
    if not event.transcript or not event.agent.isalnum():
        return None
    return Path(event.transcript).with_suffix("") / "subagents" / f"agent-{event.agent}.jsonl"


def _call_of(meta: Path) -> str:
    try:
        told = json.loads(files.read_bytes(meta, _META_BYTES))
    except (OSError, ValueError, RecursionError):
        return ""
    call = told.get("toolUseId") if isinstance(told, dict) else None
    return call if isinstance(call, str) else ""


def _prompt_of(history: Path) -> str:
    """Return what an agent was told to do: the first thing that is said in its history."""
    try:
        with files.open_regular(history) as file:
            first = json.loads(file.readline(_PROMPT_BYTES))
    except (OSError, ValueError, RecursionError):
        return ""
    message = first.get("message") if isinstance(first, dict) and first.get("type") == "user" else None
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else ()
    return "\n".join(str(block.get("text", "")) for block in blocks if isinstance(block, dict))
