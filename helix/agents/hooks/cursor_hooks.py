"""Cursor: hooks of its own names. It reads context at the start of a session and behind a tool's result alone."""

from __future__ import annotations

from helix.agents.hooks import claude_code
from helix.agents.hooks.client_shape import Client, Payload, call, context_as, renamed, told
from helix.agents.hooks.hook_events import ActionEnded, Event, SessionBegan

_EVENTS = {
    "sessionStart": "SessionStart",
    "beforeSubmitPrompt": "UserPromptSubmit",
    "preToolUse": "PreToolUse",
    "postToolUse": "PostToolUse",
    "postToolUseFailure": "PostToolUse",
    "preCompact": "PreCompact",
    "stop": "Stop",
    "sessionEnd": "SessionEnd",
}
_TOOLS = {"Shell": "Bash", "StrReplace": "Edit", "Edit": "Edit", "Write": "Write"}
_GIVEN = {"path": "file_path", "contents": "content"}


def read(payload: Payload) -> Event | None:
    """Return what a payload tells; None for what Helix does nothing about, or cannot read."""
    own, roots = str(payload.get("hook_event_name")), payload.get("workspace_roots")
    named = renamed(call(payload, _TOOLS, _GIVEN), {"conversation_id": "session_id"})
    given = named["tool_input"]
    folder = (
        given.get("working_directory") or payload.get("cwd") or (roots[0] if isinstance(roots, list) and roots else "")
    )
    named |= {"cwd": folder, "hook_event_name": _EVENTS.get(own)}
    if named["hook_event_name"] != "PostToolUse":
        return claude_code.read(named)
    if own == "postToolUseFailure":
        refused = payload.get("failure_type") == "permission_denied" or payload.get("is_interrupt") is True
        error = payload.get("error_message")
        ended = {"output": error if isinstance(error, str) else ""}
        return None if refused else claude_code.action_ended(named, status=None, output=ended["output"], failed=True)
    answer = told(payload.get("tool_output"))
    status = answer.get("exitCode", answer.get("exit_code"))
    parts = (answer.get(name) for name in ("output", "stdout", "stderr"))
    output = "\n".join(part for part in parts if isinstance(part, str) and part)
    return claude_code.action_ended(named, status=status if type(status) is int else None, output=output)


CURSOR = Client(read, context_as("additional_context"), claude_code.delivery, shows=(SessionBegan, ActionEnded))
