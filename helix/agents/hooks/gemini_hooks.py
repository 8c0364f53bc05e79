"""Gemini CLI: hooks of its own names. It reads no context before a tool is run, so that comes behind the result."""

from __future__ import annotations

import re
from typing import Any

from helix.agents.hooks import claude_code
from helix.agents.hooks.client_shape import Client, Payload, call, said_status, told
from helix.agents.hooks.hook_events import ActionEnded, Event, PromptGiven, Reply, SessionBegan

_EVENTS = {
    "SessionStart": "SessionStart",
    "BeforeAgent": "UserPromptSubmit",
    "BeforeTool": "PreToolUse",
    "AfterTool": "PostToolUse",
    "AfterAgent": "Stop",
    "PreCompress": "PreCompact",
    "SessionEnd": "SessionEnd",
}
_OWN = {name: own for own, name in _EVENTS.items()}
_TOOLS = {"run_shell_command": "Bash", "replace": "Edit", "write_file": "Write"}
_PUT_BEFORE = re.compile(r"\A(?:<hook_context>.*?</hook_context>\s*)+", re.DOTALL)
"""What hooks said at the start of the session, which the client puts before the first prompt."""
_WRAPPING = re.compile(r"</?untrusted_context>\n?|^Output: (?:\(empty\))?|^Process Group PGID: \d+\n?", re.MULTILINE)


def read(payload: Payload) -> Event | None:
    """Return what a payload tells; None for what Helix does nothing about, or cannot read."""
    event = _EVENTS.get(str(payload.get("hook_event_name")))
    payload = {
        **call(payload, _TOOLS, {}),
        "hook_event_name": event,
        "tool_use_id": str(payload.get("timestamp") or "") if "tool_name" in payload else "",
        "prompt": _PUT_BEFORE.sub("", str(payload.get("prompt") or "")),
    }
    if event != "PostToolUse":
        return claude_code.read(payload)
    answer = told(payload.get("tool_response"))
    said = answer.get("llmContent")
    text = said if isinstance(said, str) else ""
    status = said_status(text)
    failed = bool(answer.get("error"))
    if status is None and not failed and not payload["tool_input"].get("is_background"):
        status = 0  # it says how a command ended only where it did not end well
    return claude_code.action_ended(payload, status=status, output=_WRAPPING.sub("", text), failed=failed or None)


def write(event: Event, reply: Reply) -> dict[str, Any]:
    """Return the answer to an event as Gemini CLI reads it; empty where there is nothing to say."""
    answer = claude_code.write(event, Reply(context=reply.context, notice=reply.notice))
    said = answer.get("hookSpecificOutput")
    return {**answer, "hookSpecificOutput": {**said, "hookEventName": _OWN[event.name]}} if said else answer


GEMINI = Client(read, write, claude_code.delivery, shows=(SessionBegan, PromptGiven, ActionEnded))
