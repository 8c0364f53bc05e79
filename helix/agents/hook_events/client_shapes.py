"""Client shapes: how each client's words are read and written, where that is short; the rest is what several share.

Cline and Claude Code have files of their own. A client's section begins with what is particular about its hooks.

A grammar of the messages that each client writes, as its documentation has them.
"""

from __future__ import annotations

import json
import os
import posixpath
import re
from collections.abc import Callable, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from helix import files
from helix.agents.hook_events import claude_code
from helix.agents.hook_events.hook_events import (
    ANSWER_LIMIT,
    ActionBegins,
    ActionEnded,
    AgentStarted,
    HookEvent,
    HookReply,
    PromptGiven,
    Rested,
    SessionBegan,
)
from helix.text.client_ids import digested_session

Payload = Mapping[str, Any]

_PATCHED = re.compile(r"^[^\S\n]*\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+)$", re.MULTILINE)
"""What begins a file in a patch. Codex takes it with space before it, too, wherever it stands."""
_STATUS = re.compile(r"[Ee]xit(?:ed with)? [Cc]ode:? (-?\d{1,9})\b")


class ClientShape(NamedTuple):
    """A client: what a payload tells, how an answer is written, what a payload and its retry have in common.

    `shows` are the events whose answer reaches the agent. What is to be shown at another waits for the next of these.
    `persons` is what a person's session alone tells, where sub-agents have sessions and nothing says whose.
    `of_commands` says that a payload's folder is a command's, and not its session's.
    """

    read: Callable[[Payload], HookEvent | None]
    write: Callable[[HookEvent, HookReply], dict[str, Any]]
    delivery: Callable[[Payload], str]
    shows: tuple[type[HookEvent], ...] = (HookEvent,)
    persons: type[HookEvent] | None = None
    of_commands: bool = False


def renamed(payload: Payload, names: Mapping[str, str]) -> dict[str, Any]:
    """Return a hook payload with some of its own names in place of others, as far as it has them."""
    return {**payload, **{name: payload[own] for own, name in names.items() if own in payload}}


def call(payload: Payload, tools: Mapping[str, str], given: Mapping[str, str]) -> dict[str, Any]:
    """Return a hook payload whose tool and its input have the names that Claude Code has for them.

    A folder that `given` calls `run_in` is the one that a command is run in, and not its session's.
    """
    held = payload.get("tool_input")
    named = renamed(held, given) if isinstance(held, Mapping) else {}
    tool = str(payload.get("tool_name") or "")
    return run_in({**payload, "tool_name": tools.get(tool, tool), "tool_input": named}, named.get("run_in"))


def run_in(payload: Payload, folder: object) -> dict[str, Any]:
    """Return the hook payload of a command that is run in a folder of its own, if it names one."""
    if not folder or not isinstance(folder, str):
        return {**payload}
    session = str(payload.get("cwd") or "")
    return {**payload, "cwd": posixpath.join(session, folder), "project_folder": session}


def patched(payload: Payload, patch: object) -> dict[str, Any]:
    """Return the hook payload of a tool that applies a patch as an edit of the first file in it.

    Nothing is told of the others, which a `.helixignore` may keep out.
    """
    text = patch if isinstance(patch, str) else ""
    files = list(islice(_PATCHED.finditer(text), 2))
    lines = text[files[0].end() : files[-1].start() if len(files) > 1 else None].splitlines() if files else []
    path = files[0][1].strip() if files else ""
    old, new = ("\n".join(line[1:] for line in lines if line[:1] == sign) for sign in "-+")
    return {**payload, "tool_name": "Edit", "tool_input": {"file_path": path, "old_string": old, "new_string": new}}


def said_status(text: str) -> int | None:
    """Return the exit status that the first line of a tool's answer in a hook payload says; None where it says none.

    What is below was printed by the command, which may say another one.
    """
    found = _STATUS.search(text.partition("\n")[0])
    return int(found[1]) if found else None


