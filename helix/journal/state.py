"""The state the log comes to: nodes, edges and passages as they are now, kept in the log's own transaction."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from helix.errors import NotFoundError, StoreCorruptError
from helix.journal.database import Database
from helix.journal.lexical import remove as remove_tokens
from helix.model.edge import Label, Ref, Relation
from helix.model.operations import DropEdge, DropPassage, Operation, Props, PutEdge, PutNode, PutPassage
from helix.model.records import Node, node_from

_EDGE_KEY = "type = ? AND source_label = ? AND source = ? AND target_label = ? AND target = ?"


def apply(connection: sqlite3.Connection, op: Operation) -> Operation:
    """Bring the state to what the operation says; return it with complete properties."""
    match op:
        case PutNode():
            props = {**_node_props(connection, op.label, op.id), **op.props}
            connection.execute("INSERT OR REPLACE INTO node VALUES (?, ?, ?)", (op.label, op.id, _json(props)))
            return replace(op, props=props)
        case PutEdge():
            connection.execute(
                "INSERT OR REPLACE INTO edge VALUES (?, ?, ?, ?, ?, ?)", (*_edge_key(op), _json(op.props))
            )
        case DropEdge():
            connection.execute(f"DELETE FROM edge WHERE {_EDGE_KEY}", _edge_key(op))
        case PutPassage():
            _drop_passage(connection, op.id)
            connection.execute(
                "INSERT INTO passage VALUES (?, ?, ?, ?, ?)", (op.number, op.id, op.owner.label, op.owner.id, op.text)
            )
        case DropPassage():
            _drop_passage(connection, op.id)
    return op


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


def snapshot(connection: sqlite3.Connection, space: int | None) -> Iterator[Operation]:
    """Yield the whole state as operations: nodes, then edges, then passages."""
    for label, node_id, props in connection.execute("SELECT label, id, props FROM node"):
        yield PutNode(label=Label(label), id=node_id, props=_loads(props))
    for kind, source_label, source, target_label, target, props in connection.execute("SELECT * FROM edge"):
        yield PutEdge(
            type=Relation(kind),
            source=Ref(label=Label(source_label), id=source),
            target=Ref(label=Label(target_label), id=target),
            props=_loads(props),
        )
    passages = connection.execute(
        "SELECT p.number, p.id, p.owner_label, p.owner, p.text, v.vector FROM passage p"
        " LEFT JOIN vector v ON v.number = p.number AND v.space = ? ORDER BY p.number",
        (space,),
    )
    for number, passage_id, label, owner, text, vector in passages:
        yield PutPassage(
            id=passage_id, number=number, owner=Ref(label=Label(label), id=owner), text=text, vector=vector
        )


class Records:
    """Reads of single nodes and passages by id, from any thread."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def node(self, ref: Ref) -> Node:
        """Return the domain object, or raise NotFoundError."""
        return self.nodes([ref])[0]

    def nodes(self, refs: Sequence[Ref]) -> list[Node]:
        """Return the domain objects in the order of `refs`; raises NotFoundError for the first that is missing."""
        found = []
        with self._database.reading() as connection:
            for ref in refs:
                row = connection.execute(
                    "SELECT props FROM node WHERE label = ? AND id = ?", (ref.label, ref.id)
                ).fetchone()
                if row is None:
                    raise NotFoundError(
                        f"no {ref.label.lower()} has the id {ref.id!r}", hint="`helix list` shows what is there"
                    )
                found.append(node_from(ref.label, ref.id, _loads(row[0])))
        return found

    def edges_at(self, ref: Ref) -> list[PutEdge]:
        """Return every edge that starts or ends at the node."""
        with self._database.reading() as connection:
            rows = connection.execute(
                "SELECT * FROM edge WHERE (source_label = ? AND source = ?) OR (target_label = ? AND target = ?)",
                (ref.label, ref.id, ref.label, ref.id),
            ).fetchall()
        return [_edge_of(row) for row in rows]

    def edges_of(self, kind: Relation | None, limit: int) -> list[PutEdge]:
        """Return up to `limit` edges of a type, or of every type."""
        with self._database.reading() as connection:
            rows = connection.execute(
                "SELECT * FROM edge WHERE ? IS NULL OR type = ? LIMIT ?", (kind, kind, limit)
            ).fetchall()
        return [_edge_of(row) for row in rows]

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


def _json(props: Props) -> str:
    return json.dumps(props, ensure_ascii=False, separators=(",", ":"))


def _loads(props: str) -> Props:
    try:
        return json.loads(props)  # type: ignore[no-any-return]
    except ValueError as error:
        raise StoreCorruptError(
            f"a row of the journal's state is damaged: {error}",
            hint="restart Helix: the state is made anew from the log",
        ) from error
