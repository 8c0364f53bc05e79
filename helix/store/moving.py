"""Moving: carries a whole store from one engine to another, the log byte for byte, and compares both afterwards.

The log comes first, in parts that stay: a move that was cut off goes on behind the last row that both have. Every other
table is small beside it and is carried anew. Only what is the same on both sides counts as moved.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from helix.errors import ConflictError, InvalidInputError, StoreCorruptError, StoreError
from helix.journal.backend import Backend, DatabaseConnection

TABLES: Mapping[str, Sequence[str]] = {
    "log": ("seq", "at", "payload", "salt", "digest", "chain"),
    "node": ("label", "id", "props"),
    "edge": ("type", "source_label", "source", "target_label", "target", "props"),
    "passage": ("number", "id", "owner_label", "owner", "text"),
    "token": ("number", "tokens"),
    "space": ("id", "model", "dimension", "digest", "active"),
    "vector": ("space", "number", "vector"),
    "meta": ("key", "value"),
    "work": (
        *("id", "kind", "key", "payload", "state", "attempts", "not_before", "created_at"),
        *("started_at", "ended_at", "error", "result", "again"),
    ),
    "job_step": ("job", "step", "seq"),
    "effect": ("job", "key", "step", "seq", "before", "after", "crossed", "space", "vector"),
    "undone": ("job", "seq", "at"),
    "model_answer": ("key", "at", "model", "answer", "tokens_in", "tokens_out", "cost"),
    "model_spend": ("month", "provider", "calls", "failures", "tokens_in", "tokens_out", "cost"),
    "extracted": ("episode", "edition", "candidates", "vectors"),
    "idempotency": ("key", "step", "at", "salt", "digest", "answer"),
    "strand_version": (*("id", "selection", "seq", "at", "root", "parents", "who", "why", "tag", "taken_at"),),
}
"""What is carried, with its columns. `known_copy` stays: copies of a file are no copies of what took its place."""

MOVED_TO = "moved_to"
"""Key under which a store says where it went: it is no longer opened."""
MOVED_FROM = "moved_from"
"""Key under which a store says, while it is carried here, where it comes from: it is not opened yet."""
MOVE = "move"
"""Key under which both places keep the same number of a move: so each knows the other, however it is written."""
WHOLE = "moved_whole"
"""Key under which a store says that all of it arrived here: where it came from is no longer needed."""
LEFT_AS = "left_as"
"""Key under which a server's tenant keeps the state that it is moved away in, and comes back to."""
OF_THE_PLACE = (MOVED_TO, MOVED_FROM, MOVE, WHOLE, LEFT_AS)
"""What a store says of the place where it is: it stays there, and is not carried."""

_NAMED = {
    "node": ("label", "id"),
    "edge": ("type", "source_label", "source", "target_label", "target"),
    "passage": ("owner_label", "owner"),
}
"""What a row is told by, where that is more than its key."""
_AT_ONCE = 1_000
_TRUTHS = frozenset({("space", "active"), ("effect", "crossed")})
_IN_ORDER = {"log": "seq", "effect": "rowid", "strand_version": "rowid"}