def told(held: object) -> Mapping[str, Any]:
    """Return a tool's answer in a hook payload as a table, also from JSON; {"output": text} for a text."""
    if isinstance(held, str):
        try:
            read = json.loads(held)
        except (ValueError, RecursionError):
            return {"output": held}
        held = read if isinstance(read, Mapping) else {"output": held}
    return held if isinstance(held, Mapping) else {}


def context_as(name: str) -> Callable[[HookEvent, HookReply], dict[str, Any]]:
    """Return what writes a hook's answer as one text of that name, and nothing else."""

    def write(_: HookEvent, reply: HookReply) -> dict[str, Any]:
        said = for_agent(reply)[:ANSWER_LIMIT]
        return {name: said} if said else {}

    return write


def for_agent(reply: HookReply) -> str:
    """Return what an answer tells the agent where the client shows the user nothing: the notice too, to pass it on."""
    if not reply.notice:
        return reply.context
    return "\n\n".join(filter(None, (f"Tell the user before you go on:\n{reply.notice}", reply.context)))


def without_call(
    write: Callable[[HookEvent, HookReply], dict[str, Any]],
) -> Callable[[HookEvent, HookReply], dict[str, Any]]:
    """Return what writes a hook's answer without a changed call, which this client has in no such shape."""
    return lambda event, reply: write(event, HookReply(context=reply.context, notice=reply.notice))


CLAUDE_CODE = ClientShape(claude_code.read, claude_code.write, claude_code.delivery)


# Codex CLI: its hooks have Claude Code's names. How a command ended is in the session's history alone.
#
# The history (`transcript_path`) has the end of a command before its hook is called; the hook tells only what it
# printed.

_TAIL_BYTES = 1 << 18
"""Bytes of the history's end that are read: the end of a command is among its last few lines."""


def read_codex(payload: Payload) -> HookEvent | None:
    """Read a hook payload of Codex as an event; None for what Helix does nothing about, or cannot read."""
    if payload.get("tool_name") == "apply_patch":
        given = payload.get("tool_input")
        payload = patched(payload, given.get("command") if isinstance(given, dict) else given)
    else:
        payload = call(payload, {}, {})
    if payload.get("hook_event_name") != "PostToolUse":
        return claude_code.read(payload)
    if payload["tool_name"] != "Bash":
        return claude_code.action_ended(payload, status=None)
    ended = _ended_in_history(str(payload.get("transcript_path") or ""), str(payload.get("tool_use_id") or ""))
    status, output = ended.get("exit_code"), payload.get("tool_response")
    return claude_code.action_ended(
        run_in(payload, ended.get("cwd")),
        status=status if isinstance(status, int) else None,
        output=output if isinstance(output, str) else str(ended.get("aggregated_output") or ""),
    )


def _ended_in_history(path: str, name: str) -> dict[str, Any]:
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


CODEX = ClientShape(
    read_codex,
    without_call(claude_code.write),
    claude_code.delivery,
    shows=(SessionBegan, PromptGiven, ActionBegins, ActionEnded, AgentStarted),
)


# Continue's command `cn`: Claude Code's events and tools. How a command ended is said in the words of a failure
# alone.
#
# It takes a command that failed without a word on its standard error for one that went well.

_CONTINUE_GIVEN = {"filepath": "file_path"}


def read_continue(payload: Payload) -> HookEvent | None:
    """Read a hook payload of Continue as an event; None for what Helix does nothing about, or cannot read."""
    named = call(payload, {}, _CONTINUE_GIVEN)
    own = named.get("hook_event_name")
    if own not in ("PostToolUse", "PostToolUseFailure"):
        return claude_code.read(named)
    if payload.get("is_interrupt") is True:
        return None
    said = payload.get("error" if own == "PostToolUseFailure" else "tool_response")
    text = said if isinstance(said, str) else ""
    failed = own == "PostToolUseFailure"
    return claude_code.action_ended(
        named, status=said_status(text) if failed else None, output=text, failed=failed or None
    )


