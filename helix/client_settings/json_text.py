"""JSON text: set or drop one member of a JSON file by its path, and leave every other character as it stands.

With `comments` the text may have comments and trailing commas, as editors' settings have (JSONC). Both are blanked
before anything is read, so that every place in what is read is the same place in the text.

A grammar of JSON and JSONC.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

Path = Sequence[str]

_SPACE = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()
_INDENT = "  "
# What has no end is taken to the end at once: to look for it from each beginning takes the square of the time.
_STRING = r'"(?:[^"\\\n]|\\.)*"?'
_COMMENT = re.compile(rf"{_STRING}|//[^\n]*|/\*(?:.*?\*/|.*)", re.DOTALL)
_TRAILING = re.compile(rf"{_STRING}|,(?=[ \t\r\n]*[}}\]])")
_FIRST = re.compile(r'\{[ \t\r\n]*\n([ \t]+)"')
_LINE_REST = re.compile(r"(?:[ \t]|/\*(?:[^\n*]|\*(?!/))*\*/)*(?://[^\n]*)?(?=\r?\n)")
"""What follows a value in its line: blanks and comments, up to the line's end."""


@dataclass(frozen=True, slots=True)
class _Part:
    """A member of an object, or an item of a list: its name, where it begins, its value, its end, and its comma."""

    name: str
    start: int
    value: int
    end: int
    comma: int | None


@dataclass(frozen=True, slots=True)
class _Container:
    """An object or a list in a text: its brackets and what is between them; `end` is behind the closing one."""

    start: int
    parts: tuple[_Part, ...]
    end: int

    def member(self, name: str) -> _Part | None:
        """Return the member of that name; of several the last, which is the one that counts."""
        return next((part for part in reversed(self.parts) if part.name == name), None)


@dataclass(frozen=True, slots=True)
class _Text:
    """A text, and the same without comments (`commas`), and without trailing commas too (`plain`): as long each."""

    text: str
    commas: str
    plain: str


def parse(text: str, *, comments: bool = False) -> dict[str, Any]:
    """Return the object of a client's JSON settings, {} where blank. Raises ValueError, with the place."""
    read = _parse_text(text, comments=comments)
    held = json.loads(read.plain) if read.plain.strip(" \t\r\n") else {}
    if not isinstance(held, dict):
        raise ValueError("it holds no object")
    return held


def set_member(text: str, path: Path, value: Any, *, comments: bool = False) -> str:
    """Return JSON settings with `value` at `path`; objects that are missing on the way are made.

    What was there before is replaced. A new member comes last in its object, in the manner of the one before it. Raises
    ValueError when the text is no JSON object, or something on the way is none.
    """
    read = _parse_text(text, comments=comments)
    json.loads(read.plain)
    found, depth = _at(read, _space(read.plain, 0), "{"), 0
    while depth < len(path) - 1 and (member := found.member(path[depth])) is not None:
        found, depth = _at(read, member.value, "{"), depth + 1
    for name in reversed(path[depth + 1 :]):
        value = {name: value}
    step = _step(read)
    if (member := found.member(path[depth])) is not None:
        return text[: member.value] + _written(value, _margin(text, found.start) + step, step) + text[member.end :]
    return _added(read, found, f"{json.dumps(path[depth])}: ", value)


def add_item(text: str, path: Path, value: Any, *, comments: bool = False) -> str:
    """Return JSON settings with `value` as the last item of the list at `path`, which is made where missing."""
    read = _parse_text(text, comments=comments)
    found = _container(read, path, "[")
    if found is None:
        return set_member(text, path, [value], comments=comments)
    return _added(read, found, "", value)


def drop_member(text: str, path: Path, *, comments: bool = False) -> str:
    """Return JSON settings without what is at `path`; unchanged where nothing is. Raises ValueError too."""
    read = _parse_text(text, comments=comments)
    json.loads(read.plain)
    found = _container(read, path[:-1], "{")
    member = None if found is None else found.member(path[-1])
    return text if found is None or member is None else _without(read, found, member)


def drop_items(text: str, path: Path, which: Callable[[Any], bool], *, comments: bool = False) -> str:
    """Return JSON settings without these items of the list at `path`; unchanged where there are none."""
    while True:
        read = _parse_text(text, comments=comments)
        found = _container(read, path, "[")
        parts = () if found is None else found.parts
        meant = next((part for part in parts if which(json.loads(read.plain[part.value : part.end]))), None)
        if found is None or meant is None:
            return text
        text = _without(read, found, meant)


