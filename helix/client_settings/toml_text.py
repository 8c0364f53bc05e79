"""TOML text: set or drop one table of a TOML file, and leave every other character as it stands.

A new table is put behind everything else, where a table may always stand. tomllib says what a text holds; the scanner
here finds only where tables begin.

A grammar of TOML's headings and strings.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

_TOKEN = re.compile(
    r'#[^\n]*|"""(?:[^\\]|\\.)*?"{3,5}|\'\'\'.*?\'{3,5}|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'|[\[\]{}]|\n', re.DOTALL
)
_LONG_KEY = re.compile(r"""(?<![\w-])(?:(?:[\w-]+|"(?:[^"\\\n]|\\.)*+"|'[^'\n]*')[ \t]*\.[ \t]*){64}""")
"""tomllib takes the square of a dotted key's length: a project's file of 80 kB would keep a command for a minute."""
_BARE = re.compile(r"[A-Za-z0-9_-]+")


def parse(text: str) -> dict[str, Any]:
    """Return the values of a client's TOML settings. Raises ValueError, with the place where it is no TOML."""
    if _LONG_KEY.search(text):
        raise ValueError("a key has more than 64 parts")
    return tomllib.loads(text)


def set_table(text: str, path: Sequence[str], table: Mapping[str, Any]) -> str:
    """Return TOML settings with a table at `path`, in place of what one of that name held; its values are plain."""
    text = drop_table(text, path)
    if text and not text.endswith("\n"):
        text += "\n"
    lines = [f"[{'.'.join(_key(name) for name in path)}]"]
    lines += [f"{_key(name)} = {json.dumps(value, ensure_ascii=False)}" for name, value in table.items()]
    return text + "\n" * bool(text.strip()) + "\n".join(lines) + "\n"


def drop_table(text: str, path: Sequence[str]) -> str:
    """Return TOML settings without the table at `path` and those in it; unchanged where no header names it."""
    headers = [*_headers(text), (len(text), ())]
    for (start, names), (end, _) in reversed(list(pairwise(headers))):
        if tuple(names[: len(path)]) == tuple(path):
            last = _content_end(text, start, end)
            before = len(text[:start].rstrip(" \t\r\n"))
            gone = start if end < len(text) or not before else min(_line_end(text, before), start)
            text = text[:gone] + text[last:]
    return text


def _headers(text: str) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yield where each table's header begins, and the table's name."""
    depth, line, begun = 0, 0, -1
    for token in _TOKEN.finditer(text):
        found, at = token[0], token.start()
        if found == "\n" or found[0] == "#":
            if begun >= 0 and depth == 0:
                yield begun, _name(text[begun:at])
                begun = -1
            line = token.end() if found == "\n" else line
        elif found in "[{":
            if found == "[" and depth == 0 and not text[line:at].strip():
                begun = at
            depth += 1
        elif found in "]}":
            depth -= 1
    if begun >= 0:
        yield begun, _name(text[begun:])


def _name(header: str) -> tuple[str, ...]:
    """Return the name that a header says, by having it read as a document of its own."""
    names: list[str] = []
    held: Any = tomllib.loads(header)
    while held:
        held = held[0] if isinstance(held, list) else held
        names, held = ([*names, next(iter(held))], next(iter(held.values()))) if held else (names, None)
    return tuple(names)


def _content_end(text: str, start: int, end: int) -> int:
    """Return where a table's last line with anything but a comment ends: what follows is about the next table."""
    last = start
    for token in re.finditer(r"[^\n]*\n?", text[start:end]):
        if token[0].strip() and not token[0].lstrip().startswith("#"):
            last = start + token.end()
    return last


def _line_end(text: str, at: int) -> int:
    """Return where the line ends that a position stands in, its line break included."""
    end = text.find("\n", at)
    return len(text) if end < 0 else end + 1


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else json.dumps(name, ensure_ascii=False)