CONTINUE = ClientShape(
    read_continue,
    lambda event, reply: claude_code.write(event, HookReply(context=for_agent(reply))),
    claude_code.delivery,
    shows=(ActionBegins,),
)


# Cursor: hooks of its own names. It reads context at the start of a session and behind a tool's result alone.

_CURSOR_EVENTS = {
    "sessionStart": "SessionStart",
    "beforeSubmitPrompt": "UserPromptSubmit",
    "preToolUse": "PreToolUse",
    "postToolUse": "PostToolUse",
    "postToolUseFailure": "PostToolUse",
    "preCompact": "PreCompact",
    "stop": "Stop",
    "sessionEnd": "SessionEnd",
}
_CURSOR_TOOLS = {"Shell": "Bash", "StrReplace": "Edit", "Edit": "Edit", "Write": "Write"}
_CURSOR_GIVEN = {"path": "file_path", "contents": "content"}


def read_cursor(payload: Payload) -> HookEvent | None:
    """Read a hook payload of Cursor as an event; None for what Helix does nothing about, or cannot read."""
    own, roots = str(payload.get("hook_event_name")), payload.get("workspace_roots")
    named = renamed(call(payload, _CURSOR_TOOLS, _CURSOR_GIVEN), {"conversation_id": "session_id"})
    root = roots[0] if isinstance(roots, list) and roots and isinstance(roots[0], str) else ""
    folder = str(named["tool_input"].get("working_directory") or payload.get("cwd") or "")
    named |= {"cwd": posixpath.join(root, folder), "project_folder": root}
    named["hook_event_name"] = _CURSOR_EVENTS.get(own)
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


CURSOR = ClientShape(
    read_cursor,
    context_as("additional_context"),
    claude_code.delivery,
    shows=(SessionBegan, ActionEnded),
    persons=PromptGiven,
    of_commands=True,
)


# Gemini CLI: hooks of its own names. It reads no context before a tool is run, so that comes behind the result.

_GEMINI_EVENTS = {
    "SessionStart": "SessionStart",
    "BeforeAgent": "UserPromptSubmit",
    "BeforeTool": "PreToolUse",
    "AfterTool": "PostToolUse",
    "AfterAgent": "Stop",
    "PreCompress": "PreCompact",
    "SessionEnd": "SessionEnd",
}
_GEMINI_NAMES = {name: own for own, name in _GEMINI_EVENTS.items()}
_GEMINI_TOOLS = {"run_shell_command": "Bash", "replace": "Edit", "write_file": "Write"}
_GEMINI_GIVEN = {"directory": "run_in", "dir_path": "run_in"}
_WRAPPING = re.compile(r"</?untrusted_context>\n?|^Output: (?:\(empty\))?|^Process Group PGID: \d+\n?", re.MULTILINE)

_ENDED = re.compile(r"^Exit Code: (-?\d{1,9})$", re.MULTILINE)
_CUT_SHORT = re.compile(r"\A\s*(?:<untrusted_context>\s*)?Command (?:was|moved) |^Signal: (?!\(none)", re.MULTILINE)
"""What it says where a command did not end by itself: it was cancelled, runs in the background, or got a signal."""


def gemini_status(text: str) -> int | None:
    """Return the exit status that Gemini CLI tells behind what a command printed: none where that is 0.

    None where it says nothing, or the command did not end by itself, so that nothing is known.
    """
    if not text.strip() or _CUT_SHORT.search(text):
        return None
    found = _ENDED.findall(text)
    return int(found[-1]) if found else 0


