"""The SQLite file of the journal: connections, transactions, migrations and the mapping of its errors."""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import sqlite3
import threading
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path

from helix import files, resources
from helix.errors import DiskFullError, HelixError, StoreCorruptError, StoreError, StoreLockedError, StoreTooNewError
from helix.journal import table_check
from helix.journal.decoding import damaged
from helix.model.reports import Durability

PAGE_CACHE_KIB = 16_384
_READERS_PAGE_CACHE_KIB = 4_096
"""More gained a recall nothing at 100,000 memories, and took 44 MB: several threads read, each with its own."""
_PAGES_BEFORE_CHECKPOINT = 2_048
"""Pages of SQLite's log, 8 MiB, after which it is folded in: well below what is kept free for that on the disk."""
_PAGE_COUNTS = ("page_count", "freelist_count")
_MIGRATIONS = "CREATE TABLE IF NOT EXISTS migration (number INTEGER PRIMARY KEY, name TEXT, hash TEXT)"


class Database:
    """One journal file. The writer's connection is used under a lock; each reading thread has one of its own."""

    def __init__(self, path: Path, *, page_cache_kib: int = PAGE_CACHE_KIB) -> None:
        """Open or create the file and bring its tables up to date; the writer has a page cache of that size.

        Raises StoreTooNewError, StoreCorruptError, DiskFullError or StoreError (SQLite without FTS5).
        """
        self.path = self.beside = path
        self.durability = Durability.SINGLE
        self._page_cache_kib = page_cache_kib
        files.private_folder(path.parent)
        self._local = threading.local()
        self._write_lock = threading.RLock()
        self._opened: list[tuple[threading.Thread | None, sqlite3.Connection]] = []
        self._opened_lock = threading.Lock()
        self.closed = self.fenced = self._is_held = False
        self.committed: Callable[[sqlite3.Connection], Callable[[], None]] | None = None
        """Called within every transaction, at its end; what it returns is called as soon as that is durable."""
        try:
            with mapped(path):
                # SQLite gives its log the permissions of the file: they have to be right before it is opened.
                os.close(files.create_private(path, append=True))
                files.hold_database(path)
                self._is_held = True
                self._writer = self._connect()
                self._writer.execute("PRAGMA journal_mode = WAL")
                self._writer.execute("PRAGMA synchronous = FULL")
                self._writer.execute("PRAGMA secure_delete = ON")
                self._writer.execute(f"PRAGMA wal_autocheckpoint = {_PAGES_BEFORE_CHECKPOINT}")
            self._migrate()
        except HelixError:
            self.close()
            raise

    def _connect(self, reader: threading.Thread | None = None) -> sqlite3.Connection:
        connection = sqlite3.connect(self.path, isolation_level=None, check_same_thread=False, timeout=10)
        try:
            table_check.harden(connection)
            kib = self._page_cache_kib if reader is None else min(self._page_cache_kib, _READERS_PAGE_CACHE_KIB)
            connection.execute(f"PRAGMA cache_size = -{kib}")
        except BaseException:
            connection.close()
            raise
        with self._opened_lock:
            self._let_go()
            self._opened.append((reader, connection))
        return connection

    def _let_go(self) -> None:
        """Close what threads have left open that are gone: a store at rest begins another thread for all that comes."""
        kept = []
        for reader, connection in self._opened:
            if reader is None or reader.is_alive():
                kept.append((reader, connection))
            else:
                connection.close()
        self._opened = kept

    @contextmanager
    def transaction(self, *, long: bool = False) -> Iterator[sqlite3.Connection]:
        """Run a durable transaction on the connection of the journal's writer: all of it, or nothing."""
        with self._write_lock, mapped(self.path):
            self._writer.execute("BEGIN IMMEDIATE")
            try:
                yield self._writer
                note = None if self.committed is None else self.committed(self._writer)
                self._writer.execute("COMMIT")
            except BaseException:
                if self._writer.in_transaction:
                    self._writer.execute("ROLLBACK")
                raise
            if note is not None:
                note()

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Lend this thread's connection that reads the journal's file."""
        with mapped(self.path):
            connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
            if connection is None:
                connection = self._local.connection = self._connect(threading.current_thread())
                connection.execute("PRAGMA query_only = ON")
            yield connection

    @contextmanager
    def snapshot(self) -> Iterator[sqlite3.Connection]:
        """Lend a connection that goes on seeing the journal's file as it is now."""
        with mapped(self.path):
            connection = sqlite3.connect(self.path, isolation_level=None, check_same_thread=False, timeout=10)
            try:
                table_check.harden(connection)
                connection.execute("PRAGMA query_only = ON")
                connection.execute("BEGIN")
                yield connection
            finally:
                connection.close()

    def checkpoint(self) -> None:
        """Fold SQLite's own log into the journal's file, as far as readers allow."""
        with self._write_lock, mapped(self.path):
            self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def checkpoint_now(self) -> bool:
        """Do what `checkpoint` does where no reader or writer of the journal would be waited for; else False."""
        with mapped(self.path), closing(sqlite3.connect(self.path, isolation_level=None, timeout=0)) as connection:
            (busy, *_) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        return not busy

    def write_anew(self) -> bool:
        """Write the whole journal file anew, without empty pages or what the gaps of others hold; fold the log in.

        False where a reader kept the log from being emptied. Raises DiskFullError, with nothing changed, where there
        is too little room for the file once more in its log.
        """
        with self._write_lock, mapped(self.path):
            _check_room(self.path)
            self._writer.execute("VACUUM")
            (busy, *_) = self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        return not busy

    def scrub(self) -> str:
        """Write the journal's file anew: neither its gaps nor its log hold what was removed; return what may still."""
        name = self.path.name
        try:
            return "" if self.write_anew() else f"the log of {name} is being read and could not be emptied"
        except DiskFullError as error:
            self.checkpoint()
            return f"{name} could not be written anew, its empty pages may hold it: {error.message}"

    def backup_to(self, target: Path) -> None:
        """Copy a consistent state of the journal's file while others read and write."""
        with mapped(target):
            copy = sqlite3.connect(target)
            try:
                with self.reading() as connection:
                    connection.backup(copy, pages=2_000, sleep=0.005)
            finally:
                copy.close()

    def restore_from(self, source: Path) -> None:
        """Overwrite the whole journal file by a copy, in place, while readers keep their connections."""
        with self._write_lock, mapped(self.path):
            copy = sqlite3.connect(f"{source.absolute().as_uri()}?mode=ro", uri=True)
            try:
                copy.backup(self._writer)
            finally:
                copy.close()
            self._migrate()

    def _migrate(self) -> None:
        """Bring the tables up to date, and give the disk back what that left empty."""
        with self.transaction() as connection:
            changed = migrate(connection, self.path)
        if not changed:
            return
        with self._write_lock, mapped(self.path):
            pages, empty = (int(self._writer.execute(f"PRAGMA {what}").fetchone()[0]) for what in _PAGE_COUNTS)
            if 2 * empty > pages and shutil.disk_usage(self.path.parent).free > 2 * self.size_bytes():
                self.write_anew()

    def size_bytes(self) -> int:
        """Return the bytes of the journal's file and its log on disk."""
        return sum(p.stat().st_size for p in (self.path, self.path.with_name(self.path.name + "-wal")) if p.exists())

    def close(self) -> None:
        """Close every connection to the journal's file, whichever thread opened it."""
        with self._opened_lock:
            for _, connection in self._opened:
                connection.close()
            self._opened.clear()
            self.closed = True
            if self._is_held:
                files.let_go_of_database(self.path)
                self._is_held = False


