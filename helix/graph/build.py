"""Building a graph anew: all is copied in before the vector index exists, into a file that is then put in place."""

from __future__ import annotations

import io
import logging
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from helix import resources
from helix.graph import migrate, parquet, queries
from helix.graph.batch import MISFITS, EdgeTable, edge_columns, node_columns
from helix.graph.kuzu_engine import KuzuEngine, KuzuOptions, copy_in
from helix.graph.on_disk import Progress, remove, size_of
from helix.graph.parquet import TEXT, Column, Columns, Vectors
from helix.model.edge import Label
from helix.model.operations import Operation, PutEdge, PutNode, PutPassage

log = logging.getLogger(__name__)

NODE_GROUP_ROWS = 131_072
"""Rows of which Kuzu stores a column as one piece: copied in parts, a piece is written anew for each part."""

_CHUNK = 20_000
LEAST_POOL_BYTES = 256 << 20
"""Page memory for all else: with 32 MiB a graph of 100,000 memories cannot be copied."""

_Passage = tuple[str, str, str, bytes]
"""Id, id and label of the owner, vector: not the text, for many wait."""

T = TypeVar("T", PutNode, PutEdge, _Passage)


def pool_bytes(dimension: int | None, passages: int) -> int:
    """Return the page memory that Kuzu takes to copy and index so many vectors, beside all else.

    Measured: 300,000 of them can be indexed when there is room for each one twice, and cannot with room for a piece
    of NODE_GROUP_ROWS only.
    """
    return 2 * 4 * (dimension or 0) * passages


def build(
    path: Path,
    operations: Iterable[Operation],
    *,
    seq: int,
    store_id: str,
    dimension: int | None,
    total: int,
    options: KuzuOptions,
    progress: Progress,
    chain: str = "",
) -> None:
    """Build the Kuzu graph file `path` out of a state (nodes, then edges, then passages), as of journal row `seq`.

    `chain` is the journal's digest up to that row.

    `progress` is told (stage, done, total). Whatever lies at `path` is removed first; when the build is cut short the
    file lacks its store id and is never taken for a graph. What a table does not take is left out and noted in it.
    """
    remove(path)
    engine = KuzuEngine(path, dimension=dimension, options=options)
    try:
        columns = {name: properties for name, _, properties in engine.tables()}
        loader = _Loader(path.parent, columns, total, progress)
        engine.fill(lambda connection: loader.load(connection, operations, dimension))
        progress("closing", total, total)
        engine.apply((), seq, chain)
        for what, reason in loader.refused.items():
            engine.pass_over(what, reason, seq, chain)
        engine.remember("dimension", number=dimension or 0)
        engine.remember("built_bytes", number=size_of(path))
        engine.remember("store_id", word=store_id)
    finally:
        engine.close()


