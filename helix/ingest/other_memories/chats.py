"""Chats: the conversations of a data export of ChatGPT or Claude, as episodes; nobody says that they are memories."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from helix.ingest.other_memories.adapter import Adapter, Asked, ImportedItem, Told
from helix.ingest.other_memories.json_files import objects_of
from helix.ingest.other_memories.peek import Peek
from helix.ingest.plain import shorten
from helix.model.reports import IngestProblem

_FILE, _SHARD = "conversations.json", re.compile(r"conversations-\d+\.json")
_LONGEST_TEXT = 8_000
_ROLES = {"user": "user", "human": "user", "assistant": "assistant"}
_MOST_TURNS = 20_000


def _files(peek: Peek) -> list[Path]:
    """Return the files of conversations: the path itself, or what lies in the unpacked export, in one or in several."""
    if not peek.is_folder:
        return [peek.path]
    return [peek.path / name for name in peek.names if name == _FILE or _SHARD.fullmatch(name)]


def _talks(asked: Asked) -> Iterator[Mapping[str, Any] | IngestProblem]:
    for file in _files(Peek(asked.path)):
        yield from objects_of(file)


def _begins(peek: Peek) -> Peek | None:
    return next(map(Peek, _files(peek)), None)


def _is_chatgpt(peek: Peek) -> bool:
    first = _begins(peek)
    return first is not None and first.holds("mapping", "title") and not first.holds("chat_messages")


def _is_claude(peek: Peek) -> bool:
    first = _begins(peek)
    return first is not None and first.holds("uuid", "chat_messages")


def _chatgpt(asked: Asked) -> Iterator[Told]:
    """Yield the turns from the first to the current one; what was asked another way and left is not among them."""
    for talk in _talks(asked):
        if isinstance(talk, IngestProblem):
            yield talk
            continue
        session = str(talk.get("conversation_id") or talk.get("id") or "")
        for message in _branch(talk):
            author, content = message.get("author"), message.get("content")
            if isinstance(author, Mapping) and isinstance(content, Mapping):
                parts = content.get("parts")
                text = "\n".join(part for part in parts if isinstance(part, str)) if isinstance(parts, list) else ""
                yield from _turn(message.get("id"), session, author.get("role"), text, message.get("create_time"))


def _branch(talk: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    nodes, at = talk.get("mapping"), talk.get("current_node")
    if not isinstance(nodes, Mapping):
        return []
    turns: list[Mapping[str, Any]] = []
    seen: set[str] = set()
    while isinstance(at, str) and at not in seen and len(seen) < _MOST_TURNS:
        seen.add(at)
        node = nodes.get(at)
        if not isinstance(node, Mapping):
            break
        message = node.get("message")
        if isinstance(message, Mapping):
            turns.append(message)
        at = node.get("parent")
    return turns[::-1]


def _claude(asked: Asked) -> Iterator[Told]:
    for talk in _talks(asked):
        if isinstance(talk, IngestProblem):
            yield talk
            continue
        messages = talk.get("chat_messages")
        for message in messages if isinstance(messages, list) else []:
            if isinstance(message, Mapping):
                text = _words(message)
                session, at = str(talk.get("uuid") or ""), message.get("created_at")
                yield from _turn(message.get("uuid"), session, message.get("sender"), text, at)


def _words(message: Mapping[str, Any]) -> str:
    """Return what was said: the text blocks where there are any, for `text` names the tools that were used, too."""
    content = message.get("content")
    blocks = [one for one in content if isinstance(one, Mapping)] if isinstance(content, list) else []
    said = [str(one.get("text") or "") for one in blocks if one.get("type") == "text"]
    return "\n".join(said) or str(message.get("text") or "")


def _turn(key: object, session: str, role: object, text: str, at: object) -> Iterator[ImportedItem]:
    """Yield a turn of a person or a model; what tools and systems put in between is passed over."""
    known = _ROLES.get(str(role))
    if known and text.strip() and isinstance(key, str) and key:
        says = {"text": shorten(text.strip(), _LONGEST_TEXT), "session": session, "role": known, "ts": at}
        yield ImportedItem(key=f"{session}:{key}", says=says)


CHATGPT = Adapter(
    name="chatgpt",
    looks_for='a data export of ChatGPT: conversations.json (or -000.json) with "mapping", or its folder',
    fits=_is_chatgpt,
    read=_chatgpt,
)
CLAUDE = Adapter(
    name="claude",
    looks_for='a data export of Claude: conversations.json with "chat_messages", or the folder it lies in',
    fits=_is_claude,
    read=_claude,
)
