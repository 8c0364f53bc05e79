"""Path patterns: names that stand for many files, and whether a path is one of these; the one form a path is kept in.

`*` alone is a wildcard, for any characters, slashes among them. `?` and `[` mean themselves, as in `[id].tsx`. So does
the asterisk in `[*]`: so a name that comes from a commit or an edit is written, which is never a pattern.
"""

from __future__ import annotations

import re

MOST_WILDCARDS = 16
"""A name with more asterisks is none that anybody writes for a pattern: it is a name."""

_ESCAPED, _ASTERISK = "[*]", "\x00"
_ENDING = re.compile(r"(?<![/\s])[/\s]+$")


def canonical_path(path: str) -> str:
    """Return a path's text in one form: forward slashes, each once, no leading `./`, no slash or blank at its ends."""
    name = re.sub(r"/{2,}", "/", path.strip().replace("\\", "/"))
    while name.startswith("./"):
        name = name[2:].lstrip()
    return _ENDING.sub("", name) or name[:1]


def as_name(path: str) -> str:
    """Return the text of a file's path so that it is no path pattern."""
    return path.replace("*", _ESCAPED)


def as_path(name: str) -> str:
    """Return a file's path as it is on disk, from the text of a name that is no path pattern."""
    return name.replace(_ESCAPED, "*")


def is_pattern(name: str) -> bool:
    """Return whether the text of a name is a path pattern: it stands for many files."""
    return "*" in name and 1 < len(_pieces(name)) <= MOST_WILDCARDS + 1


def fits(pattern: str, path: str) -> bool:
    """Return whether a path's text fits a path pattern, upper and lower case apart, in time linear in both."""
    first, *pieces = _pieces(pattern)
    if not pieces:
        return first.replace(_ASTERISK, "*") == path
    path, last = path.replace("*", _ASTERISK), pieces.pop()
    at, end = len(first), len(path) - len(last)
    if at > end or not path.startswith(first) or not path.endswith(last):
        return False
    for piece in pieces:
        found = path.find(piece, at, end)
        if found < 0:
            return False
        at = found + len(piece)
    return True


def fixed_part(pattern: str) -> str:
    """Return a folder or file on every path that a pattern's text names, the last that it names; empty without one."""
    parts = pattern.replace(_ESCAPED, _ASTERISK).split("/")
    return next((part.replace(_ASTERISK, "*") for part in reversed(parts) if part and "*" not in part), "")


def _pieces(name: str) -> list[str]:
    return name.replace(_ESCAPED, _ASTERISK).split("*")