class _Loader:
    """Copies a stream of operations in chunks of one table each."""

    def __init__(self, folder: Path, columns: dict[str, dict[str, str]], total: int, progress: Progress) -> None:
        self._folder = folder
        self._columns = columns
        self._total = total
        self._progress = progress
        self._done = 0
        self._vectors = 0
        self._passages: list[_Passage] = []
        self.refused: dict[str, str] = {}
        """What was left out of the graph as a table does not take it, and why."""

    def load(self, connection: Any, operations: Iterable[Operation], dimension: int | None) -> None:
        script: list[str] = []
        if dimension is not None:
            sentinel = [round(dimension**-0.5, 6)] * dimension
            constants = {"dimension": str(dimension), "sentinel": str(sentinel)}
            script = migrate.statements(queries.fill(resources.text("schema/graph", "passage.cypher"), constants))
        table, sentinel_row, index = script or ("", "", "")
        if table:
            connection.execute(table)
        for chunk in _chunks(operations):
            self._copy(connection, chunk, dimension)
        self._copy_passages(connection, dimension)
        if table:
            connection.execute(sentinel_row)
            self._progress(f"indexing {self._vectors:,} vectors", self._done, self._total)
            connection.execute(index)

    def _copy(self, connection: Any, chunk: list[Operation], dimension: int | None) -> None:
        nodes: dict[Label, list[PutNode]] = defaultdict(list)
        edges: dict[EdgeTable, list[PutEdge]] = defaultdict(list)
        for op in chunk:
            match op:
                case PutNode():
                    nodes[op.label].append(op)
                case PutEdge():
                    edges[(op.type, op.source.label, op.target.label)].append(op)
                case PutPassage() if op.vector is not None and dimension is not None:
                    self._passages.append((op.id, op.owner.id, op.owner.label.value, op.vector))
        for label, puts in nodes.items():
            self._put(connection, label, puts, partial(_node_table, self._columns[label]))
        for (relation, source, target), edge_puts in edges.items():
            table_of = partial(_edge_table, {"from": TEXT, "to": TEXT, **self._columns[relation]})
            # An edge whose end is not there must not cost the whole graph; nothing else is passed over by this.
            ends = f"from='{source}', to='{target}', ignore_errors=true"
            expected = len(edge_puts) + len(self.refused)
            copied = self._put(connection, relation, edge_puts, table_of, ends)
            if skipped := expected - copied - len(self.refused):
                log.error("edges without an end left out", extra={"relation": relation.value, "edges": skipped})
        if len(self._passages) >= NODE_GROUP_ROWS:
            self._copy_passages(connection, dimension)
        self._done += len(chunk)
        self._progress("copying", self._done, self._total)

    def _copy_passages(self, connection: Any, dimension: int | None) -> None:
        while self._passages and dimension is not None:
            rows, self._passages = self._passages[:NODE_GROUP_ROWS], self._passages[NODE_GROUP_ROWS:]
            self._vectors += self._put(connection, "Passage", rows, partial(_passage_table, dimension))

    def _put(
        self,
        connection: Any,
        name: str,
        puts: Sequence[T],
        table_of: Callable[[Sequence[T]], Columns],
        options: str = "",
    ) -> int:
        """Copy what fits into a table of Kuzu; return how many."""
        try:
            return copy_in(connection, name, table_of(puts), self._folder, options)
        except MISFITS:  # looked for then alone: in nearly every graph everything fits
            fitting = [put for put in puts if self._fits(put, table_of)]
            return copy_in(connection, name, table_of(fitting), self._folder, options) if fitting else 0

    def _fits(self, put: T, table_of: Callable[[Sequence[T]], Columns]) -> bool:
        try:
            parquet.write(io.BytesIO(), table_of([put]))
        except MISFITS as error:
            self.refused[_words(put)] = str(error)
            return False
        return True


def _chunks(operations: Iterable[Operation]) -> Iterator[list[Operation]]:
    stream = iter(operations)
    while chunk := list(islice(stream, _CHUNK)):
        yield chunk


def _words(put: PutNode | PutEdge | _Passage) -> str:
    match put:
        case PutNode():
            return f"{put.label} {put.id}"
        case PutEdge():
            source, target = put.source, put.target
            return f"{put.type} from {source.label} {source.id} to {target.label} {target.id}"
        case (passage, *_):
            return f"passage {passage}"


def _node_table(columns: dict[str, str], puts: Sequence[PutNode]) -> Columns:
    return _table([node_columns(put.label, put.id, put.props) for put in puts], columns)


def _edge_table(columns: dict[str, str], puts: Sequence[PutEdge]) -> Columns:
    for put in puts:
        if (put.source.label, put.target.label) not in queries.EDGE_ENDS[put.type]:
            raise ValueError("the schema does not connect these")
    rows = [{**edge_columns(put.type, put.props), "from": put.source.id, "to": put.target.id} for put in puts]
    return _table(rows, columns)


def _table(rows: list[dict[str, Any]], columns: dict[str, str]) -> Columns:
    """Return the rows as columns of the types that Kuzu's table has."""
    return {name: Column(kind, [row.get(name) for row in rows]) for name, kind in columns.items()}


def _passage_table(dimension: int, rows: Sequence[_Passage]) -> Columns:
    ids, owners, labels, vectors = zip(*rows, strict=True)
    return {
        "id": Column(TEXT, ids),
        "owner": Column(TEXT, owners),
        "owner_kind": Column(TEXT, labels),
        "embedding": Vectors(dimension, vectors),
    }