def read_gemini(payload: Payload) -> HookEvent | None:
    """Read a hook payload of Gemini CLI as an event; None for what Helix does nothing about, or cannot read."""
    event = _GEMINI_EVENTS.get(str(payload.get("hook_event_name")))
    payload = {
        **call(payload, _GEMINI_TOOLS, _GEMINI_GIVEN),
        "hook_event_name": event,
        "tool_use_id": str(payload.get("timestamp") or "") if "tool_name" in payload else "",
    }
    if event != "PostToolUse":
        return claude_code.read(payload)
    answer = told(payload.get("tool_response"))
    said = answer.get("llmContent")
    text = said if isinstance(said, str) else ""
    status = gemini_status(text)
    failed = bool(answer.get("error"))
    if status == 0 and payload["tool_input"].get("is_background"):
        status = None
    return claude_code.action_ended(payload, status=status, output=_WRAPPING.sub("", text), failed=failed or None)


def write_gemini(event: HookEvent, reply: HookReply) -> dict[str, Any]:
    """Return the answer to a hook event as Gemini CLI reads it; empty where there is nothing to say."""
    answer = claude_code.write(event, HookReply(context=reply.context, notice=reply.notice))
    said = answer.get("hookSpecificOutput")
    return {**answer, "hookSpecificOutput": {**said, "hookEventName": _GEMINI_NAMES[event.name]}} if said else answer


GEMINI = ClientShape(read_gemini, write_gemini, claude_code.delivery, shows=(SessionBegan, PromptGiven, ActionEnded))


# Goose: its hooks tell what was done and whether it failed, but no output, and nothing to the agent.
#
# At the end of a turn it reads a decision from what a hook prints, and warns of one that prints none.

_GOOSE_NAMES = {"event": "hook_event_name", "working_dir": "cwd", "message": "prompt", "tool_call_id": "tool_use_id"}
_GOOSE_TOOLS = {"developer__shell": "Bash", "developer__edit": "Edit", "developer__write": "Write"}
_GOOSE_GIVEN = {"path": "file_path", "before": "old_string", "after": "new_string"}


def _named_by_goose(payload: Payload) -> dict[str, Any]:
    return call(renamed(payload, _GOOSE_NAMES), _GOOSE_TOOLS, _GOOSE_GIVEN)


def read_goose(payload: Payload) -> HookEvent | None:
    """Read a hook payload of Goose as an event; None for what Helix does nothing about, or cannot read."""
    named = _named_by_goose(payload)
    own = named.get("hook_event_name")
    if own not in ("PostToolUse", "PostToolUseFailure"):
        return claude_code.read(named)
    failed = own == "PostToolUseFailure"  # where a command ends with another status than 0, too
    return claude_code.action_ended(named, status=None if failed else 0, failed=failed or None)


def write_goose(event: HookEvent, _: HookReply) -> dict[str, Any]:
    """Return the answer to a hook event of Goose: that the turn may end, at its end; else nothing, as it reads none."""
    return {"decision": "allow"} if isinstance(event, Rested) else {}


GOOSE = ClientShape(
    read_goose,
    write_goose,
    lambda payload: claude_code.delivery(_named_by_goose(payload)),
    shows=(),
    persons=SessionBegan,  # an agent's prompt is told as a person's is
)


# opencode: what Helix's plugin there tells (client_settings/clients/opencode_plugin.js), and the text it puts in place.

_OPENCODE_EVENTS = {
    "session.created": "SessionStart",
    "chat.message": "UserPromptSubmit",
    "tool.execute.before": "PreToolUse",
    "tool.execute.after": "PostToolUse",
    "session.compacted": "PreCompact",
    "session.idle": "Stop",
    "session.deleted": "SessionEnd",
}
_OPENCODE_TOOLS = {"bash": "Bash", "edit": "Edit", "write": "Write"}
_OPENCODE_GIVEN = {"filePath": "file_path", "oldString": "old_string", "newString": "new_string", "workdir": "run_in"}


