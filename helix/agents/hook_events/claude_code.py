"""Claude Code: its hooks' payloads as events, and answers as it reads them. Pure; odd payloads are no event."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Any

from helix.agents.hook_events.hook_events import (
    ANSWER_LIMIT,
    ActionBegins,
    ActionEnded,
    AgentCalled,
    AgentJoined,
    AgentStarted,
    AgentStopped,
    HookEvent,
    HookReply,
    PromptGiven,
    Rested,
    SessionBegan,
    SessionEnded,
    TaskTold,
)
from helix.command_outcome.command_run import CommandRun
from helix.model.action import Action
from helix.text.excerpts import ends, head
from helix.text.own_words import own_words
from helix.text.secrets.redact import redact

CLIENT = "claude-code"

_SHELL = "Bash"
_EDITS = ("Edit", "Write", "MultiEdit", "NotebookEdit")
_PUT_IN, _TAKEN_OUT = ("new_string", "content", "new_source"), ("old_string",)
_AGENTS = ("Agent", "Task")
_OUTPUT_KEPT = 20_000
_CHANGE_SHOWN = 100
_LONGEST_NAME, _LONGEST_PATH, _LONGEST_COMMAND, _LONGEST_PROMPT = 300, 4_096, 8_192, 100_000
"""Characters. What is longer is no event; other texts are kept without their middle from _OUTPUT_KEPT on."""
_NAMES = ("session_id", "agent_id", "agent_type", "tool_use_id", "tool_name")
_PATHS = ("cwd", "project_folder", "transcript_path", "agent_transcript_path")
_OF_CLIENT = re.compile(r"\s*<(?:[a-z]+(?:[-_][a-z]+)+|channel|tick)(?:\s[^<>]{0,2000})?>")
"""How a client begins a prompt that no person typed: what a task, another agent or somebody in a channel told."""
_EXIT = re.compile(r"\AExit code (-?\d{1,9})\n?")

Payload = Mapping[str, Any]


def read(payload: Payload) -> HookEvent | None:
    """Read a hook payload of Claude Code as an event; None for what Helix does nothing about, or cannot read."""
    reader = _READERS.get(_text(payload, "hook_event_name"))
    return reader(payload) if reader is not None and _text(payload, "session_id") and _fits(payload) else None


def action_ended(
    payload: Payload, *, status: int | None, output: str = "", failed: bool | None = None
) -> HookEvent | None:
    """Return the end of a command or an edit from a hook payload in these names, its outcome in the client's words.

    `failed` says what is known of one without a status; None for what is no action that Helix knows.
    """
    action = _action(payload) if _text(payload, "session_id") and _fits(payload) else None
    if action is None:
        return None
    if action.is_edit:
        action, status = replace(action, change=_changed(_table(payload, "tool_input"))), None
        failed = failed is True
    elif failed and status == 0:
        status = None  # what said that it failed is the client; the 0 was printed
    elif status is not None:
        failed = True if status else None
    ended = _ended(action, exit_status=status, failed=failed, output=output)
    return ActionEnded(**_common_fields(payload), action=ended, wrote=_written(payload))


def delivery(payload: Payload) -> str:
    """Return what identifies a hook payload and its retry; empty where the client names no call.

    That is a digest of all of it, where it is about one call of a tool or one prompt. Other hooks tell how things
    stand: told twice, they say nothing new.
    """
    prompt = _text(payload, "hook_event_name") == "UserPromptSubmit" and _text(payload, "prompt_id")
    if not (_text(payload, "session_id") and (_text(payload, "tool_use_id") or prompt)):
        return ""
    try:
        return sha256(json.dumps(payload, sort_keys=True).encode("ascii")).hexdigest()
    except (TypeError, ValueError, RecursionError):
        return ""


def write(event: HookEvent, reply: HookReply) -> dict[str, Any]:
    """Return the answer to a hook event as Claude Code reads it; empty where there is nothing to say."""
    said: dict[str, Any] = {}
    if reply.context:
        said["additionalContext"] = reply.context[:ANSWER_LIMIT]
    if reply.given is not None:
        said["updatedInput"] = {**reply.given, **({"run_in_background": False} if reply.attended else {})}
    told = {"systemMessage": reply.notice} if reply.notice else {}
    return {**told, "hookSpecificOutput": {"hookEventName": event.name, **said}} if said else told


def _fits(payload: Payload) -> bool:
    """Return whether names and paths are no longer than any client's are: work on a path takes its square in time."""
    names = all(len(_text(payload, key)) <= _LONGEST_NAME for key in _NAMES)
    return names and all(len(_text(payload, key)) <= _LONGEST_PATH for key in _PATHS)


