"""Memory note: a memory as a Markdown note with front matter, written and read back.

The front matter has a value of JSON in each line, which is YAML too. `edges` lists the edges that start at the memory,
each with the file name of the other note (`note`). The body has the memory's words, and the edges as links. What
nobody here stands for, or waits to be looked at, is in a block of code: programs that show notes load the images and
run the scripts of a text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from helix.model.memory import Status
from helix.model.provenance import Trust

MARK = "helix"
"""The key that the front matter of such a note begins with, and no other note's; its value is the version."""
VERSION = 1
_WHEN, _WHAT, _LINKS = "## When", "## What", "## Links"
_WORDS = ("trigger", "resolution")
_STRANGERS = (Trust.TOOL_OUTPUT.value, Trust.WEB.value)
_TICKS = re.compile("`+")
_BLOCK = re.compile(r"(`{3,})text\n(.*)\n\1", re.DOTALL)
_FIRST = ("name", "kind", "scope", "status", "trust", "recorded_at", "attributes")
"""What people look for at the top."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryNote:
    """What a note says: the memory's id and properties, as `records.spelled` has them, and its edges."""

    id: str
    props: Mapping[str, Any]
    edges: Sequence[Mapping[str, Any]] = field(default=())


def note_text(note: MemoryNote) -> str:
    """Return the Markdown text of a memory's note."""
    trigger, resolution = (str(note.props.get(word) or "") for word in _WORDS)
    inert = note.props.get("trust") in _STRANGERS or note.props.get("status") == Status.QUARANTINED.value
    body = _body(*((_block(trigger), _block(resolution)) if inert else (trigger, resolution)), note.edges)
    first = {name: note.props[name] for name in _FIRST if name in note.props}
    rest = {name: value for name, value in (first | dict(note.props)).items() if name not in _WORDS}
    matter: dict[str, Any] = {MARK: VERSION, "id": note.id, **rest, "edges": list(note.edges)}
    if _parse_body(body) != (trigger, resolution):  # words that look like the note's own headings
        matter |= {"trigger": trigger, "resolution": resolution}
    lines = [f"{name}: {_json(value)}" for name, value in matter.items()]
    return "\n".join(("---", *lines, "---", body))


def read_note(text: str) -> MemoryNote | None:
    """Return a memory from a Markdown note that an export wrote, None for any other; ValueError for a damaged one.

    Words that were changed in the body are taken as they are now.
    """
    if not text.startswith(f"---\n{MARK}: "):
        return None
    head, found, body = text.partition("\n---\n")
    if not found:
        raise ValueError("its front matter has no end")
    matter: dict[str, Any] = {}
    for line in head.split("\n")[1:]:
        name, found, value = line.partition(": ")
        if not found:
            raise ValueError(f"a line of its front matter is not a pair: {line[:40]}")
        matter[name] = json.loads(value)
    if matter.pop(MARK) != VERSION:
        raise ValueError(f"its version is not {VERSION}")
    note_id, edges = matter.pop("id", None), matter.pop("edges", [])
    if not isinstance(note_id, str) or not isinstance(edges, list) or not all(isinstance(one, dict) for one in edges):
        raise ValueError("its front matter has no id, or edges that are none")
    trigger, resolution = _parse_body(body)
    return MemoryNote(id=note_id, props={"trigger": trigger, "resolution": resolution, **matter}, edges=edges)


def _body(trigger: str, resolution: str, edges: Sequence[Mapping[str, Any]]) -> str:
    parts = [_WHEN, trigger]
    if resolution:
        parts += [_WHAT, resolution]
    if edges:
        parts += [_LINKS, "\n".join(f"- {one.get('relation') or one['type']} [[{one['note']}]]" for one in edges)]
    return "\n\n".join(parts) + "\n"


def _block(text: str) -> str:
    """Return a text as a block of code, which nothing in it ends."""
    fence = "`" * max(3, 1 + max(map(len, _TICKS.findall(text)), default=0))
    return f"{fence}text\n{text}\n{fence}" if text else ""


def _parse_body(body: str) -> tuple[str, str]:
    """Return trigger and resolution of a note's body."""
    text, _, _ = f"\n{body}".partition(f"\n{_LINKS}\n")
    before, found, resolution = text.partition(f"\n{_WHAT}\n")
    _, _, trigger = before.partition(f"\n{_WHEN}\n")
    return _bare(trigger), _bare(resolution) if found else ""


def _bare(part: str) -> str:
    text = part.strip("\n")
    block = _BLOCK.fullmatch(text)
    return block[2] if block else text


def _json(value: Any) -> str:
    return (
        json.dumps(value, ensure_ascii=False)
        .replace("\x85", "\\u0085")
        .replace("\u2028", "\\u2028")
        .replace("\u2029", "\\u2029")
    )
