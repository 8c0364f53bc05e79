"""Cline: one script an event. Its extension and its command line tell the same in two shapes, which are both read.

What is to be told the agent reaches it beside a tool alone: its command line reads no other answer.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from helix.agents.hook_events import claude_code
from helix.agents.hook_events.client_shapes import ClientShape, Payload, call, context_as, patched, renamed, said_status
from helix.agents.hook_events.hook_events import ActionBegins, ActionEnded, HookEvent

_EVENTS = {
    **dict.fromkeys(("TaskStart", "TaskResume", "agent_start", "agent_resume"), "SessionStart"),
    **dict.fromkeys(("UserPromptSubmit", "prompt_submit"), "UserPromptSubmit"),
    **dict.fromkeys(("PreToolUse", "tool_call"), "PreToolUse"),
    **dict.fromkeys(("PostToolUse", "tool_result"), "PostToolUse"),
    **dict.fromkeys(("TaskComplete", "TaskCancel", "agent_end", "agent_abort"), "Stop"),
    "PreCompact": "PreCompact",
}
_CALLS = ("tool_call", "tool_result", "preToolUse", "postToolUse")
_TOOLS = {
    "run_commands": "Bash",
    "execute_command": "Bash",
    "editor": "Edit",
    "replace_in_file": "Edit",
    "write_to_file": "Write",
}
_GIVEN = {"path": "file_path", "old_text": "old_string", "new_text": "new_string", "diff": "new_string"}
_NO_END = ("[Command is still running", "Command was aborted")
"""What is said of a command that a person sent to the background, or broke off."""


def read(payload: Payload) -> HookEvent | None:
    """Read a hook payload of Cline as an event; None for what Helix does nothing about, or cannot read."""
    named, told = _named(payload), _table(payload, *_CALLS)
    if named["hook_event_name"] != "PostToolUse":
        return claude_code.read(named)
    held = told.get("output", told.get("result"))
    results = _listed(held)
    broken = [one for one in results if one.get("success") is False]
    error = "\n".join(str(one.get("error") or "") for one in broken)
    text = "\n".join([*(str(one.get("result") or "") for one in results), error]) if results else held
    text = text.strip() if isinstance(text, str) else ""
    failed = bool(broken or told.get("error")) or told.get("success") is False
    status = said_status(error if results else text)
    if any(str(one.get(name) or "").startswith(_NO_END) for one in results for name in ("result", "error")):
        status, failed = None, False
    elif status is None and results and not failed:
        status = 0
    return claude_code.action_ended(named, status=status, output=text, failed=failed or None)


def _named(payload: Payload) -> dict[str, Any]:
    told, roots = _table(payload, *_CALLS), payload.get("workspaceRoots")
    given = told.get("input", told.get("parameters"))
    named = {
        **renamed(payload, {"taskId": "session_id"}),
        "hook_event_name": _EVENTS.get(str(payload.get("hookName"))),
        "source": "resume",  # its command line begins anew with each prompt, and has its history still
        "cwd": roots[0] if isinstance(roots, list) and roots else "",
        "prompt": _table(payload, "userPromptSubmit").get("prompt"),
        "agent_id": payload.get("agent_id") if payload.get("parent_agent_id") else "",
        "tool_name": told.get("name", told.get("toolName")),
        "tool_use_id": told.get("id") or (str(payload.get("timestamp") or "") if told else ""),
        "tool_input": given,
    }
    if named["tool_name"] == "apply_patch":
        return patched(named, given.get("input") if isinstance(given, Mapping) else given)
    named = call(named, _TOOLS, _GIVEN)
    return {**named, "tool_input": {"command": _command(given)}} if named["tool_name"] == "Bash" else named


def _table(payload: Payload, *names: str) -> Payload:
    """Return the first of these that is a table; {} where none is."""
    return next((held for name in names if isinstance(held := payload.get(name), Mapping)), {})


def _command(given: object) -> str:
    """Return the commands of a call, which may be one or several, each a line or a program with its arguments."""
    if isinstance(given, Mapping) and "args" not in given:
        given = next((given[name] for name in ("commands", "command", "cmd") if name in given), "")
    if isinstance(given, str) and given.startswith(("[", "{")):
        given = _parsed(given) or given
    each = given if isinstance(given, list) else [given]
    return "; ".join(line for one in each if (line := _line(one)))


def _line(one: object) -> str:
    if isinstance(one, Mapping):
        args = one.get("args")
        return " ".join(str(word) for word in (one.get("command"), *(args if isinstance(args, list) else ())) if word)
    return one if isinstance(one, str) else ""


def _listed(held: object) -> list[Payload]:
    """Return the results of a call's commands, each a table with `result`, `error` and `success`; [] for a text."""
    held = _parsed(held) if isinstance(held, str) else held
    return [one for one in (held if isinstance(held, list) else [held]) if isinstance(one, Mapping)]


def _parsed(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


CLINE = ClientShape(
    read,
    context_as("contextModification"),
    lambda payload: claude_code.delivery(_named(payload)),
    shows=(ActionBegins, ActionEnded),
)
