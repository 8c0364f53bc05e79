"""Client transcripts: reads the file that Claude Code writes of a session, and the events that it tells of."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any

from helix import files
from helix.agents.hook_events import claude_code
from helix.agents.hook_events.hook_events import ActionEnded, HookEvent, TaskTold
from helix.identity import LONGEST_PATH
from helix.model.action import Action

Record = Mapping[str, Any]

_MOST_CALLS = 1_000
_HEAD_BYTES, _TAIL_BYTES = 1 << 20, 8 << 20
_FIRST = 50
_STATUS = "Exit code "


class OpenCalls:
    """The calls of tools whose results have not come, the newest of them."""

    def __init__(self) -> None:
        self._waiting: dict[str, tuple[str, Mapping[str, Any]]] = {}

    def called(self, block: Record) -> None:
        """Take note of a tool's call in a client's transcript that is read as hooks."""
        call, given = str(block.get("id") or ""), block.get("input")
        if call and isinstance(given, Mapping):
            self._waiting[call] = (str(block.get("name") or ""), given)
            if len(self._waiting) > _MOST_CALLS:
                del self._waiting[next(iter(self._waiting))]

    def ended(self, session: str, block: Record, record: Record) -> Action | None:
        """Return the command or edit that a call in a transcript came to, as a hook event, or None."""
        event = self.told(session, block, record)
        return event.action if isinstance(event, ActionEnded) else None

    def told(self, session: str, block: Record, record: Record, *, agent: str = "") -> HookEvent | None:
        """Return what a call in a transcript came to, read as its hook would be; None for what is nothing to that.

        A command that failed says with which status. What else is told as an error was refused, by a person or the
        client.
        """
        call = str(block.get("tool_use_id") or "")
        name, given = self._waiting.pop(call, ("", {}))
        text, answer = text_of(block.get("content")), record.get("toolUseResult")
        failed = block.get("is_error") is True
        if not call or not name or (failed and not text.startswith(_STATUS)):
            return None
        return claude_code.read(
            {
                "hook_event_name": "PostToolUseFailure" if failed else "PostToolUse",
                "session_id": session,
                "cwd": str(record.get("cwd") or ""),
                "tool_name": name,
                "tool_input": given,
                "tool_use_id": call,
                "tool_response": answer if isinstance(answer, Mapping) else {"stdout": text},
                "error": text,
                "agent_id": agent,
            }
        )


def latest_events(file: Path, session: str, *, agent: str = "") -> Iterator[tuple[datetime | None, HookEvent]]:
    """Yield the last commands, edits and tasks of a transcript as hook events, in order, each with its time.

    Of a long file only the end is read. In the main thread's file (no `agent`) what sub-agents did is left out.
    """
    calls = OpenCalls()
    for raw in _tail(file):
        record = record_of(raw)
        message = None if record is None else record.get("message")
        if record is None or not isinstance(message, Mapping) or record.get("sessionId") != session:
            continue
        if not agent and record.get("isSidechain") is True:
            continue
        for block in blocks_of(message.get("content")):
            if block.get("type") == "tool_use":
                calls.called(block)
            elif block.get("type") == "tool_result":
                event, at = calls.told(session, block, record, agent=agent), moment_of(record.get("timestamp"))
                if isinstance(event, ActionEnded):
                    yield at, replace(event, action=replace(event.action, at=at))
                elif isinstance(event, TaskTold):
                    yield at, event


def _tail(file: Path) -> list[bytes]:
    try:
        with files.open_regular(file) as stream:
            size = stream.seek(0, 2)
            stream.seek(max(0, size - _TAIL_BYTES))
            lines = stream.read(_TAIL_BYTES).splitlines()
    except (OSError, ValueError):
        return []
    return lines[1:] if size > _TAIL_BYTES else lines


def folder_told(history: str | Path, session: str = "") -> str:
    """Return the first folder that the beginning of a transcript names, of that session alone where one is given.

    Hooks and imports place a session by it, wherever its agent went later; "" where it names none.
    """
    named = (folder_in(record) for record in _head(history) if session in ("", record.get("sessionId")))
    return next(filter(None, named), "")


def fork_told(history: str | Path) -> str:
    """Return the session that hooks find one forked from, by the beginning of its transcript; "" where it is none."""
    return next(filter(None, map(forked_from, islice(_head(history), _FIRST))), "")


def forked_from(record: Record) -> str:
    """Return the session that a transcript's record, or all that follows it, was copied from, for hooks and imports.

    Claude Code says it of each record, Codex at the beginning of a history, as it does of which a sub-agent's is.
    """
    fork, about = record.get("forkedFrom"), record.get("payload")
    if isinstance(fork, Mapping):
        return str(fork.get("sessionId") or "")
    if isinstance(about, Mapping) and record.get("type") == "session_meta":
        return str(about.get("forked_from_id") or about.get("parent_thread_id") or "")
    return ""


def _head(history: str | Path) -> Iterator[Record]:
    left = _HEAD_BYTES
    try:
        with files.open_regular(history) as stream:
            while left > 0 and (raw := stream.readline(left)):
                left -= len(raw)
                if (record := record_of(raw)) is not None:
                    yield record
    except (OSError, ValueError):
        return


def folder_in(record: Record) -> str:
    """Return the folder that a transcript's record names for hooks and imports; "" where that can be none."""
    folder = record.get("cwd")
    fits = isinstance(folder, str) and len(folder) <= LONGEST_PATH and "\0" not in folder
    return str(folder) if fits else ""


def record_of(raw: bytes) -> Record | None:
    """Return the record of a transcript's line, for hooks and imports; None for one that is no JSON object."""
    try:
        found = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, Mapping) else None


def blocks_of(content: object) -> Iterator[Record]:
    """Yield the content blocks of a message in a transcript, for hooks and imports; a plain text as one."""
    if isinstance(content, str):
        yield {"type": "text", "text": content}
    elif isinstance(content, list):
        yield from (block for block in content if isinstance(block, Mapping))


def text_of(content: object) -> str:
    """Return the text of a message's content in a transcript, for hooks and imports."""
    return "\n".join(str(block.get("text") or "") for block in blocks_of(content))


def moment_of(value: object) -> datetime | None:
    """Return the time of a transcript's record, for hooks and imports, in UTC; None where it tells none."""
    try:
        moment = datetime.fromisoformat(value) if isinstance(value, str) else None
        return None if moment is None else moment.replace(tzinfo=moment.tzinfo or UTC).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
