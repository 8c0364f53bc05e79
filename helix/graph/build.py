"""Building a graph anew: all is copied in before the vector index exists, into a file that is then put in place."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from helix import resources
from helix.graph import migrate, queries
from helix.graph.batch import EdgeTable, edge_columns, vector_of
from helix.graph.kuzu_engine import KuzuEngine, KuzuOptions, files_of
from helix.model.edge import Label
from helix.model.operations import Operation, PutEdge, PutNode, PutPassage

Progress = Callable[[str, int, int], None]

_CHUNK = 20_000


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
) -> None:
    """Make the graph file `path` out of a state (nodes, then edges, then passages), as of journal row `seq`.

    `progress` is told (stage, done, total). Whatever lies at `path` is removed first; when the build is cut short the
    file lacks its store id and is never taken for a graph.
    """
    remove(path)
    engine = KuzuEngine(path, dimension=dimension, options=options)
    try:
        columns = {name: properties for name, _, properties in engine.tables()}
        loader = _Loader(columns, total, progress)
        engine.fill(lambda connection: loader.load(connection, operations, dimension))
        progress("closing", total, total)
        engine.apply((), seq)
        engine.remember("dimension", number=dimension or 0)
        engine.remember("store_id", word=store_id)
    finally:
        engine.close()


def remove(path: Path) -> None:
    """Delete a graph's files, where there are any."""
    for file in files_of(path):
        file.unlink(missing_ok=True)


class _Loader:
    """Copies a stream of operations in chunks of one table each."""

    def __init__(self, columns: dict[str, list[str]], total: int, progress: Progress) -> None:
        self._columns = columns
        self._total = total
        self._progress = progress
        self._done = 0

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
        if table:
            connection.execute(sentinel_row)
            self._progress("indexing", self._done, self._total)
            connection.execute(index)

    def _copy(self, connection: Any, chunk: list[Operation], dimension: int | None) -> None:
        nodes: dict[Label, list[PutNode]] = defaultdict(list)
        edges: dict[EdgeTable, list[PutEdge]] = defaultdict(list)
        passages: list[PutPassage] = []
        for op in chunk:
            match op:
                case PutNode():
                    nodes[op.label].append(op)
                case PutEdge():
                    edges[(op.type, op.source.label, op.target.label)].append(op)
                case PutPassage() if op.vector is not None and dimension is not None:
                    passages.append(op)
        for label, puts in nodes.items():
            rows = [{**put.props, "id": put.id} for put in puts]
            connection.execute(f"COPY {label} FROM $rows", {"rows": _table(rows, self._columns[label])})
        for (relation, source, target), edge_puts in edges.items():
            rows = [
                {**edge_columns(relation, put.props), "from": put.source.id, "to": put.target.id} for put in edge_puts
            ]
            table = _table(rows, ["from", "to", *self._columns[relation]])
            connection.execute(f"COPY {relation} FROM $rows (from='{source}', to='{target}')", {"rows": table})
        if passages and dimension is not None:
            connection.execute("COPY Passage FROM $rows", {"rows": _passages(passages, dimension)})
        self._done += len(chunk)
        self._progress("copying", self._done, self._total)


def _chunks(operations: Iterable[Operation]) -> Iterator[list[Operation]]:
    stream = iter(operations)
    while chunk := list(islice(stream, _CHUNK)):
        yield chunk


_INTEGERS = frozenset(
    [
        "uses",
        "valid_from",
        "valid_to",
        "recorded_at",
        "retired_at",
        "last_used_at",
        "occurred_at",
        "consolidated_at",
        "started_at",
        "ended_at",
        "level",
        "created_at",
        "at",
        "rank",
    ]
)
_NUMBERS = frozenset(["confidence", "importance", "helped", "failed", "easiness", "half_life_days", "weight", "score"])


def _table(rows: list[dict[str, Any]], columns: list[str]) -> Any:
    import pyarrow as pa  # heavy, and only needed while a graph is built

    def kind(name: str) -> Any:
        return pa.int64() if name in _INTEGERS else pa.float64() if name in _NUMBERS else pa.string()

    return pa.table({name: pa.array([row.get(name) for row in rows], kind(name)) for name in columns})


def _passages(puts: list[PutPassage], dimension: int) -> Any:
    import pyarrow as pa  # heavy, and only needed while a graph is built

    vectors = np.concatenate([vector_of(put) for put in puts])
    return pa.table(
        {
            "id": pa.array([put.id for put in puts]),
            "owner": pa.array([put.owner.id for put in puts]),
            "owner_kind": pa.array([put.owner.label.value for put in puts]),
            "embedding": pa.FixedSizeListArray.from_arrays(pa.array(vectors), dimension),
        }
    )