def _common_fields(payload: Payload) -> dict[str, Any]:
    """Return what every event has."""
    return {
        "session": _text(payload, "session_id"),
        "name": _text(payload, "hook_event_name"),
        "folder": _text(payload, "cwd"),
        "project": _text(payload, "project_folder"),
        "agent": _text(payload, "agent_id"),
        "agent_type": _text(payload, "agent_type"),
        "transcript": _text(payload, "transcript_path"),
    }


def _session_began(payload: Payload) -> HookEvent:
    return SessionBegan(**_common_fields(payload), source=_text(payload, "source"))


def is_by_client(prompt: str) -> bool:
    """Return whether a hook's prompt was put in a person's place by the client."""
    return _OF_CLIENT.match(prompt) is not None


def _prompt(payload: Payload) -> HookEvent:
    prompt = own_words(_text(payload, "prompt"))
    return PromptGiven(**_common_fields(payload), prompt=prompt, by_client=is_by_client(prompt))


def _before_tool(payload: Payload) -> HookEvent | None:
    tool, given = _text(payload, "tool_name"), _table(payload, "tool_input")
    if tool in _AGENTS:
        prompt = given.get("prompt")
        if not isinstance(prompt, str) or len(prompt) > _LONGEST_PROMPT:
            return None  # it is given back with memories in it, so it is taken whole or not at all
        return AgentCalled(
            **_common_fields(payload),
            call=_text(payload, "tool_use_id"),
            called_type=_text(given, "subagent_type"),
            prompt=prompt,
            given=given,
        )
    action = _action(payload)
    if action is None:
        return None
    if action.is_edit:
        action = replace(action, passage=f"{_written(payload, _TAKEN_OUT)}\n{_written(payload)}"[:_OUTPUT_KEPT])
    return ActionBegins(**_common_fields(payload), action=action)


def _after_tool(payload: Payload) -> HookEvent | None:
    tool, answer = _text(payload, "tool_name"), _table(payload, "tool_response")
    if tool in _AGENTS:
        return AgentJoined(
            **_common_fields(payload), call=_text(payload, "tool_use_id"), started=_text(answer, "agentId")
        )
    if tool in ("TaskCreate", "TaskUpdate"):
        return _task_tool(payload, answer)
    action = _action(payload)
    if action is None:
        return None
    if not action.command:
        changed = replace(action, change=_changed(_table(payload, "tool_input")))
        return ActionEnded(**_common_fields(payload), action=_ended(changed, failed=False), wrote=_written(payload))
    background = bool(_text(answer, "backgroundTaskId"))
    parts = (_text(answer, "stdout"), _text(answer, "stderr"))
    ended = _ended(
        action,
        # A command that goes on in the background has not ended, so nothing is known of it.
        exit_status=None if background else 0,
        interrupted=answer.get("interrupted") is True,
        output="\n".join(part for part in parts if part),
    )
    return ActionEnded(**_common_fields(payload), action=ended)


def _after_failure(payload: Payload) -> HookEvent | None:
    action, error = _action(payload), _text(payload, "error")
    if action is None:
        return None
    status = _EXIT.match(error) if action.command else None
    ended = _ended(
        action,
        exit_status=int(status[1]) if status else None,
        failed=True,
        interrupted=payload.get("is_interrupt") is True,
        output=error[status.end() :] if status else error,
    )
    return ActionEnded(**_common_fields(payload), action=ended)


def _task_tool(payload: Payload, answer: Payload) -> HookEvent | None:
    given = _table(payload, "tool_input")
    made = _table(answer, "task")
    task = _word(given.get("taskId")) or _word(made.get("id")) or _word(answer.get("taskId"))
    if not task or answer.get("success") is False:
        return None
    return TaskTold(
        **_common_fields(payload),
        task=task,
        subject=_text(given, "subject") or _text(made, "subject"),
        description=_text(given, "description"),
        status=_text(given, "status"),
        metadata=_table(given, "metadata"),
    )


def _task_completed(payload: Payload) -> HookEvent | None:
    task = _word(payload.get("task_id"))
    if not task:
        return None
    return TaskTold(
        **_common_fields(payload),
        task=task,
        subject=_text(payload, "task_subject"),
        description=_text(payload, "task_description"),
        status="completed",
    )


