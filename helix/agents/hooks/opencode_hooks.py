"""opencode: what Helix's plugin there tells (connectors/clients/opencode_plugin.js), and the text it puts in place."""

from __future__ import annotations

from helix.agents.hooks import claude_code
from helix.agents.hooks.client_shape import Client, Payload, call, context_as, patched
from helix.agents.hooks.hook_events import Event
from helix.text.client_ids import digest

_EVENTS = {
    "session.created": "SessionStart",
    "chat.message": "UserPromptSubmit",
    "tool.execute.before": "PreToolUse",
    "tool.execute.after": "PostToolUse",
    "session.compacted": "PreCompact",
    "session.idle": "Stop",
    "session.deleted": "SessionEnd",
}
_TOOLS = {"bash": "Bash", "edit": "Edit", "write": "Write"}
_GIVEN = {"filePath": "file_path", "oldString": "old_string", "newString": "new_string"}


def read(payload: Payload) -> Event | None:
    """Return what a payload tells; None for what Helix does nothing about, or cannot read."""
    given = payload.get("tool_input")
    if payload.get("tool_name") in ("patch", "apply_patch") and isinstance(given, dict):
        payload = patched(payload, given.get("patchText"))
    session = payload.get("session_id")
    payload = {
        **call(payload, _TOOLS, _GIVEN),
        "session_id": f"ses_{digest(session)}" if isinstance(session, str) and session else "",  # it looks like a key
        "hook_event_name": _EVENTS.get(str(payload.get("hook_event_name"))),
    }
    if payload["hook_event_name"] != "PostToolUse":
        return claude_code.read(payload)
    status, output = payload.get("exit"), payload.get("output")
    return claude_code.action_ended(
        payload, status=status if type(status) is int else None, output=output if isinstance(output, str) else ""
    )


OPENCODE = Client(read, context_as("context"), claude_code.delivery)
