"""The embedded engine: Kuzu behind one adapter, run by the rules that keep it alive. Only the graph's process uses it.

One thread, one connection. Every write is a small transaction: nodes and edges first, passages in transactions of
their own, for Kuzu 0.11.3 loses node inserts in a large transaction that also inserts passages, without an error.
Kuzu's log is never replayed: it is removed before opening, and what the file lacks comes from the journal. No
checkpoint while the same database goes on writing: it is closed and opened again behind each.
"""

from __future__ import annotations

import importlib.util  # noqa: F401  # Kuzu looks through it for libraries of tables and does not import it itself
import itertools
import logging
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import kuzu

from helix import resources
from helix.errors import DiskFullError, GraphUnavailableError, HelixError, of_the_system
from helix.graph import migrate, parquet, queries
from helix.graph.batch import fold_batch
from helix.graph.on_disk import drop_log, seal
from helix.graph.parquet import INTEGER, Column, Columns
from helix.graph.refusals import mapped
from helix.model.edge import Label
from helix.model.operations import Operation

log = logging.getLogger(__name__)

Rows = list[dict[str, Any]]

_STATEMENTS_AT_ONCE = 64
"""Statements of one transaction: of 158 node inserts in one that held passages too, none arrived (measured)."""
_PASSAGES_BEFORE_REOPEN = 400
_SEARCH_WIDTH = 200
_EXPORT_PAGE = 5_000
_REASON_CHARS = 300
_REFUSED = "refused "
_MIB, _GIB = 1 << 20, 1 << 30
_SCRATCH_BYTES = 128 * _MIB


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

    def __init__(
        self, path: Path, *, dimension: int | None, options: KuzuOptions | None = None, keep_log: bool = False
    ) -> None:
        """Open the file, or make it. `keep_log` replays Kuzu's own log, which is dropped otherwise: see `drop_log`.

        Raises StoreLockedError when another process has it open, StoreTooNewError when a newer Helix wrote it, and
        StoreCorruptError when it cannot be read as a graph of Helix.
        """
        self.path = path
        self.dimension = dimension
        self._options = options or KuzuOptions()
        self._database: kuzu.Database | None = None
        self._connected: kuzu.Connection | None = None
        self._writes = self._passages = self.unfolded = 0
        self._queries = queries.load(resources.directory("queries"), {"dimension": str(dimension or 1)})
        if not keep_log:
            drop_log(path)
        self._open()
        try:
            self._migrate()
        except BaseException:
            self._close()
            raise

    def applied_seq(self) -> int:
        """Return the journal seq up to which changes are applied to the Kuzu graph."""
        return self.number("applied_seq")

    def applied_chain(self) -> str:
        """Return the journal's digest up to that row, as the Kuzu graph noted it; empty in one of an older Helix."""
        return self.word("applied_seq")

    def number(self, key: str) -> int:
        """Return a number the Kuzu graph keeps about itself; 0 when there is none."""
        rows = self.read("get_meta", key=key)
        return int(rows[0]["number"]) if rows else 0

    def word(self, key: str) -> str:
        """Return a word the Kuzu graph keeps about itself; empty when there is none."""
        rows = self.read("get_meta", key=key)
        return str(rows[0]["value"]) if rows else ""

    def remember(self, key: str, *, word: str = "", number: int = 0) -> None:
        """Keep a word and a number about the Kuzu graph in it."""
        self.read("put_meta", key=key, value=word, number=number)

    def pass_over(self, what: str, reason: str, seq: int, chain: str = "") -> None:
        """Note in the Kuzu graph what it does without and why, and record `seq` with `chain`: all or nothing."""
        noted = {"key": f"{_REFUSED}{what}", "value": reason[:_REASON_CHARS], "number": seq}
        self._write([("put_meta", noted), _applied(seq, chain)])

    def refusals(self) -> list[str]:
        """Return what the Kuzu graph does without, a sentence each; 10,000 at most."""
        return [f"{row['key'].removeprefix(_REFUSED)}: {row['value']}" for row in self.read("refusals")]

    def apply(self, operations: Sequence[Operation], seq: int, chain: str = "") -> None:
        """Apply operations to the Kuzu graph and record `seq` with `chain`, the journal's digest up to that row.

        It does so in small transactions, and folds the log in now and then.
        Operations say what is, not what changes: where it ends half-way, applying all of them again makes it whole.
        """
        batch = fold_batch(operations)
        passages: list[_Statement] = []
        if self.dimension is not None:
            passages += [("drop_passage", {"id": passage}) for passage in batch.passages]
            passages += [("add_passage", row) for row in batch.passage_rows()]
        nodes: list[_Statement] = []
        dropped: list[_Statement] = []
        edges: list[_Statement] = []
        for label in batch.nodes:
            nodes += [(f"drop_{label}", row) for row in batch.dropped_nodes(label)]
            nodes += [(f"put_{label.lower()}", row) for row in batch.node_rows(label)]
        for table in batch.edges:
            rows = batch.edge_rows(table)
            dropped += [(queries.edge_query("drop", *table), row) for row in (*batch.dropped_edges(table), *rows)]
            edges += [(queries.edge_query("put", *table), row) for row in rows]
        for query, _ in (*dropped, *edges):
            queries.text_of(self._queries, query)  # what the schema does not connect is refused before all else
        try:
            for statements in itertools.chain(*map(_batches, (nodes, dropped, edges, passages))):
                self._write(statements)
            self._write([_applied(seq, chain)])
        except DiskFullError:
            raise
        except HelixError:
            # Kuzu is not sound after a rollback: writing the same rows again is refused, or crashes.
            self._reopen()
            raise
        self._writes += 1
        self._passages += len(batch.passages)
        if self._writes >= self._options.reopen_after or self._passages >= _PASSAGES_BEFORE_REOPEN:
            self.fold_in()

    def _write(self, statements: Sequence[_Statement]) -> None:
        with self._transaction("BEGIN TRANSACTION"):
            # One by one, for a parameter's node is found by its key; that of a row unwound from a list by a scan.
            for query, row in statements:
                names = queries.parameters(queries.text_of(self._queries, query))
                self.read(query, **{name: row.get(name) for name in names})
        self.unfolded += len(statements)

    def read(self, query: str, /, **params: Any) -> Rows:
        """Run a named Cypher query on the Kuzu graph and return its rows."""
        return self._rows(queries.text_of(self._queries, query), params)

    def tuples(self, query: str, /, **params: Any) -> list[Any]:
        """Run a named Cypher query on the Kuzu graph and return its rows without the names of their columns."""
        with mapped(self.path):
            return list(_single(self._connection.execute(queries.text_of(self._queries, query), params)).get_all())

    def counts(self) -> dict[str, int]:
        """Return how many nodes of each label, edges of each type, and vectors ("passages") the Kuzu graph holds."""
        counted = {label.value: self._count(f"count_{label}") for label in Label}
        counted.update({kind.value: self._count(f"count_edges_{kind}") for kind in queries.EDGE_ENDS})
        counted["passages"] = 0 if self.dimension is None else self._count("count_passages")
        return counted

    def _count(self, query: str) -> int:
        return int(self.read(query)[0]["count"])

    def vector_search(self, vector: Sequence[float], k: int) -> list[tuple[str, float]]:
        """Return (passage id, cosine) of the k nearest passages by Kuzu's vector index, best first."""
        if self.dimension is None:
            raise GraphUnavailableError("the graph holds no vectors", hint="the exact scan answers instead")
        rows = self.read(  # one more than asked for: the sentinel row may be among the nearest
            "nearest_passages", vector=[float(x) for x in vector], k=k + 1, efs=max(_SEARCH_WIDTH, 2 * k)
        )
        return [(str(row["id"]), 1.0 - float(row["distance"])) for row in rows if row["id"]][:k]

    def cypher(
        self, text: str, params: Mapping[str, Any], *, timeout_ms: int, limit: int
    ) -> tuple[list[str], list[list[Any]], bool]:
        """Run a Cypher statement that has passed the gate in Kuzu, read-only, with a time and a row limit."""
        connection = self._connection
        connection.set_query_timeout(timeout_ms)
        try:
            with self._transaction("BEGIN TRANSACTION READ ONLY"), mapped(self.path):
                result = _single(connection.execute(text, dict(params)))
                rows: list[list[Any]] = []
                while result.has_next() and len(rows) < limit:
                    rows.append(list(result.get_next()))
                return list(result.get_column_names()), rows, bool(result.has_next())
        finally:
            connection.set_query_timeout(0)

    def tables(self) -> list[tuple[str, str, dict[str, str]]]:
        """Return (name, NODE or REL, type by property name) of every Kuzu table that a person may query."""
        return [
            (
                str(table["name"]),
                str(table["type"]),
                {
                    str(row["name"]): str(row["type"])
                    for row in self._rows(f"CALL TABLE_INFO('{table['name']}') RETURN name, type")
                },
            )
            for table in self._rows("CALL SHOW_TABLES() RETURN name, type")
        ]

    def export(self, label: str, after: str = "") -> Rows:
        """Return up to 5,000 nodes of a label in the Kuzu graph as properties, by id, those behind the id `after`."""
        rows = self.read(f"export_{Label(label)}", after=after, limit=_EXPORT_PAGE)
        return [{key.removeprefix("n."): value for key, value in row.items()} for row in rows]

    def close(self) -> None:
        """Fold the Kuzu graph's log in, let go of its files and seal them; closing twice is no error."""
        if self._database is not None:
            self._checkpoint()
            self._close()
            seal(self.path)

    def fill(self, load: Callable[[kuzu.Connection], None]) -> None:
        """Let `load` fill a new Kuzu graph in bulk; only for a file nobody else uses yet (a bulk load checkpoints)."""
        with mapped(self.path):
            load(self._connection)

    def fold_in(self) -> None:
        """Fold the Kuzu log in by a checkpoint, then close and open the file: Kuzu would damage it else."""
        self._checkpoint()
        self._reopen()

    def _open(self) -> None:
        with mapped(self.path, opening=True):
            self._database = kuzu.Database(
                str(self.path),
                buffer_pool_size=self._options.buffer_pool_bytes,
                max_db_size=self._options.max_db_bytes,
                max_num_threads=self._options.threads,
                auto_checkpoint=False,
            )
            self._writes = self._passages = self.unfolded = 0
        self.path.chmod(0o600)

    def _checkpoint(self) -> None:
        try:
            with mapped(self.path):
                self._connection.execute("CHECKPOINT")
        except DiskFullError:
            raise
        except HelixError as error:
            log.warning("the graph's log is left to be folded in by closing", extra={"error": str(error)})

    def _reopen(self) -> None:
        self._close()
        self._open()

    def _close(self) -> None:
        if self._connected is not None:
            self._connected.close()
            self._connected = None
        if self._database is not None:
            database, self._database = self._database, None
            with mapped(self.path):
                database.close()

    def _migrate(self) -> None:
        with mapped(self.path, opening=True):
            tables = {row["name"] for row in self._rows("CALL SHOW_TABLES() RETURN name")}
            applied: dict[int, str] = {}
            if "SchemaMigration" in tables:
                applied = {int(row["number"]): str(row["hash"]) for row in self.read("applied_migrations")}
            for number, name, digest, script in migrate.pending(resources.directory("schema") / "graph", applied):
                with self._transaction("BEGIN TRANSACTION"):
                    for statement in script:
                        self._connection.execute(statement)
                    self.read("record_migration", number=number, name=name, hash=digest)

    @property
    def _connection(self) -> kuzu.Connection:
        if self._database is None:
            raise GraphUnavailableError("the graph is closed", hint="`helix status` says why")
        if self._connected is None:
            self._connected = kuzu.Connection(self._database, num_threads=self._options.threads)
        return self._connected

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[None]:
        with mapped(self.path):
            connection = self._connection
            connection.execute(begin)
            try:
                yield
                connection.execute("COMMIT")
            except BaseException:
                _roll_back(connection)
                raise

    def _rows(self, text: str, params: Mapping[str, Any] | None = None) -> Rows:
        with mapped(self.path):
            result = _single(self._connection.execute(text, dict(params or {})))
            columns = result.get_column_names()
            return [dict(zip(columns, row, strict=True)) for row in result.get_all()]


