"""The state the log comes to: nodes, edges and passages as they are now, kept in the log's own transaction."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from helix.errors import NotFoundError, StoreCorruptError
from helix.journal.database import Database
from helix.journal.lexical import remove as remove_tokens
from helix.model.edge import Label, Ref, Relation
from helix.model.operations import DropEdge, DropPassage, Operation, Props, PutEdge, PutNode, PutPassage
from helix.model.records import Node, node_from

T = TypeVar("T")

_EDGE_KEY = "type = ? AND source_label = ? AND source = ? AND target_label = ? AND target = ?"


class Writes:
    """The state after a run of operations: collected in memory, and written at once, a statement for each table."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._nodes: dict[tuple[Label, str], Props] = {}
        self._edges: dict[tuple[str, str, str, str, str], Props | None] = {}
        self._passages: dict[str, PutPassage | None] = {}

    def add(self, op: Operation) -> Operation:
        """Take an operation in; return it with complete properties."""
        match op:
            case PutNode():
                key = (op.label, op.id)
                before = self._nodes.get(key)
                before = _node_props(self._connection, *key) if before is None else before
                props = self._nodes[key] = {**before, **op.props}
                return PutNode(label=op.label, id=op.id, props=props)
            case PutEdge():
                self._edges[_edge_key(op)] = op.props
            case DropEdge():
                self._edges[_edge_key(op)] = None
            case PutPassage():
                self._passages[op.id] = op
            case DropPassage():
                self._passages[op.id] = None
        return op

    def flush(self) -> list[PutPassage]:
        """Write what was collected, in the caller's transaction; return the passages, whose index is not written."""
        execute_all = self._connection.executemany
        execute_all(
            "INSERT OR REPLACE INTO node VALUES (?, ?, ?)",
            [(label, node_id, _json(props)) for (label, node_id), props in self._nodes.items()],
        )
        put = [(*key, _json(props)) for key, props in self._edges.items() if props is not None]
        execute_all("INSERT OR REPLACE INTO edge VALUES (?, ?, ?, ?, ?, ?)", put)
        gone = [key for key, props in self._edges.items() if props is None]
        execute_all(f"DELETE FROM edge WHERE {_EDGE_KEY}", gone)
        for passage_id in self._passages:
            _drop_passage(self._connection, passage_id)
        passages = [op for op in self._passages.values() if op is not None]
        execute_all(
            "INSERT INTO passage VALUES (?, ?, ?, ?, ?)",
            [(op.number, op.id, op.owner.label, op.owner.id, op.text) for op in passages],
        )
        self._nodes, self._edges, self._passages = {}, {}, {}
        return passages


def clear(connection: sqlite3.Connection) -> None:
    """Forget the state of nodes and edges, to make it anew from the log."""
    connection.execute("DELETE FROM node")
    connection.execute("DELETE FROM edge")


def completed(connection: sqlite3.Connection, op: Operation) -> Operation | None:
    """Return the operation filled up with the present state, or None where the state has moved past it.

    Replay asks this: what a follower missed is brought straight to the present, which is where replaying every row
    in order would end.
    """
    match op:
        case PutNode():
            props = _node_props(connection, op.label, op.id)
            return replace(op, props=props) if props else None
        case PutEdge():
            kept = _edge_props(connection, op)
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

    def nodes(self) -> Iterator[PutNode]:
        """Yield every node."""
        for label, node_id, props in self._connection.execute("SELECT label, id, props FROM node"):
            yield PutNode(label=Label(label), id=node_id, props=_loads(props))

    def edges(self) -> Iterator[PutEdge]:
        """Yield every edge."""
        yield from map(_edge_of, self._connection.execute("SELECT * FROM edge"))

    def passages(self) -> Iterator[PutPassage]:
        """Yield every passage in order of its number, with its vector in the space."""
        passages = self._connection.execute(
            "SELECT p.number, p.id, p.owner_label, p.owner, p.text, v.vector FROM passage p"
            " LEFT JOIN vector v ON v.number = p.number AND v.space = ? ORDER BY p.number",
            (self._space,),
        )
        for number, passage_id, label, owner, text, vector in passages:
            yield PutPassage(
                id=passage_id, number=number, owner=Ref(label=Label(label), id=owner), text=text, vector=vector
            )