def _parse_text(text: str, *, comments: bool) -> _Text:
    if not comments:
        return _Text(text, text, text)
    commas = _COMMENT.sub(lambda found: found[0] if found[0][0] == '"' else _blank(found[0]), text)
    return _Text(text, commas, _TRAILING.sub(lambda found: found[0] if found[0][0] == '"' else " ", commas))


def _blank(text: str) -> str:
    return "".join(letter if letter in "\r\n" else " " for letter in text)


def _container(read: _Text, path: Path, kind: str) -> _Container | None:
    """Return the object ("{") or list ("[") at a path; None where no such one is. Raises ValueError for no object."""
    found = _at(read, _space(read.plain, 0), "{" if path else kind)
    for depth, name in enumerate(path, 1):
        member = found.member(name)
        due = "{" if depth < len(path) else kind
        if member is None or read.plain[member.value] != due:
            return None
        found = _at(read, member.value, due)
    return found


def _added(read: _Text, found: _Container, name: str, value: Any) -> str:
    text, step = read.text, _step(read)
    margin = _margin(text, found.start)
    if not found.parts:
        body = f"\n{margin}{step}{name}{_written(value, margin + step, step)}"
        rest = text[found.start + 1 :]
        tail = "" if "\n" in text[found.start : found.end].partition("//")[0] else f"\n{margin}"
        return text[: found.start + 1] + body + tail + rest
    last = found.parts[-1]
    # The space in front of the last part: behind a comma, or behind the opening bracket.
    blank = _space_start(read.commas, last.start, found.start + 1)
    before = read.commas[blank : last.start]
    inner = _margin(text, last.start) if "\n" in before else None
    dumped = json.dumps(value, ensure_ascii=False) if inner is None else _written(value, inner, step)
    gap = "\n" + inner if inner is not None else before if text[blank : last.start] == before != "" else " "
    after = last.end if last.comma is None else last.comma + 1
    rest_of_line = _LINE_REST.match(text, after) if read.text != read.commas else None
    place = rest_of_line.end() if rest_of_line and inner is not None else after
    commas = ("," if last.comma is None else "", "" if last.comma is None else ",")
    return f"{text[: last.end]}{commas[0]}{text[last.end : place]}{gap}{name}{dumped}{commas[1]}{text[place:]}"


def _without(read: _Text, found: _Container, part: _Part) -> str:
    """Return the text without a member or an item, its comma, and the space in front of it."""
    text, place = read.text, found.parts.index(part)
    start = _space_start(text, part.start, found.start + 1)
    if part.comma is not None:
        if place == 0 and len(found.parts) > 1 and "\n" not in text[start : part.start]:
            start, behind = part.start, _space(text, part.comma + 1)
            return text[:start] + text[part.end : part.comma] + text[behind:]
        return text[:start] + text[part.end : part.comma] + text[part.comma + 1 :]
    comma = found.parts[place - 1].comma if place else None
    if comma is None:
        return text[:start] + text[_space(text, part.end) if len(found.parts) == 1 else part.end :]
    return text[:comma] + text[comma + 1 : start] + text[part.end :]


def _written(value: Any, margin: str, step: str) -> str:
    lines = json.dumps(value, indent=step, ensure_ascii=False).split("\n")
    return f"\n{margin}".join(lines)


def _step(read: _Text) -> str:
    """Return by how much the text's own first member in a line of its own is indented; comments do not count."""
    found = _FIRST.search(read.commas)
    return (found[1][len(_margin(read.text, found.start())) :] if found else "") or _INDENT


def _margin(text: str, at: int) -> str:
    """Return the indent of the line that a position stands in."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _at(read: _Text, at: int, kind: str) -> _Container:
    """Return the object ("{") or list ("[") that begins at a position of valid JSON."""
    plain, commas = read.plain, read.commas
    if plain[at : at + 1] != kind:
        raise ValueError("what should be an object is none")
    named = kind == "{"
    parts: list[_Part] = []
    place = _space(plain, at + 1)
    while plain[place] not in "}]":
        name, behind = _DECODER.raw_decode(plain, place) if named else ("", place)
        value = _space(plain, _space(plain, behind) + 1) if named else place
        end = _DECODER.raw_decode(plain, value)[1]
        comma = _space(commas, end)
        parts.append(_Part(name, place, value, end, comma if commas[comma] == "," else None))
        place = _space(plain, comma + 1 if commas[comma] == "," else comma)
    return _Container(at, tuple(parts), place + 1)


def _space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _space_start(text: str, at: int, least: int) -> int:
    """Return where the white space in front of a position begins."""
    while at > least and text[at - 1] in " \t\r\n":
        at -= 1
    return at
