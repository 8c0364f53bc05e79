"""JSON text: set or drop one member of a JSON file by its path, and leave every other character as it stands."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

_SPACE = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()
_INDENT = "  "


@dataclass(frozen=True, slots=True)
class _Member:
    """A member of an object: where its name begins, and where its value begins and ends."""

    name: str
    start: int
    value: int
    end: int


@dataclass(frozen=True, slots=True)
class _Object:
    """An object in a text: its braces and what is between them; `end` is behind the closing brace."""

    start: int
    members: tuple[_Member, ...]
    end: int

    def member(self, name: str) -> _Member | None:
        """Return the member of that name; of several the last, which is the one that counts."""
        return next((member for member in reversed(self.members) if member.name == name), None)


def set_member(text: str, path: Sequence[str], value: Any) -> str:
    """Return JSON text with `value` at `path`; objects that are missing on the way are made.

    What was there before is replaced. A new member comes last in its object, in the manner of the one before it. Raises
    ValueError when the text is no JSON object, or something on the way is none.
    """
    json.loads(text)
    found, depth = _object_at(text, _space(text, 0)), 0
    while depth < len(path) - 1 and (member := found.member(path[depth])) is not None:
        found, depth = _object_at(text, member.value), depth + 1
    for name in reversed(path[depth + 1 :]):
        value = {name: value}
    margin = _margin(text, found.start)
    step = _step(text)
    if (member := found.member(path[depth])) is not None:
        return text[: member.value] + _written(value, margin + step, step) + text[member.end :]
    return _added(text, found, path[depth], value, margin, step)


def drop_member(text: str, path: Sequence[str]) -> str:
    """Return JSON text without what is at `path`; unchanged where nothing is. Raises ValueError too."""
    json.loads(text)
    found = _object_at(text, _space(text, 0))
    for name in path[:-1]:
        member = found.member(name)
        if member is None or text[member.value] != "{":
            return text
        found = _object_at(text, member.value)
    member = found.member(path[-1])
    if member is None:
        return text
    place = found.members.index(member)
    if place > 0:
        return text[: found.members[place - 1].end] + text[member.end :]
    if len(found.members) > 1:
        return text[: member.start] + text[found.members[1].start :]
    return text[: found.start + 1] + text[found.end - 1 :]


def _added(text: str, found: _Object, name: str, value: Any, margin: str, step: str) -> str:
    if not found.members:
        body = f"\n{margin}{step}{json.dumps(name)}: {_written(value, margin + step, step)}\n{margin}"
        return text[: found.start + 1] + body + text[found.end - 1 :]
    last = found.members[-1]
    behind = found.members[-2].end if len(found.members) > 1 else None
    # The space in front of the last member: behind a comma, or behind the opening brace.
    before = text[_space_start(text, last.start, found.start + 1 if behind is None else behind) : last.start]
    inner = before.rpartition("\n")[2] if "\n" in before else None
    dumped = json.dumps(value, ensure_ascii=False) if inner is None else _written(value, inner, step)
    gap = " " if inner is None and not before else before
    return f"{text[: last.end]},{gap}{json.dumps(name)}: {dumped}{text[last.end :]}"


def _written(value: Any, margin: str, step: str) -> str:
    lines = json.dumps(value, indent=step, ensure_ascii=False).split("\n")
    return f"\n{margin}".join(lines)


def _step(text: str) -> str:
    """Return the indent of the text's own first indented line."""
    found = re.search(r"\{\r?\n([ \t]+)\"", text)
    return found[1] if found else _INDENT


def _margin(text: str, at: int) -> str:
    """Return the indent of the line that a position stands in."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _object_at(text: str, at: int) -> _Object:
    """Return the object that begins at a position of valid JSON."""
    if at >= len(text) or text[at] != "{":
        raise ValueError("what should be an object is none")
    members: list[_Member] = []
    place = _space(text, at + 1)
    while text[place] != "}":
        name, behind = _DECODER.raw_decode(text, place)
        value = _space(text, _space(text, behind) + 1)
        end = _DECODER.raw_decode(text, value)[1]
        members.append(_Member(name, place, value, end))
        place = _space(text, end)
        if text[place] == ",":
            place = _space(text, place + 1)
    return _Object(at, tuple(members), place + 1)


def _space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _space_start(text: str, at: int, least: int) -> int:
    """Return where the white space in front of a position begins."""
    while at > least and text[at - 1] in " \t\r\n":
        at -= 1
    return at
