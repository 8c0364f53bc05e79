"""Client shape: how one client's words are read and written, and the names that several of them share."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from helix.agents.hooks import claude_code
from helix.agents.hooks.hook_events import ANSWER_LIMIT, Event, Reply

Payload = Mapping[str, Any]

_PATCHED = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.+)$", re.MULTILINE)
_STATUS = re.compile(r"[Ee]xit(?:ed with)? [Cc]ode:? (-?\d{1,9})\b")


class Client(NamedTuple):
    """A client: what a payload tells, how an answer is written, what a payload and its retry have in common.

    `shows` are the events whose answer reaches the agent. What is to be shown at another waits for the next of these.
    """

    read: Callable[[Payload], Event | None]
    write: Callable[[Event, Reply], dict[str, Any]]
    delivery: Callable[[Payload], str]
    shows: tuple[type[Event], ...] = (Event,)


def renamed(payload: Payload, names: Mapping[str, str]) -> dict[str, Any]:
    """Return a payload with some of its own names in place of others, as far as it has them."""
    return {**payload, **{name: payload[own] for own, name in names.items() if own in payload}}


def call(payload: Payload, tools: Mapping[str, str], given: Mapping[str, str]) -> dict[str, Any]:
    """Return a payload whose tool, and what it was given, have the names that Claude Code has for them."""
    held = payload.get("tool_input")
    named = renamed(held, given) if isinstance(held, Mapping) else {}
    tool = str(payload.get("tool_name") or "")
    return {**payload, "tool_name": tools.get(tool, tool), "tool_input": named}


def patched(payload: Payload, patch: object) -> dict[str, Any]:
    """Return a payload of a tool that applies a patch as an edit of the first file in it."""
    text = patch if isinstance(patch, str) else ""
    lines = text.splitlines()
    files = _PATCHED.findall(text)
    path = posixpath.join(str(payload.get("cwd") or ""), files[0].strip()) if files else ""
    old, new = ("\n".join(line[1:] for line in lines if line[:1] == sign) for sign in "-+")
    return {**payload, "tool_name": "Edit", "tool_input": {"file_path": path, "old_string": old, "new_string": new}}


def said_status(text: str) -> int | None:
    """Return the exit status that a tool's answer says in words; None where it says none."""
    found = _STATUS.search(text)
    return int(found[1]) if found else None


def told(held: object) -> Mapping[str, Any]:
    """Return a tool's answer, a table, the JSON of one, or a text, as a table; {"output": text} for a text."""
    if isinstance(held, str):
        try:
            read = json.loads(held)
        except (ValueError, RecursionError):
            return {"output": held}
        held = read if isinstance(read, Mapping) else {"output": held}
    return held if isinstance(held, Mapping) else {}


def context_as(name: str) -> Callable[[Event, Reply], dict[str, Any]]:
    """Return what writes an answer as one text of that name, and nothing else."""

    def write(_: Event, reply: Reply) -> dict[str, Any]:
        return {name: reply.context[:ANSWER_LIMIT]} if reply.context else {}

    return write


def without_call(write: Callable[[Event, Reply], dict[str, Any]]) -> Callable[[Event, Reply], dict[str, Any]]:
    """Return what writes an answer without a notice and a changed call, which this client has in no such shape."""
    return lambda event, reply: write(event, Reply(context=reply.context))


CLAUDE_CODE = Client(claude_code.read, claude_code.write, claude_code.delivery)
