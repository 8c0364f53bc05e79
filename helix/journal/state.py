"""The state the log comes to: nodes, edges and passages as they are now, kept in the log's own transaction.

Rows that were read or written last stay in memory (`RowCache`), so that what was read once is not read again.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Generic, TypeVar

from helix.errors import NotFoundError, StoreCorruptError
from helix.journal import tables
from helix.journal.backend import Backend, DatabaseConnection
from helix.journal.decoding import node_of, props_of, put_edge, put_node, put_passage, ref_of, stored_relation, text_of
from helix.journal.tables import PASSAGES, EdgeKey
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
    drop_of,
)
from helix.model.records import Node

T = TypeVar("T")

_EDGE = ", ".join((*tables.EDGE_COLUMNS, "props"))
_ALL_PASSAGES = PASSAGES.format(source="passage p")


def completed(connection: DatabaseConnection, operations: Iterable[Operation]) -> list[Operation | None]:
    """Return operations filled up with the journal's present state, None for one that the state has moved past.

    Replay asks this: what a follower missed is brought straight to the present, which is where replaying every row
    in order would end.
    """
    given = list(operations)
    there = held(connection, (drop_of(op) for op in given if isinstance(op, Put)))
    return [_completed(op, there[drop_of(op)]) if isinstance(op, Put) else op for op in given]


def _completed(op: Put, there: Put | None) -> Put | None:
    match op, there:
        case PutNode(), PutNode():
            return replace(op, props=there.props)
        case PutEdge(), PutEdge():
            return replace(op, props=there.props)
        case PutPassage(), PutPassage() if op.number == there.number:
            return replace(op, vector=there.vector)
        case _:
            return None


def held(connection: DatabaseConnection, drops: Iterable[Drop]) -> dict[Drop, Put | None]:
    """Return what puts the journal's nodes, edges and passages (with vectors) as they are, None for nothing."""
    every = list(dict.fromkeys(drops))
    there = tables.FoundRows()
    tables.read_before(connection, wanted(every), there)
    return {drop: put_of(drop, there) for drop in every}


def wanted(drops: Iterable[Drop]) -> tables.WantedRows:
    """Return the keys of the nodes, edges and passages that operations need from the journal's state."""
    keys = tables.WantedRows()
    for drop in drops:
        match drop:
            case DropNode():
                keys.nodes.add((drop.label, drop.id))
            case DropEdge():
                keys.edges.add(edge_key(drop))
            case DropPassage():
                keys.passages.add(drop.id)
    return keys


def put_of(drop: Drop, there: tables.FoundRows) -> Put | None:
    """Return the operation that puts a node, edge or passage as the journal has it, None for nothing."""
    match drop:
        case DropNode():
            props = there.nodes[drop.label, drop.id]
            return None if props is None else PutNode(label=drop.label, id=drop.id, props=props)
        case DropEdge():
            props = there.edges[edge_key(drop)]
            return (
                None if props is None else PutEdge(type=drop.type, source=drop.source, target=drop.target, props=props)
            )
        case DropPassage():
            return there.passages[drop.id]


