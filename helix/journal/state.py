"""The state the log comes to: nodes, edges and passages as they are now, kept in the log's own transaction."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import TypeVar

from helix.errors import NotFoundError, StoreCorruptError
from helix.journal.database import Database
from helix.journal.decoding import node_of, props_of, put_edge, put_node, put_passage, ref_of, relation_of, text_of
from helix.journal.lexical import remove as remove_tokens
from helix.model.edge import Label, Ref, Relation
from helix.model.operations import (
    Drop,
    DropEdge,
    DropNode,
    DropPassage,
    Operation,
    Props,
    Put,
    PutEdge,
    PutNode,
    PutPassage,
)
from helix.model.records import Node

T = TypeVar("T")

EdgeKey = tuple[str, str, str, str, str]
"""What an edge is kept under: its type, then label and id of its source and of its target."""

_EDGE_KEY = "type = ? AND source_label = ? AND source = ? AND target_label = ? AND target = ?"
_PASSAGES = (
    "SELECT p.number, p.id, p.owner_label, p.owner, p.text, v.vector FROM passage p"
    " LEFT JOIN vector v ON v.number = p.number AND v.space = ?"
)


def write_nodes(connection: sqlite3.Connection, nodes: Mapping[tuple[Label, str], Props | None]) -> None:
    """Write the properties of nodes; None removes one."""
    gone = [key for key, props in nodes.items() if props is None]
    connection.executemany("DELETE FROM node WHERE label = ? AND id = ?", gone)
    put = [(label, node_id, _json(props)) for (label, node_id), props in nodes.items() if props is not None]
    connection.executemany("INSERT OR REPLACE INTO node VALUES (?, ?, ?)", put)


def write_edges(connection: sqlite3.Connection, edges: Mapping[EdgeKey, Props | None]) -> None:
    """Write the properties of edges; None removes one."""
    put = [(*key, _json(props)) for key, props in edges.items() if props is not None]
    connection.executemany("INSERT OR REPLACE INTO edge VALUES (?, ?, ?, ?, ?, ?)", put)
    gone = [key for key, props in edges.items() if props is None]
    connection.executemany(f"DELETE FROM edge WHERE {_EDGE_KEY}", gone)


def write_passages(connection: sqlite3.Connection, passages: Mapping[str, PutPassage | None]) -> None:
    """Remove what there was of the passages, with vectors and tokens, and write them anew where they are not None."""
    for passage_id in passages:
        _drop_passage(connection, passage_id)
    connection.executemany(
        "INSERT INTO passage VALUES (?, ?, ?, ?, ?)",
        [(op.number, op.id, op.owner.label, op.owner.id, op.text) for op in passages.values() if op is not None],
    )


def completed(connection: sqlite3.Connection, op: Operation) -> Operation | None:
    """Return the operation filled up with the present state, or None where the state has moved past it.

    Replay asks this: what a follower missed is brought straight to the present, which is where replaying every row
    in order would end.
    """
    match op:
        case PutNode():
            props = node_props(connection, op.label, op.id)
            return None if props is None else replace(op, props=props)
        case PutEdge():
            kept = _edge_props(connection, edge_key(op))
            return None if kept is None else replace(op, props=kept)
        case PutPassage():
            row = connection.execute(
                "SELECT v.vector FROM passage p LEFT JOIN vector v ON v.number = p.number AND v.space ="
                " (SELECT id FROM space WHERE active) WHERE p.id = ? AND p.number = ?",
                (op.id, op.number),
            ).fetchone()
            return None if row is None else replace(op, vector=row[0])
        case _:
            return op


def held(connection: sqlite3.Connection, drop: Drop, space: int | None) -> Put | None:
    """Return the operation that puts the node, edge or passage (with its vector in the space) as it is, or None."""
    match drop:
        case DropNode():
            props = node_props(connection, drop.label, drop.id)
            return None if props is None else PutNode(label=drop.label, id=drop.id, props=props)
        case DropEdge():
            props = _edge_props(connection, edge_key(drop))
            return (
                None if props is None else PutEdge(type=drop.type, source=drop.source, target=drop.target, props=props)
            )
        case DropPassage():
            row = connection.execute(f"{_PASSAGES} WHERE p.id = ?", (space, drop.id)).fetchone()
            return None if row is None else put_passage(row)


def attached(connection: sqlite3.Connection, refs: Collection[Ref]) -> dict[Ref, list[EdgeKey]]:
    """Return the edges at each of the nodes, in the order of their keys; one pass over all edges, however many nodes.

    Edges are kept by their source: an index by target too would be written to, all over, by every memory stored.
    """
    found: dict[Ref, list[EdgeKey]] = {ref: [] for ref in refs}
    ends = json.dumps(sorted({ref.id for ref in refs}))
    rows = connection.execute(
        "WITH ends AS (SELECT value FROM json_each(?))"
        " SELECT type, source_label, source, target_label, target FROM edge"
        " WHERE source IN ends OR target IN ends ORDER BY type, source_label, source, target_label, target",
        (ends,),
    )
    for key in rows:
        for ref in {ref_of(*key[1:3]), ref_of(*key[3:5])} & found.keys():
            found[ref].append(key)
    return found


def owned(connection: sqlite3.Connection, ref: Ref) -> list[str]:
    """Return the ids of a node's passages, in the order in which they came."""
    rows = connection.execute(
        "SELECT id FROM passage WHERE owner = ? AND owner_label = ? ORDER BY number", (ref.id, ref.label)
    )
    return [text_of(passage_id) for (passage_id,) in rows]


