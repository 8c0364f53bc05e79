"""The journal: accepted changes in order, chained by salted digests, and the state they come to."""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from helix.errors import StoreCorruptError, StoreError
from helix.journal import effects, restating, state, tables
from helix.journal.backend import Backend, DatabaseConnection, put
from helix.journal.chain import GENESIS, ChainReport, chained_digest, continues_chain, digest_of
from helix.journal.database import Database
from helix.journal.decoding import inflated, text_of
from helix.journal.idempotency import Idempotency, RequestNote
from helix.journal.kept_results import Extracted
from helix.journal.mark import MarkFile, Reach, count_transaction
from helix.journal.restating import Comparison
from helix.journal.spaces import Spaces
from helix.journal.strand_versions import Versions
from helix.journal.writes import Writes
from helix.model.clock import from_micros
from helix.model.ids import IdMaker, uuid7
from helix.model.operations import (
    Change,
    Drop,
    PutPassage,
    Row,
    decode,
    drop_of,
    encode,
)

T = TypeVar("T")

_SALT_BYTES = 16
_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
# Whoever edits a row by hand may leave text where bytes were: that is damage to be found, not an error in reading.
_PAYLOAD, _SALT, _DIGEST, _CHAIN = (f"CAST({name} AS BLOB)" for name in ("payload", "salt", "digest", "chain"))
_AT = "CAST(at AS INTEGER)"