def read_opencode(payload: Payload) -> HookEvent | None:
    """Read a hook payload of OpenCode as an event; None for what Helix does nothing about, or cannot read."""
    given = payload.get("tool_input")
    if payload.get("tool_name") in ("patch", "apply_patch") and isinstance(given, dict):
        payload = patched(payload, given.get("patchText"))
    session = payload.get("session_id")
    payload = {
        **call(payload, _OPENCODE_TOOLS, _OPENCODE_GIVEN),
        "session_id": digested_session(session) if isinstance(session, str) and session else "",
        "hook_event_name": _OPENCODE_EVENTS.get(str(payload.get("hook_event_name"))),
    }
    if payload["hook_event_name"] != "PostToolUse":
        return claude_code.read(payload)
    status, output = payload.get("exit"), payload.get("output")
    return claude_code.action_ended(
        payload, status=status if type(status) is int else None, output=output if isinstance(output, str) else ""
    )


OPENCODE = ClientShape(read_opencode, context_as("context"), claude_code.delivery)


# VS Code: Claude Code's events, its own tools. A terminal's answer ends with the status, where that is known and not 0.

_VSCODE_NAMES = {"sessionId": "session_id", "hookEventName": "hook_event_name"}
_VSCODE_TOOLS = {
    "run_in_terminal": "Bash",
    "runInTerminal": "Bash",
    "create_file": "Write",
    "replace_string_in_file": "Edit",
    "insert_edit_into_file": "Edit",
}
_VSCODE_GIVEN = {"filePath": "file_path", "oldString": "old_string", "newString": "new_string", "code": "new_string"}
_VSCODE_FAILED = re.compile(r"^Command exited with code ([1-9]\d{0,8})\s*\Z", re.MULTILINE)


def read_vscode(payload: Payload) -> HookEvent | None:
    """Read a hook payload of VS Code as an event; None for what Helix does nothing about, or cannot read."""
    payload = renamed(payload, _VSCODE_NAMES)
    given = payload.get("tool_input")
    if payload.get("tool_name") == "apply_patch" and isinstance(given, dict):
        payload = patched(payload, given.get("input"))
    payload = call(payload, _VSCODE_TOOLS, _VSCODE_GIVEN)
    if payload.get("hook_event_name") != "PostToolUse":
        return claude_code.read(payload)
    output = payload.get("tool_response")
    text = output if isinstance(output, str) else ""
    said = _VSCODE_FAILED.search(text)
    return claude_code.action_ended(payload, status=int(said[1]) if said else None, output=text)


VSCODE = ClientShape(
    read_vscode,
    without_call(claude_code.write),
    claude_code.delivery,
    shows=(SessionBegan, ActionBegins, ActionEnded, AgentStarted),
)


# Windsurf: its hooks tell what was done, but neither how a command ended nor anything to the agent.

_WINDSURF_TOOLS = {"post_run_command": "Bash", "post_write_code": "MultiEdit"}
_WINDSURF_EVENTS = {"pre_user_prompt": "UserPromptSubmit", "post_cascade_response": "Stop"}


def read_windsurf(payload: Payload) -> HookEvent | None:
    """Read a hook payload of Windsurf as an event; None for what Helix does nothing about, or cannot read."""
    own, info = str(payload.get("agent_action_name")), payload.get("tool_info")
    info = info if isinstance(info, dict) else {}
    named = {
        "session_id": payload.get("trajectory_id"),
        "hook_event_name": "PostToolUse" if own in _WINDSURF_TOOLS else _WINDSURF_EVENTS.get(own),
        "cwd": info.get("cwd") or payload.get("cwd"),
        "prompt": info.get("user_prompt"),
        "tool_name": _WINDSURF_TOOLS.get(own),
        "tool_use_id": payload.get("execution_id"),
        "tool_input": {**info, "command": info.get("command_line")},
    }
    return claude_code.action_ended(named, status=None) if own in _WINDSURF_TOOLS else claude_code.read(named)


WINDSURF = ClientShape(read_windsurf, context_as("context"), claude_code.delivery, shows=(), of_commands=True)
