"""Files: the one way to open what may be anybody's file, and the one way to write what only the owner may read.

A name can stand for a pipe that nobody writes to, a device without an end, a folder or a link. `open_regular` never
waits and takes regular files alone; `read_bytes` is bounded in size. What Helix keeps is made with modes 0700 and
0600, whatever the umask says. Standard library alone: the command line and hooks load it at every start.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import stat
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from io import BufferedReader
from pathlib import Path
from typing import Any, BinaryIO

from helix.errors import StoreError

SMALL = 1 << 20
"""Largest file, in bytes, that is read whole where nothing else is said: settings, records, tokens."""

PRIVATE_FOLDER, PRIVATE_FILE = 0o700, 0o600

MOST_FOLLOWED = 200
"""Names that links may lead a path through, as systems follow 40 links: each can walk through two thousand."""

_AT_ONCE = 1 << 20
_OTHERS = 0o077
_PLAIN = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)


_confined: Path | None = None
_ITSELF = "/proc/self/statm"  # how much memory this process has


def confine(folder: Path) -> None:
    """Confine this process to files in a folder: `open_regular` opens none outside, whatever a request names.

    For a process that serves other machines: no path that their agents tell is one of this machine.
    """
    global _confined
    _confined = real_path(folder)


def open_regular(path: str | os.PathLike[str], *, links: bool = True, folder: int | None = None) -> BufferedReader:
    """Open a regular file for reading, without waiting. `links` False refuses a name that is a symbolic link.

    `folder`: a descriptor of the folder that it lies in, where the path may lead elsewhere by now (`HeldFolder`).
    Raises OSError for everything else that a name can stand for: a folder, a pipe, a device, a socket, and a database
    that this process has open.
    """
    try:
        if _confined is not None and os.fspath(path) != _ITSELF and not real_path(Path(path)).is_relative_to(_confined):
            raise FileNotFoundError(errno.ENOENT, "no file that this process may open", os.fspath(path))
        if _leads_to_database(path):
            raise OSError(errno.EBUSY, "this process has it open as a database", os.fspath(path))
        name = path if folder is None else os.path.basename(path)  # noqa: PTH119
        descriptor = os.open(name, os.O_RDONLY | _PLAIN | (0 if links else _NO_LINK), dir_fd=folder)
    except ValueError as error:  # a NUL byte in the name
        raise OSError(errno.EINVAL, "no name of a file", os.fspath(path)) from error
    try:
        status = os.fstat(descriptor)
        mode = status.st_mode
        if not stat.S_ISREG(mode):
            code = errno.EISDIR if stat.S_ISDIR(mode) else errno.EINVAL
            raise OSError(code, "not a regular file", os.fspath(path))
        if _is_database(status):  # since it was looked at; closed it must not be
            descriptor = _NEVER_CLOSED
            raise OSError(errno.EBUSY, "this process has it open as a database", os.fspath(path))
        return os.fdopen(descriptor, "rb")
    except BaseException:
        if descriptor != _NEVER_CLOSED:
            os.close(descriptor)
        raise


_NEVER_CLOSED = -1
_databases: Counter[str] = Counter()


def hold_database(path: Path) -> None:
    """Have `open_regular` refuse a database of SQLite's, until as many calls of `let_go_of_database`.

    A process loses its POSIX locks of a file once it closes any descriptor of it (fcntl(2), "Record locking"): SQLite's
    would go by a link to the journal in a repository, and another process would take itself for its last user.
    """
    _databases[os.fspath(path)] += 1


def let_go_of_database(path: Path) -> None:
    """Have `open_regular` open what this process had open as a database."""
    _databases[os.fspath(path)] -= 1
    if not _databases[os.fspath(path)]:
        del _databases[os.fspath(path)]


def _leads_to_database(path: str | os.PathLike[str]) -> bool:
    with suppress(OSError):  # what cannot be looked at cannot be opened
        return bool(_databases) and _is_database(Path(path).stat())
    return False


def _is_database(status: os.stat_result) -> bool:
    """Return whether a file is one that SQLite has locks of in this process: a database, or the index of its log."""
    for name in [f"{path}{end}" for path in tuple(_databases) for end in ("", "-shm")]:
        with suppress(OSError):
            if os.path.samestat(Path(name).stat(), status):
                return True
    return False


def is_there(path: str | os.PathLike[str]) -> bool:
    """Return whether a path leads to something; what cannot be looked at is not there, as `Path.exists` raises then."""
    return os.path.exists(path)  # noqa: PTH110


def work_tree_of(path: Path) -> Path | None:
    """Return the nearest folder at or above a path that git has as a work tree."""
    return next((folder for folder in (path, *path.parents) if is_there(folder / ".git")), None)


def is_file(path: str | os.PathLike[str]) -> bool:
    """Return whether a path leads to a regular file that can be looked at."""
    return os.path.isfile(path)  # noqa: PTH113


def is_folder(path: str | os.PathLike[str]) -> bool:
    """Return whether a path leads to a folder that can be looked at."""
    return os.path.isdir(path)  # noqa: PTH112


def real_path(path: Path, *, through: set[str] | None = None, links: set[str] | None = None) -> Path:
    """Return where a path leads, in time, as `Path.resolve` does, whoever made the links; it need not exist.

    `through` gets the folders in which its names, and those of its links, are looked up, and `links` these links.
    Raises OSError where links lead round or through more than MOST_FOLLOWED names, ValueError for a NUL byte.
    """
    done, rest, followed = "", path.absolute().as_posix().split("/")[::-1], 0
    while rest:
        name = rest.pop()
        if name in ("", ".", ".."):
            done = done.rpartition("/")[0] if name == ".." else done
            continue
        if through is not None:
            through.add(done or "/")
        try:
            names = os.readlink(f"{done}/{name}").split("/")  # noqa: PTH115  (a third of the time)
        except OSError:  # no link, or nothing there
            done += f"/{name}"
            continue
        if links is not None:
            links.add(f"{done}/{name}")
        followed += len(names)
        if followed > MOST_FOLLOWED:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), os.fspath(path))
        done = "" if names[0] == "" else done
        rest += names[::-1]
    return Path(done or "/")


def read_bytes(path: str | os.PathLike[str], most: int = SMALL, *, links: bool = True) -> bytes:
    """Return the content of a regular file of at most `most` bytes. Raises OSError, with EFBIG for a larger one."""
    with open_regular(path, links=links) as file:
        return read_open(file, most)


def read_open(file: BinaryIO, most: int = SMALL) -> bytes:
    """Return the rest of an open file of at most `most` bytes. Raises OSError with EFBIG for a larger one."""
    content = file.read(most + 1)
    if len(content) > most:
        raise OSError(errno.EFBIG, f"larger than {most:,} bytes", file.name)
    return content


def read_text(path: str | os.PathLike[str], most: int = SMALL, *, errors: str = "strict", links: bool = True) -> str:
    """Return the text of a regular UTF-8 file of at most `most` bytes. Raises OSError, and UnicodeDecodeError."""
    return read_bytes(path, most, links=links).decode("utf-8", errors)


def digest_of(data: bytes) -> str:
    """Return what stands for a file's content: its SHA-256 in hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def copy_open(source: BinaryIO, target: BinaryIO, most: int) -> bool:
    """Copy an open file from where it is, at most `most` bytes; return whether that is all of it.

    Who may write a file can make it longer while it is copied: the size that it had says nothing.
    """
    while part := source.read(min(_AT_ONCE, most)):
        target.write(part)
        most -= len(part)
    return not source.read(1)


