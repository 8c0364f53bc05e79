"""Folders: which folders were worked in as which project, kept in HELIX_HOME.

A repository is known by its remote, and that stands in a file of the folder: whoever packs an archive with a `.git` in
it can claim any. Such a folder looks like a new clone, which people make all the time, so it is shown and not refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

from helix.confirmed import OWN_FOLDERS, confirm, confirmed
from helix.files import kept_json, newest_json, private_folder, read_text, real_path, work_tree_of, write_private
from helix.identity import Identity, git_folders, place_from
from helix.scopes import scope_key

FILE = "folders.json"
_MOST_PROJECTS, _MOST_FOLDERS = 2_000, 50


def folders_of(home: Path, scope: str) -> Mapping[str, str]:
    """Return the folders of a project, and since when each was worked in, oldest first."""
    found = kept_json(home / FILE).get(scope_key(scope))
    return {folder: str(since) for folder, since in found.items()} if isinstance(found, dict) else {}


def folders_before(home: Path, project: Identity) -> tuple[str, ...]:
    """Return the folders worked in before this one whose memory a project sees; none where it was the first.

    They are of its own repository, and of repositories that its name says it lies in, as `github.com/ada/shop/x` says
    of `github.com/ada/shop`. A linked worktree counts as its repository's own folder.
    """
    top = _top(project)
    if top is None or _claim(project, top) in confirmed(home, OWN_FOLDERS):
        return ()
    own = tuple(folders_of(home, project.repository))
    return (*own[: own.index(str(top)) if str(top) in own else None], *_folders_above(home, project, top))


def names_before(home: Path, project: Identity, *, once: bool = False) -> tuple[str, ...]:
    """Return the scopes that a project's folder was worked in as before, newest first: its remote has changed since.

    With `once` none where the folder is noted under its present name already.
    """
    top, present = _top(project), {scope_key(project.scope), scope_key(project.repository)}
    if top is None or (once and str(top) in folders_of(home, project.repository)):
        return ()
    noted = reversed(tuple(kept_json(home / FILE).items()))
    return tuple(
        one for one, folders in noted if isinstance(folders, dict) and str(top) in folders and one not in present
    )


def note_folder(home: Path, project: Identity, *, keeps: bool = True) -> tuple[str, ...]:
    """Return what `folders_before` does, where this folder is not noted as its project's yet; note it if that `keeps`.

    A project in a repository's folder, and a scope that was chosen, are noted by their own folder too.
    """
    top = _top(project)
    if top is None:
        return ()
    known = {scope: folders_of(home, scope) for scope in (project.scope, project.repository)}
    places = {project.scope: str(project.root), project.repository: str(top)}
    new = {one: at for one, at in places.items() if at not in known[one] and len(known[one]) < _MOST_FOLDERS}
    if new and keeps:
        since = datetime.now(UTC).isoformat(timespec="seconds")
        everything = dict(list(kept_json(home / FILE).items())[-_MOST_PROJECTS:])
        everything.update({scope_key(one): {**known[one], place: since} for one, place in new.items()})
        private_folder(home)
        write_private(home / FILE, newest_json(everything))
    if str(top) in known[project.repository] or _claim(project, top) in confirmed(home, OWN_FOLDERS):
        return ()
    return (*known[project.repository], *_folders_above(home, project, top))


def call_own(home: Path, project: Identity) -> None:
    """Have it that the user cloned a project's folder, so that nothing is told of it any more."""
    if (top := _top(project)) is not None:
        confirm(home, OWN_FOLDERS, _claim(project, top))


def _claim(project: Identity, top: Path) -> str:
    return f"{scope_key(project.repository)} {top}"


def let_go_of_folder(home: Path, project: Identity) -> None:
    """Note no longer that a folder was worked in as its repository's: it has another name now."""
    top, everything = _top(project), dict(kept_json(home / FILE))
    key = scope_key(project.repository)
    if top is not None and str(top) in (known := folders_of(home, project.repository)):
        everything[key] = {folder: since for folder, since in known.items() if folder != str(top)}
        write_private(home / FILE, newest_json(everything))


def _folders_above(home: Path, project: Identity, top: Path) -> Iterator[str]:
    """Yield the folders of repositories that a project's name says its own lies in, but for its own."""
    above = project.repository.split("/")[:-1]
    for length in range(len(above), 0, -1):
        yield from (folder for folder in folders_of(home, "/".join(above[:length])) if folder != str(top))


def _top(project: Identity) -> Path | None:
    """Return the top of the work tree that a project lies in, of a linked one that of its repository; None without."""
    if not project.repository:
        return None
    top = work_tree_of(project.root)
    return None if top is None else _linked_to(real_path(top)) or real_path(top)


def _linked_to(root: Path) -> Path | None:
    """Return the folder of the repository that a linked worktree is of; None where its own list does not name it.

    An archive can bring a worktree along with its repository, and cannot write into one that is here.
    """
    try:
        own, common = map(real_path, git_folders(root))
        back = read_text(own / "gitdir").strip()
    except (OSError, ValueError):
        return None
    if own.parent != common / "worktrees" or place_from(own, back) != root / ".git":
        return None
    return common.parent if common.name == ".git" else common
