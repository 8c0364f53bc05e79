"""Claude Code: its hooks' payloads as events, and answers as it reads them. Pure; odd payloads are no event."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from helix.learning.events.events import (
    ANSWER_LIMIT,
    ActionBegins,
    ActionEnded,
    AgentCalled,
    AgentJoined,
    AgentStarted,
    AgentStopped,
    Event,
    PromptGiven,
    Reply,
    Rested,
    SessionBegan,
    SessionEnded,
    TaskTold,
)
from helix.model.action import Action

CLIENT = "claude-code"

_SHELL = "Bash"
_EDITS = ("Edit", "Write", "MultiEdit", "NotebookEdit")
_AGENTS = ("Agent", "Task")
_OUTPUT_KEPT = 20_000
_NOTIFICATION = "<task-notification>"
_EXIT = re.compile(r"\AExit code (-?\d+)\n?")

Payload = Mapping[str, Any]


def read(payload: Payload) -> Event | None:
    """Return what a payload tells; None for what Helix does nothing about, or cannot read."""
    reader = _READERS.get(_text(payload, "hook_event_name"))
    return reader(payload) if reader is not None and _text(payload, "session_id") else None


def write(event: Event, reply: Reply) -> dict[str, Any]:
    """Return the answer to an event as Claude Code reads it; empty where there is nothing to say."""
    said: dict[str, Any] = {}
    if reply.context:
        said["additionalContext"] = reply.context[:ANSWER_LIMIT]
    if reply.given is not None:
        said["updatedInput"] = {**reply.given, **({"run_in_background": False} if reply.attended else {})}
    return {"hookSpecificOutput": {"hookEventName": event.name, **said}} if said else {}


def _told(payload: Payload) -> dict[str, Any]:
    """Return what every event has."""
    return {
        "session": _text(payload, "session_id"),
        "name": _text(payload, "hook_event_name"),
        "folder": _text(payload, "cwd"),
        "agent": _text(payload, "agent_id"),
        "agent_type": _text(payload, "agent_type"),
        "transcript": _text(payload, "transcript_path"),
    }


def _session_began(payload: Payload) -> Event:
    return SessionBegan(**_told(payload), source=_text(payload, "source"))


def _prompt(payload: Payload) -> Event:
    prompt = _text(payload, "prompt")
    return PromptGiven(**_told(payload), prompt=prompt, by_client=prompt.lstrip().startswith(_NOTIFICATION))


def _before_tool(payload: Payload) -> Event | None:
    tool, given = _text(payload, "tool_name"), _table(payload, "tool_input")
    if tool in _AGENTS:
        return AgentCalled(
            **_told(payload),
            call=_text(payload, "tool_use_id"),
            called_type=_text(given, "subagent_type"),
            prompt=_text(given, "prompt"),
            given=given,
        )
    action = _action(payload)
    return None if action is None else ActionBegins(**_told(payload), action=action)


def _after_tool(payload: Payload) -> Event | None:
    tool, answer = _text(payload, "tool_name"), _table(payload, "tool_response")
    if tool in _AGENTS:
        return AgentJoined(**_told(payload), call=_text(payload, "tool_use_id"), started=_text(answer, "agentId"))
    if tool in ("TaskCreate", "TaskUpdate"):
        return _task_tool(payload, answer)
    action = _action(payload)
    if action is None:
        return None
    if not action.command:
        return ActionEnded(**_told(payload), action=_ended(action, failed=False), wrote=_written(payload))
    background = bool(_text(answer, "backgroundTaskId"))
    parts = (_text(answer, "stdout"), _text(answer, "stderr"))
    ended = _ended(
        action,
        # A command that goes on in the background has not ended, so nothing is known of it.
        exit_status=None if background else 0,
        interrupted=answer.get("interrupted") is True,
        output="\n".join(part for part in parts if part),
    )
    return ActionEnded(**_told(payload), action=ended)


def _after_failure(payload: Payload) -> Event | None:
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
    return ActionEnded(**_told(payload), action=ended)


def _task_tool(payload: Payload, answer: Payload) -> Event | None:
    given = _table(payload, "tool_input")
    made = _table(answer, "task")
    task = _word(given.get("taskId")) or _word(made.get("id")) or _word(answer.get("taskId"))
    if not task or answer.get("success") is False:
        return None
    return TaskTold(
        **_told(payload),
        task=task,
        subject=_text(given, "subject") or _text(made, "subject"),
        description=_text(given, "description"),
        status=_text(given, "status"),
        metadata=_table(given, "metadata"),
    )


def _task_completed(payload: Payload) -> Event | None:
    task = _word(payload.get("task_id"))
    if not task:
        return None
    return TaskTold(
        **_told(payload),
        task=task,
        subject=_text(payload, "task_subject"),
        description=_text(payload, "task_description"),
        status="completed",
    )


def _agent_started(payload: Payload) -> Event:
    return AgentStarted(**_told(payload))


def _agent_stopped(payload: Payload) -> Event | None:
    if not _text(payload, "agent_id") or not _text(payload, "agent_type"):
        return None  # compaction ends an agent without a type
    return AgentStopped(
        **_told(payload),
        message=_text(payload, "last_assistant_message"),
        agent_transcript=_text(payload, "agent_transcript_path"),
        again=payload.get("stop_hook_active") is True,
    )


def _rested(payload: Payload) -> Event:
    return Rested(**_told(payload), compacting=_text(payload, "hook_event_name") == "PreCompact")


def _session_ended(payload: Payload) -> Event:
    return SessionEnded(**_told(payload), reason=_text(payload, "reason"))


_READERS: Mapping[str, Callable[[Payload], Event | None]] = {
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
    if tool == _SHELL and _text(given, "command").strip():
        return Action(id=call, command=_text(given, "command"), folder=folder)
    file = _text(given, "file_path") or _text(given, "notebook_path")
    if tool not in _EDITS or not file:
        return None
    return Action(id=call, files=(file,), folder=folder, change=_changed(given))


def _changed(given: Payload) -> str:
    """Return the first line that an edit changes, as it was and as it is; empty for a file written whole."""
    edits = given.get("edits")
    first = edits[0] if isinstance(edits, list) and edits and isinstance(edits[0], Mapping) else given
    old, new = _text(first, "old_string").splitlines(), _text(first, "new_string").splitlines()
    at = next((at for at, (before, after) in enumerate(zip(old, new, strict=False)) if before != after), None)
    if at is None:
        return f"{new[len(old)].strip()[:100]!r} added" if 0 < len(old) < len(new) else ""
    return f"{old[at].strip()[:100]!r} to {new[at].strip()[:100]!r}"


def _written(payload: Payload) -> str:
    """Return what an edit puts in place, as far as it is kept."""
    given = _table(payload, "tool_input")
    edits = given.get("edits")
    tables = [given, *(one for one in (edits if isinstance(edits, list) else ()) if isinstance(one, Mapping))]
    pieces = [_text(table, key) for table in tables for key in ("new_string", "content", "new_source")]
    return "\n".join(piece for piece in pieces if piece)[:_OUTPUT_KEPT]


def _ended(
    action: Action,
    *,
    exit_status: int | None = None,
    failed: bool | None = None,
    interrupted: bool = False,
    output: str = "",
) -> Action:
    kept = _middle_out(output)
    return replace(action, exit_status=exit_status, failed=failed, interrupted=interrupted, output=kept)


def _middle_out(text: str) -> str:
    """Return a long text without its middle: what failed stands at its end, what was run at its beginning."""
    half = _OUTPUT_KEPT // 2
    return text if len(text) <= _OUTPUT_KEPT else f"{text[:half]}\n...\n{text[-half:]}"


def _text(table: Payload, key: str) -> str:
    value = table.get(key)
    return value if isinstance(value, str) else ""


def _word(value: object) -> str:
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""


def _table(table: Payload, key: str) -> Mapping[str, Any]:
    value = table.get(key)
    return value if isinstance(value, Mapping) else {}