def _agent_started(payload: Payload) -> HookEvent:
    return AgentStarted(**_common_fields(payload))


def _agent_stopped(payload: Payload) -> HookEvent | None:
    if not _text(payload, "agent_id") or not _text(payload, "agent_type"):
        return None  # compaction ends an agent without a type
    return AgentStopped(
        **_common_fields(payload),
        message=_text(payload, "last_assistant_message"),
        agent_transcript=_text(payload, "agent_transcript_path"),
        again=payload.get("stop_hook_active") is True,
    )


def _rested(payload: Payload) -> HookEvent:
    return Rested(**_common_fields(payload), compacting=_text(payload, "hook_event_name") == "PreCompact")


def _session_ended(payload: Payload) -> HookEvent:
    return SessionEnded(**_common_fields(payload), reason=_text(payload, "reason"))


_READERS: Mapping[str, Callable[[Payload], HookEvent | None]] = {
    "SessionStart": _session_began,
    "UserPromptSubmit": _prompt,
    "PreToolUse": _before_tool,
    "PostToolUse": _after_tool,
    "PostToolUseFailure": _after_failure,
    "SubagentStart": _agent_started,
    "SubagentStop": _agent_stopped,
    "TaskCompleted": _task_completed,
    "PreCompact": _rested,
    "Stop": _rested,
    "SessionEnd": _session_ended,
}


def _action(payload: Payload) -> Action | None:
    tool, given = _text(payload, "tool_name"), _table(payload, "tool_input")
    call, folder = _text(payload, "tool_use_id"), _text(payload, "cwd")
    command = given.get("command")
    if tool == _SHELL and isinstance(command, str) and command.strip():
        return CommandRun(id=call, command=command, folder=folder) if len(command) <= _LONGEST_COMMAND else None
    file = _text(given, "file_path") or _text(given, "notebook_path")
    if tool not in _EDITS or not _is_path(file):
        return None
    return Action(id=call, files=(posixpath.join(folder, file),), folder=folder)


def _is_path(file: str) -> bool:
    """Return whether a file may be called so: no system takes U+0000, and half a letter cannot be written."""
    return 0 < len(file) <= _LONGEST_PATH and "\0" not in file and file.encode("utf-8", "ignore").decode() == file


def _changed(given: Payload) -> str:
    """Return the first line that an edit changes, as it was and as it is, redacted; empty for a file written whole.

    Redacted before it is cut into lines: the name of a secret may stand in the line above its value.
    """
    edits = given.get("edits")
    first = edits[0] if isinstance(edits, list) and edits and isinstance(edits[0], Mapping) else given
    old, new = (redact(_text(first, name)).text.splitlines() for name in ("old_string", "new_string"))
    at = next((at for at, (before, after) in enumerate(zip(old, new, strict=False)) if before != after), None)
    if at is None:
        return f"{head(new[len(old)], _CHANGE_SHOWN)!r} added" if 0 < len(old) < len(new) else ""
    return f"{head(old[at], _CHANGE_SHOWN)!r} to {head(new[at], _CHANGE_SHOWN)!r}"


def _written(payload: Payload, keys: Sequence[str] = _PUT_IN) -> str:
    """Return what an edit puts in place, or takes out, as far as it is kept."""
    given = _table(payload, "tool_input")
    edits = given.get("edits")
    tables = [given, *(one for one in (edits if isinstance(edits, list) else ()) if isinstance(one, Mapping))]
    pieces = [_text(table, key) for table in tables for key in keys]
    return "\n".join(piece for piece in pieces if piece)[:_OUTPUT_KEPT]


def _ended(
    action: Action,
    *,
    exit_status: int | None = None,
    failed: bool | None = None,
    interrupted: bool = False,
    output: str = "",
) -> Action:
    # What failed stands at the end of an output, what was run at its beginning.
    kept = ends(output, _OUTPUT_KEPT)
    return replace(action, exit_status=exit_status, failed=failed, interrupted=interrupted, output=kept)


def _text(table: Payload, key: str) -> str:
    value = table.get(key)
    return ends(value, _OUTPUT_KEPT) if isinstance(value, str) else ""


def _word(value: object) -> str:
    word = str(value) if isinstance(value, str) or (type(value) is int and abs(value) < 1 << 63) else ""
    return word if len(word) <= _LONGEST_NAME else ""


def _table(table: Payload, key: str) -> Mapping[str, Any]:
    value = table.get(key)
    return value if isinstance(value, Mapping) else {}
