"""Memory rows: which rows of the log write which memory, so that a history need not read all of it.

Nothing of this is stored: it is found when it is asked for first, which takes as long as unpacking the log, and later
questions look at what came since.
"""

from __future__ import annotations

import json
import re
import threading
import zlib
from collections.abc import Collection, Iterator

from helix.journal.decoding import inflated
from helix.journal.log import Journal
from helix.journal.pages import opened
from helix.model.operations import Row, decode

_PAGE = 2_000
_WRITES = re.compile(rb'"op":"node","label":"Memory","id":"([^"\\]+)"')
"""How a row says that it writes a memory (`encode_operation`); within a text the quotes are escaped."""
_LISTED = "(SELECT CAST(value AS BIGINT) FROM json_each(?))"


class MemoryRows:
    """The rows of one journal by the memories that they write. Safe from any thread."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._guard = threading.Lock()
        self._rows: dict[str, tuple[int, ...]] = {}
        self._seen, self._chain = 0, ""

    def of(self, ids: Collection[str]) -> list[Row]:
        """Return the readable journal rows that write a memory of one of the ids, as they were logged, in order.

        A PutNode of theirs may have only the properties that it overwrote.
        """
        with self._guard:
            self._catch_up()
            seqs = sorted({seq for one in ids for seq in self._rows.get(one, ())})
        return list(self._select_rows(seqs))

    def _catch_up(self) -> None:
        if self._seen and self._journal.chain_at(self._seen) != self._chain:  # a backup took the journal's place
            self._rows, self._seen = {}, 0
        while page := self._page():
            for seq, payload in page:
                for ident in dict.fromkeys(_written(payload)):
                    self._rows[ident] = (*self._rows.get(ident, ()), seq)
            self._seen = page[-1][0]
        self._chain = self._journal.chain_at(self._seen)

    def _page(self) -> list[tuple[int, bytes | None]]:
        statement = "SELECT seq, CAST(payload AS BLOB) FROM log WHERE seq > ? ORDER BY seq LIMIT ?"
        with self._journal.database.reading() as connection:
            found: list[tuple[int, bytes | None]] = connection.execute(statement, (self._seen, _PAGE)).fetchall()
        return found

    def _select_rows(self, seqs: list[int]) -> Iterator[Row]:
        statement = (
            "SELECT seq, CAST(at AS INTEGER), CAST(payload AS BLOB) FROM log"
            f" WHERE seq IN {_LISTED} AND payload IS NOT NULL ORDER BY seq"
        )
        with self._journal.database.reading() as connection:
            rows = connection.execute(statement, (json.dumps(seqs),)).fetchall()
        for seq, at, payload in rows:
            data = opened(payload)
            if data is not None:
                yield Row(seq=seq, at=at, change=decode(data))


def _written(payload: bytes | None) -> list[str]:
    """Return the ids of the memories that a row writes; none for one that was erased or cannot be read."""
    try:
        found: list[bytes] = _WRITES.findall(b"" if payload is None else inflated(payload))
    except zlib.error:
        return []
    return [ident.decode("utf-8", "replace") for ident in found]
