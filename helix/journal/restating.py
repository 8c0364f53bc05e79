"""Restating: what the state should be, by replaying the log beside it; and making the state so.

The state is kept by the transactions that write the log, so the two can only part by damage. A log whose chain is whole
is believed before any row of the state. One that has damaged rows itself knows less than the state: then only those
rows of the state are replaced that cannot be read, and whatever else the log still knows is put beside them.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from helix import files
from helix.errors import StoreCorruptError
from helix.journal import decoding, tables
from helix.journal.backend import DatabaseConnection
from helix.journal.chain import GENESIS, continues_chain
from helix.journal.database import empty_file
from helix.journal.writes import Writes
from helix.model.operations import Change, DropNode

Read = Callable[[bytes | None, bytes | None, bytes], Change | None]
"""Returns the change of a stored row, or None for one that was erased or is damaged."""
Tokenise = Callable[[str], Sequence[str]]
Row = tuple[Any, ...]

_OPERATIONS_AT_ONCE = 10_000
_COLUMNS = {
    "node": "label, id, props",
    "edge": "type, source_label, source, target_label, target, props",
    "passage": "number, id, owner_label, owner, text",
    "token": "number, tokens",
}
_SAME = "CAST({0} AS BLOB) IS CAST(? AS BLOB)"
_DROP_VECTOR = f"DELETE FROM vector WHERE {_SAME.format('space')} AND {_SAME.format('number')}"
_MADE_OF_OTHERS = frozenset({"token"})
"""Tables that can be made of what other tables hold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableDifference:
    """How a table of the state differs from what the log comes to, in rows."""

    table: str
    missing: int = 0
    extra: int = 0
    changed: int = 0
    unreadable: int = 0
    lost: int = 0
    """How many of the unreadable neither the log nor another table of the state can tell."""

    @property
    def total(self) -> int:
        """How many rows of the journal's state differ from its log."""
        return self.missing + self.extra + self.changed + self.unreadable

    @property
    def sentence(self) -> str:
        """What is wrong with the journal's state, in words."""
        counts = {"missing": self.missing, "too many": self.extra, "changed": self.changed}
        told = [f"{count:,} {word}" for word, count in {**counts, "unreadable": self.unreadable}.items() if count]
        return f"{self.table}s: {', '.join(told)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What differs, how many rows of the log were read, and whether all of the log is as it was written.

    With a damaged log only what cannot be read counts as different.
    """

    differences: tuple[TableDifference, ...]
    rows: int
    whole: bool

    @property
    def lost(self) -> int:
        """How many rows of the journal's state nothing can tell any more."""
        return sum(one.lost for one in self.differences)


def compare(connection: DatabaseConnection, beside: Path, read: Read, tokenise: Tokenise) -> Comparison:
    """Compare the journal's state with its log as this connection sees both; nothing is changed.

    What the log comes to is kept in a file in the folder of `beside`, gone afterwards.
    """
    with _lenient(connection), _replayed(connection, beside, read, tokenise) as replay:
        return _compared(connection, replay)


def mend(connection: DatabaseConnection, beside: Path, read: Read, tokenise: Tokenise) -> Comparison:
    """Rebuild the journal's state from its log, in the caller's transaction; return what differed before."""
    with _lenient(connection), _replayed(connection, beside, read, tokenise) as replay:
        found = _compared(connection, replay)
        wrong = {one.table for one in found.differences}
        for table in _COLUMNS:
            if table in wrong:
                _refill(connection, replay.scratch, table, whole=found.whole)
        if found.differences:
            _drop_bad_vectors(connection)
            _retokenise(connection, tokenise)
        return found


@contextmanager
def as_of(
    connection: DatabaseConnection, beside: Path, read: Read, tokenise: Tokenise, seq: int
) -> Iterator[DatabaseConnection]:
    """Lend a connection to the journal's state as of row `seq` of its log, in a file that is gone afterwards."""
    with _replayed(connection, beside, read, tokenise, seq) as replay:
        replay.scratch.execute("CREATE INDEX passage_of ON passage (owner, number)")
        yield replay.scratch


