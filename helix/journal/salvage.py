"""Salvage: rows of a damaged journal's log that can still be proved, for whoever lost them.

SQLite stops at the first page of its write-ahead log that is damaged and drops all behind it. But each page there has a
checksum that begins with the one before it, so every undamaged page behind the gap can be told from a damaged one. They
are laid over a copy of the journal, and of that every row of the log is taken whose payload has the digest it was
accepted with. Which rows those are is the log's own proof; the rest of that copy is not believed.

A file that SQLite cannot open, or not read to its end, is read page by page: each page of rows is shown to SQLite as a
table of its own, below a first page that is known to be whole. What is in it and is no row of the log proves nothing.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import struct
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import IO

from helix.errors import StoreError
from helix.files import create_private, open_regular, read_bytes
from helix.journal import table_check
from helix.journal.log import proved
from helix.model.operations import Row

_HEADER, _FRAME_HEADER = 32, 24
_MAGIC = (0x377F0682, 0x377F0683)
_PAGE_SIZES = frozenset(1 << power for power in range(9, 17))
_DEFAULT_PAGE = 4_096
_MOST_BYTES = 1 << 30
_LEAST_ROW = 64
"""Bytes of a row of the log at least: two digests."""
_PAGES_PLACE = 28
"""Where a file's first page says how many there are."""
_PAGE_OF_ROWS = 13
"""First byte of a page that holds rows of a table."""
_SELECT = "SELECT seq, CAST(at AS INTEGER), CAST(payload AS BLOB), CAST(salt AS BLOB), CAST(digest AS BLOB) FROM log"


def rows_in(journal: Path, wal: Path, draft: Path, after: int) -> list[Row]:
    """Return the rows behind `after` that a damaged journal's file and its write-ahead log hold, in their order.

    Either may be damaged or missing, and neither is changed; `draft` is a file to work in, gone afterwards.
    """
    try:
        draft.unlink(missing_ok=True)  # what a kill left
        with os.fdopen(create_private(draft, exclusive=True), "wb") as copy:
            if journal.is_file():
                with open_regular(journal, links=False) as held:
                    shutil.copyfileobj(held, copy)
            if wal.is_file() and wal.stat().st_size <= _MOST_BYTES:
                _lay_over(copy, read_bytes(wal, _MOST_BYTES, links=False))
        return list(_rows(draft, after))
    finally:
        for suffix in ("", "-wal", "-shm"):
            draft.with_name(draft.name + suffix).unlink(missing_ok=True)


def _lay_over(copy: IO[bytes], wal: bytes) -> None:
    """Write every page of the log that is proved into the copy, later ones over earlier ones."""
    magic, _, size = struct.unpack_from(">III", wal.ljust(_HEADER, b"\0"))
    order = ">" if magic == _MAGIC[1] else "<"
    page = size if size in _PAGE_SIZES else _DEFAULT_PAGE
    places = range(_HEADER, len(wal) - _FRAME_HEADER - page + 1, _FRAME_HEADER + page)
    salts = Counter(wal[place + 8 : place + 16] for place in places).most_common(1)
    before = wal[24:32]
    for place in places:
        head, content = wal[place : place + _FRAME_HEADER], wal[place + _FRAME_HEADER :][:page]
        whole = head[8:16] == salts[0][0] and _checksum(before, head[:8] + content, order) == head[16:24]
        before = head[16:24]
        if whole:
            copy.seek((int.from_bytes(head[:4], "big") - 1) * page)
            copy.write(content)


def _checksum(before: bytes, content: bytes, order: str) -> bytes:
    """Return SQLite's checksum of a page of its log, which goes on from that of the page before."""
    first, second = struct.unpack(">II", before)
    words = struct.unpack(f"{order}{len(content) // 4}I", content)
    for even, odd in zip(words[::2], words[1::2], strict=True):
        first = (first + even + second) & 0xFFFFFFFF
        second = (second + odd + first) & 0xFFFFFFFF
    return struct.pack(">II", first, second)


def _rows(draft: Path, after: int) -> Iterator[Row]:
    """Yield what can be read, row by row; where that meets damage, what stands in the pages by themselves too."""
    found: dict[int, Row] = {}
    try:
        with closing(sqlite3.connect(draft)) as connection:
            table_check.harden(connection)
            table_check.check_objects(connection, draft)
            connection.execute("PRAGMA journal_mode = DELETE")
            (newest,) = connection.execute("SELECT max(seq) FROM log").fetchone()
            last, whole = int(newest or after), True
            if last - after > draft.stat().st_size // _LEAST_ROW:
                raise ValueError("the newest row has a number that so few bytes cannot come to")
            for seq in range(after + 1, last + 1):
                try:
                    stored = connection.execute(f"{_SELECT} WHERE seq = ?", (seq,)).fetchone()
                except sqlite3.Error:
                    whole = False
                    continue
                whole = whole and stored is not None
                found.update(_proved([stored] if stored else []))
    except (sqlite3.Error, StoreError, ValueError, TypeError):
        whole = False
    if not whole and draft.stat().st_size <= _MOST_BYTES:
        found = {**_in_pages(read_bytes(draft, _MOST_BYTES, links=False)), **found}
    yield from (found[seq] for seq in sorted(found) if seq > after)


def _in_pages(content: bytes) -> dict[int, Row]:
    """Return the rows of the log that stand in any page of rows, whichever table the page was of."""
    found: dict[int, Row] = {}
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.execute(f"PRAGMA page_size = {_DEFAULT_PAGE}")
        connection.execute("CREATE TABLE log (seq INTEGER PRIMARY KEY, at, payload, salt, digest, chain)")
        first = connection.serialize()[:_DEFAULT_PAGE]
        pages = -(-len(content) // _DEFAULT_PAGE)
        whole = (first + content[_DEFAULT_PAGE:]).ljust(max(pages, 2) * _DEFAULT_PAGE, b"\0")
        connection.deserialize(whole[:_PAGES_PLACE] + struct.pack(">I", pages) + whole[_PAGES_PLACE + 4 :])
        connection.execute("PRAGMA writable_schema = ON")
        for number in range(2, pages + 1):
            if whole[(number - 1) * _DEFAULT_PAGE] == _PAGE_OF_ROWS:
                with suppress(sqlite3.Error):
                    connection.execute("UPDATE sqlite_master SET rootpage = ?", (number,))
                    connection.execute("PRAGMA writable_schema = RESET")
                    connection.execute("PRAGMA writable_schema = ON")
                    for stored in connection.execute(_SELECT):
                        found.update(_proved([stored]))
    return found


def _proved(stored: Iterable[tuple[int, int, bytes | None, bytes | None, bytes]]) -> Iterator[tuple[int, Row]]:
    for seq, at, payload, salt, digest in stored:
        change = proved(payload, salt, digest)
        if change is not None:
            yield seq, Row(seq=seq, at=at, change=change)
