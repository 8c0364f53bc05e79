"""Local stores: `.helix/store` in a project counts only where this user made it on this machine.

A clone can bring one along, with memories, links and a token in it, and so can a folder above that others write to. So
`helix init --local` notes what it made in HELIX_HOME, by path and inode, and nothing else is adopted.
"""

from __future__ import annotations

import os
from pathlib import Path

from helix.confirmed import LOCAL_STORES, confirm, confirmed
from helix.files import is_own_folder, link_in, private_folder, read_bytes, read_text

_INSIDE = Path(".helix") / "store"
_MOST_INDEX_BYTES = 256 << 20


def find(folder: Path, home: Path) -> tuple[Path | None, str]:
    """Find the local store of a folder, or of one above it; and why the first one that was met is not used.

    What the user did not make here is passed by.
    """
    notes = confirmed(home, LOCAL_STORES)
    why = ""
    for above in (folder, *folder.parents):
        store = above / _INSIDE
        if not store.is_dir() or store.parent == home:
            continue
        if str(store.resolve()) not in notes:
            trouble = "you did not make it on this machine"
        else:
            trouble = _trouble(store, notes[str(store.resolve())])
        if not trouble:
            return store, why
        why = why or f"{store} is not used: {trouble}"
    return None, why


def trouble_with(store: Path, home: Path) -> str:
    """Return why a local store that was named must not be used, or nothing; of one in a `.helix` alone.

    The plugin names the store that it was connected with, and a pull may since have put another in its place.
    """
    if store.parts[-2:] != _INSIDE.parts or store.parent == home or not store.is_dir() or not any(store.iterdir()):
        return ""
    note = confirmed(home, LOCAL_STORES).get(str(store.resolve()))
    return "you did not make it on this machine" if note is None else _trouble(store, note)


def make(project: Path, home: Path) -> Path:
    """Make the project's local store, or take over the one that is there, and note that it is this user's.

    Raises ValueError with the reason where it must not be used.
    """
    store = project / _INSIDE
    if not store.parent.is_symlink() and not store.is_symlink():
        private_folder(store)
    if trouble := _trouble(store, None):
        raise ValueError(f"{store} cannot be used: {trouble}")
    found = store.stat()
    confirm(home, LOCAL_STORES, str(store.resolve()), device=found.st_dev, inode=found.st_ino)
    return store


def is_foreign(project: Path, home: Path) -> bool:
    """Return whether the project's local store has something in it that this user did not make here."""
    store = project / _INSIDE
    return store.is_dir() and any(store.iterdir()) and str(store.resolve()) not in confirmed(home, LOCAL_STORES)


def is_tracked(path: Path) -> bool:
    """Return whether git tracks a store's file, or anything in its folder: then it is from whoever commits there."""
    path = path.absolute()
    return any(_tracks(top, path.relative_to(top)) for top in path.parents)  # a repository may lie in another


def _tracks(top: Path, path: Path) -> bool:
    dot = top / ".git"
    if dot.is_file():
        word, _, place = read_text(dot, errors="replace").strip().partition(": ")
        if word != "gitdir":
            return False
        dot = top / place
    # With `core.splitIndex` most of an index stands in files beside it, and those of worktrees in the common folder.
    return dot.is_dir() and any(
        _names(one, path) for one in (dot / "index", *dot.glob("sharedindex.*"), *dot.glob("../../sharedindex.*"))
    )


def _trouble(store: Path, note: object) -> str:
    """Return why a local store must not be used, or nothing."""
    if not (is_own_folder(store.parent) and is_own_folder(store)):
        return "it is a link, or another user's"
    found = store.stat()
    if isinstance(note, dict) and (note.get("device"), note.get("inode")) != (found.st_dev, found.st_ino):
        return "it is another folder than the one you made there"
    if (link := link_in(store)) is not None:
        return f"{link.name} in it is a link"
    return "git tracks files in it" if is_tracked(store) else ""


def _names(index: Path, path: Path) -> bool:
    """Return whether an index names a path or what is below it; git's fourth format leaves out what repeats."""
    try:
        entries = read_bytes(index, _MOST_INDEX_BYTES)
    except FileNotFoundError:
        return False
    except OSError:  # too long, or no file: nothing says that it is not tracked
        return True
    if entries[4:8] != b"\0\0\0\4":
        return os.fsencode(path.as_posix()) in entries
    return all(os.fsencode(part) in entries for part in path.parts[-2:])
