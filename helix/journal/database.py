"""The SQLite file of the journal: connections, transactions, migrations and the mapping of its errors."""

from __future__ import annotations

import errno
import hashlib
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from helix import resources
from helix.errors import DiskFullError, HelixError, StoreCorruptError, StoreError, StoreLockedError, StoreTooNewError

_PAGE_CACHE_KIB = 16_384


class Database:
    """One journal file. The writer's connection is used under a lock; each reading thread has one of its own."""

    def __init__(self, path: Path) -> None:
        """Open or create the file and bring its tables up to date.

        Raises StoreTooNewError, StoreCorruptError, DiskFullError or StoreError (SQLite without FTS5).
        """
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._local = threading.local()
        self._write_lock = threading.RLock()
        self._opened: list[sqlite3.Connection] = []
        self._opened_lock = threading.Lock()
        with mapped(path):
            self._writer = self._connect()
            self._writer.execute("PRAGMA journal_mode = WAL")
            self._writer.execute("PRAGMA synchronous = FULL")
            self._writer.execute("PRAGMA secure_delete = ON")
        try:
            with self.transaction() as connection:
                migrate(connection, path)
        except HelixError:
            self.close()
            raise

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self.path, isolation_level=None, check_same_thread=False, timeout=10)
        connection.execute(f"PRAGMA cache_size = -{_PAGE_CACHE_KIB}")
        with self._opened_lock:
            self._opened.append(connection)
        return connection

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Run a durable transaction on the writer's connection: all of it, or nothing."""
        with self._write_lock, mapped(self.path):
            self._writer.execute("BEGIN IMMEDIATE")
            try:
                yield self._writer
                self._writer.execute("COMMIT")
            except BaseException:
                if self._writer.in_transaction:
                    self._writer.execute("ROLLBACK")
                raise

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Lend this thread's reading connection."""
        with mapped(self.path):
            connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
            if connection is None:
                connection = self._local.connection = self._connect()
                connection.execute("PRAGMA query_only = ON")
            yield connection

    @contextmanager
    def snapshot(self) -> Iterator[sqlite3.Connection]:
        """Lend a connection that goes on seeing the file as it is now."""
        with mapped(self.path):
            connection = sqlite3.connect(self.path, isolation_level=None, check_same_thread=False, timeout=10)
            try:
                connection.execute("PRAGMA query_only = ON")
                connection.execute("BEGIN")
                yield connection
            finally:
                connection.close()

    def checkpoint(self) -> None:
        """Fold SQLite's own log into the file, as far as readers allow."""
        with self._write_lock, mapped(self.path):
            self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def backup_to(self, target: Path) -> None:
        """Copy a consistent state of the file while others read and write."""
        with mapped(target):
            copy = sqlite3.connect(target)
            try:
                with self.reading() as connection:
                    connection.backup(copy, pages=2_000, sleep=0.005)
            finally:
                copy.close()

    def size_bytes(self) -> int:
        """Return the bytes of the file and its log on disk."""
        return sum(p.stat().st_size for p in (self.path, self.path.with_name(self.path.name + "-wal")) if p.exists())

    def close(self) -> None:
        """Close every connection, whichever thread opened it."""
        with self._opened_lock:
            for connection in self._opened:
                connection.close()
            self._opened.clear()


def migrate(connection: sqlite3.Connection, path: Path) -> None:
    """Apply the numbered scripts of `schema/journal` that the file lacks.

    A script that was applied must still have the hash it had: history is forward only.
    """
    connection.execute("CREATE TABLE IF NOT EXISTS migration (number INTEGER PRIMARY KEY, name TEXT, hash TEXT)")
    applied = {number: (name, digest) for number, name, digest in connection.execute("SELECT * FROM migration")}
    scripts = sorted(resources.directory("schema").joinpath("journal").glob("[0-9]*.sql"))
    known = {int(script.name[:4]) for script in scripts}
    if newer := sorted(set(applied) - known):
        raise StoreTooNewError(
            f"{path} was written by a newer Helix: it has migration {newer[-1]} and this Helix ends at {max(known)}",
            hint="update Helix (`pip install -U helix-memory`)",
        )
    for script in scripts:
        number, text = int(script.name[:4]), script.read_text("utf-8")
        digest = hashlib.sha256(text.encode()).hexdigest()
        if number not in applied:
            for statement in statements(text):
                connection.execute(statement)
            connection.execute("INSERT INTO migration VALUES (?, ?, ?)", (number, script.name, digest))
        elif applied[number][1] != digest:
            raise StoreError(f"migration {script.name} has changed since it was applied to {path}", hint="reinstall Helix")


def statements(script: str) -> Iterator[str]:
    """Yield the statements of an SQL script (sqlite3's executescript would commit the transaction around it)."""
    pending = ""
    for line in script.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            yield pending
            pending = ""


@contextmanager
def mapped(path: Path) -> Iterator[None]:
    """Turn SQLite's and the system's errors into Helix's own."""
    try:
        yield
    except sqlite3.OperationalError as error:
        text = str(error)
        if "full" in text or "disk I/O error" in text:
            raise DiskFullError(f"no room to write {path}", hint="free some space and try again: nothing was lost") from error
        if "locked" in text or "busy" in text:
            raise StoreLockedError(f"{path} is locked by another program", hint="close it and try again") from error
        if "no such module: fts5" in text:
            raise StoreError("this Python's SQLite lacks FTS5", hint="use a Python whose sqlite3 has FTS5 compiled in") from error
        raise StoreError(f"{path}: {text}", hint="`helix doctor` looks closer") from error
    except sqlite3.DatabaseError as error:
        raise StoreCorruptError(f"{path} is damaged: {error}", hint="restore a backup: `helix restore --backup FILE`") from error
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise DiskFullError(f"no room to write {path}", hint="free some space and try again: nothing was lost") from error
        raise
