"""Journal copy: checked before one is trusted, and known by the journal that they were made of."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from helix import files
from helix.errors import DiskFullError, InvalidInputError, StoreError
from helix.journal import table_check
from helix.journal.backend import Backend, put
from helix.journal.database import check_migrations, make_tables, mapped
from helix.journal.value_check import check_values

_HEADER = b"SQLite format 3\0"
_LAST_SEQ = 1 << 53


def take(path: Path, target: Path, *, in_use: bool = False) -> None:
    """Copy a file of SQLite, with its log, to a private one: SQLite opens by name, and whoever may write beside a file
    can give its name to a pipe, or to another file than the one that was checked.

    `in_use`: another program's, which may grow meanwhile; what is added is not copied. Raises InvalidInputError where
    any other grows, or where a log beside it is or may be another user's; StoreError and DiskFullError.
    """
    owner = _copied(path, target, in_use=in_use)
    log = path.with_name(f"{path.name}-wal")
    if not log.is_file():
        return
    theirs = owner != _copied(log, target.with_name(f"{target.name}-wal"), links=False, in_use=in_use)
    # A program has its database where its user's umask puts it; a backup can be named in another folder.
    if theirs or (not in_use and files.is_written_by_others(log.parent)):
        raise InvalidInputError(
            f"{log} may be another user's: what it says would take the place of what {path.name} says",
            hint=f"copy {path.name} (and the log, if it is yours) to a folder where only you may write, and name that",
        )


def take_alone(path: Path, target: Path) -> None:
    """Copy a journal's file to a private one, without a log, and through no link. Raises what `take` does."""
    _copied(path, target, links=False)


def _copied(path: Path, target: Path, *, links: bool = True, in_use: bool = False) -> int:
    """Return the owner of the file that was copied."""
    with (
        mapped(path),
        files.open_regular(path, links=links) as source,
        os.fdopen(files.create_private(target), "wb") as copy,
    ):
        found = os.fstat(source.fileno())
        if found.st_size > shutil.disk_usage(target.parent).free // 2:
            hint = "free some space and try again"
            raise DiskFullError(f"{path} is larger than half of the room in {target.parent}", hint=hint)
        if not files.copy_open(source, copy, found.st_size) and not in_use:
            raise InvalidInputError(f"{path} grows while it is read", hint="name a file that nobody writes")
        return found.st_uid


def check(path: Path, called: Path | None = None) -> int:
    """Check a copy of the journal, `called` something else in errors, and return how many rows it holds.

    Raises InvalidInputError when the file is no journal of Helix, StoreTooNewError when a newer Helix wrote it and
    StoreCorruptError when SQLite finds it damaged.
    """
    called = called or path
    with files.open_regular(path) as file:
        if file.read(16) != _HEADER:
            raise InvalidInputError(f"{called} is not a backup of Helix", hint="name a file that `helix backup` wrote")
    with _reading(path, called) as connection:
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if not {"log", "migration", "meta", "node"} <= tables:
            raise InvalidInputError(f"{called} is not a backup of Helix", hint="name a file that `helix backup` wrote")
        check_migrations(connection, called)
        (verdict,) = connection.execute("PRAGMA quick_check(1)").fetchone()
        if verdict != "ok":
            raise sqlite3.DatabaseError(verdict)
        rows, newest = connection.execute("SELECT count(*), max(seq) FROM log").fetchone()
        if newest is not None and newest > _LAST_SEQ:
            raise sqlite3.DatabaseError("no row of a journal has such a number")
        return int(rows)


def check_foreign(path: Path, called: Path) -> int:
    """Check a copy of a journal that anybody may have written as `check` does, and all that its rows say."""
    rows = check(path, called)
    with _reading(path, called) as connection:
        check_values(connection, called)
    return rows


def copy_checked(path: Path, target: Path) -> None:
    """Write the rows of a checked journal copy to a new file with Helix's own tables and nothing else of the copy.

    Raises StoreError, StoreCorruptError and DiskFullError.
    """
    os.close(files.create_private(target, exclusive=True))
    with _reading(path, path) as source:
        applied = check_migrations(source, path)
        with mapped(target):
            table_check.copy_rows(path, target, applied, make_tables)


@contextmanager
def _reading(path: Path, called: Path) -> Iterator[sqlite3.Connection]:
    """Lend a connection that only reads a file, from which nothing runs; it leaves no file beside it."""
    beside = [path.with_name(path.name + suffix) for suffix in ("-wal", "-shm")]
    made_here = [name for name in beside if not name.exists()]
    with mapped(called):
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
        try:
            table_check.harden(connection)
            table_check.check_objects(connection, called)
            yield connection
        finally:
            connection.close()
            for left in made_here:  # whoever opens a file only to read it leaves them there
                left.unlink(missing_ok=True)


def remember(database: Backend, copies: Iterable[tuple[str, int]]) -> None:
    """Note copies of the journal, by path and the moment (microseconds) they began: only those can be erased."""
    with database.transaction() as connection:
        connection.executemany(put("known_copy", ("path", "made_at"), ("path",)), copies)


def known(database: Backend) -> list[tuple[str, int]]:
    """Return the noted copies of the journal by path, with what `remember` was told of each."""
    with database.reading() as connection:
        return connection.execute("SELECT path, made_at FROM known_copy ORDER BY path").fetchall()


def disown_foreign(database: Backend, trusted: Iterable[tuple[str, int]]) -> None:
    """Forget all copies of the journal but trusted and own ones: one from elsewhere may name anybody's file."""
    sure = {path for path, _ in trusted}
    with database.reading() as connection:
        store = connection.execute("SELECT value FROM meta WHERE key = 'store_id'").fetchone()
        foreign = [(path,) for path, _ in known(database) if path not in sure and not _is_copy(path, store)]
    if foreign:
        with database.transaction() as connection:
            connection.executemany("DELETE FROM known_copy WHERE path = ?", foreign)
            connection.execute(put("meta", ("key", "value"), ("key",)), ("unknown_copies", "1"))


def _is_copy(path: object, store: object) -> bool:
    """Return whether a regular file is a copy of the journal of this id; nothing is written beside it."""
    if not isinstance(path, str) or not Path(path).is_absolute():
        return False
    try:
        with files.open_regular(path, links=False) as file:
            if file.read(16) != _HEADER:
                return False
        with closing(sqlite3.connect(f"{Path(path).as_uri()}?mode=ro&immutable=1", uri=True)) as connection:
            table_check.harden(connection)
            table_check.check_objects(connection, Path(path))
            return bool(connection.execute("SELECT value FROM meta WHERE key = 'store_id'").fetchone() == store)
    except (sqlite3.Error, UnicodeDecodeError, OSError, StoreError):
        return False


def all_known(database: Backend) -> bool:
    """Return whether every copy of the journal that Helix made is known: earlier versions noted some nowhere,
    and what a restored backup says of other files is not believed."""
    with database.reading() as connection:
        row = connection.execute("SELECT 1 FROM meta WHERE key = 'unknown_copies'").fetchone()
    return row is None


def disown(database: Backend, path: str) -> None:
    """Forget a copy of the journal that was not made after all."""
    with database.transaction() as connection:
        connection.execute("DELETE FROM known_copy WHERE path = ?", (path,))