class Snapshot:
    """The whole state as operations, as one connection sees it."""

    def __init__(self, connection: DatabaseConnection) -> None:
        self._connection = connection

    def operations(self) -> Iterator[Operation]:
        """Yield the journal's whole state: nodes first, then edges, then passages with their vectors."""
        yield from self.nodes()
        yield from self.edges()
        yield from self.passages()

    def counts(self) -> dict[str, int]:
        """Return how many `nodes` and `edges` the journal's state has."""
        tables = {"nodes": "node", "edges": "edge"}
        return {
            name: int(self._connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0])
            for name, table in tables.items()
        }

    def nodes(self, label: Label | None = None) -> Iterator[PutNode]:
        """Yield every node of the journal's state, or every one of a label."""
        statement = "SELECT label, id, props FROM node" + (" WHERE label = ?" if label else "")
        yield from map(put_node, self._connection.execute(statement, (label,) if label else ()))

    def edges(self) -> Iterator[PutEdge]:
        """Yield every edge of the journal's state."""
        yield from map(put_edge, self._connection.execute(f"SELECT {_EDGE} FROM edge"))

    def nodes_in_order(self, label: Label | None = None) -> Iterator[PutNode]:
        """Yield every node of the journal's state, or every one of a label, by label and id."""
        statement = f"SELECT label, id, props FROM node{' WHERE label = ?' if label else ''} ORDER BY label, id"
        yield from map(put_node, self._connection.execute(statement, (label,) if label else ()))

    def edges_in_order(self) -> Iterator[tuple[PutEdge, str, str]]:
        """Yield the journal's edges whose nodes are there, by type and ends, with the scopes of both ends."""
        key = ", ".join(f"e.{name}" for name in ("type", "source_label", "source", "target_label", "target"))
        rows = self._connection.execute(
            f"SELECT {key}, e.props, coalesce(json_extract(s.props, '$.scope'), ''),"
            " coalesce(json_extract(t.props, '$.scope'), '') FROM edge e"
            " JOIN node s ON s.label = e.source_label AND s.id = e.source"
            f" JOIN node t ON t.label = e.target_label AND t.id = e.target ORDER BY {key}"
        )
        yield from ((put_edge(row[:6]), text_of(row[6]), text_of(row[7])) for row in rows)

    def held(self, drop: Drop) -> Put | None:
        """Return what the journal's state has of a node, edge or passage, without a vector; None for nothing."""
        return held(self._connection, [drop])[drop]

    def edges_from(self, source: Ref) -> Iterator[PutEdge]:
        """Yield every edge of the journal's state that starts at a node."""
        statement = f"SELECT {_EDGE} FROM edge WHERE type = ? AND source_label = ? AND source = ?"
        for kind in Relation:
            yield from map(put_edge, self._connection.execute(statement, (kind, source.label, source.id)))

    def texts_of(self, owner: Ref) -> list[str]:
        """Return the texts that the journal has a node found by, in the order in which they came."""
        statement = "SELECT text FROM passage WHERE owner = ? AND owner_label = ? ORDER BY number"
        return [text_of(text) for (text,) in self._connection.execute(statement, (owner.id, owner.label))]

    def vectors_of(self, owner: Ref) -> list[bytes | None]:
        """Return the journal's vectors of a node's texts, in the order of `texts_of`; None where one lacks."""
        rows = self._connection.execute(
            f"{_ALL_PASSAGES} WHERE p.owner = ? AND p.owner_label = ? ORDER BY p.number",
            (owner.id, owner.label),
        )
        return [put_passage(row).vector for row in rows]

    def passages(self) -> Iterator[PutPassage]:
        """Yield every passage of the journal's state in order of its number, with its vector."""
        yield from map(put_passage, self._connection.execute(f"{_ALL_PASSAGES} ORDER BY p.number"))


