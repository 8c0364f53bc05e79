"""The mark: how far the journal has come, kept outside of it, so that a loss inside of it is noticed.

SQLite drops what follows a damaged page of its write-ahead log, and starts empty where its file is empty: both without
an error. The mark is one short line, written over after every commit. It is not synced with each: after a power cut it
may be older than the journal, which says nothing, and is never newer, because the journal was synced before it was
written. So a journal that is behind its mark has lost what was acknowledged.
"""

from __future__ import annotations

import errno
import json
import logging
import os
import sqlite3
import threading
import zlib
from collections.abc import Collection, Mapping
from contextlib import closing, suppress
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from helix.errors import StoreError
from helix.files import create_private, open_regular, read_bytes
from helix.journal.database import mapped

log = logging.getLogger(__name__)

Stamp = Mapping[str, str | int]
"""What the image of a store in memory says of itself: of which store, up to which row, with which chain."""

COMMITS = "commits"
"""Key under which the journal counts its transactions."""
_LINE_BYTES = 256
_CLOSED = (errno.EACCES, errno.EPERM)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """How far a journal has come: its id, the transactions it took, its newest row and the digest up to that row.

    `commits` counts what is no row of the log too (jobs, private sessions, notes); -1 where a witness cannot tell.
    """

    store: str
    seq: int
    chain: str
    commits: int = -1


class MarkFile:
    """The mark's file. Only the owner of the store's lock writes it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.trouble = ""
        """Why the mark cannot be relied on, in a sentence; empty while it can."""
        self._fd: int | None = None
        self._turn = threading.Lock()

    def read(self) -> Reach | None:
        """Return the journal's mark as last written, or None: none, a replaced journal (`suspend`), or damaged."""
        try:
            checksum, _, text = read_bytes(self.path, _LINE_BYTES, links=False).rstrip(b"\n ").partition(b" ")
            if int(checksum, 16) != zlib.crc32(text):
                raise ValueError("its checksum is wrong")
            said = json.loads(text)
            return Reach(**{field.name: said[field.name] for field in fields(Reach)})
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError) as error:
            why = error.strerror if isinstance(error, OSError) else "it is damaged"
            self._tell(f"{self.path} could not be read at the start ({why}): a loss would not have been noticed by it")
            return None

    def _tell(self, trouble: str) -> None:
        if not self.trouble:
            log.warning("the journal's mark cannot be used", extra={"error": trouble})
        self.trouble = trouble

    def write(self, reach: Reach) -> None:
        """Write the journal's mark over; where that cannot be it stays older, which costs no acknowledged write."""
        text = json.dumps(asdict(reach), separators=(",", ":")).encode("ascii")
        line = b"%08x %s" % (zlib.crc32(text), text)
        with self._turn:
            try:
                if self._fd is None:
                    self._fd = create_private(self.path)
                os.lseek(self._fd, 0, os.SEEK_SET)
                os.write(self._fd, line.ljust(_LINE_BYTES - 1) + b"\n")
            except OSError as error:
                self._tell(
                    f"{self.path} cannot be written ({error.strerror}), so a loss would not be noticed by it: remove"
                    " what is in its place, and start Helix again"
                )

    def sync(self) -> None:
        """Have the disk hold the journal's mark; for moments at which nobody waits."""
        with self._turn, suppress(OSError):
            if self._fd is not None:
                os.fsync(self._fd)

    def suspend(self) -> None:
        """Take the mark away before the journal is replaced on purpose; the next commit writes it again."""
        self.close()
        if self.path.is_file():  # anything else in its place tells of no journal
            self.path.unlink()

    def close(self) -> None:
        """Let go of the file of the journal's mark; closing twice is no error."""
        with self._turn:
            if self._fd is not None:
                os.close(self._fd)
                self._fd = None


def count_transaction(connection: sqlite3.Connection) -> int:
    """Count the journal's transaction that is about to end, in it; return how many there have been."""
    (commits,) = connection.execute(
        "INSERT INTO meta VALUES (?, '1') ON CONFLICT (key) DO UPDATE SET value = CAST(value AS INTEGER) + 1"
        " RETURNING CAST(value AS INTEGER)",
        (COMMITS,),
    ).fetchone()
    return int(commits)


def check_files(journal: Path) -> None:
    """Raise StoreError where the journal, or a file that SQLite keeps beside it, is no file that can be read.

    SQLite itself says of a pipe that the disk is full, and names neither file.
    """
    for end, hint in (
        ("", "move it away and put a backup in its place: `helix restore --backup FILE`"),
        ("-wal", "move it away; it may hold what was stored last"),
        ("-shm", "remove it: it is made anew"),
    ):
        path = journal.with_name(journal.name + end)
        try:
            open_regular(path, links=False).close()
        except FileNotFoundError:
            continue
        except OSError as error:
            own = "see who owns it and what its permissions are: `ls -l`" if error.errno in _CLOSED else hint
            raise StoreError(f"{path} cannot be read: {error.strerror}", hint=own) from error


def reached(journal: Path, rows: Collection[int] = ()) -> tuple[Reach, dict[int, str]] | None:
    """Return the last row of a journal that nobody has open, and the chain's digests up to the rows asked for.

    Nothing is changed: neither the file nor SQLite's log. None where there is no journal, or an empty file. Raises
    StoreCorruptError for one that SQLite cannot read, and StoreError for what is no file.
    """
    check_files(journal)
    if not journal.is_file() or not journal.stat().st_size:
        return None
    with mapped(journal), closing(sqlite3.connect(f"{journal.absolute().as_uri()}?mode=ro", uri=True)) as connection:
        if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'log'").fetchone():
            return None
        meta = dict(connection.execute("SELECT key, value FROM meta WHERE key IN ('store_id', ?)", (COMMITS,)))
        seq, chain = connection.execute(
            "SELECT seq, CAST(chain AS BLOB) FROM log ORDER BY seq DESC LIMIT 1"
        ).fetchone() or (0, b"")
        reach = Reach(
            store=meta.get("store_id", ""),
            seq=int(seq),
            chain=bytes(chain).hex(),
            commits=int(commits[:18]) if (commits := str(meta.get(COMMITS, ""))).isdecimal() else -1,
        )
        chains = {
            row: bytes(found[0]).hex()
            for row in rows
            if (found := connection.execute("SELECT CAST(chain AS BLOB) FROM log WHERE seq = ?", (row,)).fetchone())
        }
    return reach, chains
