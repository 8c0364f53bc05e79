"""Exclusion: what is told of a project's work, without the texts that name a file of its `.helixignore`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

from helix.command_outcome.command_run import CommandRun
from helix.command_outcome.fixes import COMMAND
from helix.command_outcome.ignored import IgnoredNames, names_ignored, places_named
from helix.errors import InvalidInputError
from helix.files import is_folder
from helix.folders import folders_of
from helix.helixignore import IgnoreLookup
from helix.model.task import DELTA, RELEVANT_FILES, VERIFY
from helix.text.structured import texts

NOT_KEPT = "what names a file that a .helixignore excludes is not kept"
"""What is said where a text of a task was left out."""
_COMMANDS = frozenset({VERIFY, COMMAND})
_FILES = frozenset({DELTA, RELEVANT_FILES, "file", "files", "path", "paths"})
"""Names under which a text is a file's, whatever it looks like."""
_EFFORT = 250_000
"""Comparisons of a name with a rule for all texts of a request: some 3,000 names with 20 rules, or 100 in each of 50
folders. A clone can bring a plan."""


class Exclusion:
    """What the `.helixignore` files of a project exclude of texts: those that name such a file, or are such a command.

    Where the rules cannot be read, or comparing has taken as long as it may for one request, every text counts as
    excluded.
    """

    def __init__(self, roots: Iterable[str]) -> None:
        """`roots` are the project's folders; one that is no absolute path is another machine's, and not asked."""
        self._roots = roots

    def of(self, told: Mapping[str, object]) -> frozenset[str]:
        """Return the excluded ones of the texts in a table of JSON data, names among them, however deep they stand."""
        found = [(name.rpartition(".")[2], text) for name, text in texts(told)]
        if not found:
            return frozenset()
        try:
            return frozenset(chain.from_iterable(_excluded(found, names) for names in self._folders))
        except InvalidInputError:
            return frozenset(text for _, text in found)

    @cached_property
    def _folders(self) -> Sequence[IgnoredNames]:
        lookup = IgnoreLookup(_EFFORT)
        return [IgnoredNames(root, lookup) for root in dict.fromkeys(self._roots) if Path(root).is_absolute()]

    def without(self, told: Mapping[str, object]) -> dict[str, Any]:
        """Return a table of JSON data with empty texts in place of the excluded ones, and lists without them.

        A table below that goes as a whole: its other texts are about the same file.
        """
        hidden = self.of(told)
        return {name: _kept(value, hidden) for name, value in told.items()}


def exclusion_of(home: Path, scope: str) -> Exclusion:
    """Return what a project's tasks are kept without, by the folders on this machine that are known as its scope's.

    Of a project in a repository's folder the scope goes on with that folder's path, or with a name of its own.
    """
    parts = scope.split("/")
    known = (
        (top, parts[length:])
        for length in range(1, len(parts) + 1)
        for top in folders_of(home, "/".join(parts[:length]))
    )
    return Exclusion(chain.from_iterable((top, "/".join((top, *below))) for top, below in known if is_folder(top)))


def _excluded(told: Sequence[tuple[str, str]], names: IgnoredNames) -> Iterator[str]:
    root = names.root
    places = {(name, text): places_named(text, (text,) if name in _FILES else (), names) for name, text in told}
    hidden = names.ignored(chain.from_iterable(places.values()))
    for (name, text), named in places.items():
        is_command = name in _COMMANDS and names_ignored(CommandRun(command=text, folder=root, root=root), names)
        if is_command or not hidden.isdisjoint(named):
            yield text


def _kept(value: Any, hidden: frozenset[str]) -> Any:
    if isinstance(value, str):
        return "" if value in hidden else value
    if isinstance(value, Mapping):
        return {} if _is_about(value, hidden) else {name: _kept(one, hidden) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_kept(one, hidden) for one in value if not _is_about(one, hidden)]
    return value


def _is_about(value: Any, hidden: frozenset[str]) -> bool:
    """Return whether a text is excluded, or a name or text of a table."""
    said = [value] if isinstance(value, str) else [*value, *value.values()] if isinstance(value, Mapping) else ()
    return not hidden.isdisjoint(one for one in said if isinstance(one, str))
