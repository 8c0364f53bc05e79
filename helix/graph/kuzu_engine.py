"""The embedded engine: Kuzu behind the engine seam, run by the rules that keep it alive.

One process, one Database; every statement under a fair lock, writers exclusive and readers shared; every write one
transaction; no checkpoint while it goes on writing: its log is folded in by closing and opening again.
"""

from __future__ import annotations

import importlib.util  # noqa: F401  # Kuzu looks for pyarrow through it and does not import it itself
import logging
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import kuzu

from helix import resources
from helix.errors import DiskFullError, GraphUnavailableError, HelixError
from helix.graph import migrate, queries
from helix.graph.batch import Batch, fold
from helix.graph.engine import Rows
from helix.graph.refusals import mapped
from helix.graph.rwlock import FairLock
from helix.model.edge import Label
from helix.model.operations import Operation

log = logging.getLogger(__name__)

# A search waits this long behind a writer before the caller falls back on the exact scan.
_SEARCH_PATIENCE_SECONDS = 0.1
_PASSAGES_BEFORE_REOPEN = 400
_SEARCH_WIDTH = 200
_EXPORT_PAGE = 5_000
_MIB, _GIB = 1 << 20, 1 << 30


@dataclass(frozen=True, slots=True, kw_only=True)
class KuzuOptions:
    """Bytes of page memory and address space, threads of one query, writes between reopens, whether to hold vectors."""

    buffer_pool_bytes: int = 256 * _MIB
    max_db_bytes: int = 64 * _GIB
    threads: int = 2
    reopen_after: int = 200
    vectors: bool = True