class Records:
    """Reads of single nodes and passages by id, from any thread.

    `mend` makes the state anew from the log where a row of it turns out damaged; the read is then done once more.
    `edges_known` tells from memory which edges a node has, or None where it does not know: the table is kept by where
    an edge starts, so that where it ends can only be found by reading all of it.
    """

    def __init__(
        self,
        database: Backend,
        mend: Callable[[], object] | None = None,
        edges_known: Callable[[Ref], Sequence[DropEdge] | None] | None = None,
    ) -> None:
        self._database = database
        self._mend = mend
        self._edges_known = edges_known
        self._nodes: RowCache[Ref, Node] = RowCache()
        self._edges: RowCache[EdgeKey, PutEdge] = RowCache()

    def _reading(self, read: Callable[[DatabaseConnection], T]) -> T:
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
        """Return the domain object of a node from the journal's state, or raise NotFoundError."""
        return self.nodes([ref])[0]

    def nodes(self, refs: Sequence[Ref]) -> list[Node]:
        """Return the journal's nodes in the order of `refs`; raises NotFoundError for the first that is missing."""
        found = self.present(refs)
        for ref, node in zip(refs, found, strict=True):
            if node is None:
                label = ref.label.lower()
                raise NotFoundError(f"no {label} has the id {ref.id!r}", hint="`helix list` shows what is there")
        return [node for node in found if node is not None]

    def present(self, refs: Sequence[Ref]) -> list[Node | None]:
        """Return the journal's nodes in the order of `refs`, None for one that was dropped since its row was found."""
        return self._nodes.of(refs, self._read_nodes)

    def _read_nodes(self, refs: Sequence[Ref]) -> dict[Ref, Node | None]:
        def read(connection: DatabaseConnection) -> dict[Ref, Node | None]:
            held = tables.nodes(connection, [(ref.label, ref.id) for ref in refs])
            found = ((ref, held[ref.label, ref.id]) for ref in refs)
            return {ref: None if props is None else node_of(ref, props) for ref, props in found}

        return self._reading(read)

    def follow(self, operations: Sequence[Operation]) -> None:
        """Take note of complete operations in what is read of the journal's state; on the writer's thread."""
        put = {Ref(label=op.label, id=op.id): op for op in operations if isinstance(op, PutNode | DropNode)}
        drawn = {edge_key(op): op for op in operations if isinstance(op, PutEdge | DropEdge)}
        self._nodes.follow({ref: partial(_node, ref, op) for ref, op in put.items()})
        self._edges.follow({key: partial(_edge, op) for key, op in drawn.items()})

    def forget(self) -> None:
        """Read the journal's state anew from here on: it was replaced."""
        self._nodes.forget()
        self._edges.forget()

    def nodes_with(self, label: Label, word: str) -> list[Node]:
        """Return the journal's nodes of a label that have a word of ASCII anywhere; reads all of them."""
        statement = "SELECT label, id, props FROM node WHERE label = ? AND instr(props, ?) > 0"

        def read(connection: DatabaseConnection) -> list[Node]:
            found = connection.execute(statement, (label, word))
            return [node_of(ref_of(*ref), props_of(props)) for *ref, props in found]

        return self._reading(read)

    def edges_at(self, ref: Ref, kind: Relation | None = None) -> list[PutEdge]:
        """Return every edge of the journal's state, or every one of a type, that starts or ends at the node."""
        known = None if self._edges_known is None else self._edges_known(ref)
        if known is not None:
            wanted = [edge for edge in known if kind in (None, edge.type)]
            return [edge for edge in self.edges(wanted) if edge is not None]
        statement = (
            f"SELECT {_EDGE} FROM edge WHERE (source_label = ? AND source = ?) OR (target_label = ? AND target = ?)"
        )
        ends = (ref.label, ref.id, ref.label, ref.id)
        held = self._reading(lambda connection: list(map(put_edge, connection.execute(statement, ends))))
        return [edge for edge in held if kind in (None, edge.type)]

    def edges(self, wanted: Sequence[DropEdge]) -> list[PutEdge | None]:
        """Return the journal's edges that these would drop, in their order, None for one that is not there."""
        return self._edges.of(list(map(edge_key, wanted)), self._read_edges)

    def _read_edges(self, keys: Sequence[EdgeKey]) -> dict[EdgeKey, PutEdge | None]:
        held = self._reading(lambda connection: tables.edges(connection, keys))
        return {key: None if props is None else _put_edge(key, props) for key, props in held.items()}

    def edges_of(self, kind: Relation | None, limit: int, after: EdgeKey | None = None) -> list[PutEdge]:
        """Return up to `limit` of the journal's edges of a type, or of every type, by key, behind one of them."""
        key = "type, source_label, source, target_label, target"
        wanted: list[tuple[str, tuple[str, ...]]] = [("type = ?", (kind,))] if kind else []
        wanted += [(f"({key}) > (?, ?, ?, ?, ?)", after)] if after else []
        where = " AND ".join(["TRUE", *(condition for condition, _ in wanted)])
        statement = f"SELECT {_EDGE} FROM edge WHERE {where} ORDER BY {key} LIMIT ?"
        values = (*chain.from_iterable(given for _, given in wanted), limit)
        return self._reading(lambda connection: list(map(put_edge, connection.execute(statement, values))))

    def edge_count(self, kind: Relation | None) -> int:
        """Return how many edges of a type, or of every type, the journal's state has."""
        statement = "SELECT count(*) FROM edge" + (" WHERE type = ?" if kind else "")
        with self._database.reading() as connection:
            return int(connection.execute(statement, (kind,) if kind else ()).fetchone()[0])

    def passage_texts(self, numbers: Sequence[int]) -> list[str]:
        """Return the texts of the journal's passages in the order of `numbers`; one that is gone reads as empty."""

        found = self._reading(lambda connection: tables.texts(connection, numbers))
        return [found.get(int(number), "") for number in numbers]

    def passage(self, number: int) -> PutPassage | None:
        """Return a passage of the journal by its number, without its vector, or None."""

        def read(connection: DatabaseConnection) -> PutPassage | None:
            row = connection.execute(
                "SELECT number, id, owner_label, owner, text, NULL FROM passage WHERE number = ?", (number,)
            ).fetchone()
            return None if row is None else put_passage(row)

        return self._reading(read)

    def counts(self) -> dict[str, int]:
        """Return how many nodes of each label, edges and passages the journal's state holds."""
        with self._database.reading() as connection:
            counted = {
                str(label): int(n) for label, n in connection.execute("SELECT label, count(*) FROM node GROUP BY label")
            }
            counted["edges"] = int(connection.execute("SELECT count(*) FROM edge").fetchone()[0])
            counted["passages"] = int(connection.execute("SELECT count(*) FROM passage").fetchone()[0])
        return counted


