"""Ignored: whether a command, or the line that tells of its error, names a file that a `.helixignore` keeps out.

What counts as a name is asked of the rules and of the folder: whatever a rule says or is there, and what has a `/` or
a `.`, which a rule with a wildcard may match.

Of 2,795 commit messages and issues of other projects, with eight usual rules, 1 is taken to name an excluded file, and
does (`.env:`); so it was before names without a `.` or `/` counted.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain, islice
from posixpath import isabs, join, normpath

from helix.command_outcome.command_run import CommandRun
from helix.files import is_folder
from helix.helixignore import IgnoreLookup, real_place
from helix.model.entity import EntityKind
from helix.text.command_line.command_forms import invocation
from helix.text.command_line.command_words import SHELLS
from helix.text.command_line.parser import MOST_PARTS, Command, simple_commands
from helix.text.error_lines import signature_of
from helix.text.spotting.entities import LONGEST_TEXT, mentions

_MOST = 400
"""Names of a command, of what is told of it, and of a text that are looked at."""
_LONGEST = 500
"""Characters of a name that is looked at: work on a path takes its square in time."""
_MOST_FOLDERS, _MOST_GIVEN, _MOST_THERE = 25, 3, 5_000
"""Folders that are looked into, those of them that one command is given, and names in each."""
_PIECE = re.compile("[^\\s'\"`=<>|;&(){},:@$#\u00ab\u00bb\u2010-\u203a\u2190-\u21ff\u3001-\u3011\uff08-\uff1f]+")
_MARKS = "*_~[]!?^+-"
"""What stands around a name in Markdown, at the end of a sentence and before a line of a list or a patch."""
_GLUED = re.compile(r"\A-\w(?=.)")
_GIVEN = re.compile(r"[<>=]\s*['\"]?([^\s'\"<>|;&()]+)")
"""What a redirection or an assignment is given."""
_INSIDE = "-"
"""What stands for whatever lies in a folder: a rule may exclude all of that and not the folder."""


class _NamingText:
    """A text, or the first characters of a long one, with the pieces of it that may be names."""

    def __init__(self, text: str) -> None:
        self.text = text[:LONGEST_TEXT]
        self.pieces = tuple(dict.fromkeys(_pieces(self.text)))
        self.flat = " ".join(self.text.replace("\\ ", " ").split())


class _FolderNames:
    """The names that mean a file of one folder whatever they look like: those that rules say, those that are there.

    `there` tells of each whether it is a folder, or leads elsewhere.
    """

    def __init__(self, folder: str, said: frozenset[str], there: Mapping[str, bool]) -> None:
        self.there = there
        self._folder, self._said = folder, said
        self._spaced = [name for name in (*said, *there) if len(name.split()) > 1]

    def in_word(self, word: str) -> Iterator[str]:
        """Yield what may name a file in a word of a command line: all of it, or what stands in an option."""
        names = () if "://" in word else (word, _GLUED.sub("", word))
        for name in chain(names, () if _is_text(word) else _pieces(word)):
            if "/" in name or "." in name or name in self._said or name in self.there:
                yield join(self._folder, name)

    def in_text(self, told: _NamingText) -> Iterator[str]:
        """Yield what may name a file in a text, where a folder is named with a slash.

        A plain word is one only where such a file is there, or in backticks: `build` is said of other things.
        """
        for name in chain(self._with_spaces(told), told.pieces):
            if "/" in name or "." in name or self._is_file(name, told):
                yield join(self._folder, f"{name}{_INSIDE}" if name.endswith("/") else name)

    def _is_file(self, name: str, told: _NamingText) -> bool:
        if name in self.there:
            return not self.there[name]
        is_plain = "".join(name.split()).isalpha()
        return name in self._said and (not is_plain or f"`{name}`" in told.text)

    def _with_spaces(self, told: _NamingText) -> Iterator[str]:
        for name in self._spaced:
            if name in told.flat:
                yield from (match[0] for match in re.finditer(rf"(?<!\w){re.escape(name)}(?!\w)/?", told.flat))


class IgnoredNames:
    """Asks which words of one request mean a file of a project that a `.helixignore` excludes.

    Each folder is looked into once, and not many are. Raises as `helixignore.without_ignored` does.
    """

    def __init__(self, root: str, lookup: IgnoreLookup | None = None) -> None:
        self.root = root
        self._lookup = lookup or IgnoreLookup()
        self._known: dict[str, _FolderNames] = {}

    def ignored(self, places: Iterable[str]) -> frozenset[str]:
        """Return the places that are excluded."""
        return self._lookup.ignored(places, self.root)

    def names(self, folder: str = "") -> _FolderNames:
        """Return the names that mean a file where a command is run in a folder, or a text is about it."""
        folder = folder or self.root
        if folder in self._known:
            return self._known[folder]
        if len(self._known) >= _MOST_FOLDERS:
            return _FolderNames(folder, frozenset(), {})
        said = self._lookup.names_said(folder, self.root)
        self._known[folder] = _FolderNames(folder, said, dict(_entries(join(self.root, folder))))
        return self._known[folder]


def names_ignored(run: CommandRun, names: IgnoredNames | None = None) -> bool:
    """Return whether a command or its error names a file of `.helixignore`, seen from the top of its project.

    A file is named by a word of it, by what stands in an option, an assignment, a redirection or quoted code, or from
    the folder that the line changes to. A folder is named by a word, too, or by being run in. `names` are those of
    the request, where it asks more. Raises as `helixignore.without_ignored` does.
    """
    project = names or IgnoredNames(run.root)
    parts = tuple(_commands(run))
    folders = _unique((run.folder, *(join(run.folder, part.folder) for part in parts)), run.root)
    words = _unique(_words(run, parts, project), run.root)
    told = _unique(_told(run, folders[:_MOST_FOLDERS], project), run.root)
    within = {join(place, _INSIDE): place for place in chain(folders, words) if not _is_top(place, run.root)}
    run_in = {join(place, _INSIDE) for place in folders}
    hidden = project.ignored((*words, *told, *within))
    return any(place not in within or place in run_in or is_folder(real_place(within[place])) for place in hidden)


def places_named(words: str, files: Iterable[str], names: IgnoredNames) -> tuple[str, ...]:
    """Return where the files lie that words are about, and those that they name, which a `.helixignore` may exclude.

    Raises as `helixignore.without_ignored` does.
    """
    named = (join(names.root, name) for name in chain(files, _spotted(words)))
    return _unique(chain(named, names.names().in_text(_NamingText(words))), names.root)


def tells_of_ignored(words: str, root: str) -> bool:
    """Return whether words are about a file of `.helixignore`; raises as `helixignore.without_ignored` does."""
    names = IgnoredNames(root)
    return bool(names.ignored(places_named(words, (), names)))


def _entries(folder: str) -> Iterator[tuple[str, bool]]:
    if not isabs(folder):
        return
    try:
        with os.scandir(folder) as entries:
            for entry in islice(entries, _MOST_THERE):
                yield entry.name, entry.is_symlink() or entry.is_dir(follow_symlinks=False)
    except (OSError, ValueError):  # nothing that can be looked into
        return


def _unique(places: Iterable[str], root: str) -> tuple[str, ...]:
    """Return the first _MOST of some places, each once, without those that are too long to be looked at."""
    seen = dict[str, None]()
    for place in places:
        if len(place) <= len(root) + _LONGEST:
            seen[place] = None
        if len(seen) == _MOST:
            break
    return tuple(seen)


def _is_top(place: str, root: str) -> bool:
    return normpath(join(root, place)) == normpath(root)


def _commands(run: CommandRun) -> Iterator[Command]:
    """Yield the commands of a line, and those of code that it gives to a shell."""
    for part in run.commands:
        yield part
        if SHELLS.intersection(part.words) or "eval" in part.words:
            inner = chain.from_iterable(map(simple_commands, filter(_is_text, part.words)))
            yield from (replace(one, folder=join(part.folder, one.folder)) for one in islice(inner, MOST_PARTS))


def _is_text(word: str) -> bool:
    return any(map(str.isspace, word))


def _words(run: CommandRun, parts: Iterable[Command], project: IgnoredNames) -> Iterator[str]:
    """Yield the places that the words of a line's commands may mean; `npm run build` and `docker` name none there.

    They are looked for in the folder that a command is run in, and in those that it is given: `make -C web`.
    """
    given_to_line = _GIVEN.findall(run.command)
    for part in parts:
        said = invocation(part.words)
        done = {*part.words[:1], *(() if said is None else (said.tool, *said.action))}
        here = join(run.folder, part.folder)
        there = project.names(here).there
        words = [word for word in part.words if word not in done and not _is_text(word)]
        pieces = (piece for word in words for piece in _PIECE.findall(word) if there.get(piece))
        given = [join(here, piece) for piece in islice(pieces, _MOST_GIVEN)]
        for folder in dict.fromkeys((here, run.folder, *given)):
            plain = {join(folder, word) for word in done if "/" not in word and "." not in word}
            for word in part.words:
                yield from (place for place in project.names(folder).in_word(word) if place not in plain)
        for value in given_to_line:
            yield from project.names(here).in_word(value)


def _told(run: CommandRun, folders: Iterable[str], project: IgnoredNames) -> Iterator[str]:
    """Yield the places that a line may mean, taken as a text, and those that its error names."""
    yield from project.names().in_text(_NamingText(run.normal))
    if run.passed is not True:
        for line in _error_lines(run):
            yield from (join(run.folder, name) for name in _spotted(line))
            yield from project.names(run.folder).in_text(_NamingText(line))
    command = _NamingText(run.command)
    for folder in folders:
        yield from project.names(folder).in_text(command)


def _error_lines(run: CommandRun) -> Iterator[str]:
    """Yield the line that tells of an error, also as it was printed: folders are left out of it later."""
    yield run.error
    yield from (
        line for line in run.output.splitlines() if "/" in line and signature_of(line, failed=True) == run.error
    )


def _spotted(text: str) -> Iterator[str]:
    return (mention.name for mention in mentions(text) if mention.kind is EntityKind.FILE)


def _pieces(text: str) -> Iterator[str]:
    """Yield the pieces of a text that may be names, also without what stands around them; `console.log(` is none."""
    for match in _PIECE.finditer(text):
        piece = match[0].replace("\\", "/")
        if "/" not in piece and piece[-1].isalnum() and text.startswith("(", match.end()):
            continue
        yield piece
        if bare := piece.lstrip(_MARKS).rstrip(f"{_MARKS}."):
            yield bare