class Snapshot:
    """The whole state as operations, as one connection sees it."""

    def __init__(self, connection: sqlite3.Connection, space: int | None) -> None:
        self._connection = connection
        self._space = space

    def operations(self) -> Iterator[Operation]:
        """Yield everything: nodes first, then edges, then passages with their vectors."""
        yield from self.nodes()
        yield from self.edges()
        yield from self.passages()

    def counts(self) -> dict[str, int]:
        """Return how many `nodes` and `edges` there are."""
        tables = {"nodes": "node", "edges": "edge"}
        return {
            name: int(self._connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0])
            for name, table in tables.items()
        }

    def nodes(self, label: Label | None = None) -> Iterator[PutNode]:
        """Yield every node, or every one of a label."""
        statement = "SELECT label, id, props FROM node" + (" WHERE label = ?" if label else "")
        yield from map(put_node, self._connection.execute(statement, (label,) if label else ()))

    def edges(self) -> Iterator[PutEdge]:
        """Yield every edge."""
        yield from map(put_edge, self._connection.execute("SELECT * FROM edge"))

    def nodes_in_order(self, label: Label | None = None) -> Iterator[PutNode]:
        """Yield every node, or every one of a label, by label and id."""
        statement = f"SELECT label, id, props FROM node{' WHERE label = ?' if label else ''} ORDER BY label, id"
        yield from map(put_node, self._connection.execute(statement, (label,) if label else ()))

    def edges_in_order(self) -> Iterator[tuple[PutEdge, str, str]]:
        """Yield every edge whose nodes are there, by type and ends, with the scopes of its source and its target."""
        key = ", ".join(f"e.{name}" for name in ("type", "source_label", "source", "target_label", "target"))
        rows = self._connection.execute(
            f"SELECT {key}, e.props, coalesce(json_extract(s.props, '$.scope'), ''),"
            " coalesce(json_extract(t.props, '$.scope'), '') FROM edge e"
            " JOIN node s ON s.label = e.source_label AND s.id = e.source"
            f" JOIN node t ON t.label = e.target_label AND t.id = e.target ORDER BY {key}"
        )
        yield from ((put_edge(row[:6]), text_of(row[6]), text_of(row[7])) for row in rows)

    def held(self, drop: Drop) -> Put | None:
        """Return what there is of a node, edge or passage, without a vector; None for nothing."""
        return held(self._connection, drop, None)

    def edges_from(self, source: Ref) -> Iterator[PutEdge]:
        """Yield every edge that starts at a node."""
        statement = "SELECT * FROM edge WHERE type = ? AND source_label = ? AND source = ?"
        for kind in Relation:
            yield from map(put_edge, self._connection.execute(statement, (kind, source.label, source.id)))

    def texts_of(self, owner: Ref) -> list[str]:
        """Return the texts that a node is found by, in the order in which they came."""
        statement = "SELECT text FROM passage WHERE owner = ? AND owner_label = ? ORDER BY number"
        return [text_of(text) for (text,) in self._connection.execute(statement, (owner.id, owner.label))]

    def vectors_of(self, owner: Ref) -> list[bytes | None]:
        """Return the vectors of the texts that a node is found by, in the order of `texts_of`; None where one lacks."""
        rows = self._connection.execute(
            f"{_PASSAGES} WHERE p.owner = ? AND p.owner_label = ? ORDER BY p.number",
            (self._space, owner.id, owner.label),
        )
        return [put_passage(row).vector for row in rows]

    def passages(self) -> Iterator[PutPassage]:
        """Yield every passage in order of its number, with its vector in the space."""
        yield from map(put_passage, self._connection.execute(f"{_PASSAGES} ORDER BY p.number", (self._space,)))


