"""Goose: its hooks tell what was done and whether it failed, but no output, and nothing to the agent.

At the end of a turn it reads a decision from what a hook prints, and warns of one that prints none.
"""

from __future__ import annotations

from typing import Any

from helix.agents.hooks import claude_code
from helix.agents.hooks.client_shape import Client, Payload, call, renamed
from helix.agents.hooks.hook_events import Event, Reply, Rested

_NAMES = {"event": "hook_event_name", "working_dir": "cwd", "message": "prompt", "tool_call_id": "tool_use_id"}
_TOOLS = {"developer__shell": "Bash", "developer__edit": "Edit", "developer__write": "Write"}
_GIVEN = {"path": "file_path", "before": "old_string", "after": "new_string"}


def _named(payload: Payload) -> dict[str, Any]:
    return call(renamed(payload, _NAMES), _TOOLS, _GIVEN)


def read(payload: Payload) -> Event | None:
    """Return what a payload tells; None for what Helix does nothing about, or cannot read."""
    named = _named(payload)
    own = named.get("hook_event_name")
    if own not in ("PostToolUse", "PostToolUseFailure"):
        return claude_code.read(named)
    failed = own == "PostToolUseFailure"  # where a command ends with another status than 0, too
    return claude_code.action_ended(named, status=None if failed else 0, failed=failed or None)


def write(event: Event, _: Reply) -> dict[str, Any]:
    """Return the answer to an event: that the turn may end, at its end; otherwise nothing, as nothing is read."""
    return {"decision": "allow"} if isinstance(event, Rested) else {}


GOOSE = Client(read, write, lambda payload: claude_code.delivery(_named(payload)), shows=())