Progress = Callable[[str, int], None]
"""Told which table is being carried, and how many rows of it are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """What was carried: rows by table, and the digest of the log up to its newest row, in hexadecimal digits."""

    rows: Mapping[str, int]
    chain: str
    suspended: bool = False
    """Whether it is a tenant now that is not served, as it was when it was moved away."""


def check_here(said: Callable[[str], str | None], *, to_clients: bool = False) -> None:
    """Raise StoreError where what a store says under a key tells that it is on its way here, or went elsewhere.

    `to_clients`: the words reach clients of a server, who are told no place that only its operator knows.
    """
    if comes := said(MOVED_FROM):
        hint = "end it: the same `helix migrate` once more, or with --source-gone in place of --from"
        raise StoreError(f"the move of this store from {'elsewhere' if to_clients else comes} was cut off", hint=hint)
    if went := said(MOVED_TO):
        hint = "use it there; a move that was cut off is ended by the same `helix migrate`"
        raise StoreError(f"this store has moved {'elsewhere' if to_clients else f'to {went}'}", hint=hint)


def move(
    source: Backend,
    target: Backend,
    progress: Progress = lambda table, rows: None,
    begun: Callable[[], object] = lambda: None,
) -> Moved:
    """Carry all that one store holds from `source` to `target`, empty or what a move from the same one left.

    Nobody else writes either meanwhile. `begun` is called once the target proved to be such a one. Raises ConflictError
    where the target holds something else, and StoreCorruptError where both do not hold the same afterwards.
    """
    with source.snapshot() as reading:
        _check(reading, target)
        begun()
        for table, columns in TABLES.items():
            after = _emptied(target, table)
            for part in _parts(reading, table, columns, after):
                _put(target, table, columns, part)
                progress(table, len(part))
        with target.snapshot() as written:
            here, there = _digests(reading), _digests(written)
            different = [table for table in TABLES if here[table] != there[table]]
            if different:
                raise StoreCorruptError(
                    f"what was carried is not what there is: {', '.join(different)}",
                    hint="move it again; a text with U+0000 in it cannot be kept on a server",
                )
            newest = written.execute("SELECT chain FROM log ORDER BY seq DESC LIMIT 1").fetchone()
    return Moved(rows={table: count for table, (count, _) in here.items()}, chain=newest[0].hex() if newest else "")


def _check(reading: DatabaseConnection, target: Backend) -> None:
    """Raise ConflictError where the target's log is not the beginning of this one."""
    with target.reading() as connection:
        newest = connection.execute("SELECT seq, chain FROM log ORDER BY seq DESC LIMIT 1").fetchone()
    if newest is None:
        return
    same = reading.execute("SELECT chain FROM log WHERE seq = ?", (newest[0],)).fetchone()
    if same is None or bytes(same[0]) != bytes(newest[1]):
        raise ConflictError("the target holds another store", hint="move to an empty one: a new tenant, a new folder")


def _emptied(target: Backend, table: str) -> int:
    """Remove what an earlier move left of a table; leave the log, and return its newest row."""
    with target.transaction() as connection:
        if table == "log":
            return int(connection.execute("SELECT coalesce(max(seq), 0) FROM log").fetchone()[0])
        if table == "meta":
            connection.execute(
                f"DELETE FROM meta WHERE key NOT IN ({', '.join('?' for _ in OF_THE_PLACE)})", OF_THE_PLACE
            )
        else:
            connection.execute(f"DELETE FROM {table}")
    return 0


def _parts(
    reading: DatabaseConnection, table: str, columns: Sequence[str], after: int
) -> Iterator[list[tuple[Any, ...]]]:
    order = f" ORDER BY {_IN_ORDER[table]}" if table in _IN_ORDER else ""
    where = " WHERE seq > ?" if table == "log" else ""
    found = reading.execute(f"SELECT {', '.join(columns)} FROM {table}{where}{order}", (after,) if where else ())
    part: list[tuple[Any, ...]] = []
    for row in found:
        if not _stays(table, row):
            part.append(_plain(row))
        if len(part) == _AT_ONCE:
            yield part
            part = []
    if part:
        yield part


def _put(target: Backend, table: str, columns: Sequence[str], part: Sequence[tuple[Any, ...]]) -> None:
    try:
        with target.transaction() as connection:
            connection.executemany(_putting(table, columns), part)
    except InvalidInputError as error:
        for row in part:
            if any(isinstance(value, str) and "\0" in value for value in row):
                named = " ".join(str(row[columns.index(column)]) for column in _NAMED.get(table, columns[:1]))
                hint = "forget it for good where it is (`helix forget --hard`), `helix tenant delete` what has arrived,"
                words = f"{table} of {named} holds a text with U+0000, which a server cannot keep"
                raise StoreError(words, hint=f"{hint} and move again") from error
        raise


def _stays(table: str, row: Sequence[Any]) -> bool:
    """Whether a row belongs to the place and not to the store."""
    return table == "meta" and row[0] in OF_THE_PLACE


def _putting(table: str, columns: Sequence[str]) -> str:
    marks = ("? <> 0" if (table, column) in _TRUTHS else "?" for column in columns)
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join(marks)})"


def _plain(row: Sequence[Any]) -> tuple[Any, ...]:
    """Return a row as every engine gives it: truth is a number."""
    return tuple(int(value) if isinstance(value, bool) else value for value in row)


def _digests(connection: DatabaseConnection) -> dict[str, tuple[int, int]]:
    """Return for each table how many rows it has, and a digest of them, in whatever order they come."""
    found = {}
    for table, columns in TABLES.items():
        count = total = 0
        for row in connection.execute(f"SELECT {', '.join(columns)} FROM {table}"):
            if _stays(table, row):
                continue
            count += 1
            total += int.from_bytes(hashlib.sha256(repr(_plain(row)).encode("utf-8", "surrogatepass")).digest())
        found[table] = (count, total % (1 << 256))
    return found