_Statement = tuple[str, Mapping[str, Any]]


class ScratchGraph:
    """A graph in memory for one question: nodes 0 to `count` - 1 and directed edges between them."""

    def __init__(self, count: int, ends: Sequence[tuple[int, int]]) -> None:
        """Fill it; raises InvalidInputError where it does not fit into its memory."""
        self._count = count
        with mapped(Path(":memory:")):
            self._database = kuzu.Database(
                ":memory:", buffer_pool_size=_SCRATCH_BYTES, max_db_size=2 * _SCRATCH_BYTES, max_num_threads=1
            )
            self._connection = kuzu.Connection(self._database, num_threads=1)
            self._connection.execute("CREATE NODE TABLE Item (place INT64 PRIMARY KEY)")
            self._connection.execute("CREATE REL TABLE Leads (FROM Item TO Item)")
            copy_in(self._connection, "Item", {"place": Column(INTEGER, range(count))})
            if ends:
                sources, targets = zip(*ends, strict=True)
                copy_in(self._connection, "Leads", {"from": Column(INTEGER, sources), "to": Column(INTEGER, targets)})
            self._connection.execute("CALL project_graph('all', ['Item'], ['Leads'])")

    def __enter__(self) -> ScratchGraph:
        return self

    def __exit__(self, *_error: object) -> None:
        self._connection.close()
        self._database.close()

    def communities(self) -> list[int]:
        """Return the number of each node's community by Louvain in Kuzu, -1 for a node by itself."""
        return [int(one) for one in self._of_each("louvain('all')", "louvain_id", -1)]

    def ranks(self) -> list[float]:
        """Return the PageRank of each node, by Kuzu."""
        return [float(one) for one in self._of_each("page_rank('all')", "rank", 0.0)]

    def _of_each(self, call: str, column: str, none: float) -> list[float]:
        values = [none] * self._count
        with mapped(Path(":memory:")):
            rows: list[Any] = _single(self._connection.execute(f"CALL {call} RETURN node.place, {column}")).get_all()
        for place, value in rows:
            values[place] = value
        return values


