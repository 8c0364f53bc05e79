"""Local stores: a project's own store, which lies in HELIX_HOME and not in the project.

`helix init --local` notes the project's folder in HELIX_HOME. So nothing in a folder is adopted as a store, and no
commit can put another in its place: git writes over what it ignores.
"""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path

from helix.confirmed import LOCAL_STORES, confirm, confirmed
from helix.files import is_file, is_folder, is_own_folder, link_in, private_folder, read_bytes, read_text, real_path
from helix.held_folder import held_folder

FOLDER = "stores"
"""In HELIX_HOME, where local stores lie."""
_INSIDE = Path(".helix") / "store"
"""Where they lay in a project before."""
_MOST_INDEX_BYTES = 256 << 20


def find(folder: Path, home: Path) -> tuple[Path | None, str]:
    """Find the local store of a folder, or of one above it; and why one that lies in a project is not used."""
    notes, why = confirmed(home, LOCAL_STORES), ""
    folder = real_path(folder)
    for above in (folder, *folder.parents):
        if name := notes.get(str(above), {}).get("store"):
            return home / FOLDER / Path(str(name)).name, why
        before = above / _INSIDE
        if not why and str(before) in notes and is_folder(before):
            why = f"{before} is not used any more: `helix init --local` in {above} moves it"
    return None, why


def trouble_with(store: Path, home: Path) -> str:
    """Return why a store that was named must not be used, or nothing; of one in a project's `.helix` alone.

    The plugin names the store that it was connected with, and a pull may since have put another in its place.
    """
    if store.parts[-2:] != _INSIDE.parts or store.parent == home or not is_folder(store) or not any(store.iterdir()):
        return ""
    return "it lies in a project, where git may put another in its place"


def make(project: Path, home: Path) -> Path:
    """Make the project's local store, and note that the project has one; one that lay in the project is moved.

    Raises ValueError with the reason where that one must not be used.
    """
    project = real_path(project)
    words = re.sub(r"[^a-z0-9]+", "-", project.name.lower()).strip("-")[:40] or "project"
    store = home / FOLDER / f"{words}-{hashlib.sha256(os.fsencode(project)).hexdigest()[:12]}"
    before = project / _INSIDE
    note = confirmed(home, LOCAL_STORES).get(str(before))
    if note is not None and is_folder(before) and not store.exists():
        if trouble := _trouble(before, note):
            raise ValueError(f"{before} cannot be used: {trouble}")
        private_folder(store.parent)
        _move(before, store)
    private_folder(store)
    confirm(home, LOCAL_STORES, str(project), store=store.name)
    return store


def _move(before: Path, store: Path) -> None:
    """Move a store that lay in a project; raises ValueError where another folder has its place by now."""
    checked = before.stat()
    try:
        with held_folder(before.parent) as folder:
            found = folder.stat(before.name)
            if found is None or not os.path.samestat(found, checked):
                raise ValueError(f"{before} cannot be used: another folder has its place by now")
            folder.move_out(before.name, store)
            if not os.path.samestat(store.lstat(), checked):
                store.rename(before)
                raise ValueError(f"{before} cannot be used: another folder has its place by now")
    except OSError as error:
        raise ValueError(f"{before} cannot be moved to {store}: {error.strerror}; move it by hand") from error


def is_tracked(path: Path) -> bool:
    """Return whether git tracks a store's file, or anything in its folder: then it is from whoever commits there."""
    path = path.absolute()
    return any(_tracks(top, path.relative_to(top)) for top in path.parents)  # a repository may lie in another


def _tracks(top: Path, path: Path) -> bool:
    dot = top / ".git"
    if is_file(dot):
        word, _, place = read_text(dot, errors="replace").strip().partition(": ")
        if word != "gitdir":
            return False
        dot = top / place
    # With `core.splitIndex` most of an index stands in files beside it, and those of worktrees in the common folder.
    return is_folder(dot) and any(
        _names(one, path) for one in (dot / "index", *dot.glob("sharedindex.*"), *dot.glob("../../sharedindex.*"))
    )


def _trouble(store: Path, note: object) -> str:
    """Return why a store in a project must not be moved, or nothing."""
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
