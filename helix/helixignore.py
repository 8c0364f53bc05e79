"""Helixignore: the rules of `.helixignore` files, in the syntax of `.gitignore`.

A grammar of the patterns of `.gitignore`.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from helix import files
from helix.errors import InvalidInputError
from helix.text.cleaning import decode

IGNORE_FILE = ".helixignore"
GITIGNORE = ".gitignore"

_MOST_BYTES = 32 << 10
_MOST_RULES, _LONGEST_PATTERN = 2_000, 250
_MOST_EFFORT, _READING, _FOLLOWING = 500_000, 100, 50
"""Comparisons of a name with a rule that are made for one request, and how many the reading of a rule and the following
of a path take as long as. A repository brings its rules, and can have a command or a plan name any number of paths:
that took half a minute."""


@dataclass(frozen=True)
class _Rule:
    """One pattern. `base` is the folder of its file ("" or "docs/"), which paths are measured from.

    `name` is what it says where that is one path, as of `/notes/` and `notes/**`; empty where it has other wildcards.
    """

    base: str
    name: str
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
        """Return these rules and those of a `.helixignore` that stands in `folder` (relative, `/` between names)."""
        base = f"{folder.strip('/')}/" if folder.strip("/") else ""
        rules = (*self.rules, *_read_lines(tuple(lines), base))
        if len(rules) > _MOST_RULES:
            words = f"more than {_MOST_RULES:,} rules in {IGNORE_FILE}"
            raise InvalidInputError(words, hint="say the same with fewer: a folder's name excludes all that is in it")
        return IgnoreRules(rules)

    def ignores(self, path: str, *, is_folder: bool = False) -> bool:
        """Return whether a `.helixignore` excludes a path (relative, `/` between names) or a folder it is in.

        As in git, nothing inside an ignored folder can be taken back by a later `!` rule.
        """
        parts = path.split("/")
        above = ("/".join(parts[:depth]) for depth in range(1, len(parts)))
        return bool(self.rules) and (
            any(self.ignores_here(folder, is_folder=True) for folder in above)
            or self.ignores_here(path, is_folder=is_folder)
        )

    def ignores_here(self, path: str, *, is_folder: bool = False) -> bool:
        """Return whether a `.helixignore` excludes a path that, as the caller knows, lies in no excluded folder."""
        return next((not rule.negated for rule in reversed(self.rules) if rule.says(path, is_folder=is_folder)), False)


def git_rules_of(folder: Path, place: str = "", rules: IgnoreRules | None = None) -> IgnoreRules:
    """Return `rules`, extended by the `.gitignore` of a folder; one that is too long, or cannot be read, adds none."""
    try:
        return rules_of(folder, place, rules, GITIGNORE)
    except InvalidInputError:
        return rules or IgnoreRules()


def rules_of(folder: Path, place: str = "", rules: IgnoreRules | None = None, name: str = IGNORE_FILE) -> IgnoreRules:
    """Return `rules`, extended by the `.helixignore` of a folder where it has one; `place` is its relative path.

    `name` is that of another file of such rules. Where anybody may put files, as in `/tmp`, another user's says
    nothing.
    Raises InvalidInputError where that file cannot be read: going on without it would ingest what it excludes.
    """
    rules = rules or IgnoreRules()
    file = folder / name
    try:
        if files.is_strangers(file):
            return rules
        return rules.extended(decode(files.read_bytes(file, _MOST_BYTES)).splitlines(), place)
    except FileNotFoundError:
        return rules
    except NotADirectoryError:
        return rules
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:  # nothing can be there
            return rules
        raise InvalidInputError(
            f"{file} cannot be read: {error.strerror}", hint="make it readable, or remove it"
        ) from error


_Read = Callable[[Path, str, IgnoreRules | None], IgnoreRules]


def rules_above(folder: Path, base: Path, read: _Read = rules_of) -> IgnoreRules:
    """Return the rules of every `.helixignore` from `base` down to and in `folder`, which lies in it.

    Nothing is looked for below a folder that is not there: a path that nobody made may name thousands.
    """
    rules = read(base, "", None)
    place = base
    for name in folder.relative_to(base).parts:
        place /= name
        if not os.path.lexists(place):
            break
        rules = read(place, place.relative_to(base).as_posix(), rules)
    return rules


def without_ignored(files: Iterable[str], project: str = "") -> list[str]:
    """Return the files that no `.helixignore` excludes, each by its path from the folder `project` where it is in it.

    Asked are the ignore files of every folder that a file lies in, up to the root of its git repository (of the file
    system, where it is in none) or to the project, whichever is further up. A link is excluded by its own path and by
    that of what it leads to. A file need not exist; a relative one is of the project, and without a project nothing is
    known of it. What is left after _MOST_EFFORT counts as excluded.
    Raises InvalidInputError for a project that is not absolute, for rules that cannot be read, and for a path that
    `files.real_path` does not follow.
    """
    files = list(files)
    hidden = IgnoreLookup().ignored(files, project)
    return [_path_in_project(file, project) for file in files if file not in hidden]


class IgnoreLookup:
    """Asks which files a `.helixignore` excludes, for one request: reads each ignore file and judges each folder once.

    It makes so many comparisons of a name with a rule; what is left then counts as excluded.
    """

    def __init__(self, effort: int = _MOST_EFFORT) -> None:
        self._left = effort
        self._known: dict[tuple[Path, str], IgnoreRules] = {}
        self._judged: dict[tuple[Path, Path, bool], bool] = {}

    def ignored(self, files: Iterable[str], project: str) -> frozenset[str]:
        """Return the files that a `.helixignore` excludes; see `without_ignored`, which raises the same."""
        _check(project)
        return frozenset(
            file
            for file in dict.fromkeys(files)
            if self._is_out_of_time() or any(self._excludes(*place) for place in dict.fromkeys(_places(file, project)))
        )

    def names_said(self, folder: str, project: str) -> frozenset[str]:
        """Return the paths that the rules which hold in a folder say without a wildcard, and the last name of each.

        Raises as `without_ignored` does.
        """
        _check(project)
        if self._is_out_of_time():
            return frozenset()
        places = dict.fromkeys(_places(os.path.join(folder, "-"), project))  # noqa: PTH118  (of what lies in it)
        found = (rules_above(path.parent, base, self._read_rules) for path, base in places)
        said = [rule.name for rules in found for rule in rules.rules if rule.name]
        return frozenset((*said, *(name.rpartition("/")[2] for name in said)))

    def _is_out_of_time(self) -> bool:
        self._left -= _FOLLOWING
        return self._left <= 0

    def _excludes(self, path: Path, base: Path) -> bool:
        """Return whether rules exclude a path or a folder that it lies in; each folder is met once, from the top."""
        names = path.relative_to(base).parts
        self._left -= len(names)
        rules, place, is_there = self._read_rules(base, "", None), base, True
        for name in names[:-1]:
            place /= name
            if self._excludes_here(place, base, rules, is_folder=True):
                return True
            is_there = is_there and os.path.lexists(place)
            if is_there:
                rules = self._read_rules(place, place.relative_to(base).as_posix(), rules)
        return bool(names) and self._excludes_here(path, base, rules, is_folder=False)

    def _excludes_here(self, path: Path, base: Path, rules: IgnoreRules, *, is_folder: bool) -> bool:
        """Return whether the rules of all above it exclude a path that lies in no excluded folder."""
        key = (path, base, is_folder)
        if key not in self._judged:
            self._left -= len(rules.rules)
            place = path.relative_to(base).as_posix()
            self._judged[key] = self._left <= 0 or rules.ignores_here(place, is_folder=is_folder)
        return self._judged[key]

    def _read_rules(self, folder: Path, place: str, rules: IgnoreRules | None) -> IgnoreRules:
        """Return what `rules_of` does; a folder's place below tells which rules hold above it."""
        if (folder, place) not in self._known:
            found = self._known[folder, place] = rules_of(folder, place, rules)
            self._left -= _READING * (len(found.rules) - len(rules.rules if rules else ()))
        return self._known[folder, place]


