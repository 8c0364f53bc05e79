"""Note files: finds the notes under the paths that a person named, and says why a file is excluded."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from helix.errors import NotFoundError
from helix.files import digest_of, real_path, work_tree_of
from helix.held_folder import open_resolved
from helix.helixignore import IgnoreRules, git_rules_of, rules_above, rules_of
from helix.model.reports import IngestProblem
from helix.text.cleaning import decode
from helix.text.secrets.redact import redact

_SUFFIXES = frozenset({".md", ".markdown", ".mdc", ".mdx", ".rst", ".txt"})
_LARGEST = 1_000_000
_MOST_LINES = 50_000
"""Lines of a file: a million bytes of the shortest lines would take a reader 15 seconds."""
_DEEPEST = 100
"""Folders within folders that are walked; nobody keeps notes further down."""
_LEFT_OUT = frozenset({"node_modules", "__pycache__", "site-packages"})
_LEGAL = re.compile(
    r"(?:(?:un)?licen[cs]es?|copying)(?:[-_. ].*)?|notices?|third[-_ ]?party[-_ ]?\w*|(?:code[-_ ]of[-_ ])?conduct",
    re.IGNORECASE,
)
_DATA = ".txt"
"""Suffix of lists, tables and terms more than of notes in a work tree: of 40 memories drawn from 17,578 that 1,226 such
files of other projects made, one told how something works."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteFile:
    """A file of notes as read: `place` is its path from the root `base`, or its whole path where it lies under none.

    `digest` stands for what it holds.
    """

    path: Path
    base: Path | None
    place: str
    text: str
    modified_at: datetime
    digest: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteFolder:
    """A folder of notes that was walked to its end: `place` is as those of its files begin."""

    base: Path | None
    place: str


def note_files(
    paths: Iterable[str | Path], root: Path | None = None
) -> Iterator[NoteFile | NoteFolder | IngestProblem]:
    """Yield the note files to ingest that are these paths or lie in them, in order of name, each once, and the folders.

    A folder is walked: hidden folders, those that git ignores, `node_modules` and its like are passed over, as are
    licences, files that are no notes by their suffix (nor are `.txt` files in a work tree) and what `.helixignore`
    files exclude, from the root (where none is given, the work tree's) down. What is named itself is read whatever its
    name and place. Binary, unreadable and too large files become problems, and
    so do other repositories in the folder, and links that lead out of the work tree or folder they lie in: whoever
    wrote that folder would choose what is read.
    Raises NotFoundError for a path that does not exist.
    """
    named = [Path(path).expanduser() for path in paths]
    if missing := next((path for path in named if not path.exists()), None):
        raise NotFoundError(f"{missing} does not exist", hint="name files or folders of notes")
    seen: set[Path] = set()
    for path in named:
        try:
            real, around = real_path(path), _around(path.absolute())
        except OSError as error:
            yield _unread(path, error)
            continue
        if not real.is_relative_to(around):
            yield _leads_out(path, around)
            continue
        base = (real_path(root.expanduser()) if root else None) or work_tree_of(real)
        base = base if base and real.is_relative_to(base) else None
        for found in _walk(real, base) if real.is_dir() else _named(real, base):
            if isinstance(found, IngestProblem):
                yield found
            elif found not in seen:
                seen.add(found)
                yield _read_note(found, base)
        if real.is_dir():
            place = real.relative_to(base).as_posix() if base else real.as_posix()
            yield NoteFolder(base=base, place="" if place == "." else f"{place}/")


