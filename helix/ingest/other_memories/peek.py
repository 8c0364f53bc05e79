"""Peek: the first look at a file or folder, by which its kind is told. Nothing is run or followed for it."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

from helix import files
from helix.errors import InvalidInputError, NotFoundError
from helix.text.cleaning import decode

_HEAD = 1 << 18
_MOST_NAMES = 2_000
_DEEPEST = 6
_SQLITE = b"SQLite format 3\0"


@dataclass(frozen=True)
class Peek:
    """A path and what is seen of it at once."""

    path: Path

    def __post_init__(self) -> None:
        """Raise NotFoundError where nothing is there, InvalidInputError for what is neither file nor folder."""
        if not self.path.exists():
            raise NotFoundError(f"there is no file or folder {self.path}", hint="check the path")
        if not self.path.is_dir() and not self.path.is_file():
            raise InvalidInputError(f"{self.path} is neither a file nor a folder", hint="name one that is")

    @cached_property
    def is_folder(self) -> bool:
        """Whether it is a folder that is to be imported."""
        return self.path.is_dir()

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The first paths below a folder to import, from there, with `/`; none of a file."""
        return tuple(islice(_below(self.path, ""), _MOST_NAMES)) if self.is_folder else ()

    def has(self, pattern: str) -> bool:
        """Whether a path below a folder to import fits a regular expression, whole."""
        return any(re.fullmatch(pattern, name) for name in self.names)

    @cached_property
    def _head(self) -> bytes:
        if self.is_folder:
            return b""
        try:
            with files.open_regular(self.path) as file:
                return file.read(_HEAD)
        except OSError as error:
            raise InvalidInputError(f"{self.path} cannot be read: {error.strerror}", hint="check the file") from error

    @cached_property
    def is_sqlite(self) -> bool:
        """Whether what is to be imported is a database of SQLite."""
        return self._head.startswith(_SQLITE)

    @cached_property
    def text(self) -> str:
        """How a file to import begins, as text."""
        return "" if self.is_sqlite else decode(self._head)

    @cached_property
    def first(self) -> Mapping[str, Any]:
        """The JSON object in the first line of a file to import; empty where there is none."""
        line = next((line for line in self.text.splitlines() if line.strip()), "")
        try:
            found = json.loads(line)
        except (ValueError, RecursionError):
            return {}
        return found if isinstance(found, Mapping) else {}

    def holds(self, *keys: str) -> bool:
        """Whether a file to import begins as JSON in which all of these keys stand."""
        begins = self.text.lstrip()[:1]
        return bool(begins) and begins in "[{" and all(re.search(rf'"{key}"\s*:', self.text) for key in keys)


def _below(folder: Path, place: str) -> Iterator[str]:
    if place.count("/") >= _DEEPEST:
        return
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        name = f"{place}{entry.name}"
        if entry.is_dir(follow_symlinks=False):
            yield from _below(Path(entry.path), f"{name}/")
        elif not entry.is_symlink():
            yield name