def _check(project: str) -> None:
    if project and not Path(project).is_absolute():
        raise InvalidInputError(f"the root {project} is not an absolute path", hint="send the project's whole path")


def _places(file: str, project: str) -> list[tuple[Path, Path]]:
    """Return where a file lies, as it is named and where links lead, each with the root of what it belongs to."""
    if not project and not Path(file).is_absolute():
        return []
    return [_place(file, project, whole) for whole in (os.path.normpath, real_place)]


def real_place(path: str | Path) -> Path:
    """Return where a path leads that a `.helixignore` may exclude; raises InvalidInputError as `without_ignored`."""
    try:
        return files.real_path(Path(path))
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", error)
        raise InvalidInputError(f"{path} cannot be followed: {why}", hint="mend its links") from error


def _place(file: str, project: str, whole: Callable[[Path], str | Path]) -> tuple[Path, Path]:
    path = Path(whole(Path(project, file)))
    folders = list(path.parents) or [path]  # the root of the file system lies in nothing
    found = next((at for at, folder in enumerate(folders) if os.path.lexists(folder / ".git")), len(folders) - 1)
    if project and (root := Path(whole(Path(project)))) in folders:
        found = max(found, folders.index(root))
    return path, folders[found]


def _path_in_project(file: str, project: str) -> str:
    """Return a file by its path from the project, and one outside it as it was named."""
    if project:
        for whole in (os.path.normpath, real_place):
            base, path = Path(whole(Path(project))), Path(whole(Path(project, file)))
            if path != base and path.is_relative_to(base):
                return path.relative_to(base).as_posix()
    return file