class Journal:
    """The log of one store. One thread appends; any thread reads."""

    def __init__(
        self,
        database: Backend,
        *,
        tokenise: Callable[[str], Sequence[str]],
        make_id: IdMaker = uuid7,
        mark: MarkFile | None = None,
    ) -> None:
        """Take over a journal's tables, and close them again; `tokenise` turns passage text into lexical tokens.

        With a mark, that is written over with every transaction, and of a server's journal with every append and by
        `note_reach`; copies of a journal have none.
        """
        self._mark = mark
        self._last: tuple[int, bytes] = (0, GENESIS)
        self._appended: tuple[int, bytes] | None = None
        self.database = database
        self.spaces = Spaces(self.database)
        self.effects = effects.Effects(self.database)
        self.extracted = Extracted(self.database)
        self.versions = Versions(self.database)
        self._tokenise = tokenise
        self.make_good: Callable[[], object] = self.restate
        """What is done where a row of the state is damaged; whoever holds more than the journal in memory sets it."""
        self.store_id = ""
        try:
            if self.meta("store_id") is None:  # else nothing is written: what takes no writes just now can be read
                with self.database.transaction() as connection:
                    connection.execute(
                        "INSERT INTO meta (key, value) VALUES ('store_id', ?) ON CONFLICT DO NOTHING",
                        (make_id(from_micros(0)),),
                    )
            self._look()
            self.idempotency = Idempotency(self.database)
            if mark is not None and not self.is_served:
                self.file.committed = self._reached
                with self.database.transaction():
                    """Write the mark: it may be missing, or behind."""
        except BaseException:
            self.database.close()
            raise

    def _reached(self, connection: Any) -> Callable[[], None]:
        """Count a transaction; return what notes how far the journal has come once it is durable."""
        commits = count_transaction(connection)

        def note() -> None:
            self._last = self._appended or self._last
            self.note_reach(commits)

        return note

    def note_reach(self, commits: int = -1) -> None:
        """Have the journal's mark say how far that has come; of a server's, `commits` is not known."""
        if self._mark is None:
            return
        seq, chain = self._last
        self._mark.write(Reach(store=self.store_id, seq=seq, chain=chain.hex(), commits=commits))
        if self.is_served:
            self._mark.close()  # a thousand tenants may be open

    def _look(self) -> None:
        with self.database.reading() as connection:
            (stored,) = connection.execute("SELECT value FROM meta WHERE key = 'store_id'").fetchone()
            self.store_id = text_of(stored)
            newest = connection.execute(f"SELECT seq, {_CHAIN} FROM log ORDER BY seq DESC LIMIT 1").fetchone()
        self._last = newest or (0, GENESIS)

    def restore_from(self, source: Path) -> None:
        """Take over the content of a checked backup into the journal; on the writer's thread."""
        if self._mark is not None:
            self._mark.suspend()  # it would say that rows are lost, to whoever opens what a kill left here
        self.file.committed = None
        try:
            self.file.restore_from(source)
            self._look()
        finally:
            self.file.committed = self._reached if self._mark is not None else None
        self.drop_meta("")  # a transaction of no effect, which writes the mark anew

    def fold_in_now(self) -> bool:
        """Fold the log of the journal's file in where nobody is in the way, and sync the mark to disk; else False."""
        if self._mark is not None:
            self._mark.sync()
        return self.file.checkpoint_now()

    @property
    def mark_trouble(self) -> str:
        """Why the journal's mark cannot be relied on, in a sentence; empty while it can, or without one."""
        if self._mark is None:
            return ""
        told = self._mark.trouble  # which folders a server's machine has is not told to its clients
        return told.replace(f"{self._mark.path.parent}/", "") if self.is_served else told

    @property
    def is_served(self) -> bool:
        """Whether a server keeps the journal's tables, for whoever is its home, and not a file beside the store."""
        return not isinstance(self.database, Database)

    @property
    def file(self) -> Database:
        """The SQLite file that holds the journal's tables, for what is done to it as a whole.

        Raises StoreError where a server holds them: copies and their erasure are the business of whoever runs that.
        """
        if isinstance(self.database, Database):
            return self.database
        raise StoreError(
            "a server keeps this store's journal: there is no file to copy or to write anew",
            hint="back it up, and restore it, with the server's own tools",
        )

    @property
    def last_seq(self) -> int:
        """The sequence number of the journal's newest row; 0 when there is none."""
        return int(self._last[0])

    def chain_at(self, seq: int) -> str:
        """Return the hexadecimal digest of the journal up to a row; empty where there is no such row."""
        with self.database.reading() as connection:
            return read_chain(connection, seq)

    def append(self, changes: Sequence[Change], at: int, note: RequestNote | None = None) -> list[Row]:
        """Accept changes into the journal in one durable transaction, which notes their request, and return their rows.

        The operations of the returned rows are complete: a partial PutNode or PutEdge is filled up with what the
        store holds, so that every other follower can overwrite without looking.
        """
        try:
            return self.mended(lambda: self._append(changes, at, note))
        finally:
            self._appended = None

    def _append(self, changes: Sequence[Change], at: int, note: RequestNote | None) -> list[Row]:
        seq, chain = self._last
        rows, stored = [], []
        with self.database.transaction() as connection:
            writes = Writes(connection)
            of_jobs = any("job" in change.note for change in changes)
            writes.foresee((op for change in changes for op in change.operations), effects=of_jobs)
            salts = os.urandom(_SALT_BYTES * len(changes))
            for place, change in enumerate(changes):
                seq += 1
                operations, complete = [], []
                touched = effects.Touched(connection, writes)
                for op in (each for given in change.operations for each in writes.spelled_out(given)):
                    writes.check(op)
                    touched.note(op, change)
                    operations.append(op)
                    complete.append(writes.add(op))
                touched.record(change, seq, at)
                payload = _pack(replace(change, operations=tuple(operations)))
                salt = salts[_SALT_BYTES * place : _SALT_BYTES * (place + 1)]
                digest = digest_of(salt, payload)
                chain = chained_digest(chain, seq, at, digest)
                stored.append((seq, at, payload, salt, digest, chain))
                rows.append(Row(seq=seq, at=at, change=replace(change, operations=tuple(complete))))
            batch = writes.batch()
            batch.log, batch.tokens = stored, list(map(self._tokens, batch.passages))
            tables.write(connection, batch)
            if note is not None:
                self.idempotency.note(connection, note, at)
            self._appended = (seq, chain)
        self._last = (seq, chain)
        if self.is_served:
            self.note_reach()
        return rows

    def _tokens(self, op: PutPassage) -> tuple[int, str]:
        return op.number, " ".join(self._tokenise(op.text)) if op.tokens is None else op.tokens

    def rows(self, after: int, limit: int) -> list[Row]:
        """Return up to `limit` journal rows behind `after`, complete as `append` returns them.

        A row that cannot be read any more is skipped here; `unreadable` names it.
        """
        return self.read(lambda connection: read_rows(connection, after, limit))

    def unreadable(self, after: int, limit: int) -> list[int]:
        """Return which of the `limit` journal rows behind `after` have a payload that cannot be what was written."""
        with self.database.reading() as connection:
            return unreadable_rows(connection, after, limit)

    def last_kinds(self, drops: Collection[Drop], after: int, but_job: str) -> dict[Drop, str]:
        """Return the kind of the last journal row behind `after` that concerns each thing, the job's own left out."""
        wanted, kinds = frozenset(drops), dict[Drop, str]()
        with self.database.reading() as connection:
            for payload, salt, digest in connection.execute(
                f"SELECT {_PAYLOAD}, {_SALT}, {_DIGEST} FROM log WHERE seq > ? ORDER BY seq", (after,)
            ):
                change = _proved_change(payload, salt, digest)
                if change is not None and change.note.get("job") != but_job:
                    kinds.update(dict.fromkeys(wanted.intersection(map(drop_of, change.operations)), change.kind))
        return kinds

    def verify_chain(self, progress: Callable[[int, int], None] | None = None) -> ChainReport:
        """Walk the journal's whole chain; `progress` is told (rows done, rows in all) now and then."""
        chain, seen, erased = GENESIS, 0, 0
        damaged = []
        with self.database.reading() as connection:
            total = int(connection.execute("SELECT count(*) FROM log").fetchone()[0])
            for seq, at, payload, salt, digest, stored in connection.execute(
                f"SELECT seq, {_AT}, {_PAYLOAD}, {_SALT}, {_DIGEST}, {_CHAIN} FROM log ORDER BY seq"
            ):
                seen += 1
                erased += payload is None
                if not continues_chain(chain, seq, at, digest, stored) or (
                    payload is not None and not _is_proved(payload, salt, digest)
                ):
                    damaged.append(seq)
                chain = stored
                if progress is not None and seen % 2_000 == 0:
                    progress(seen, total)
        return ChainReport(rows=seen, erased=erased, damaged=tuple(damaged))

    def log_bytes(self) -> int:
        """Return the bytes of all changes as the journal's log has them; looks at every row."""
        with self.database.reading() as connection:
            return int(connection.execute("SELECT coalesce(sum(length(payload)), 0) FROM log").fetchone()[0])

    def restate(self) -> Comparison:
        """Make the journal's state anew from its log where they differ; return what differed, in one transaction."""
        with self.database.transaction(long=True) as connection:
            return restating.mend(connection, self.database.beside, _proved_change, self._tokenise)

    def compare_state(self) -> Comparison:
        """Compare the journal's state with a replay of its log, as of one moment; nothing is changed."""
        with self.database.snapshot() as connection:
            return restating.compare(connection, self.database.beside, _proved_change, self._tokenise)

    def mended(self, read: Callable[[], T]) -> T:
        """Return what `read` does; at a damaged row of the journal's state make that good and read once more."""
        try:
            return read()
        except StoreCorruptError:
            self.make_good()
        return read()

    def read(self, query: Callable[[DatabaseConnection], T]) -> T:
        """Return what a query of the journal's state finds, as `mended` does."""

        def once() -> T:
            with self.database.reading() as connection:
                return query(connection)

        return self.mended(once)

    def bytes_since(self, at: int) -> int:
        """Return the bytes of payload that the journal has accepted since the moment `at` (microseconds)."""
        with self.database.reading() as connection:
            total = connection.execute("SELECT coalesce(sum(length(payload)), 0) FROM log WHERE at >= ?", (at,))
            return int(total.fetchone()[0])

    def meta(self, key: str) -> str | None:
        """Return a word about the store itself that the journal keeps, or None."""
        with self.database.reading() as connection:
            row = connection.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return None if row is None else str(row[0])

    def set_meta(self, key: str, value: str) -> None:
        """Keep a word about the store itself in the journal."""
        with self.database.transaction() as connection:
            connection.execute(put("meta", ("key", "value"), ("key",)), (key, value))

    def drop_meta(self, key: str) -> None:
        """Keep a word about the store in the journal no longer."""
        with self.database.transaction() as connection:
            connection.execute("DELETE FROM meta WHERE key = ?", (key,))

    def metas(self, prefix: str) -> dict[str, str]:
        """Return the journal's words about the store whose keys begin with the prefix, by key, in order of key."""
        with self.database.reading() as connection:
            rows = connection.execute(
                "SELECT key, value FROM meta WHERE substr(key, 1, ?) = ? ORDER BY key", (len(prefix), prefix)
            )
            return {key: value for key, value in rows}

    @contextmanager
    def snapshot(self) -> Iterator[tuple[int, state.Snapshot]]:
        """Lend the sequence number of the journal's newest row and the state as of that moment."""
        with self.database.snapshot() as connection:
            seq = int(connection.execute("SELECT coalesce(max(seq), 0) FROM log").fetchone()[0])
            yield seq, state.Snapshot(connection)

    @contextmanager
    def as_of(self, seq: int) -> Iterator[state.Snapshot]:
        """Lend the journal's state as it was behind row `seq` of its log, but for what was erased since."""
        beside = self.database.beside.with_name("strand")
        with (
            self.database.snapshot() as connection,
            restating.as_of(connection, beside, _proved_change, _no_tokens, seq) as scratch,
        ):
            yield state.Snapshot(scratch)

    def tokens(self) -> Iterator[tuple[Sequence[int], Sequence[bytes]]]:
        """Yield number and lexical tokens of the journal's passages in batches, by number; see `tables.read_tokens`."""
        with self.database.reading() as connection:
            yield from tables.read_tokens(connection)

    def close(self) -> None:
        """Fold the journal's log in and close it; closing twice is no error."""
        if not self.database.closed:
            self.database.checkpoint()
            self.database.close()
        if self._mark is not None:
            self._mark.close()