def copy_in(
    connection: kuzu.Connection, table: str, rows: Columns, folder: Path | None = None, options: str = ""
) -> int:
    """Copy rows into a Kuzu table by a file in `folder` (None: the system's temporary files); return how many.

    The file has no name: nothing of it is left however the process ends, and no path has to be written in a statement.
    Raises DiskFullError, and Kuzu's own errors.
    """
    with tempfile.TemporaryFile(dir=folder) as file:
        try:
            parquet.write(file, rows)
            file.flush()
        except OSError as error:
            raise of_the_system(error) from error
        options = ", ".join(filter(None, ("file_format='parquet'", options)))
        told = _single(connection.execute(f"COPY {table} FROM '/dev/fd/{file.fileno()}' ({options})")).get_next()
        return int(str(next(iter(told))).split(maxsplit=1)[0])


def _applied(seq: int, chain: str) -> _Statement:
    return "put_meta", {"key": "applied_seq", "value": chain, "number": seq}


def _single(result: kuzu.QueryResult | list[kuzu.QueryResult]) -> kuzu.QueryResult:
    return result[-1] if isinstance(result, list) else result


def _roll_back(connection: kuzu.Connection) -> None:
    try:
        connection.execute("ROLLBACK")
    except RuntimeError as error:
        # Kuzu ends the transaction by itself after some errors; there is nothing left to roll back then.
        if "No active transaction" not in str(error):
            raise


def _batches(statements: Sequence[_Statement]) -> Iterator[Sequence[_Statement]]:
    return (statements[at : at + _STATEMENTS_AT_ONCE] for at in range(0, len(statements), _STATEMENTS_AT_ONCE))