@dataclass(frozen=True, slots=True)
class _Replay:
    scratch: DatabaseConnection
    rows: int
    whole: bool


@contextmanager
def _lenient(connection: DatabaseConnection) -> Iterator[None]:
    """Have the connection read bytes that are no UTF-8, instead of ending in an error at them."""
    if not isinstance(connection, sqlite3.Connection):  # a server lets nothing else in
        yield
        return
    connection.text_factory = lambda value: value.decode("utf-8", "surrogateescape")
    try:
        yield
    finally:
        connection.text_factory = str


@contextmanager
def _replayed(
    connection: DatabaseConnection, beside: Path, read: Read, tokenise: Tokenise, last: int | None = None
) -> Iterator[_Replay]:
    draft = beside.with_name(f"{beside.name}.replay-{threading.get_ident()}")  # others may compare at the same time
    draft.unlink(missing_ok=True)
    with ExitStack() as kept:
        kept.callback(draft.unlink, missing_ok=True)
        with os.fdopen(files.create_private(draft, exclusive=True), "wb") as file:
            file.write(empty_file())
        scratch = sqlite3.connect(draft, isolation_level=None)
        kept.callback(scratch.close)
        scratch.execute("PRAGMA journal_mode = OFF")
        scratch.execute("PRAGMA synchronous = OFF")
        with suppress(OSError):  # Windows keeps the name until the file is closed
            draft.unlink()
        scratch.execute("BEGIN")
        yield _Replay(scratch, *_replay(connection, scratch, read, tokenise, last))


def _replay(
    connection: DatabaseConnection, scratch: DatabaseConnection, read: Read, tokenise: Tokenise, last: int | None
) -> tuple[int, bool]:
    """Apply every row of the log, up to `last`, to the scratch tables.

    Returns how many, and whether all are as they were written.
    """
    writes, before, whole, seen, waiting = Writes(scratch), GENESIS, True, 0, 0
    for seq, at, payload, salt, digest, chain in connection.execute(
        "SELECT seq, CAST(at AS INTEGER), CAST(payload AS BLOB), CAST(salt AS BLOB), CAST(digest AS BLOB),"
        " CAST(chain AS BLOB) FROM log WHERE seq <= coalesce(?, seq) ORDER BY seq",
        (last,),
    ):
        change = read(payload, salt, digest)
        whole = whole and continues_chain(before, seq, at, digest, chain) and (change is not None or payload is None)
        before = chain
        if change is None:
            continue
        # What a dropped node takes along stands in the log beside it: nothing of it has to be looked for.
        writes.foresee(op for op in change.operations if not isinstance(op, DropNode))
        for op in change.operations:
            writes.add(op)
        seen, waiting = seen + 1, waiting + len(change.operations)
        if waiting >= _OPERATIONS_AT_ONCE:  # a row of the log has one, or thousands
            _flush(scratch, writes, tokenise)
            waiting = 0
    _flush(scratch, writes, tokenise)
    return seen, whole


def _flush(scratch: DatabaseConnection, writes: Writes, tokenise: Tokenise) -> None:
    batch = writes.batch()
    batch.tokens = [(op.number, " ".join(tokenise(op.text))) for op in batch.passages]
    tables.write(scratch, batch)


def _compared(connection: DatabaseConnection, replay: _Replay) -> Comparison:
    found = [_table(connection, replay, table) for table in _COLUMNS]
    found.append(TableDifference(table="vector", unreadable=sum(1 for _ in _bad_vectors(connection))))
    return Comparison(differences=tuple(one for one in found if one.total), rows=replay.rows, whole=replay.whole)


def _table(connection: DatabaseConnection, replay: _Replay, table: str) -> TableDifference:
    query = f"SELECT {_COLUMNS[table]} FROM {table}"
    wanted = dict(_digests(table, row) or (b"", b"") for row in replay.scratch.execute(query))
    extra = changed = unreadable = 0
    for row in connection.execute(query):
        held = _digests(table, row)
        if held is None:
            unreadable += 1
        elif (digest := wanted.pop(held[0], None)) is None:
            extra += 1
        else:
            changed += digest != held[1]
    # A row whose key cannot be read counts once, as unreadable, and not as missing too.
    missing = max(0, len(wanted) - unreadable)
    lost = 0
    if not replay.whole:
        missing = len(_without_tokens(connection)) if table == "token" else 0
        extra = changed = 0
        # What the log has that no readable row of the state has, it has of those that cannot be read.
        lost = 0 if table in _MADE_OF_OTHERS else max(0, unreadable - len(wanted))
    return TableDifference(table=table, missing=missing, extra=extra, changed=changed, unreadable=unreadable, lost=lost)


