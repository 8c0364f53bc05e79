"""Ignore: the rules of `.helixignore` files, in the syntax of `.gitignore`."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from helix.errors import InvalidInputError
from helix.text.names import decode

IGNORE_FILE = ".helixignore"


@dataclass(frozen=True)
class _Rule:
    """One pattern. `base` is the folder of its file ("" or "docs/"), which paths are measured from."""

    base: str
    pattern: re.Pattern[str]
    negated: bool
    folders_only: bool
    anchored: bool

    def says(self, path: str, *, is_folder: bool) -> bool:
        if (self.folders_only and not is_folder) or not path.startswith(self.base):
            return False
        rest = path[len(self.base) :]
        return self.pattern.fullmatch(rest if self.anchored else rest.rpartition("/")[2]) is not None


@dataclass(frozen=True)
class IgnoreRules:
    """Rules in the order they apply, the last one that matches deciding; without any, nothing is ignored."""

    rules: tuple[_Rule, ...] = ()

    def extended(self, lines: Iterable[str], folder: str = "") -> IgnoreRules:
        """Return these rules and those of an ignore file that stands in `folder` (relative, `/` between names)."""
        base = f"{folder.strip('/')}/" if folder.strip("/") else ""
        added = (rule for line in lines if (rule := _parse(line, base)) is not None)
        return IgnoreRules((*self.rules, *added))

    def ignores(self, path: str, *, is_folder: bool = False) -> bool:
        """Return whether a path (relative, `/` between names) is ignored, itself or with a folder it is in.

        As in git, nothing inside an ignored folder can be taken back by a later `!` rule.
        """
        parts = path.split("/")
        above = ("/".join(parts[:depth]) for depth in range(1, len(parts)))
        return bool(self.rules) and (
            any(self._verdict(folder, is_folder=True) for folder in above) or self._verdict(path, is_folder=is_folder)
        )

    def _verdict(self, path: str, *, is_folder: bool) -> bool:
        return next((not rule.negated for rule in reversed(self.rules) if rule.says(path, is_folder=is_folder)), False)


def rules_of(folder: Path, place: str = "", rules: IgnoreRules | None = None) -> IgnoreRules:
    """Return `rules`, extended by the `.helixignore` of a folder where it has one; `place` is its relative path.

    Raises InvalidInputError where that file cannot be read: going on without it would take in what it excludes.
    """
    rules = rules or IgnoreRules()
    file = folder / IGNORE_FILE
    try:
        return rules.extended(decode(file.read_bytes()).splitlines(), place) if file.is_file() else rules
    except OSError as error:
        raise InvalidInputError(
            f"{file} cannot be read: {error.strerror}", hint="make it readable, or remove it"
        ) from error


def rules_above(folder: Path, base: Path) -> IgnoreRules:
    """Return the rules of every `.helixignore` from `base` down to and in `folder`, which lies in it."""
    rules = IgnoreRules()
    for part in (*reversed(folder.relative_to(base).parents), folder.relative_to(base)):
        rules = rules_of(base / part, "" if part == Path() else part.as_posix(), rules)
    return rules


def without_ignored(files: Iterable[str], root: Path) -> list[str]:
    """Return the files that no `.helixignore` of the project at `root` excludes, each by its path from there.

    A link is excluded by its own path and by that of what it leads to. A file outside the root is not the project's to
    exclude: it is returned as it was named. A file need not exist. Raises InvalidInputError for a root that is not
    absolute, and for rules that cannot be read.
    """
    if not root.is_absolute():
        raise InvalidInputError(f"the root {root} is not an absolute path", hint="send the project's whole path")
    kept = []
    for file in files:
        places = [
            place for place in (_place(root, file, os.path.normpath), _place(root, file, os.path.realpath)) if place
        ]
        if not places:
            kept.append(file)
        elif not any(rules_above(root / Path(place).parent, root).ignores(place) for place in places):
            kept.append(places[0])
    return kept


def _place(root: Path, file: str, whole: Callable[[Path], str]) -> str:
    """Return the path of a file from the root, both made whole; empty where it does not lie under it."""
    base, path = Path(whole(root)), Path(whole(root / file))
    return path.relative_to(base).as_posix() if path != base and path.is_relative_to(base) else ""


def _parse(line: str, base: str) -> _Rule | None:
    text = _without_trailing_spaces(line.rstrip("\r\n"))
    if not text or text.startswith("#"):
        return None
    negated = text.startswith("!")
    text = text[1:] if negated else text
    folders_only = text.endswith("/")
    text = text.removesuffix("/")
    pattern = _translate(text.removeprefix("/"))
    if pattern is None:
        return None
    return _Rule(base=base, pattern=pattern, negated=negated, folders_only=folders_only, anchored="/" in text)


def _without_trailing_spaces(text: str) -> str:
    bare = text.rstrip(" ")
    backslashes = len(bare) - len(bare.rstrip("\\"))
    return bare + " " if len(bare) < len(text) and backslashes % 2 else bare


def _translate(glob: str) -> re.Pattern[str] | None:
    """Return the regular expression of a pattern, or None of one that can match nothing, such as an open `[`."""
    out: list[str] = []
    at = 0
    while at < len(glob):
        if stars := _STARS.match(glob, at):
            at = stars.end()
            out.append(_translate_stars(before=glob[: stars.start()], count=len(stars[0]), after=glob[at:]))
            at += out[-1] == _ANY_FOLDERS  # its slash is part of it
        elif glob[at] == "[":
            found = _translate_class(glob, at + 1)
            if found is None:
                return None
            expression, at = found
            out.append(expression)
        elif glob[at] == "\\":
            if at + 1 == len(glob):
                return None
            out.append(re.escape(glob[at + 1]))
            at += 2
        else:
            out.append("[^/]" if glob[at] == "?" else re.escape(glob[at]))
            at += 1
    return re.compile("".join(out), re.DOTALL)


_STARS = re.compile(r"\*+")
_ANY_FOLDERS = "(?:.*/)?"
_NAMED_CLASS = re.compile(r"\[:(\w+):\]")
_NAMED = {
    "alnum": "a-zA-Z0-9",
    "alpha": "a-zA-Z",
    "blank": r" \t",
    "digit": "0-9",
    "lower": "a-z",
    "punct": r"!-/:-@\[-`{-~",
    "space": r"\s",
    "upper": "A-Z",
    "xdigit": "0-9A-Fa-f",
}


def _translate_stars(*, before: str, count: int, after: str) -> str:
    whole_name = before[-1:] in ("", "/") and after[:1] in ("", "/")
    if count < 2 or not whole_name:
        return "[^/]*"
    return _ANY_FOLDERS if after else ".*"


def _translate_class(glob: str, at: int) -> tuple[str, int] | None:
    """Return the expression of the class that opens before `at`, and the place behind it; None when it stays open."""
    negated = glob[at : at + 1] in ("!", "^")
    at += negated
    parts: list[str] = []
    first = at
    while at < len(glob) and (glob[at] != "]" or at == first):
        if named := _NAMED_CLASS.match(glob, at):
            if named[1] not in _NAMED:
                return None
            parts.append(_NAMED[named[1]])
            at = named.end()
            continue
        low, at = _class_character(glob, at)
        if glob[at : at + 1] == "-" and glob[at + 1 : at + 2] not in ("", "]"):
            high, at = _class_character(glob, at + 1)
            parts.append(f"{re.escape(low)}-{re.escape(high)}" if low <= high else re.escape(low))
        else:
            parts.append(re.escape(low))
    if at >= len(glob):
        return None
    members = "".join(parts)
    return (f"[^/{members}]" if negated else f"(?!/)[{members}]"), at + 1


def _class_character(glob: str, at: int) -> tuple[str, int]:
    if glob[at] == "\\" and at + 1 < len(glob):
        return glob[at + 1], at + 2
    return glob[at], at + 1
