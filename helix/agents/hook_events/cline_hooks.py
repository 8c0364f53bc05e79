"""Cline: one script an event. Its extension and its command line tell the same in two shapes, which are both read.

What is to be told the agent reaches it beside a tool alone: its command line reads no other answer.
"""

from __future__ import annotations

import json
import ntpath
import posixpath
import re
from collections.abc import Mapping, Sequence
from typing import Any

from helix.agents.hook_events import claude_code
from helix.agents.hook_events.client_shapes import (
    ClientShape,
    Payload,
    call,
    context_as,
    patched,
    renamed,
    run_in,
    said_status,
)
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
_GIVEN = {
    "absolutePath": "file_path",
    "path": "file_path",
    "old_text": "old_string",
    "new_text": "new_string",
    "diff": "new_string",
}
_IN_ROOT, _RUN_IN_ROOT = re.compile(r"@([^:]+):(.*)"), re.compile(r"@(\w+):(.+)")
"""How a path, or a command, of a work space with several roots says which it is of."""
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
    told, held = _table(payload, *_CALLS), payload.get("workspaceRoots")
    roots = [one for one in (held if isinstance(held, list) else ()) if isinstance(one, str)]
    given = told.get("input", told.get("parameters"))
    named = {
        **renamed(payload, {"taskId": "session_id"}),
        "hook_event_name": _EVENTS.get(str(payload.get("hookName"))),
        "source": "resume",  # its command line begins anew with each prompt, and has its history still
        "cwd": roots[0] if roots else "",
        "prompt": _table(payload, "userPromptSubmit").get("prompt"),
        "agent_id": payload.get("agent_id") if payload.get("parent_agent_id") else "",
        "tool_name": told.get("name", told.get("toolName")),
        "tool_use_id": told.get("id") or (str(payload.get("timestamp") or "") if told else ""),
        "tool_input": given,
    }
    if named["tool_name"] == "apply_patch":
        named = patched(named, given.get("input") if isinstance(given, Mapping) else given)
    else:
        named = call(named, _TOOLS, _GIVEN)
    if named["tool_name"] == "Bash":
        folder, command = _of_root(_RUN_IN_ROOT, _command(given), roots)
        return run_in({**named, "tool_input": {"command": command}}, folder)
    if isinstance(path := named["tool_input"].get("file_path"), str):
        named["tool_input"]["file_path"] = posixpath.join(*_of_root(_IN_ROOT, path, roots))
    return named


def _of_root(pattern: re.Pattern[str], said: str, roots: Sequence[str]) -> tuple[str, str]:
    """Return the root that a path or command begins with the name of, and the rest; ("", said) where it names none.

    Of one whose name is none of these, as an editor may give its roots other names, nothing is told: ("", "").
    """
    named = pattern.fullmatch(said)
    if named is None:
        return "", said
    name, rest = named[1].strip(), named[2].strip()
    inside = (root for root in roots if name in root)
    root = next((root for root in roots if ntpath.basename(root.rstrip("/\\")) == name), None) or next(inside, "")
    return (root, rest) if root else ("", "")


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
