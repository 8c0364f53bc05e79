"""The tables of the state, in sets: whoever needs many rows asks for them at once, and writes them at once.

Each public function that takes a connection is one trip, however many rows it concerns. A trip costs little beside a
file of SQLite, and a network's round trip where the tables are on another machine. So an append takes three: what
there is (`read_before`), what there shall be (`write`), and the commit.

Each passage's code-aware tokens are kept in the same transaction. The words that recall searches are held in memory
(`helix.store.bm25`) and loaded from here.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from helix.journal.backend import DatabaseConnection, put
from helix.journal.backend import put as put_statement
from helix.journal.decoding import props_of, put_passage, ref_of, text_of
from helix.model.edge import Label, Ref
from helix.model.operations import Props, PutPassage

NodeKey = tuple[Label, str]
"""What a node is kept under: its label and its id."""
EdgeKey = tuple[str, str, str, str, str]
"""What an edge is kept under: its type, then label and id of its source and of its target."""

EDGE_COLUMNS = ("type", "source_label", "source", "target_label", "target")
PASSAGES = (
    "SELECT p.number, p.id, p.owner_label, p.owner, p.text, v.vector FROM {source}"
    " LEFT JOIN vector v ON v.number = p.number AND v.space = (SELECT id FROM space WHERE active)"
)
"""Passages with their vectors in the space that searches use; `{source}` is where they come from, as `p`."""
_KEYS_AT_ONCE = 150
"""Keys that one statement asks for: SQLite took no more than 999 values in one for long, and an edge's key has five."""


@dataclass(slots=True, kw_only=True)
class WantedRows:
    """Keys of what is to be read; `ends` are nodes whose edges and passages are to be found."""

    nodes: set[NodeKey] = field(default_factory=set)
    edges: set[EdgeKey] = field(default_factory=set)
    passages: set[str] = field(default_factory=set)
    ends: set[Ref] = field(default_factory=set)


@dataclass(slots=True, kw_only=True)
class FoundRows:
    """What there is of all that was asked for, None for what is not there; passages with their vectors."""

    nodes: dict[NodeKey, Props | None] = field(default_factory=dict)
    edges: dict[EdgeKey, Props | None] = field(default_factory=dict)
    passages: dict[str, PutPassage | None] = field(default_factory=dict)
    edges_at: dict[Ref, list[EdgeKey]] = field(default_factory=dict)
    passages_of: dict[Ref, list[str]] = field(default_factory=dict)


@dataclass(slots=True, kw_only=True)
class RowBatch:
    """What is to be written: rows of the log, and of the state what there shall be under each key, None for nothing.

    `gone` are the numbers under which passages are no longer kept; `tokens` and `vectors` are by their numbers.
    """

    log: Sequence[tuple[int, int, bytes, bytes, bytes, bytes]] = ()
    nodes: Mapping[NodeKey, Props | None] = field(default_factory=dict)
    edges: Mapping[EdgeKey, Props | None] = field(default_factory=dict)
    gone: Sequence[int] = ()
    passages: Sequence[PutPassage] = ()
    tokens: Sequence[tuple[int, str]] = ()


def read_before(connection: DatabaseConnection, wanted: WantedRows, held: FoundRows) -> None:
    """Read the journal's rows that `wanted` names, as they are before a change, into `held`."""
    held.nodes.update(nodes(connection, wanted.nodes))
    held.edges.update(edges(connection, wanted.edges))
    held.passages.update(_passages(connection, wanted.passages))
    if wanted.ends:
        held.edges_at.update(edges_at(connection, wanted.ends))
        held.passages_of.update(passages_of(connection, wanted.ends))


def nodes(connection: DatabaseConnection, keys: Collection[NodeKey]) -> dict[NodeKey, Props | None]:
    """Return the properties of nodes from the journal's state, None for one that is not there."""
    found: dict[NodeKey, Props | None] = dict.fromkeys(keys)
    for label, node_id, props in _matching(connection, "node", ("label", "id"), ("props",), keys):
        found[label, node_id] = props_of(props)
    return found


def edges(connection: DatabaseConnection, keys: Collection[EdgeKey]) -> dict[EdgeKey, Props | None]:
    """Return the properties of edges from the journal's state, None for one that is not there."""
    found: dict[EdgeKey, Props | None] = dict.fromkeys(keys)
    for *key, props in _matching(connection, "edge", EDGE_COLUMNS, ("props",), keys):
        kind, source_label, source, target_label, target = key
        found[kind, source_label, source, target_label, target] = props_of(props)
    return found


def texts(connection: DatabaseConnection, numbers: Collection[int]) -> dict[int, str]:
    """Return the texts of passages by their numbers from the journal's state, of those that are there."""
    keys = [(int(number),) for number in numbers]
    return {number: text_of(text) for number, text in _matching(connection, "passage", ("number",), ("text",), keys)}


def _passages(connection: DatabaseConnection, ids: Collection[str]) -> dict[str, PutPassage | None]:
    found: dict[str, PutPassage | None] = dict.fromkeys(ids)
    for part in _parts([(one,) for one in ids]):
        statement = PASSAGES.format(source=f"{_wanted(('id',), part)} wanted CROSS JOIN passage p ON p.id = wanted.id")
        for row in connection.execute(statement, _values(part)):
            passage = put_passage(row)
            found[passage.id] = passage
    return found


