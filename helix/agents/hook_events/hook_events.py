"""Hook events: what a client tells while an agent works, and what it is answered, whatever client it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from helix.model.action import Action

ANSWER_LIMIT = 10_000
"""Most characters of a text that is put before an agent: clients keep longer ones out of its sight."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HookEvent:
    """Something that happened in a session. `agent` is the sub-agent's id, empty in the main thread.

    `folder` is where the agent works, `project` the top of what it was started in where the client tells it, and
    `transcript` the file that the client writes the session's history into.
    """

    session: str
    name: str = ""
    folder: str = ""
    project: str = ""
    agent: str = ""
    agent_type: str = ""
    transcript: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionBegan(HookEvent):
    """A session began, was taken up again, or went on after its history was cut (`source`)."""

    source: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptGiven(HookEvent):
    """Somebody asked something. `by_client` marks what the client itself put in a person's place."""

    prompt: str = ""
    by_client: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentCalled(HookEvent):
    """An agent is about to be started with `prompt`. `call` is what the client knows the call by, `given` all of it."""

    call: str = ""
    called_type: str = ""
    prompt: str = ""
    given: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentStarted(HookEvent):
    """The sub-agent `agent` has begun."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentJoined(HookEvent):
    """The client told which sub-agent (`started`) came of which call."""

    call: str = ""
    started: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentStopped(HookEvent):
    """The sub-agent `agent` has ended with `message`. `again` marks one that was sent on and ends a second time."""

    message: str = ""
    agent_transcript: str = ""
    again: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionBegins(HookEvent):
    """A command or an edit is about to be done."""

    action: Action


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionEnded(HookEvent):
    """A command or an edit was done; `wrote` is what an edit put into its files."""

    action: Action
    wrote: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskTold(HookEvent):
    """The client's task list changed. `status` is empty where it stays; `metadata` holds what agents wrote there."""

    task: str = ""
    subject: str = ""
    description: str = ""
    status: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rested(HookEvent):
    """The agent has answered and waits, or its history is about to be cut: what was learned so far is kept now."""

    compacting: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionEnded(HookEvent):
    """The session is over."""

    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class HookReply:
    """What is answered: a text put before the agent, and the call as it is to be made; nothing where both are empty.

    `notice` is for the user. `attended` marks a call of an agent that is to be waited for, also where the client would
    have it in the background.
    """

    context: str = ""
    given: Mapping[str, Any] | None = None
    attended: bool = False
    notice: str = ""
