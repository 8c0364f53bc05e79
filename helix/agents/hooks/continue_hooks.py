"""Continue's command `cn`: Claude Code's events and tools. How a command ended is said in the words of a failure alone.

It takes a command that failed without a word on its standard error for one that went well.
"""

from __future__ import annotations

from helix.agents.hooks import claude_code
from helix.agents.hooks.client_shape import Client, Payload, call, said_status, without_call
from helix.agents.hooks.hook_events import ActionBegins, Event

_GIVEN = {"filepath": "file_path"}


def read(payload: Payload) -> Event | None:
    """Return what a payload tells; None for what Helix does nothing about, or cannot read."""
    named = call(payload, {}, _GIVEN)
    own = named.get("hook_event_name")
    if own not in ("PostToolUse", "PostToolUseFailure"):
        return claude_code.read(named)
    if payload.get("is_interrupt") is True:
        return None
    said = payload.get("error" if own == "PostToolUseFailure" else "tool_response")
    text = said if isinstance(said, str) else ""
    failed = own == "PostToolUseFailure"
    return claude_code.action_ended(
        named, status=said_status(text) if failed else None, output=text, failed=failed or None
    )


CONTINUE = Client(read, without_call(claude_code.write), claude_code.delivery, shows=(ActionBegins,))
