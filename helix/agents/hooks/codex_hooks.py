"""Codex CLI: its hooks have Claude Code's names. How a command ended is in the session's history alone.

The history (`transcript_path`) has the end of a command before its hook is called; the hook tells only what it printed.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from helix import files
from helix.agents.hooks import claude_code
from helix.agents.hooks.client_shape import Client, Payload, call, patched, without_call
from helix.agents.hooks.hook_events import ActionBegins, ActionEnded, AgentStarted, Event, PromptGiven, SessionBegan

_TAIL_BYTES = 1 << 18
"""Bytes of the history's end that are read: the end of a command is among its last few lines."""


def read(payload: Payload) -> Event | None:
    """Return what a payload tells; None for what Helix does nothing about, or cannot read."""
    if payload.get("tool_name") == "apply_patch":
        given = payload.get("tool_input")
        payload = patched(payload, given.get("command") if isinstance(given, dict) else given)
    else:
        payload = call(payload, {}, {})
    if payload.get("hook_event_name") != "PostToolUse":
        return claude_code.read(payload)
    if payload["tool_name"] != "Bash":
        return claude_code.action_ended(payload, status=None)
    ended = _ended(str(payload.get("transcript_path") or ""), str(payload.get("tool_use_id") or ""))
    status, output = ended.get("exit_code"), payload.get("tool_response")
    return claude_code.action_ended(
        payload,
        status=status if isinstance(status, int) else None,
        output=output if isinstance(output, str) else str(ended.get("aggregated_output") or ""),
    )


def _ended(path: str, name: str) -> dict[str, Any]:
    """Return what a session's history says of the end of a call; {} where it says nothing."""
    if not name or not Path(path).is_absolute():
        return {}
    try:
        with files.open_regular(path) as file:
            file.seek(max(file.seek(0, os.SEEK_END) - _TAIL_BYTES, 0))
            lines = file.read(_TAIL_BYTES).splitlines()
    except OSError:
        return {}
    for line in reversed(lines):
        if b'"exit_code"' not in line or name.encode() not in line:
            continue
        try:
            told = json.loads(line)["payload"]
            item = told.get("item", told)
            if name in (item.get("id"), item.get("call_id")):
                return dict(item)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            continue
    return {}


CODEX = Client(
    read,
    without_call(claude_code.write),
    claude_code.delivery,
    shows=(SessionBegan, PromptGiven, ActionBegins, ActionEnded, AgentStarted),
)
