"""VS Code: Claude Code's events, its own tools. What a terminal's answer says in words of the status is read."""

from __future__ import annotations

from helix.agents.hooks import claude_code
from helix.agents.hooks.client_shape import Client, Payload, call, patched, renamed, said_status, without_call
from helix.agents.hooks.hook_events import ActionBegins, ActionEnded, AgentStarted, Event, SessionBegan

_NAMES = {"sessionId": "session_id", "hookEventName": "hook_event_name"}
_TOOLS = {
    "run_in_terminal": "Bash",
    "runInTerminal": "Bash",
    "create_file": "Write",
    "replace_string_in_file": "Edit",
    "insert_edit_into_file": "Edit",
}
_GIVEN = {"filePath": "file_path", "oldString": "old_string", "newString": "new_string", "code": "new_string"}


def read(payload: Payload) -> Event | None:
    """Return what a payload tells; None for what Helix does nothing about, or cannot read."""
    payload = renamed(payload, _NAMES)
    given = payload.get("tool_input")
    if payload.get("tool_name") == "apply_patch" and isinstance(given, dict):
        payload = patched(payload, given.get("input"))
    payload = call(payload, _TOOLS, _GIVEN)
    if payload.get("hook_event_name") != "PostToolUse":
        return claude_code.read(payload)
    output = payload.get("tool_response")
    text = output if isinstance(output, str) else ""
    return claude_code.action_ended(payload, status=said_status(text), output=text)


VSCODE = Client(
    read,
    without_call(claude_code.write),
    claude_code.delivery,
    shows=(SessionBegan, ActionBegins, ActionEnded, AgentStarted),
)