@lru_cache(maxsize=64)
def _read_lines(lines: tuple[str, ...], base: str) -> tuple[_Rule, ...]:
    return tuple(rule for line in lines if (rule := _parse(line, base)) is not None)


def _parse(line: str, base: str) -> _Rule | None:
    text = _without_trailing_spaces(line.rstrip("\r\n"))
    if not text or text.startswith("#"):
        return None
    if len(text) > _LONGEST_PATTERN:
        words = f"a pattern of {len(text):,} characters in {IGNORE_FILE}"
        raise InvalidInputError(words, hint=f"a pattern has at most {_LONGEST_PATTERN:,}")
    negated = text.startswith("!")
    text = text[1:] if negated else text
    folders_only = text.endswith("/")
    text = text.removesuffix("/")
    pattern = _translate(text.removeprefix("/"))
    if pattern is None:
        return None
    return _Rule(
        base=base,
        name=_name_of(text.removeprefix("/")),
        pattern=pattern,
        negated=negated,
        folders_only=folders_only,
        anchored="/" in text,
    )


def _name_of(glob: str) -> str:
    """Return the one path that a pattern says; empty where it may match several."""
    plain = glob.removeprefix("**/").removesuffix("/**").removesuffix("/*")
    return "" if _WILD.search(plain) else _ESCAPED.sub(r"\1", plain)


def _without_trailing_spaces(text: str) -> str:
    bare = text.rstrip(" ")
    backslashes = len(bare) - len(bare.rstrip("\\"))
    return bare + " " if len(bare) < len(text) and backslashes % 2 else bare


@lru_cache(maxsize=_MOST_RULES)
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
    return re.compile(_linear(out), re.DOTALL)


def _linear(parts: list[str]) -> str:
    """Return the expression of a pattern's parts, which matches in time linear in the path for each of its characters.

    What stands between two wildcards has a fixed length, so its first match leaves the second one most room, and no
    later one need be looked for. Without that, as in `fnmatch` of old and in pathspec, ten stars take years.
    """
    names = _tried_once(parts, _ANY_NAME, (_ANY_NAME, _ANY_FOLDERS, _ALL_BELOW))
    return "".join(_tried_once(names, _ANY_FOLDERS, (_ANY_FOLDERS, _ALL_BELOW)))


def _tried_once(parts: list[str], wild: str, ends: tuple[str, ...]) -> list[str]:
    """Make each wildcard of one kind atomic, with what follows it up to the next of `ends`; return the parts."""
    out: list[str] = []
    at = 0
    while at < len(parts):
        if parts[at] != wild:
            out.append(parts[at])
            at += 1
            continue
        end = next((later for later in range(at + 1, len(parts)) if parts[later] in ends), None)
        stretch = f"{wild}?{''.join(parts[at + 1 : end])}"
        out.append(stretch if end is None else f"(?>{stretch})")
        at = len(parts) if end is None else end
    return out


_WILD, _ESCAPED = re.compile(r"(?<!\\)[*?\[]"), re.compile(r"\\(.)")
_STARS = re.compile(r"\*+")
_ANY_NAME, _ANY_FOLDERS, _ALL_BELOW = "[^/]*", "(?:[^/]*/)*", ".*"
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
        return _ANY_NAME
    return _ANY_FOLDERS if after else _ALL_BELOW


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