def migrate(connection: sqlite3.Connection, path: Path) -> bool:
    """Apply the numbered scripts of `schema/journal` that the journal's file lacks; return whether there were any.

    A script that was applied must still have the hash it had: history is forward only. Raises DiskFullError before
    anything is changed where there is too little room for tables to be written anew.
    """
    table_check.check_objects(connection, path)
    connection.execute(_MIGRATIONS)
    applied = check_migrations(connection, path)
    lacking = [script for script in _scripts() if int(script.name[:4]) not in applied]
    if lacking and applied:
        _check_room(path)
    _apply(connection, lacking)
    return bool(lacking)


def make_tables(connection: sqlite3.Connection, numbers: Collection[int] | None) -> None:
    """Make the journal's tables in an empty SQLite file by the migrations of these numbers, or by all of them."""
    connection.execute(_MIGRATIONS)
    _apply(connection, [script for script in _scripts() if numbers is None or int(script.name[:4]) in numbers])


@cache
def empty_file() -> bytes:
    """Return an SQLite file with the journal's tables and no row; making it takes longer than reading a small log."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as empty:
        make_tables(empty, None)
        return empty.serialize()


def _apply(connection: sqlite3.Connection, scripts: Iterable[Path]) -> None:
    for script in scripts:
        text = script.read_text("utf-8")
        for statement in statements(text):
            connection.execute(statement)
        row = (int(script.name[:4]), script.name, hashlib.sha256(text.encode()).hexdigest())
        connection.execute("INSERT INTO migration VALUES (?, ?, ?)", row)


def _check_room(path: Path) -> None:
    """Raise DiskFullError where a file and SQLite's log could not both grow by all that the file holds now."""
    needed, free = 2 * path.stat().st_size, shutil.disk_usage(path.parent).free
    if free < needed:
        raise DiskFullError(
            f"writing {path} anew may take {needed >> 20} MiB, and {free >> 20} MiB are free",
            hint="free some space and start again: nothing was changed",
        )


