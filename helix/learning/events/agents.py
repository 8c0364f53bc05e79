"""Agents: what is done when a sub-agent is called, begins, and ends."""

from __future__ import annotations

import json
from pathlib import Path

from helix.learning.events.desk import NOTHING, Desk, Reaction
from helix.learning.events.events import AgentJoined, AgentStarted
from helix.model.task import AGENT

_META_BYTES = 65_536


def agent_started(desk: Desk, event: AgentStarted) -> Reaction:
    """Find out whose call a sub-agent came of, so that what it does is told of the right task."""
    worker = desk.session.started(event.agent, event.agent_type)
    identify_call(desk, event.agent, _beside(event.transcript, desk.session.name, event.agent))
    if worker.kind is None:
        return NOTHING
    return Reaction(always=(lambda: desk.sees(worker.key, {AGENT: event.agent}),), did=f"is the {worker.kind}")


def agent_joined(desk: Desk, event: AgentJoined) -> Reaction:
    """Take note of which sub-agent came of which call, as the client says it."""
    if not event.started:
        return NOTHING
    desk.session.joined(event.call, event.started)
    worker = desk.session.worker(event.started)
    if worker.kind is None:
        return NOTHING
    return Reaction(always=(lambda: desk.sees(worker.key, {AGENT: event.started}),))


def identify_call(desk: Desk, agent: str, meta: Path | None) -> None:
    """Take note of which call an agent came of, where the client has written it beside the agent's history."""
    if meta is None:
        return
    try:
        with meta.open("rb") as file:
            told = json.loads(file.read(_META_BYTES))
    except (OSError, ValueError):
        return
    call = told.get("toolUseId") if isinstance(told, dict) else None
    if isinstance(call, str):
        desk.session.joined(call, agent)


def _beside(transcript: str, session: str, agent: str) -> Path | None:
    """Return where the client says more of a sub-agent, None where a name could lead out of its folder."""
    if not transcript or not agent.isalnum():
        return None
    return Path(transcript).with_suffix("") / "subagents" / f"agent-{agent}.meta.json"