def edge_key(op: PutEdge | DropEdge) -> EdgeKey:
    """Return the key under which the journal's state keeps the edge of an operation."""
    return (op.type, op.source.label, op.source.id, op.target.label, op.target.id)


def _put_edge(key: EdgeKey, props: Props) -> PutEdge:
    drop = edge_drop(key)
    return PutEdge(type=drop.type, source=drop.source, target=drop.target, props=props)


def _node(ref: Ref, op: PutNode | DropNode) -> Node | None:
    """Return the node that an operation leaves; None for none, and for one that cannot be read: its reader tells."""
    if isinstance(op, DropNode):
        return None
    try:
        return node_of(ref, op.props)
    except StoreCorruptError:
        return None


def _edge(op: PutEdge | DropEdge) -> PutEdge | None:
    return op if isinstance(op, PutEdge) else None


def edge_drop(key: EdgeKey) -> DropEdge:
    """Return the operation that removes the edge kept under a key of the journal's state."""
    return DropEdge(type=stored_relation(key[0]), source=ref_of(*key[1:3]), target=ref_of(*key[3:5]))


K = TypeVar("K")
V = TypeVar("V")

MOST_ROWS = 4_096
"""Rows that are kept, those that were used last: some megabytes."""


class RowCache(Generic[K, V]):
    """What some keys stand for. Safe from any thread; one thread follows what is written."""

    def __init__(self, most: int = MOST_ROWS) -> None:
        self._most = most
        self._held: OrderedDict[K, V] = OrderedDict()
        self._guard = threading.Lock()
        self._era = 0

    def of(self, keys: Sequence[K], read: Callable[[Sequence[K]], Mapping[K, V | None]]) -> list[V | None]:
        """Return what the journal has under the keys, in their order, None for nothing; `read` finds those not known.

        What it finds is kept, unless something was written meanwhile.
        """
        with self._guard:
            era = self._era
            known: dict[K, V | None] = {key: self._held[key] for key in keys if key in self._held}
            for key in known:
                self._held.move_to_end(key)
        missing = [key for key in dict.fromkeys(keys) if key not in known]
        if missing:
            found = read(missing)
            known.update(found)
            with self._guard:
                for key, value in found.items() if era == self._era else ():
                    self._keep(key, value)
        return [known[key] for key in keys]

    def follow(self, written: Mapping[K, Callable[[], V | None]]) -> None:
        """Have what the journal wrote replace what was known; of many at once each is read when it is needed."""
        known = {key: value() for key, value in written.items()} if len(written) <= self._most else {}
        with self._guard:
            self._era += 1
            for key in written:
                self._held.pop(key, None)
                self._keep(key, known.get(key))

    def forget(self) -> None:
        """Know no row of the journal's state any more."""
        with self._guard:
            self._era += 1
            self._held.clear()

    def _keep(self, key: K, value: V | None) -> None:
        if value is None:
            return
        self._held[key] = value
        self._held.move_to_end(key)
        if len(self._held) > self._most:
            self._held.popitem(last=False)