def edges_at(connection: DatabaseConnection, refs: Collection[Ref]) -> dict[Ref, list[EdgeKey]]:
    """Return the edges at each node in the journal's state, by key; one pass over all edges, however many nodes.

    Edges are kept by their source: an index by target too would be written to, all over, by every memory stored.
    """
    found: dict[Ref, list[EdgeKey]] = {ref: [] for ref in refs}
    ends = json.dumps(sorted({ref.id for ref in refs}))
    columns = ", ".join(EDGE_COLUMNS)
    rows = connection.execute(
        "WITH ends AS (SELECT value FROM json_each(?))"
        f" SELECT {columns} FROM edge WHERE source IN (SELECT value FROM ends) OR target IN (SELECT value FROM ends)"
        f" ORDER BY {columns}",
        (ends,),
    )
    for key in rows:
        for ref in {ref_of(*key[1:3]), ref_of(*key[3:5])} & found.keys():
            found[ref].append(key)
    return found


def passages_of(connection: DatabaseConnection, refs: Collection[Ref]) -> dict[Ref, list[str]]:
    """Return the ids of each node's passages in the journal's state, in the order in which they came."""
    found: dict[Ref, list[str]] = {ref: [] for ref in refs}
    keys = [(ref.label, ref.id) for ref in refs]
    rows = _matching(connection, "passage", ("owner_label", "owner"), ("number", "id"), keys)
    for label, owner, _, passage_id in sorted(rows, key=lambda row: int(row[2])):
        found[ref_of(label, owner)].append(text_of(passage_id))
    return found


def write(connection: DatabaseConnection, batch: RowBatch) -> None:
    """Write a batch of nodes, edges and passages to the journal's tables, in the caller's transaction."""
    many = connection.executemany
    if batch.log:  # a replay has a state and no log
        many("INSERT INTO log VALUES (?, ?, ?, ?, ?, ?)", batch.log)
    many("DELETE FROM node WHERE label = ? AND id = ?", [key for key, props in batch.nodes.items() if props is None])
    many(
        put("node", ("label", "id", "props"), ("label", "id")),
        [(*key, _json(props)) for key, props in batch.nodes.items() if props is not None],
    )
    where = " AND ".join(f"{name} = ?" for name in EDGE_COLUMNS)
    many(f"DELETE FROM edge WHERE {where}", [key for key, props in batch.edges.items() if props is None])
    many(
        put("edge", (*EDGE_COLUMNS, "props"), EDGE_COLUMNS),
        [(*key, _json(props)) for key, props in batch.edges.items() if props is not None],
    )
    gone = [(number,) for number in batch.gone]
    many("DELETE FROM passage WHERE number = ?", gone)
    # Vectors are found by space and number together; by the number alone, all of them are read.
    many("DELETE FROM vector WHERE space IN (SELECT id FROM space) AND number = ?", gone)
    many("DELETE FROM token WHERE number = ?", gone)
    many(
        "INSERT INTO passage VALUES (?, ?, ?, ?, ?)",
        [(op.number, op.id, op.owner.label, op.owner.id, op.text) for op in batch.passages],
    )
    put_tokens(connection, batch.tokens)
    many(
        "INSERT INTO vector (space, number, vector) SELECT id, ?, ? FROM space WHERE active"
        " ON CONFLICT (space, number) DO UPDATE SET vector = excluded.vector",
        [(op.number, op.vector) for op in batch.passages if op.vector is not None],
    )


def _matching(
    connection: DatabaseConnection, table: str, key: Sequence[str], more: Sequence[str], wanted: Iterable[Sequence[Any]]
) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a table under the keys, each once: the columns of the key, then the others."""
    same = " AND ".join(f"t.{name} = wanted.{name}" for name in key)
    columns = ", ".join(f"t.{name}" for name in (*key, *more))
    for part in _parts(wanted):
        # The keys come first, whatever SQLite thinks of it: it looks each of them up then.
        yield from connection.execute(
            f"SELECT {columns} FROM {_wanted(key, part)} wanted CROSS JOIN {table} t ON {same}", _values(part)
        )


def _wanted(names: Sequence[str], keys: Sequence[Sequence[Any]]) -> str:
    one = f"({', '.join('?' * len(names))})"
    columns = ", ".join(f"column{place} AS {name}" for place, name in enumerate(names, 1))
    return f"(SELECT {columns} FROM (VALUES {', '.join([one] * len(keys))}))"


def _values(keys: Iterable[Sequence[Any]]) -> list[Any]:
    return [value for key in keys for value in key]


def _parts(keys: Iterable[Sequence[Any]]) -> Iterator[list[Sequence[Any]]]:
    every = list(keys)
    for start in range(0, len(every), _KEYS_AT_ONCE):
        yield every[start : start + _KEYS_AT_ONCE]


_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


def _json(props: Props) -> str:
    return _ENCODER.encode(props)


_BATCH = 4096


def put_tokens(connection: DatabaseConnection, tokens: Iterable[tuple[int, str]]) -> None:
    """Store passages' tokens in the journal, joined by blanks, by number, replacing what a number held."""
    connection.executemany(put_statement("token", ("number", "tokens"), ("number",)), tokens)


def read_tokens(connection: DatabaseConnection) -> Iterator[tuple[Sequence[int], Sequence[bytes]]]:
    """Yield every passage's number and tokens from the journal, in batches; UTF-8, joined by blanks."""
    rows = connection.execute("SELECT number, CAST(tokens AS BLOB) FROM token ORDER BY number")
    while batch := rows.fetchmany(_BATCH):
        numbers, texts = zip(*batch, strict=True)
        yield numbers, texts
