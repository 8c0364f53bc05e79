"""Identity: which project a folder belongs to, read from its repository or its `.helix` folder; the scope of that.

Standard library alone and no process: hooks and the command line ask it at every call.

A grammar of git's configuration, remotes and the files of a `.git` folder.
"""

from __future__ import annotations

import hashlib
import logging
import os
import re
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

from helix import files
from helix.errors import InvalidInputError
from helix.remote_scope import fit, scope_digest, scope_of_remote, told_apart
from helix.scopes import EVERYWHERE, folder_name, is_called, is_this_machine, same_scope, scope_key

log = logging.getLogger(__name__)

PROJECT_FILE = ".helix/project.toml"
TOGETHER, APART = "together", "apart"
NO_PROJECT = "global"
"""The scope of what belongs to no project, or to all of them."""

_TAKEN = (NO_PROJECT, EVERYWHERE)
_MOST_BYTES = 1 << 20
_SAFE = re.compile(r"^\s*directory\s*=\s*\"?(?P<place>[^\"\n]+)", re.MULTILINE)
"""Lines of git's own configuration that name folders of others which the user trusts (`safe.directory`)."""
_MOST_BYTES_OF_WISHES, _MOST_PROJECTS = 4 << 10, 200  # a dotted key takes the TOML reader the square of its length
LONGEST_PATH = 4_096
"""Characters of a path, as systems have them; looking upwards from a longer one takes its square in time and memory."""
DEEPEST = 100
"""Folders that a project may lie below: a session's project is looked for from each of them, upwards."""
_MOST_NOTED = 20
LONGEST_SCOPE = 300
"""Characters of a project's scope, of which whatever lies below another is cut."""
LONGEST_NAME = 200
"""Characters of a name that a project is given; what is longer is cut."""
_REMOTE = re.compile(r'\s*\[\s*remote\s+"(?P<name>(?:[^"\\]|\\.)*)"\s*\]', re.IGNORECASE)
_CLONED = re.compile(r"\tclone: from (\S+)$", re.MULTILINE)
_FETCHED = re.compile(r" of (\S+)$", re.MULTILINE)
_SECTION = re.compile(r"\s*\[")
_WORK_TREE = re.compile(r"^[ \t]*worktree[ \t]*=(?P<place>[^\n]+)", re.MULTILINE | re.IGNORECASE)
"""Where a submodule's git folder says that its work tree is; the last one counts, as for git."""
_URL = re.compile(r"\s*url\s*=(?P<url>.*)", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """A project: the scope that its memories are kept under, and the folder that is its top.

    `repository` is the scope of the whole repository, of which a sub-project or a worktree that stands apart has a
    scope below it, divided by a slash; what lies below sees what lies above. Empty where there is no repository.
    `asked` is the name that a file of the folder asks for and the user has not confirmed, `instead_of` another scope.
    `unread` says that such a file is there and cannot be read, so that it says nothing.
    """

    scope: str
    root: Path
    repository: str = ""
    asked: str = ""
    instead_of: str = ""
    unread: bool = False


def identify(
    folder: Path,
    *,
    worktrees: str = TOGETHER,
    home: Path | None = None,
    names: Path | None = None,
    passing_over: bool = False,
) -> Identity | None:
    """Return the project that a folder lies in; None where neither a repository nor a `.helix/project.toml` tells.

    A repository is known by its remote (`origin`, else the first by name), whatever way it is reached, so that clones
    are one project; without a remote by its common git directory, so that worktrees are. `worktrees` may keep linked
    worktrees `apart`. The nearest `.helix/project.toml` may give a `name` to use instead of all that, once the user has
    confirmed it (`names`: the HELIX_HOME that knows), and `projects`, globs of folders below it that are projects of
    their own. `home` is where looking upwards ends.
    Raises InvalidInputError for such a file that cannot be read, unless `passing_over` it, and for a path without end.
    """
    if len(str(folder)) > LONGEST_PATH:
        words = f"a folder's path has more than {LONGEST_PATH:,} characters"
        raise InvalidInputError(words, hint="no system has such a folder")
    folder = folder.absolute()
    if len(folder.parts) > DEEPEST:
        raise InvalidInputError(f"a folder lies below more than {DEEPEST} others", hint="move it further up")
    if place_from(folder, "") is None:
        return None  # the system may follow links here that walk through many thousand names, at each question anew
    top, git = _work_tree(folder)
    marked = _marked(_upwards(folder, top or home))
    wishes, unread = _wished(marked, passing_over)
    if top is not None and git is not None:
        of_top = wishes if marked == top else _wished(_marked([top]), passing_over)[0]
        base = _of_repository(top, git, of_top.name, worktrees, names)
    elif marked is not None:
        base = called(Identity(scope=_own_name(marked), root=marked), wishes.name, names)
    else:
        return None
    base = replace(base, unread=unread)
    if marked is None:
        return base
    if marked != base.root:
        base = _named_below(base, marked, wishes.name, names)
    inner = _sub_project(marked, folder, wishes.projects)
    return base if inner is None else _below(base, inner)


def _marked(folders: Iterable[Path]) -> Path | None:
    """Return the first of some folders that has a file of wishes; None where there is none, or it is another user's."""
    found = next((one for one in folders if files.is_file(one / PROJECT_FILE)), None)
    return found if found is not None and _are_ours(found / PROJECT_FILE, found / ".helix") else None


def project_root(folder: Path) -> Path:
    """Return the top of the project a folder lies in; the folder itself where it lies in none."""
    project = identify(folder)
    return folder.absolute() if project is None else project.root


def called(project: Identity, name: str, names: Path | None) -> Identity:
    """Return a project's identity under the name that the user has given its folder, else the one that a file asks for.

    That one counts once the user has confirmed it. It is told to the user in a command to run: it has no sign that
    means something to a shell.
    """
    if ruled := folder_name(project.root, names):
        return replace(project, scope=ruled, repository=ruled if project.repository else "")
    name = fit(name)[:LONGEST_NAME]
    if not name or is_taken(name) or same_scope(project.scope, name):
        return project
    if not is_called(project.scope, name, names):
        return replace(project, asked=name, instead_of=project.scope)
    return replace(project, scope=name, repository=name if project.repository else "")


def folder_identity(folder: Path) -> Identity:
    """Return the identity of a folder that `identify` finds no project in: the folder by itself is one.

    The home folder, what lies above it and the folders for temporary files are none, but NO_PROJECT: what is done there
    is about no one thing, and nobody would look for it there again.
    """
    if len(str(folder)) > LONGEST_PATH:
        return Identity(scope=NO_PROJECT, root=Path(folder.anchor))
    root = folder.absolute()
    real = place_from(root, "")
    if real is None:  # half a surrogate pair, a NUL byte or links that lead round: no folder
        return Identity(scope=NO_PROJECT, root=Path(folder.anchor))
    return Identity(scope=NO_PROJECT if real == real.parent or real in _nobodys() else _own_name(root), root=root)


def project_at(
    folder: Path,
    *,
    worktrees: str = TOGETHER,
    chosen: str = "",
    names: Path | None = None,
    passing_over: bool = False,
) -> Identity:
    """Return the project's identity for work in a folder; hooks, histories and the command line go by this one rule.

    It is what `identify` finds, else the folder by itself; `chosen`, the setting `scope`, takes the place of its scope.
    Raises InvalidInputError for a `.helix/project.toml` that cannot be read, but where `passing_over` it.
    """
    told = identify(folder, worktrees=worktrees, home=Path.home(), names=names, passing_over=passing_over)
    found = told or called(folder_identity(folder), "", names)
    return replace(found, scope=chosen) if chosen else found


def project_of(folder: Path, *, worktrees: str = TOGETHER, chosen: str = "", names: Path | None = None) -> Identity:
    """Return a folder's project as `project_at` does, whatever is in the way: an agent's work goes on.

    A file of it that cannot be read says nothing. Where the project cannot be told, the log says why and the folder
    counts.
    """
    try:
        return project_at(folder, worktrees=worktrees, chosen=chosen, names=names, passing_over=True)
    except (InvalidInputError, OSError) as error:
        log.warning("the project of a session is not known", extra={"error": str(error)})
        found = folder_identity(folder)
        return replace(found, scope=chosen) if chosen else found


def scope_of_repository(common: Path) -> str:
    """Return the scope of the repository whose common git folder this is, by its remote or by where it is."""
    main = common.parent if common.name == ".git" else common
    return scope_of_remote(_remote(common)) or _own_name(main, common)


def former_scopes(folder: Path) -> tuple[str, ...]:
    """Return scopes that a project's repository may have had: before it was one, without a remote, by git's note.

    Git notes where it cloned and last fetched from; a remote that it did neither from is not known any more.
    """
    folder = folder.absolute()
    if place_from(folder, "") is None:
        return ()
    top, git = _work_tree(folder)
    if top is None or git is None:
        return ()
    common = git.common
    cloned, fetched = (_CLONED, common / "logs" / "HEAD"), (_FETCHED, common / "FETCH_HEAD")
    read = (list(dict.fromkeys(note.findall(_read_beginning(file)))) for note, file in (cloned, fetched))
    noted = (remote for remotes in read for remote in remotes[-_MOST_NOTED:])
    now = scope_of_repository(common)
    scopes = (
        _own_name(top),
        _own_name(common.parent if common.name == ".git" else common, common),
        *map(scope_of_remote, noted),
        _without_local_port(now),
    )
    return tuple(dict.fromkeys(scope for scope in scopes if scope and scope != now))


def _without_local_port(scope: str) -> str:
    """Return what a repository of this machine was called before its port counted."""
    host, _, path = scope.partition("/")
    name, _, _ = host.rpartition(":")
    return f"{name}/{path}" if is_this_machine(name) else scope


@dataclass(frozen=True, slots=True)
class _Wishes:
    name: str = ""
    projects: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Git:
    """The git folder of a work tree, and the one that it shares with the other work trees of its repository."""

    own: Path
    common: Path


def _work_tree(folder: Path) -> tuple[Path | None, _Git | None]:
    top = files.work_tree_of(folder)
    return top, None if top is None else _git(top)


def _git(top: Path) -> _Git | None:
    own = _git_folder(top)
    return None if own is None or not _are_ours(own, top / ".git") else _Git(own, _common_folder(own))


def _are_ours(*paths: Path) -> bool:
    """Return whether all of these are the user's; so are links, as another's may lead to what is the user's."""
    return all(_is_ours(path) for path in paths)


def _is_ours(path: Path) -> bool:
    """Return whether the user owns a file or folder, or lets git read it: another user's says nothing of projects."""
    if not hasattr(os, "getuid"):
        return True
    owners = {path.stat().st_uid, path.lstat().st_uid}
    if owners <= {os.getuid(), int(os.environ.get("SUDO_UID") or "-1") if os.getuid() == 0 else -1}:
        return True
    trusted = {match["place"].strip() for match in _SAFE.finditer(_read_beginning(Path.home() / ".gitconfig"))}
    return "*" in trusted or any(str(one) in trusted for one in (path, path.parent))


def git_folders(folder: Path) -> tuple[Path, ...]:
    """Return the git folder of a project's folder or one above it, then the one it shares; or a bare repository.

    Empty where there is none. Git itself is not asked.
    """
    folder = folder.absolute()
    if place_from(folder, "") is None:
        return ()
    for one in _upwards(folder, None):
        if (own := _git_folder(one)) is not None or (own := _bare(one)) is not None:
            return own, _common_folder(own)
    return ()


def _bare(folder: Path) -> Path | None:
    has = {name for name in ("HEAD", "objects", "refs", "commondir") if files.is_there(folder / name)}
    return folder if has > {"HEAD", "objects"} or has >= {"HEAD", "commondir"} else None


def _of_repository(top: Path, git: _Git, name: str, worktrees: str, names: Path | None) -> Identity:
    scope = scope_of_remote(_remote(git.common)) or (
        scope_of_repository(git.common) if _is_of(top, git) else _own_name(top)
    )
    found = called(Identity(scope=scope, root=top, repository=scope), name, names)
    main = git.common.parent if git.common.name == ".git" else git.common
    linked = main != top and _is_of(top, git)
    if linked and (ruled := folder_name(main, names)):  # a linked worktree is called as its repository is
        found = replace(found, scope=ruled, repository=ruled, asked="", instead_of="")
    if worktrees == APART and files.real_path(git.own) != git.common:
        return replace(found, scope=f"{found.scope}/@{fit(git.own.name)}")
    return found


def _is_of(top: Path, git: _Git) -> bool:
    """Return whether a git folder lies in a work tree or names it: any folder can say that it is one of another's."""
    if git.common == files.real_path(top) / ".git":
        return True
    back = _read_beginning(git.own / "gitdir").strip()
    if files.real_path(git.own).parent == git.common / "worktrees" and back:
        return place_from(git.own, back) == files.real_path(top) / ".git"
    told = _WORK_TREE.findall(_read_beginning(git.common / "config"))
    return bool(told) and place_from(git.common, told[-1].strip()) == files.real_path(top)


def _git_folder(top: Path) -> Path | None:
    dot = top / ".git"
    if files.is_folder(dot):
        return dot if place_from(top, dot.name) is not None else None
    word, _, place = _read_beginning(dot).strip().partition(":")
    found = place_from(top, place.strip())
    return found if word == "gitdir" and place.strip() and found is not None and files.is_folder(found) else None


def _common_folder(own: Path) -> Path:
    place = _read_beginning(own / "commondir").strip()
    return (place_from(own, place) if place else None) or files.real_path(own)


def place_from(base: Path, place: str) -> Path | None:
    """Return where a file of a folder says that something lies; None where no path can be meant.

    A path that is longer than any is not followed: that takes the square of its length, minutes for a whole file.
    """
    try:
        return files.real_path(base / place) if len(str(base)) + len(place) < LONGEST_PATH else None
    except (OSError, ValueError):  # a NUL, or links that lead round or through very many names
        return None


def _remote(common: Path) -> str:
    """Return the address of the remote `origin`, else of the first by name; what a config includes is not looked at."""
    remotes: dict[str, str] = {}
    name: str | None = None
    for line in _read_beginning(common / "config").splitlines():
        if (section := _REMOTE.match(line)) is not None:
            name = section["name"]
        elif _SECTION.match(line):
            name = None
        elif name is not None and (url := _URL.match(line)) is not None:
            remotes.setdefault(name, url["url"].strip().strip('"'))
    return remotes.get("origin") or next((remotes[name] for name in sorted(remotes)), "")


def _wished(marked: Path | None, passing_over: bool) -> tuple[_Wishes, bool]:
    try:
        return _Wishes() if marked is None else _wishes(marked / PROJECT_FILE), False
    except InvalidInputError:
        if passing_over:
            return _Wishes(), True
        raise


def _wishes(path: Path) -> _Wishes:
    try:
        said = tomllib.loads(_read_beginning(path, _MOST_BYTES_OF_WISHES))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise InvalidInputError(f"{path} is not TOML: {error}", hint='it may say: name = "shop"') from error
    name, projects = said.get("name", ""), said.get("projects", [])
    if not isinstance(name, str) or not isinstance(projects, list) or not all(isinstance(p, str) for p in projects):
        raise InvalidInputError(
            f"{path} has a `name` or `projects` of another type", hint='name = "shop", projects = ["packages/*"]'
        )
    if is_taken(fit(name)):
        raise InvalidInputError(f"{path}: no project may be called {name!r}", hint="that word has a meaning of its own")
    return _Wishes(fit(name), tuple(projects[:_MOST_PROJECTS]))


def _sub_project(top: Path, folder: Path, globs: tuple[str, ...]) -> Path | None:
    """Return the outermost folder between `top` and `folder` that one of the globs names; None where none does."""
    if not globs or top not in (folder, *folder.parents):
        return None
    parts = folder.relative_to(top).parts
    for length in range(1, len(parts) + 1):
        inner = PurePosixPath(*parts[:length])
        if any(_matches(inner, PurePosixPath(glob.strip("/"))) for glob in globs):
            return top / inner
    return None


def _matches(path: PurePosixPath, glob: PurePosixPath) -> bool:
    return len(path.parts) == len(glob.parts) and all(map(fnmatchcase, path.parts, glob.parts))


def is_taken(name: str) -> bool:
    """Return whether a project's name means something else, in whatever spelling, or lies below one that does."""
    return scope_key(name).partition("/")[0] in _TAKEN


def _named_below(base: Identity, inner: Path, name: str, names: Path | None) -> Identity:
    """Return a sub-project's identity by where it lies, or under a name that its file asks for and the user confirmed.

    Whoever wrote that file, as of a copy of another's code, could else name another sub-project of the repository.
    """
    found, name = _below(base, inner), name[:LONGEST_NAME]
    if not name or same_scope(found.scope, f"{base.scope}/{name}"):
        return found
    if is_called(found.scope, name, names):
        return _below(base, inner, name)
    return found if base.asked else replace(found, asked=name, instead_of=found.scope)


def _below(base: Identity, inner: Path, name: str = "") -> Identity:
    below = name or "/".join(map(told_apart, inner.relative_to(base.root).parts))
    room = max(LONGEST_SCOPE - len(base.scope) - 1, 9)
    if len(below) > room:
        below = f"{below[: room - 9].rstrip('/')}~{scope_digest(below)}"
    return replace(base, scope=f"{base.scope}/{below}", root=inner)


def _own_name(folder: Path, told_by: Path | None = None) -> str:
    """Return the folder's name with what tells it from others of that name: a digest of where it is."""
    where = str(files.real_path(told_by or folder)).encode("utf-8", "surrogatepass")
    return f"{fit(folder.name).removesuffix('.git') or 'folder'}-{hashlib.sha256(where).hexdigest()[:8]}"


def _nobodys() -> frozenset[Path]:
    """Return the folders that are no project by themselves: home, what lies above it, and those for temporary files."""
    home = Path.home()
    passing = [os.environ.get(name, "") for name in ("TMPDIR", "TEMP", "TMP")]
    places = (home, *home.parents, *map(Path, filter(None, passing)), Path("/tmp"), Path("/var/tmp"))
    return frozenset(files.real_path(place) for place in places)


def _upwards(folder: Path, last: Path | None) -> Iterator[Path]:
    """Yield the folder and those it lies in, `last` the last."""
    for one in (folder, *folder.parents):
        yield one
        if one == last:
            return


def _read_beginning(path: Path, most: int = _MOST_BYTES) -> str:
    """Return the beginning of a text file; empty where there is none that can be read."""
    try:
        with files.open_regular(path) as file:
            return file.read(most).decode("utf-8", "replace")
    except OSError:
        return ""