class Records:
    """Reads of single nodes and passages by id, from any thread.

    `mend` makes the state anew from the log where a row of it turns out damaged; the read is then done once more.
    `edges_known` tells from memory which edges a node has, or None where it does not know: the table is kept by where
    an edge starts, so that where it ends can only be found by reading all of it.
    """

    def __init__(
        self,
        database: Database,
        mend: Callable[[], object] | None = None,
        edges_known: Callable[[Ref], Sequence[DropEdge] | None] | None = None,
    ) -> None:
        self._database = database
        self._mend = mend
        self._edges_known = edges_known

    def _reading(self, read: Callable[[sqlite3.Connection], T]) -> T:
        try:
            with self._database.reading() as connection:
                return read(connection)
        except StoreCorruptError:
            if self._mend is None:
                raise
        self._mend()
        with self._database.reading() as connection:
            return read(connection)

    def node(self, ref: Ref) -> Node:
        """Return the domain object, or raise NotFoundError."""
        return self.nodes([ref])[0]

    def nodes(self, refs: Sequence[Ref]) -> list[Node]:
        """Return the domain objects in the order of `refs`; raises NotFoundError for the first that is missing."""
        return self._reading(lambda connection: [_node_of(connection, ref) for ref in refs])

    def present(self, refs: Sequence[Ref]) -> list[Node | None]:
        """Return the domain objects in the order of `refs`, None for one that was dropped since its row was found."""

        def read(connection: sqlite3.Connection) -> list[Node | None]:
            held = [node_props(connection, ref.label, ref.id) for ref in refs]
            return [None if props is None else node_of(ref, props) for ref, props in zip(refs, held, strict=True)]

        return self._reading(read)

    def nodes_with(self, label: Label, word: str) -> list[Node]:
        """Return the nodes of a label that have a word of ASCII anywhere in what is kept of them; reads all of it."""
        statement = "SELECT label, id, props FROM node WHERE label = ? AND instr(props, ?)"

        def read(connection: sqlite3.Connection) -> list[Node]:
            found = connection.execute(statement, (label, word))
            return [node_of(ref_of(*ref), props_of(props)) for *ref, props in found]

        return self._reading(read)

    def edges_at(self, ref: Ref, kind: Relation | None = None) -> list[PutEdge]:
        """Return every edge, or every one of a type, that starts or ends at the node."""
        known = None if self._edges_known is None else self._edges_known(ref)
        if known is not None:
            wanted = [edge for edge in known if kind in (None, edge.type)]
            return [edge for edge in self.edges(wanted) if edge is not None]
        statement = "SELECT * FROM edge WHERE (source_label = ? AND source = ?) OR (target_label = ? AND target = ?)"
        ends = (ref.label, ref.id, ref.label, ref.id)
        held = self._reading(lambda connection: list(map(put_edge, connection.execute(statement, ends))))
        return [edge for edge in held if kind in (None, edge.type)]

    def edges(self, wanted: Sequence[DropEdge]) -> list[PutEdge | None]:
        """Return the edges that these would drop, in their order, None for one that is not there."""
        one = f"SELECT * FROM edge WHERE {_EDGE_KEY}"

        def read(connection: sqlite3.Connection) -> list[PutEdge | None]:
            rows = (connection.execute(one, edge_key(edge)).fetchone() for edge in wanted)
            return [None if row is None else put_edge(row) for row in rows]

        return self._reading(read)

    def edges_of(self, kind: Relation | None, limit: int, after: EdgeKey | None = None) -> list[PutEdge]:
        """Return up to `limit` edges of a type, or of every type, in the order of their keys, behind one of these."""
        key = "type, source_label, source, target_label, target"
        wanted: list[tuple[str, tuple[str, ...]]] = [("type = ?", (kind,))] if kind else []
        wanted += [(f"({key}) > (?, ?, ?, ?, ?)", after)] if after else []
        where = " AND ".join(["TRUE", *(condition for condition, _ in wanted)])
        statement = f"SELECT * FROM edge WHERE {where} ORDER BY {key} LIMIT ?"
        values = (*chain.from_iterable(given for _, given in wanted), limit)
        return self._reading(lambda connection: list(map(put_edge, connection.execute(statement, values))))

    def edge_count(self, kind: Relation | None) -> int:
        """Return how many edges there are of a type, or of every type."""
        statement = "SELECT count(*) FROM edge" + (" WHERE type = ?" if kind else "")
        with self._database.reading() as connection:
            return int(connection.execute(statement, (kind,) if kind else ()).fetchone()[0])

    def passage_texts(self, numbers: Sequence[int]) -> list[str]:
        """Return the texts of passages in the order of `numbers`; one that is gone reads as empty."""

        def read(connection: sqlite3.Connection) -> list[str]:
            one = "SELECT text FROM passage WHERE number = ?"
            found = [connection.execute(one, (int(number),)).fetchone() for number in numbers]
            return ["" if row is None else text_of(row[0]) for row in found]

        return self._reading(read)

    def passage(self, number: int) -> PutPassage | None:
        """Return a passage by its number, without its vector, or None."""

        def read(connection: sqlite3.Connection) -> PutPassage | None:
            row = connection.execute(
                "SELECT number, id, owner_label, owner, text, NULL FROM passage WHERE number = ?", (number,)
            ).fetchone()
            return None if row is None else put_passage(row)

        return self._reading(read)

    def counts(self) -> dict[str, int]:
        """Return how many nodes of each label, edges and passages the state holds."""
        with self._database.reading() as connection:
            counted = {
                str(label): int(n) for label, n in connection.execute("SELECT label, count(*) FROM node GROUP BY label")
            }
            counted["edges"] = int(connection.execute("SELECT count(*) FROM edge").fetchone()[0])
            counted["passages"] = int(connection.execute("SELECT count(*) FROM passage").fetchone()[0])
        return counted


