"""Ignored: whether a command, or the line that tells of its error, names a file that a `.helixignore` keeps out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain, islice
from posixpath import join, normpath

from helix.command_outcome.command_run import CommandRun
from helix.helixignore import IgnoreLookup, real_place
from helix.model.entity import EntityKind
from helix.text.command_line.command_forms import invocation, is_path
from helix.text.command_line.command_words import SHELLS
from helix.text.command_line.parser import MOST_PARTS, Command, simple_commands
from helix.text.error_lines import signature_of
from helix.text.spotting.entities import mentions

_MOST = 400
"""Names of a command and its error that are looked at."""
_LONGEST = 500
"""Characters of a name that is looked at: work on a path takes its square in time."""
_PIECE = re.compile(r"[^\s'\"`=<>|;&(){},:@$]+")
_REDIRECTED = re.compile(r"[<>]\s*([^\s'\"<>|;&()]+)")
_INSIDE = "-"
"""What stands for whatever lies in a folder: a rule may exclude all of that and not the folder."""


def names_ignored(run: CommandRun, lookup: IgnoreLookup | None = None) -> bool:
    """Return whether a command or its error names a file of `.helixignore`, seen from the top of its project.

    A file is named by a word of it, by what stands in an option, an assignment, a redirection or quoted code, or from
    the folder that the line changes to. A folder is named by a word, too, or by being run in. `lookup` is that of the
    request, where it asks more. Raises as `helixignore.without_ignored` does.
    """
    folders = (join(place, _INSIDE) for place in islice(_folders(run), _MOST))
    places = chain(islice(_short(_places(run), run.root), _MOST), _short(folders, run.root))
    return bool((lookup or IgnoreLookup()).ignored(places, run.root))


def places_named(words: str, files: Iterable[str], root: str) -> tuple[str, ...]:
    """Return where the files lie that words are about, and those that they name, which a `.helixignore` may exclude."""
    named = (mention.name for mention in mentions(words) if mention.kind is EntityKind.FILE)
    return tuple(_short((join(root, name) for name in islice(chain(files, named, _paths(words)), _MOST)), root))


def tells_of_ignored(words: str, root: str) -> bool:
    """Return whether words are about a file of `.helixignore`; raises as `helixignore.without_ignored` does."""
    return bool(IgnoreLookup().ignored(places_named(words, (), root), root))


def _short(places: Iterator[str], root: str) -> Iterator[str]:
    return (place for place in places if len(place) <= len(root) + _LONGEST)


def _folders(run: CommandRun) -> Iterator[str]:
    """Yield the folders that a command is run in or names, but the project's top; `npm run build` names none."""
    found = chain.from_iterable(_named_folders(part, run.folder) for part in _commands(run))
    return (place for place in (run.folder, *found) if normpath(join(run.root, place)) != normpath(run.root))


def _named_folders(part: Command, folder: str) -> Iterator[str]:
    here = join(folder, part.folder)
    yield here
    said = invocation(part.words)
    words = [word for word in part.words if said is None or word not in said.action]
    pieces = islice((piece for word in words for piece in _PIECE.findall(word) if len(piece) <= _LONGEST), _MOST)
    yield from (place for piece in pieces if real_place(place := join(here, piece)).is_dir())


def _commands(run: CommandRun) -> Iterator[Command]:
    """Yield the commands of a line, and those of code that it gives to a shell."""
    for part in run.commands:
        yield part
        if SHELLS.intersection(part.words) or "eval" in part.words:
            inner = chain.from_iterable(map(simple_commands, filter(_is_code, part.words)))
            yield from (replace(one, folder=join(part.folder, one.folder)) for one in islice(inner, MOST_PARTS))


def _is_code(word: str) -> bool:
    return any(map(str.isspace, word))


def _places(run: CommandRun) -> Iterator[str]:
    """Yield the paths that a command and its error may mean, those named most plainly first."""
    folders = {"": None}
    for part in _commands(run):
        folders[part.folder] = None
        for name in (name for word in part.words for name in _names(word)):
            yield join(run.folder, name)
            yield join(run.folder, part.folder, name)
    yield from (join(run.root, name) for name in _paths(run.normal))
    redirected = _REDIRECTED.findall(run.command)
    yield from (join(run.folder, name) for name in redirected)
    if run.passed is not True:
        yield from (join(run.folder, name) for name in _in_error(run))
    yield from (join(run.folder, name) for name in _paths(run.command))
    yield from (join(run.folder, folder, name) for name in redirected for folder in folders)


def _in_error(run: CommandRun) -> Iterator[str]:
    """Yield the files of the line that tells of an error, also as it was printed: folders are left out of it later."""
    yield from (mention.name for mention in mentions(run.error) if mention.kind is EntityKind.FILE)
    for line in run.output.splitlines():
        if "/" in line and signature_of(line, failed=True) == run.error:
            yield from _paths(line)


def _names(word: str) -> Iterator[str]:
    """Yield what may name a file in a word; in one of several words, such as code, only what has a folder."""
    if _is_code(word):
        yield from _paths(word)
    else:
        pieces = (word, *_PIECE.findall(word))
        yield from (piece for piece in pieces if "://" not in piece and ("." in piece or is_path(piece)))


def _paths(text: str) -> Iterator[str]:
    return (piece for piece in _PIECE.findall(text) if "/" in piece)