def exists(path: Path) -> bool:
    """Return whether a note's file is there; where that cannot be told, it is."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except (OSError, ValueError):
        return True
    return True


def _around(place: Path) -> Path:
    """Return what a named path must not lead out of: the work tree it lies in, else the folder it is or lies in."""
    tree = work_tree_of(place.parent if place.is_symlink() else place)
    return real_path(tree or (place if place.is_dir() else place.parent))


def _unread(path: Path, error: OSError) -> IngestProblem:
    return IngestProblem(where=str(path), why=f"cannot be read: {error.strerror}")


def _leads_out(path: Path, around: Path) -> IngestProblem:
    return IngestProblem(where=str(path), why=f"a link that leads out of {around}")


def _named(file: Path, base: Path | None) -> Iterator[Path | IngestProblem]:
    if base and rules_above(file.parent, base).ignores(file.relative_to(base).as_posix()):
        yield IngestProblem(where=str(file), why="excluded by .helixignore")
    else:
        yield file


def _walk(folder: Path, base: Path | None) -> Iterator[Path | IngestProblem]:
    base = base or folder
    above = rules_above(folder.parent, base) if folder != base else IgnoreRules()
    here = folder.relative_to(base).as_posix()
    if folder != base and above.ignores(here, is_folder=True):
        yield IngestProblem(where=str(folder), why="excluded by .helixignore")
        return
    by_git = rules_above(folder.parent, base, git_rules_of) if folder != base else IgnoreRules()
    yield from _walk_into(folder, base, above, by_git)


def _walk_into(folder: Path, base: Path, rules: IgnoreRules, by_git: IgnoreRules) -> Iterator[Path | IngestProblem]:
    place = "" if folder == base else folder.relative_to(base).as_posix()
    if place.count("/") >= _DEEPEST:
        yield IngestProblem(where=place, why=f"more than {_DEEPEST} folders deep")
        return
    rules, by_git = rules_of(folder, place, rules), git_rules_of(folder, place, by_git)
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError as error:
        yield _unread(folder, error)
        return
    for entry in entries:
        path = f"{place}/{entry.name}" if place else entry.name
        if entry.is_dir(follow_symlinks=False):
            if entry.name.startswith(".") or entry.name in _LEFT_OUT:
                continue
            if rules.ignores_here(path, is_folder=True) or by_git.ignores_here(path, is_folder=True):
                continue
            if os.path.lexists(Path(entry.path, ".git")):  # a project of its own, which may be anybody's
                yield IngestProblem(
                    where=entry.path, why="another repository, which is ingested where it is named itself"
                )
            else:
                yield from _walk_into(Path(entry.path), base, rules, by_git)
        elif _is_note(Path(entry.name), base) and not rules.ignores_here(path):
            yield from _within(Path(entry.path), base)


def _within(file: Path, base: Path) -> Iterator[Path | IngestProblem]:
    """Yield the file that a name in a walked folder stands for.

    A link must not lead out of what was named, nor to what the walk leaves out.
    """
    try:
        real = real_path(file)
    except OSError as error:
        yield _unread(file, error)
        return
    if not real.is_relative_to(base):
        yield _leads_out(file, base)
    elif real == file:
        yield real
    elif _is_note(real, base) and not any(map(_is_left_out, _folders_of(real, base))):
        yield from _named(real, base)


def _is_note(file: Path, base: Path) -> bool:
    """Return whether a file of a walked folder is a note by its name."""
    suffix = file.suffix.lower()
    if suffix not in _SUFFIXES or _LEGAL.fullmatch(file.stem):
        return False
    return suffix != _DATA or not os.path.lexists(base / ".git")


def _folders_of(file: Path, base: Path) -> list[Path]:
    return [folder for folder in file.parents if folder != base and folder.is_relative_to(base)]


def _is_left_out(folder: Path) -> bool:
    return folder.name.startswith(".") or folder.name in _LEFT_OUT or os.path.lexists(folder / ".git")


def _read_note(file: Path, base: Path | None) -> NoteFile | IngestProblem:
    try:
        with open_resolved(file) as stream:  # what was resolved is what is read
            status = os.fstat(stream.fileno())
            data = stream.read(_LARGEST + 1)
    except OSError as error:
        return _unread(file, error)
    if len(data) > _LARGEST:
        return IngestProblem(where=str(file), why=f"larger than {_LARGEST:,} bytes")
    text = decode(data)
    if _is_binary(data, text):
        return IngestProblem(where=str(file), why="not a text file")
    if text.count("\n") > _MOST_LINES:
        return IngestProblem(where=str(file), why=f"more than {_MOST_LINES:,} lines")
    place = file.relative_to(base).as_posix() if base else file.as_posix()
    # Redacted whole, before it is taken apart into sections: a heading may name the secret below it.
    text = redact(text).text
    modified_at = datetime.fromtimestamp(status.st_mtime, UTC)
    return NoteFile(path=file, base=base, place=place, text=text, modified_at=modified_at, digest=digest_of(data))


def _is_binary(data: bytes, text: str) -> bool:
    """Return whether bytes are no text: NUL where no UTF-16 explains it, or a third of them not decodable."""
    utf16 = data.startswith((b"\xff\xfe", b"\xfe\xff"))
    return (b"\0" in data[:8_192] and not utf16) or text.count("\ufffd") * 3 > len(text)