def check_migrations(connection: sqlite3.Connection, path: Path) -> set[int]:
    """Return the numbers of the migrations that a journal's file has.

    Raises StoreTooNewError for one that this code does not know, StoreError for one whose script has changed since and
    for a file with other tables than they make.
    """
    applied = {number: digest for number, digest in connection.execute("SELECT number, hash FROM migration")}
    scripts = {int(script.name[:4]): script for script in _scripts()}
    if newer := sorted(set(applied) - set(scripts)):
        raise StoreTooNewError(
            f"{path} was written by a newer Helix: it has migration {newer[-1]} and this Helix ends at {max(scripts)}",
            hint="update Helix: install the newer one, or in a checkout `git pull`, then `scripts/setup`",
        )
    for number, digest in applied.items():
        if hashlib.sha256(scripts[number].read_bytes()).hexdigest() != digest:
            name = scripts[number].name
            raise StoreError(f"migration {name} has changed since it was applied to {path}", hint="reinstall Helix")
    table_check.check_schema(connection, path, applied, make_tables)
    return set(applied)


def _scripts() -> list[Path]:
    return sorted(resources.directory("schema").joinpath("journal").glob("[0-9]*.sql"))


def statements(script: str) -> Iterator[str]:
    """Yield the SQL statements of a journal migration (executescript would commit the transaction around it)."""
    pending = ""
    for line in script.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            yield pending
            pending = ""


@contextmanager
def mapped(path: Path) -> Iterator[None]:
    """Turn errors of SQLite and of the system at a journal's file into Helix's own."""
    try:
        yield
    except sqlite3.OperationalError as error:
        text = str(error)
        if "full" in text or "disk I/O error" in text:
            raise DiskFullError(
                f"no room to write {path}", hint="free some space and try again: nothing was lost"
            ) from error
        if "locked" in text or "busy" in text:
            raise StoreLockedError(f"{path} is locked by another program", hint="close it and try again") from error
        if "decode to UTF-8" in text:
            raise damaged(text) from error
        if "no such module: fts5" in text:
            raise StoreError(
                "this Python's SQLite lacks FTS5", hint="use a Python whose sqlite3 has FTS5 compiled in"
            ) from error
        raise StoreError(f"{path}: {text}", hint="`helix doctor` looks closer") from error
    except sqlite3.ProgrammingError as error:
        raise StoreError(f"{path}: {error}", hint="the store was closed meanwhile; try again") from error
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:  # a name of a table may be damaged, too
        raise StoreCorruptError(
            f"{path} is damaged: {error}",
            hint="it stays as it is: put a backup in its place (`helix restore --backup FILE`), or have `helix recover`"
            " set it aside and take back what can be read of it",
        ) from error
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise DiskFullError(
                f"no room to write {path}", hint="free some space and try again: nothing was lost"
            ) from error
        raise
