"""Windsurf: its hooks tell what was done, but neither how a command ended nor anything to the agent."""

from __future__ import annotations

from helix.agents.hooks import claude_code
from helix.agents.hooks.client_shape import Client, Payload, context_as
from helix.agents.hooks.hook_events import Event

_TOOLS = {"post_run_command": "Bash", "post_write_code": "MultiEdit"}
_EVENTS = {"pre_user_prompt": "UserPromptSubmit", "post_cascade_response": "Stop"}


def read(payload: Payload) -> Event | None:
    """Return what a payload tells; None for what Helix does nothing about, or cannot read."""
    own, info = str(payload.get("agent_action_name")), payload.get("tool_info")
    info = info if isinstance(info, dict) else {}
    named = {
        "session_id": payload.get("trajectory_id"),
        "hook_event_name": "PostToolUse" if own in _TOOLS else _EVENTS.get(own),
        "cwd": info.get("cwd") or payload.get("cwd"),
        "prompt": info.get("user_prompt"),
        "tool_name": _TOOLS.get(own),
        "tool_use_id": payload.get("execution_id"),
        "tool_input": {**info, "command": info.get("command_line")},
    }
    return claude_code.action_ended(named, status=None) if own in _TOOLS else claude_code.read(named)


WINDSURF = Client(read, context_as("context"), claude_code.delivery, shows=())