class Records:
    """Reads of single nodes and passages by id, from any thread.

    `mend` makes the state anew from the log where a row of it turns out damaged; the read is then done once more.
    """

    def __init__(self, database: Database, mend: Callable[[], None] | None = None) -> None:
        self._database = database
        self._mend = mend

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

    def edges_at(self, ref: Ref) -> list[PutEdge]:
        """Return every edge that starts or ends at the node."""
        statement = "SELECT * FROM edge WHERE (source_label = ? AND source = ?) OR (target_label = ? AND target = ?)"
        ends = (ref.label, ref.id, ref.label, ref.id)
        return self._reading(lambda connection: list(map(_edge_of, connection.execute(statement, ends))))

    def edges_of(self, kind: Relation | None, limit: int) -> list[PutEdge]:
        """Return up to `limit` edges of a type, or of every type."""
        statement = "SELECT * FROM edge WHERE ? IS NULL OR type = ? LIMIT ?"
        return self._reading(lambda connection: list(map(_edge_of, connection.execute(statement, (kind, kind, limit)))))

    def passage_texts(self, numbers: Sequence[int]) -> list[str]:
        """Return the texts of passages in the order of `numbers`; one that is gone reads as empty."""
        with self._database.reading() as connection:
            found = [
                connection.execute("SELECT text FROM passage WHERE number = ?", (int(n),)).fetchone() for n in numbers
            ]
        return ["" if row is None else str(row[0]) for row in found]

    def passage(self, number: int) -> PutPassage | None:
        """Return a passage by its number, without its vector, or None."""
        with self._database.reading() as connection:
            row = connection.execute(
                "SELECT id, owner_label, owner, text FROM passage WHERE number = ?", (number,)
            ).fetchone()
        if row is None:
            return None
        return PutPassage(id=row[0], number=number, owner=Ref(label=Label(row[1]), id=row[2]), text=row[3])

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
    return node_from(ref.label, ref.id, _loads(row[0]))


def _edge_of(row: tuple[Any, ...]) -> PutEdge:
    return PutEdge(
        type=Relation(row[0]),
        source=Ref(label=Label(row[1]), id=row[2]),
        target=Ref(label=Label(row[3]), id=row[4]),
        props=_loads(row[5]),
    )


def _drop_passage(connection: sqlite3.Connection, passage_id: str) -> None:
    row = connection.execute("SELECT number FROM passage WHERE id = ?", (passage_id,)).fetchone()
    if row is not None:
        connection.execute("DELETE FROM passage WHERE number = ?", row)
        connection.execute("DELETE FROM vector WHERE number = ?", row)
        remove_tokens(connection, row[0])


def _edge_key(op: PutEdge | DropEdge) -> tuple[str, str, str, str, str]:
    return (op.type, op.source.label, op.source.id, op.target.label, op.target.id)


def _node_props(connection: sqlite3.Connection, label: Label, node_id: str) -> Props:
    row = connection.execute("SELECT props FROM node WHERE label = ? AND id = ?", (label, node_id)).fetchone()
    return {} if row is None else _loads(row[0])


def _edge_props(connection: sqlite3.Connection, op: PutEdge) -> Props | None:
    row = connection.execute(f"SELECT props FROM edge WHERE {_EDGE_KEY}", _edge_key(op)).fetchone()
    return None if row is None else _loads(row[0])


_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


def _json(props: Props) -> str:
    return _ENCODER.encode(props)


def _loads(props: str) -> Props:
    try:
        return json.loads(props)  # type: ignore[no-any-return]
    except ValueError as error:
        raise StoreCorruptError(
            f"a row of the journal's state is damaged: {error}",
            hint="restart Helix: the state is made anew from the log",
        ) from error