def _node_of(connection: sqlite3.Connection, ref: Ref) -> Node:
    row = connection.execute("SELECT props FROM node WHERE label = ? AND id = ?", (ref.label, ref.id)).fetchone()
    if row is None:
        raise NotFoundError(f"no {ref.label.lower()} has the id {ref.id!r}", hint="`helix list` shows what is there")
    return node_of(ref, props_of(row[0]))


def _drop_passage(connection: sqlite3.Connection, passage_id: str) -> None:
    row = connection.execute("SELECT number FROM passage WHERE id = ?", (passage_id,)).fetchone()
    if row is not None:
        connection.execute("DELETE FROM passage WHERE number = ?", row)
        # Vectors are found by space and number together; by the number alone, all of them are read.
        connection.execute("DELETE FROM vector WHERE space IN (SELECT id FROM space) AND number = ?", row)
        remove_tokens(connection, row[0])


def edge_key(op: PutEdge | DropEdge) -> EdgeKey:
    """Return what the edge of an operation is kept under."""
    return (op.type, op.source.label, op.source.id, op.target.label, op.target.id)


def edge_drop(key: EdgeKey) -> DropEdge:
    """Return the operation that removes the edge kept under the key."""
    return DropEdge(type=relation_of(key[0]), source=ref_of(*key[1:3]), target=ref_of(*key[3:5]))


def node_props(connection: sqlite3.Connection, label: Label, node_id: str) -> Props | None:
    """Return the properties of a node, or None where there is no such node."""
    row = connection.execute("SELECT props FROM node WHERE label = ? AND id = ?", (label, node_id)).fetchone()
    return None if row is None else props_of(row[0])


def _edge_props(connection: sqlite3.Connection, key: EdgeKey) -> Props | None:
    row = connection.execute(f"SELECT props FROM edge WHERE {_EDGE_KEY}", key).fetchone()
    return None if row is None else props_of(row[0])


_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


def _json(props: Props) -> str:
    return _ENCODER.encode(props)
