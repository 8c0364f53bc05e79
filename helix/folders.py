"""Folders: which folders were worked in as which project, kept in HELIX_HOME.

A repository is known by its remote, and that stands in a file of the folder: whoever packs an archive with a `.git` in
it can claim any. Such a folder looks like a new clone, which people make all the time, so it is shown and not refused.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from helix.files import private_folder, read_text, write_private
from helix.identity import Identity
from helix.scopes import scope_key

FILE = "folders.json"
_MOST_PROJECTS, _MOST_FOLDERS = 2_000, 50


def folders_of(home: Path, scope: str) -> Mapping[str, str]:
    """Return the folders that were worked in as this project, and since when, oldest first."""
    found = _all(home).get(scope_key(scope))
    return {folder: str(since) for folder, since in found.items()} if isinstance(found, dict) else {}


def folders_before(home: Path, project: Identity) -> tuple[str, ...]:
    """Return the folders that were worked in as this project before this one was; none where it was the first.

    A linked worktree that its repository knows is no other folder: no archive can write into that repository.
    """
    top = _top(project)
    if top is None or _is_linked(top):
        return ()
    known = tuple(folders_of(home, project.repository))
    return known[: known.index(str(top))] if str(top) in known else known


def note_folder(home: Path, project: Identity) -> tuple[str, ...]:
    """Keep that a folder is worked in as a project; return those before it, where this one was not noted yet."""
    top, known = _top(project), folders_of(home, project.repository)
    if top is None or _is_linked(top) or str(top) in known or len(known) >= _MOST_FOLDERS:
        return ()
    everything = dict(list(_all(home).items())[-_MOST_PROJECTS:])
    since = datetime.now(UTC).isoformat(timespec="seconds")
    everything[scope_key(project.repository)] = {**known, str(top): since}
    private_folder(home)
    write_private(home / FILE, json.dumps(everything, indent=2) + "\n")
    return tuple(known)


def _top(project: Identity) -> Path | None:
    """Return the top of the work tree that a project lies in; None where there is no repository."""
    if not project.repository:
        return None
    return next((one.resolve() for one in (project.root, *project.root.parents) if (one / ".git").exists()), None)


def _is_linked(root: Path) -> bool:
    """Return whether the repository that a worktree names has it in its own list."""
    try:
        word, _, place = read_text(root / ".git").strip().partition(": ")
        back = read_text(root / place / "gitdir").strip()
    except (OSError, ValueError):
        return False
    return word == "gitdir" and (root / place / back).resolve() == (root / ".git").resolve()


def _all(home: Path) -> Mapping[str, object]:
    try:
        found = json.loads(read_text(home / FILE))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