class KuzuEngine:
    """A graph in one Kuzu file. `dimension` is that of the store's vectors, or None while it has none."""

    def __init__(self, path: Path, *, dimension: int | None, options: KuzuOptions | None = None) -> None:
        """Open the file, or make it.

        Raises StoreLockedError when another process has it open, StoreTooNewError when a newer Helix wrote it, and
        StoreCorruptError when it cannot be read as a graph of Helix.
        """
        self.path = path
        self.dimension = dimension
        self._options = options or KuzuOptions()
        self._lock = FairLock()
        self._idle: list[kuzu.Connection] = []
        self._idle_guard = threading.Lock()
        self._database: kuzu.Database | None = None
        self._writes = self._passages = 0
        self._queries = queries.load(resources.directory("queries"), {"dimension": str(dimension or 1)})
        self._open()
        try:
            self._migrate()
        except BaseException:
            self._close()
            raise

    @property
    def ready(self) -> bool:
        """Whether the graph can be read now."""
        return self._database is not None

    def applied_seq(self) -> int:
        """Return the journal seq up to which changes are applied."""
        return self.number("applied_seq")

    def number(self, key: str) -> int:
        """Return a number the graph keeps about itself; 0 when there is none."""
        rows = self.read("get_meta", key=key)
        return int(rows[0]["number"]) if rows else 0

    def word(self, key: str) -> str:
        """Return a word the graph keeps about itself; empty when there is none."""
        rows = self.read("get_meta", key=key)
        return str(rows[0]["value"]) if rows else ""

    def remember(self, key: str, *, word: str = "", number: int = 0) -> None:
        """Keep a word and a number about the graph itself."""
        with self._lock.exclusive(), self._lend() as connection:
            self._named(connection, "put_meta", key=key, value=word, number=number)

    def apply(self, operations: Sequence[Operation], seq: int) -> None:
        """Apply the operations and record `seq` in one transaction; then, now and then, fold the log in."""
        batch = fold(operations)
        with self._lock.exclusive():
            try:
                with self._lend() as connection, self._transaction(connection, "BEGIN TRANSACTION"):
                    self._write(connection, batch)
                    self._named(connection, "put_meta", key="applied_seq", value="", number=seq)
            except DiskFullError:
                raise
            except HelixError:
                # Kuzu is not sound after a rollback: writing the same rows again is refused, or crashes.
                self._reopen()
                raise
            self._let_connections_go()
            self._writes += 1
            self._passages += len(batch.passages)
            if self._writes >= self._options.reopen_after or self._passages >= _PASSAGES_BEFORE_REOPEN:
                self._fold_in()
                self._reopen()

    def _write(self, connection: kuzu.Connection, batch: Batch) -> None:
        for label in batch.nodes:
            self._each(connection, f"drop_{label}", batch.dropped_nodes(label))
            self._each(connection, f"put_{label.lower()}", batch.node_rows(label))
        for table in batch.edges:
            self._each(connection, queries.edge_query("drop", *table), batch.dropped_edges(table))
            self._each(connection, queries.edge_query("put", *table), batch.edge_rows(table))
        if self.dimension is not None:
            self._each(connection, "drop_passage", [{"id": passage} for passage in batch.passages])
            self._each(connection, "add_passage", batch.passage_rows())

    def _each(self, connection: kuzu.Connection, query: str, rows: Sequence[Mapping[str, Any]]) -> None:
        # One by one, for a parameter's node is found by its key; that of a row unwound from a list is found by a scan.
        for row in rows:
            names = queries.parameters(queries.text_of(self._queries, query))
            self._named(connection, query, **{name: row.get(name) for name in names})

    def read(self, query: str, /, **params: Any) -> Rows:
        """Run a named query and return its rows."""
        with self._lock.shared(), self._lend() as connection:
            return self._named(connection, query, **params)

    def vector_search(self, vector: Sequence[float], k: int) -> list[tuple[str, float]]:
        """Return (passage id, cosine) of the k nearest passages, best first.

        Raises GraphUnavailableError at once where a writer holds the graph for long: the caller scans exactly then.
        """
        with self._lock.shared(_SEARCH_PATIENCE_SECONDS) as held:
            if not held or self.dimension is None:
                raise GraphUnavailableError("the vector index is busy", hint="the exact scan answers instead")
            with self._lend() as connection:
                # one more than asked for: the sentinel row may be among the nearest
                rows = self._named(
                    connection,
                    "nearest_passages",
                    vector=[float(x) for x in vector],
                    k=k + 1,
                    efs=max(_SEARCH_WIDTH, 2 * k),
                )
        return [(str(row["id"]), 1.0 - float(row["distance"])) for row in rows if row["id"]][:k]

    def cypher(
        self, text: str, params: Mapping[str, Any], *, timeout_ms: int, limit: int
    ) -> tuple[list[str], list[list[Any]], bool]:
        """Run a statement that has passed the gate, in a read-only transaction, with a time and a row limit."""
        with self._lock.shared(), self._lend() as connection:
            connection.set_query_timeout(timeout_ms)
            try:
                with self._transaction(connection, "BEGIN TRANSACTION READ ONLY"), mapped(self.path):
                    result = _single(connection.execute(text, dict(params)))
                    rows: list[list[Any]] = []
                    while result.has_next() and len(rows) < limit:
                        rows.append(list(result.get_next()))
                    return list(result.get_column_names()), rows, bool(result.has_next())
            finally:
                connection.set_query_timeout(0)

    def tables(self) -> list[tuple[str, str, list[str]]]:
        """Return (name, NODE or REL, property names) of every table that a person may query."""
        return [(name, kind, list(columns)) for name, kind, columns in self.typed_tables()]

    def typed_tables(self) -> list[tuple[str, str, dict[str, str]]]:
        """Return what `tables` does, with the type of each property."""
        with self._lock.shared(), self._lend() as connection:
            found = self._rows(connection, "CALL SHOW_TABLES() RETURN name, type")
            return [
                (
                    str(table["name"]),
                    str(table["type"]),
                    {
                        str(row["name"]): str(row["type"])
                        for row in self._rows(connection, f"CALL TABLE_INFO('{table['name']}') RETURN name, type")
                    },
                )
                for table in found
            ]

    def export(self, label: str) -> Iterator[dict[str, Any]]:
        """Yield every node of a label as its properties, in order of id."""
        after = ""
        while rows := self.read(f"export_{Label(label)}", after=after, limit=_EXPORT_PAGE):
            for row in rows:
                yield {key.removeprefix("n."): value for key, value in row.items()}
            after = str(rows[-1]["n.id"])

    def size_bytes(self) -> int:
        """Return the bytes of the graph's files on disk."""
        return size_of(self.path)

    def close(self) -> None:
        """Fold the log in and let go of the files; closing twice is no error."""
        with self._lock.exclusive():
            self._fold_in()
            self._close()

    def fill(self, load: Callable[[kuzu.Connection], None]) -> None:
        """Let `load` fill a new graph in bulk; only for a file that nobody else uses yet (a bulk load checkpoints)."""
        with self._lock.exclusive(), self._lend() as connection, mapped(self.path):
            load(connection)

    def _open(self) -> None:
        with mapped(self.path, opening=True):
            self._database = kuzu.Database(
                str(self.path),
                buffer_pool_size=self._options.buffer_pool_bytes,
                max_db_size=self._options.max_db_bytes,
                max_num_threads=self._options.threads,
                auto_checkpoint=False,
            )
            self._writes = self._passages = 0
        self.path.chmod(0o600)

    def _fold_in(self) -> None:
        """Fold the log in without holding the interpreter, as closing does, for 2 s at 100,000 vectors.

        Nothing may be written between this and closing: Kuzu would damage the file.
        """
        if self._database is None:
            return
        try:
            with self._lend() as connection, mapped(self.path):
                connection.execute("CHECKPOINT")
        except DiskFullError:
            raise
        except HelixError as error:
            log.warning("the graph's log is left to be folded in by closing", extra={"error": str(error)})

    def _let_connections_go(self) -> None:
        # They keep the plan of every statement; to free those of 200 changes holds the interpreter most of a second.
        with self._idle_guard:
            for connection in self._idle:
                connection.close()
            self._idle.clear()

    def _reopen(self) -> None:
        self._close()
        self._open()

    def _close(self) -> None:
        self._let_connections_go()
        if self._database is not None:
            database, self._database = self._database, None
            with mapped(self.path):
                database.close()

    def _migrate(self) -> None:
        with self._lock.exclusive(), self._lend() as connection, mapped(self.path, opening=True):
            tables = {row["name"] for row in self._rows(connection, "CALL SHOW_TABLES() RETURN name")}
            applied: dict[int, str] = {}
            if "SchemaMigration" in tables:
                rows = self._named(connection, "applied_migrations")
                applied = {int(row["number"]): str(row["hash"]) for row in rows}
            for number, name, digest, script in migrate.pending(resources.directory("schema") / "graph", applied):
                with self._transaction(connection, "BEGIN TRANSACTION"):
                    for statement in script:
                        connection.execute(statement)
                    self._named(connection, "record_migration", number=number, name=name, hash=digest)

    @contextmanager
    def _lend(self) -> Iterator[kuzu.Connection]:
        if self._database is None:
            raise GraphUnavailableError("the graph is closed", hint="`helix status` says why")
        with self._idle_guard:
            connection = self._idle.pop() if self._idle else None
        if connection is None:
            connection = kuzu.Connection(self._database, num_threads=self._options.threads)
        try:
            yield connection
        except HelixError:
            self._give_back(connection)
            raise
        except BaseException:
            connection.close()
            raise
        self._give_back(connection)

    def _give_back(self, connection: kuzu.Connection) -> None:
        with self._idle_guard:
            self._idle.append(connection)

    @contextmanager
    def _transaction(self, connection: kuzu.Connection, begin: str) -> Iterator[None]:
        with mapped(self.path):
            connection.execute(begin)
            try:
                yield
                connection.execute("COMMIT")
            except BaseException:
                _roll_back(connection)
                raise

    def _named(self, connection: kuzu.Connection, query: str, /, **params: Any) -> Rows:
        return self._rows(connection, queries.text_of(self._queries, query), params)

    def _rows(self, connection: kuzu.Connection, text: str, params: Mapping[str, Any] | None = None) -> Rows:
        with mapped(self.path):
            result = _single(connection.execute(text, dict(params or {})))
            columns = result.get_column_names()
            return [dict(zip(columns, row, strict=True)) for row in result.get_all()]


def files_of(path: Path) -> tuple[Path, ...]:
    """Return the files that belong to a graph: the database, its log and its shadow pages."""
    return (path, *(path.with_name(path.name + suffix) for suffix in (".wal", ".shadow", ".tmp")))


def size_of(path: Path) -> int:
    """Return the bytes of a graph's files on disk, whether it is open or not."""
    size = 0
    for file in files_of(path):
        with suppress(FileNotFoundError):  # Kuzu's own log comes and goes
            size += file.stat().st_size
    return size


def _single(result: kuzu.QueryResult | list[kuzu.QueryResult]) -> kuzu.QueryResult:
    return result[-1] if isinstance(result, list) else result


def _roll_back(connection: kuzu.Connection) -> None:
    try:
        connection.execute("ROLLBACK")
    except RuntimeError as error:
        # Kuzu ends the transaction by itself after some errors; there is nothing left to roll back then.
        if "No active transaction" not in str(error):
            raise