def kept_json(path: Path) -> Mapping[str, Any]:
    """Return the JSON object in a file of Helix's own; empty where it cannot be read."""
    return json_object(path) or {}


def json_object(path: Path) -> Mapping[str, Any] | None:
    """Return the JSON object in a file of Helix's own; None where it is missing or holds something else."""
    try:
        found = json.loads(read_text(path))
    except (OSError, ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def newest_json(table: Mapping[str, Any]) -> str:
    """Return the text of a file of Helix's own that `kept_json` can read again: of a large table the newest entries."""
    kept = list(table.items())
    while len(text := json.dumps(dict(kept), indent=2)) >= SMALL:
        kept = kept[len(kept) // 2 + 1 :]
    return f"{text}\n"


def private_folder(path: Path) -> Path:
    """Make a private folder, with those above it that are missing, for the owner alone; return it.

    Raises OSError where something else has the name, or where the folder is another user's.
    """
    missing = [folder for folder in (path, *path.parents) if not folder.exists()]
    for folder in reversed(missing):
        folder.mkdir(mode=PRIVATE_FOLDER, exist_ok=True)
    found = path.stat()
    if not stat.S_ISDIR(found.st_mode):
        raise NotADirectoryError(errno.ENOTDIR, "not a folder", str(path))
    if sys.platform != "win32" and found.st_uid != os.geteuid() and os.geteuid() != 0:
        raise PermissionError(errno.EPERM, "the folder belongs to another user", str(path))
    return path


def create_private(path: Path, *, exclusive: bool = False, append: bool = False, folder: int | None = None) -> int:
    """Create a private file, which only its owner may read, never through a link; return its descriptor.

    What is there is emptied, unless `append` keeps it or `exclusive` refuses it. `folder` is as for `open_regular`.
    Raises OSError.
    """
    way = os.O_APPEND if append else os.O_EXCL if exclusive else os.O_TRUNC
    flags = os.O_WRONLY | os.O_CREAT | way | _PLAIN | _NO_LINK
    descriptor = os.open(path if folder is None else path.name, flags, PRIVATE_FILE, dir_fd=folder)
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise OSError(errno.EINVAL, "not a regular file", str(path))
        if sys.platform != "win32" and found.st_mode & _OTHERS:
            os.fchmod(descriptor, PRIVATE_FILE)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def write_private(path: Path, text: str, *, mode: int = PRIVATE_FILE) -> None:
    """Write a small private file whole or not at all, for the owner alone; no file beside it is touched."""
    draft = path.with_name(f"{path.name}.{os.urandom(8).hex()}.new")
    try:
        with os.fdopen(create_private(draft, exclusive=True), "w", encoding="utf-8", newline="") as file:
            file.write(text)
        if mode != PRIVATE_FILE:
            draft.chmod(mode)
        draft.replace(path)
    except BaseException as error:
        with suppress(OSError):
            draft.unlink()
        if isinstance(error, OSError):  # what is wrong is in the way of the file, and not its draft
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise


def remove(path: Path) -> None:
    """Remove a file, a link (not what it leads to), or a folder with all in it, if there is one of that name."""
    if path.is_dir() and not path.is_symlink():
        import shutil  # which programs that start often do without

        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def is_closed_to_root(folder: Path) -> bool:
    """Return whether this is root, who may write anywhere, and a folder of another user, or to be made in one."""
    if sys.platform == "win32" or os.geteuid() != 0:
        return False
    with suppress(OSError):  # links that lead round
        folder = real_path(folder)
    nearest = next((one for one in (folder, *folder.parents) if is_folder(one)), None)
    return nearest is not None and nearest.stat().st_uid != 0


ROOTS_WORDS = "belongs to another user, who could not read what root writes there"
ROOTS_HINT = "run it as that user (sudo -H -u NAME helix ...), or set HELIX_HOME to a folder of root's own"


def check_store(store: Path) -> None:
    """Raise StoreError where a store's folder is another user's, or holds a link that Helix would write through.

    The folder itself may be reached through a link. No folder is no fault. Root opens nobody else's either, and makes
    none in theirs: its owner could not read what root writes there.
    """
    if is_closed_to_root(store):
        raise StoreError(f"{store} {ROOTS_WORDS}", hint=ROOTS_HINT)
    if not store.is_dir():
        return
    if sys.platform != "win32" and os.geteuid() != store.stat().st_uid:
        raise _refused(store, "belongs to another user")
    if (link := link_in(store)) is not None:
        raise _refused(link, "is a link")


def link_in(store: Path) -> Path | None:
    """Return a link in a folder, or below it; None where there is none."""
    for folder, folders, names in os.walk(store):
        for name in (*folders, *names):
            if (path := Path(folder) / name).is_symlink():
                return path
    return None


def is_own_folder(path: Path) -> bool:
    """Return whether a folder is this user's own, and no link to one."""
    try:
        found = path.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and (sys.platform == "win32" or found.st_uid == os.geteuid())


def closed_hint(path: Path, otherwise: str) -> str:
    """Return what to do about a file that may not be read; `otherwise` where it lies in no folder of this user's."""
    if not is_own_folder(path.parent):
        return otherwise
    if sys.platform == "win32" or path.lstat().st_uid == os.geteuid():
        return "only its owner has to be able to read it: `chmod 600` it"
    return "another user made it in your folder: remove it, or `sudo chown -R YOU` that folder, then `helix stop`"


def is_anothers(path: Path) -> bool:
    """Return whether a file, or what it leads to, belongs to another user; root may believe anybody."""
    try:
        owners = {path.stat().st_uid, path.lstat().st_uid}
    except OSError:
        return False
    return sys.platform != "win32" and os.geteuid() != 0 and not owners <= {0, os.geteuid()}


def is_strangers(path: Path) -> bool:
    """Return whether a file lies where anybody may put one, and another user has. Raises OSError without one."""
    if sys.platform == "win32":
        return False
    return path.lstat().st_uid not in (0, os.geteuid()) and bool(path.parent.stat().st_mode & stat.S_IWOTH)


def _refused(path: Path, why: str) -> StoreError:
    return StoreError(f"{path} {why}: Helix does not write there", hint="move it away, or name another store")


def is_written_by_others(folder: Path) -> bool:
    """Return whether another user may put a file into a folder, be it under a name of their own. Raises OSError.

    A file there that is one's own may hold what they wrote: whoever may write one can give it a second name, or move
    it in. Root may believe anybody's.
    """
    found = folder.stat()
    return sys.platform != "win32" and (
        bool(found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)) or (os.geteuid() not in (0, found.st_uid))
    )


def open_to_others(path: Path, *, below: bool = True) -> Iterator[Path]:
    """Yield a file or folder, and what lies `below` it, where other users may read or write it; no link is followed."""
    if sys.platform == "win32":
        return
    waiting = [path]
    while waiting:
        place = waiting.pop()
        try:
            found = place.lstat()
            if below and stat.S_ISDIR(found.st_mode):
                waiting.extend(Path(entry.path) for entry in os.scandir(place))
        except OSError:
            continue
        if found.st_mode & _OTHERS and not stat.S_ISLNK(found.st_mode):
            yield place


def tighten(path: Path, *, below: bool = True) -> list[Path]:
    """Close a file or folder, and what lies `below` it, to other users, as far as it is this user's.

    Returns what was changed. A file with a second name is left as it is: that may stand in another's folder.
    """
    return [place for place in list(open_to_others(path, below=below)) if _tightened(place)]


def changed_by_others(path: Path) -> Iterator[Path]:
    """Yield the folders on the way to a path, through links too, in which another user may put something else.

    So may whoever has made a link there: they may turn it elsewhere, even where nobody renames what is another's.
    """
    if sys.platform == "win32":
        return
    through, links, trusted = set[str](), set[str](), (0, os.geteuid())
    with suppress(OSError, ValueError):  # links that lead round: so far they were followed
        real_path(path, through=through, links=links)
    turned = {os.path.dirname(link) for link in links if _owner_of(link) not in trusted}  # noqa: PTH120
    for folder in sorted(map(Path, through), reverse=True):
        try:
            found = folder.stat()
        except OSError:
            continue
        shared = found.st_mode & stat.S_IWOTH or (found.st_mode & stat.S_IWGRP and not _is_nobody_elses(found.st_gid))
        if (shared and not found.st_mode & stat.S_ISVTX) or found.st_uid not in trusted or str(folder) in turned:
            yield folder


def _owner_of(link: str) -> int | None:
    try:
        return Path(link).lstat().st_uid
    except OSError:  # it was taken away meanwhile
        return None


def _is_nobody_elses(group: int) -> bool:
    """Return whether a group is this user's own, or root's: it has that name, and nobody else is in it."""
    import grp
    import pwd  # neither is there on every system, and few ask

    try:
        trusted = {pwd.getpwuid(user).pw_name for user in (0, os.geteuid())}
        found = grp.getgrgid(group)
    except KeyError:
        return False
    members = {*found.gr_mem, *(one.pw_name for one in pwd.getpwall() if one.pw_gid == group)}
    return found.gr_name in trusted and members <= trusted


def _tightened(path: Path) -> bool:
    try:
        descriptor = os.open(path, os.O_RDONLY | _PLAIN | _NO_LINK)
    except OSError:
        return False
    try:
        found = os.fstat(descriptor)
        # A second name of a file may stand anywhere: its mode is not ours alone to decide.
        shared = stat.S_ISREG(found.st_mode) and found.st_nlink > 1
        if found.st_uid != os.geteuid() or shared:
            return False
        os.fchmod(descriptor, stat.S_IMODE(found.st_mode) & ~_OTHERS)
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return True
