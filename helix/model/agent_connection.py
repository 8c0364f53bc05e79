"""Agent connection: a coding agent's client on this machine, and whether it uses this store; a line of the log."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentConnection:
    """One client that Helix knows how to connect."""

    client: Annotated[str, "What the command line calls it, such as `claude-code`."]
    name: Annotated[str, "What it is called."]
    installed: Annotated[bool, "Whether it is on this machine, as far as its programs and folders tell."]
    connected: Annotated[str, "By whose settings it uses this store: `user`, `project`, `unreadable`; empty for none."]
    file: Annotated[str, "The settings file that connects it."]
    hooks: Annotated[bool, "Whether it tells Helix by itself what happens."]


@dataclass(frozen=True, slots=True, kw_only=True)
class LogLine:
    """One line of the daemon's log; secrets were taken out before it was written."""

    at: Annotated[datetime | None, "When it was written; null where the line does not say."]
    level: Annotated[str, "`debug`, `info`, `warning` or `error`; empty where the line does not say."]
    text: Annotated[str, "What it says, with what belongs to it."]