def read_chain(connection: DatabaseConnection, seq: int) -> str:
    """Return the digest of the journal's log that `Journal.chain_at` does, as this connection sees it."""
    row = connection.execute(f"SELECT {_CHAIN} FROM log WHERE seq = ?", (seq,)).fetchone()
    return "" if row is None else bytes(row[0]).hex()


def read_rows(connection: DatabaseConnection, after: int, limit: int) -> list[Row]:
    """Return rows of the journal's log as `Journal.rows` does, as this connection sees it."""
    found = []
    stored = connection.execute(
        f"SELECT seq, {_AT}, {_PAYLOAD}, {_SALT}, {_DIGEST} FROM log WHERE seq > ? ORDER BY seq LIMIT ?", (after, limit)
    ).fetchall()
    for seq, at, payload, salt, digest in stored:
        change = _proved_change(payload, salt, digest)
        if change is not None:
            complete = state.completed(connection, change.operations)
            operations = tuple(op for op in complete if op is not None)
            found.append(Row(seq=seq, at=at, change=Change(kind=change.kind, operations=operations, note=change.note)))
    return found


def unreadable_rows(connection: DatabaseConnection, after: int, limit: int) -> list[int]:
    """Return the unreadable rows of the journal's log as `Journal.unreadable` does, as this connection sees it."""
    stored = connection.execute(
        f"SELECT seq, {_PAYLOAD}, {_SALT}, {_DIGEST} FROM log WHERE seq > ? AND seq <= ? AND payload IS NOT NULL",
        (after, after + limit),
    )
    return [seq for seq, payload, salt, digest in stored if _proved_change(payload, salt, digest) is None]


def _proved_change(payload: bytes | None, salt: bytes | None, digest: bytes) -> Change | None:
    """Return the change of a stored row, or None when it was erased or is not what was written."""
    if payload is None or not _is_proved(payload, salt, digest):
        return None
    try:
        return decode(json.loads(inflated(payload)))
    except (zlib.error, ValueError, KeyError, TypeError, RecursionError):
        return None


def _is_proved(payload: bytes, salt: object, digest: object) -> bool:
    return isinstance(salt, bytes) and digest_of(salt, payload) == digest


proved = _proved_change


def _pack(change: Change) -> bytes:
    """Return a change as it is kept: the log only grows, and texts and ids repeat themselves within a change."""
    return zlib.compress(_ENCODER.encode(encode(change)).encode())


def _no_tokens(text: str) -> Sequence[str]:
    return ()
