"""Loaded: the notes that a client reads by itself when a session begins, which need not be told again."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path, PurePosixPath

from helix.agents.context.notes import FittingNote
from helix.agents.context.relevant import Sources
from helix.confirmed import vouched
from helix.files import digest_of, read_bytes, read_text, real_path
from helix.model.memory import Memory
from helix.model.provenance import NOTES, Trust
from helix.model.recall import RecallAnswer, RecallQuery

LOADED_BY = {
    "claude-code": ("CLAUDE.md", ".claude/CLAUDE.md", "CLAUDE.local.md"),
    "codex": ("AGENTS.override.md", "AGENTS.md"),
    "gemini": ("GEMINI.md",),
    "opencode": ("AGENTS.md",),
}
"""Files that a client reads in the folder it works in and in those above it, up to the top of its project."""
_READS_ABOVE = frozenset({"claude-code"})
"""Clients that read them above the top of a project, too."""
_ONE_OF_A_FOLDER = frozenset({"codex"})
"""Clients that read the first of their files in a folder alone, and so much of them in all."""
_MOST_OF_ONE = 32 << 10
"""Bytes of its files that Codex reads in all; what stands behind them it leaves out without a word."""
_UNREAD_BY = frozenset({"explore", "plan"})
"""Agents of a client that begin without those files."""
_CHOSEN_BY = {
    "claude-code": ((".claude/settings.json", ".claude/settings.local.json"), ("claudemd", "claude_md")),
    "codex": ((".codex/config.toml",), ("project_doc_", "project_root_")),
    "gemini": ((".gemini/settings.json",), ("filename", "memoryboundary")),
}
"""Settings of a client by which a repository says which of its files are read, and the words that such a one holds."""
_ESCAPED = "\\u"

IsLoaded = Callable[[Memory], bool]


def nothing_loaded(memory: Memory) -> bool:
    """Tell an agent's context that no memory is in a notes file that the client has loaded."""
    return False


def loaded_by(home: Path, client: str, folder: str, root: Path, agent: str = "") -> IsLoaded:
    """Return what tells an agent's context whether a memory is from a notes file that the client loads by `folder`.

    `agent` is the kind of a sub-agent: some begin without those files. Notes of files above `root` are known by their
    whole path. What the user stands for is told also when a commit has changed anything of that file since, as a
    comment or a heading may turn it round. Nothing counts as loaded where settings choose which files are read.
    """
    names = LOADED_BY.get(client, ())
    if not names or agent.strip().lower() in _UNREAD_BY:
        return nothing_loaded
    here = Path(folder) if folder else root
    below = here.relative_to(root).parts if here.is_relative_to(root) else ()
    inside = [PurePosixPath(*below[:depth]) for depth in range(len(below) + 1)]
    if _is_chosen(client, (*(root / place for place in inside), *root.parents)):
        return nothing_loaded
    places = {(place / name).as_posix() for place in inside for name in names}
    if client in _ONE_OF_A_FOLDER and sum(_size(root / place) for place in places) > _MOST_OF_ONE:
        return nothing_loaded
    whole = (root, *root.parents) if client in _READS_ABOVE else [root / place for place in inside]
    places |= {(place / name).as_posix() for place in whole for name in names}

    @cache
    def vouched_lines(place: str) -> frozenset[str]:
        with suppress(OSError, ValueError):
            file = real_path(root / place)
            data = read_bytes(file, links=False)
            if vouched(home).get(str(file)) == digest_of(data):
                return frozenset(map(_plain, data.decode("utf-8", "replace").splitlines()))
        return frozenset()

    def is_passed_over(place: str) -> bool:
        file = root / place
        before = names[: names.index(file.name)] if client in _ONE_OF_A_FOLDER else ()
        return any(os.path.lexists(file.with_name(name)) for name in before)

    def is_loaded(memory: Memory) -> bool:
        place = _place_of(memory.source, memory.scope)
        if memory.provenance.extractor != NOTES or place not in places or is_passed_over(place):
            return False
        said = (memory.resolution or memory.trigger).splitlines()
        return memory.provenance.trust is not Trust.USER_ASSERTED or vouched_lines(place).issuperset(map(_plain, said))

    return is_loaded


def unloaded(sources: Sources, is_loaded: IsLoaded) -> Sources:
    """Return the sources of an agent's context without the notes that its client has loaded."""

    def recall(query: RecallQuery) -> RecallAnswer:
        found = sources.recall(query)
        kept = (item for item in found.items if not (isinstance(item.node, Memory) and is_loaded(item.node)))
        return replace(found, items=tuple(kept))

    def written(question: str, scope: str | None) -> tuple[FittingNote, ...] | None:
        found = sources.written(question, scope)
        return found if found is None else tuple(note for note in found if not is_loaded(note.memory))

    return replace(sources, recall=recall, written=written)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _is_chosen(client: str, folders: Iterable[Path]) -> bool:
    files, words = _CHOSEN_BY.get(client, ((), ()))
    for file in (folder / name for folder in folders for name in files):
        try:
            said = read_text(file, errors="replace").lower()
        except (FileNotFoundError, NotADirectoryError):
            continue
        except (OSError, ValueError):  # what cannot be read may say anything
            return True
        if any(word in said for word in (*words, _ESCAPED)):
            return True
    return False


def _plain(line: str) -> str:
    return " ".join(line.strip(" \t#*->+").split())


def _place_of(source: str, scope: str) -> str:
    told = source.partition("#")[0].removeprefix(f"{NOTES}:")
    return told.removeprefix(f"{scope}:")