def _digests(table: str, row: Row) -> tuple[bytes, bytes] | None:
    """Return digests of a row's key and of all that it says, None for a row that cannot be read."""
    key: Row
    said: object
    try:
        match table:
            case "node":
                node = decoding.put_node(row)
                key, said = (node.label.value, node.id), _canonical(node.props)
            case "edge":
                key, said = row[:5], _canonical(decoding.put_edge(row).props)
            case "passage":
                decoding.put_passage((*row, None))
                key, said = row[:1], row[1:]
            case _:
                decoding.text_of(row[1])
                key, said = row[:1], row[1:]
        json.dumps(row, ensure_ascii=False).encode()  # raises for bytes, and for those that are no UTF-8
    except (StoreCorruptError, TypeError, ValueError):
        return None
    return _digest(key), _digest(said)


def _canonical(props: object) -> str:
    return json.dumps(props, ensure_ascii=False, sort_keys=True)


def _digest(what: object) -> bytes:
    return hashlib.blake2b(repr(what).encode(), digest_size=16).digest()


def _refill(connection: DatabaseConnection, scratch: DatabaseConnection, table: str, *, whole: bool) -> None:
    """Replace a table's rows by what the log comes to; where the log is damaged, readable rows stay."""
    columns = _COLUMNS[table]
    kept: list[Row] = []
    if not whole:
        held = connection.execute(f"SELECT {columns} FROM {table}")
        kept = [row for row in held if _digests(table, row) is not None]
    connection.execute(f"DELETE FROM {table}")
    statement = (
        f"INSERT INTO {table} ({columns}) VALUES ({', '.join('?' * len(columns.split(',')))}) ON CONFLICT DO NOTHING"
    )
    connection.executemany(statement, kept)
    connection.executemany(statement, scratch.execute(f"SELECT {columns} FROM {table}"))


def _retokenise(connection: DatabaseConnection, tokenise: Tokenise) -> None:
    """Make the tokens that a damaged log could not bring back of the passages themselves."""
    tables.put_tokens(connection, ((number, " ".join(tokenise(text))) for number, text in _without_tokens(connection)))


def _without_tokens(connection: DatabaseConnection) -> list[Row]:
    """Return number and text of the passages that have no row of tokens."""
    query = (
        "SELECT number, text FROM passage WHERE NOT EXISTS (SELECT 1 FROM token WHERE token.number = passage.number)"
    )
    return [row for row in connection.execute(query) if isinstance(row[1], str)]


def _bad_vectors(connection: DatabaseConnection) -> Iterator[Row]:
    """Yield the keys of vectors that are none of their space's. One whose passage is gone does no harm."""
    dimensions = dict(connection.execute("SELECT id, dimension FROM space"))
    for space, number, vector in connection.execute("SELECT space, number, vector FROM vector"):
        known = space in dimensions and isinstance(number, int)
        if not known or not decoding.is_vector(vector, dimensions[space]):
            yield _bare(space), _bare(number)


def _bare(value: object) -> object:
    """Return what stands in a column as it can be asked for: text may hold bytes that are no UTF-8."""
    return value.encode("utf-8", "surrogateescape") if isinstance(value, str) else value


def _drop_bad_vectors(connection: DatabaseConnection) -> None:
    """Remove vectors that are none: their passages are embedded again in the background."""
    bad = list(_bad_vectors(connection))
    plain = [key for key in bad if all(isinstance(part, int) for part in key)]
    connection.executemany("DELETE FROM vector WHERE space = ? AND number = ?", plain)
    connection.executemany(_DROP_VECTOR, [key for key in bad if not all(isinstance(part, int) for part in key)])
