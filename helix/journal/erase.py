"""Erasing: takes nodes out of the log and of everything kept beside it, leaving a chain that still verifies.

A row of the log is erased whole, with its salt; what else it held is stated again by a row of its own first. Digest and
chain stay, so the row counts as erased and not as damaged, and without the salt nobody can test guesses against it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from helix.journal import state, tables
from helix.journal.backend import DatabaseConnection
from helix.journal.idempotency import forget_requests
from helix.journal.log import Journal
from helix.journal.pages import opened
from helix.model.edge import Label, Ref
from helix.model.operations import (
    Change,
    Drop,
    DropEdge,
    DropNode,
    DropPassage,
    Operation,
    Put,
    PutEdge,
    PutNode,
    PutPassage,
    decode,
    drop_of,
    encode_operation,
)
from helix.model.tombstone import WORK, is_tombstone, tombstone

LAST_ANSWERS = "last_answers"
"""Key under which the journal keeps the last answers."""

_RESTATE = "restate"
_OF_ERASURES = frozenset({_RESTATE, "erase", "redact"})
NAMES_ONLY = frozenset({Label.ENTITY, Label.SESSION})
"""Labels of nodes that are mere names: they go with the last that speaks of them."""
_OPERATIONS_OF_A_ROW = 2_000
_ROWS_AT_ONCE = 512
_QUOTED = re.compile(r'"(?:[^"\\]++|\\.)*+"', re.DOTALL)
_LISTED = "(SELECT CAST(value AS BIGINT) FROM json_each(?))"


@dataclass(frozen=True, slots=True, kw_only=True)
class ErasableRows:
    """Rows of the log, up to and with `upto`: those that name something, and those nobody can read any more."""

    upto: int
    rows: tuple[int, ...] = ()
    unreadable: tuple[int, ...] = ()


def rows_naming(journal: Journal, ids: Collection[str], *, since: ErasableRows | None = None) -> ErasableRows:
    """Find the journal rows with a node or passage of these ids, one of their passages, an edge at one, or a note.

    Any thread may look; `since` is what an earlier look found, which is looked behind and added to.
    """
    before = since or ErasableRows(upto=0)
    wanted, upto = frozenset(ids), journal.last_seq
    rows, unreadable = list(before.rows), list(before.unreadable)
    statement = (
        "SELECT seq, CAST(payload AS BLOB) FROM log WHERE seq > ? AND seq <= ? AND payload IS NOT NULL ORDER BY seq"
    )
    with journal.database.reading() as connection:
        for seq, payload in connection.execute(statement, (before.upto, upto)):
            data = opened(payload)
            if data is None:
                unreadable.append(seq)
            elif not wanted.isdisjoint(_named(data)):
                rows.append(seq)
    return ErasableRows(upto=upto, rows=tuple(rows), unreadable=tuple(unreadable))


def erase_rows(
    journal: Journal, ids: Collection[str], change: str, at: int, *, known: ErasableRows | None = None
) -> ErasableRows:
    """Erase every journal row that names an id, once all they held is stated again as it is; the writer's thread.

    What is to go must be gone from the state by then. What is left under the ids is stated by a change of the kind
    `change`, the rest as `restate`. `known` is what an earlier look found. Doing it again is no harm: it is how an
    erasure that was cut short is finished.
    """
    found = rows_naming(journal, ids, since=known)
    gone = frozenset(ids)
    restated = restating(journal, found.rows, gone)
    left = [op for op in restated if not gone.isdisjoint(_named_by(encode_operation(op)))]
    others = [op for op in restated if gone.isdisjoint(_named_by(encode_operation(op)))]
    changes = [Change(kind=_RESTATE, operations=part) for part in _parts(others)]
    changes += [Change(kind=change, operations=part) for part in _parts(left)]
    if changes:
        journal.append(changes, at)
    _purge(journal, ids, found.rows)
    return found


def stated_again(journal: Journal, seq: int) -> frozenset[Drop]:
    """Return what the journal's rows behind `seq` state again after an erasure, where they erased rows up to it.

    A replay of the log up to there lacks it, or has it as it was earlier. A node counts that a passage is of.
    """
    with journal.database.reading() as connection:
        erased = connection.execute("SELECT 1 FROM log WHERE seq <= ? AND payload IS NULL LIMIT 1", (seq,)).fetchone()
    if erased is None:
        return frozenset()
    found: set[Drop] = set()
    while rows := journal.rows(seq, _ROWS_AT_ONCE):
        for row in rows:
            for op in row.change.operations if row.change.kind in _OF_ERASURES else ():
                found.add(drop_of(op))
                if isinstance(op, PutPassage):
                    found.add(DropNode(label=op.owner.label, id=op.owner.id))
        seq = rows[-1].seq
    return frozenset(found)


def _parts(operations: Sequence[Operation]) -> Iterator[tuple[Operation, ...]]:
    for start in range(0, len(operations), _OPERATIONS_OF_A_ROW):
        yield tuple(operations[start : start + _OPERATIONS_OF_A_ROW])


def restating(journal: Journal, seqs: Sequence[int], ids: Collection[str] = ()) -> list[Operation]:
    """Return the journal's operations that bring everything its erased rows speak of to where it is now, gone or there.

    Left out is what is gone and named by one of the ids: no row is to say any more that it was there. A passage keeps
    its number, so that stating it again is no change to whoever holds it.
    """

    def held_now(connection: DatabaseConnection) -> list[tuple[Drop, Put | None]]:
        drops = map(drop_of, _operations(connection, seqs))
        return list(state.held(connection, drops).items())

    found = journal.read(held_now)
    gone = frozenset(ids)
    present: list[Operation] = [
        held or drop for drop, held in found if held is not None or gone.isdisjoint(_named_by(encode_operation(drop)))
    ]
    # What is gone goes first and from the outside in, as it was dropped; what is there comes nodes first.
    return sorted(present, key=lambda op: _ORDER[type(op)])


_ORDER = {DropEdge: 0, DropPassage: 1, DropNode: 2, PutNode: 3, PutEdge: 4, PutPassage: 5}


def edges_at(journal: Journal, refs: Collection[Ref]) -> dict[Ref, list[DropEdge]]:
    """Return the journal's edges at each erased node by what would drop them; one pass over all edges."""
    return journal.read(
        lambda connection: {
            ref: list(map(state.edge_drop, keys)) for ref, keys in tables.edges_at(connection, refs).items()
        }
    )


def names_left(journal: Journal, refs: Collection[Ref]) -> tuple[Ref, ...]:
    """Return the journal's nodes that only erased ones speak of, and that are mere names: entities, sessions."""
    spoken_of = {
        edge.target
        for edges in edges_at(journal, refs).values()
        for edge in edges
        if edge.target.label in NAMES_ONLY and edge.target not in refs
    }
    gone = frozenset(refs)
    left = edges_at(journal, spoken_of) if spoken_of else {}
    names = [ref for ref, edges in left.items() if all(edge.source in gone for edge in edges)]
    return tuple(sorted(names, key=lambda ref: (ref.label, ref.id)))


def entombing(
    journal: Journal, refs: Collection[Ref], at: datetime, keep_out: Collection[Ref] = (), *, sources: bool = True
) -> list[Operation]:
    """Return the journal's operations that leave tombstones of erased nodes, without edges or passages; each once.

    What was planned and done keeps its edges to what stays: they hold no words, and say what came of it. A name that
    something else speaks of by now stays. What `keep_out` said is not to be derived or read again, nor are the sources
    of erased episodes (but not `sources`: they may be).
    """
    doomed = frozenset(refs)
    edges = edges_at(journal, doomed)
    going = [
        ref
        for ref in sorted(doomed, key=lambda ref: (ref.label, ref.id))
        if ref.label not in NAMES_ONLY or all(edge.source in doomed for edge in edges[ref])
    ]
    bare = [ref for ref in going if ref.label not in WORK]
    operations: list[Operation] = list(dict.fromkeys(edge for ref in bare for edge in edges[ref]))

    def buried(connection: DatabaseConnection) -> list[Operation]:
        left: list[Operation] = []
        passages = tables.passages_of(connection, going)
        nodes = tables.nodes(connection, [(ref.label, ref.id) for ref in going])
        for ref in going:
            left.extend(DropPassage(id=passage_id) for passage_id in passages[ref])
            props = nodes[ref.label, ref.id]
            if props is not None and not is_tombstone(props):
                left.append(tombstone(ref, props, at, keep_out=ref in keep_out, source=sources))
        return left

    return operations + journal.read(buried)


def tombstones(journal: Journal) -> tuple[PutNode, ...]:
    """Return the tombstone in the journal's state of every erased node."""

    def found() -> tuple[PutNode, ...]:
        with journal.snapshot() as (_, held):
            return tuple(op for op in held.nodes() if is_tombstone(op.props))

    return journal.mended(found)


def standing(journal: Journal, refs: Collection[Ref]) -> frozenset[Ref]:
    """Return which of the nodes the journal's state has, other than tombstones."""
    found = journal.read(lambda connection: tables.nodes(connection, [(ref.label, ref.id) for ref in refs]))
    return frozenset(
        Ref(label=label, id=node_id)
        for (label, node_id), props in found.items()
        if props is not None and not is_tombstone(props)
    )


def _purge(journal: Journal, ids: Collection[str], rows: Sequence[int]) -> None:
    """Empty the rows, and everything beside the log that may repeat what they said."""
    with journal.database.transaction() as connection:
        connection.execute(f"UPDATE log SET payload = NULL, salt = NULL WHERE seq IN {_LISTED}", (json.dumps(rows),))
        # Vectors and tokens whose passage is gone, of whatever space: a passage may be replaced while it is embedded.
        for table in ("vector", "token"):
            connection.execute(
                f"DELETE FROM {table} WHERE NOT EXISTS (SELECT 1 FROM passage WHERE passage.number = {table}.number)"
            )
        _forget_effects(connection, ids)
        # An answer of a model may repeat what it was asked about, and an error what it failed at.
        connection.execute("DELETE FROM model_answer")
        connection.execute("DELETE FROM extracted")
        forget_requests(connection)
        connection.execute("UPDATE work SET error = 'erased' WHERE error <> ''")
        connection.execute("DELETE FROM meta WHERE key = ?", (LAST_ANSWERS,))


def _forget_effects(connection: DatabaseConnection, ids: Collection[str]) -> None:
    """Empty what jobs keep to be undone by: such an effect counts as changed by somebody else from now on."""
    gone = frozenset(ids)
    kept = connection.execute("SELECT job, key, coalesce(before, '') FROM effect")
    connection.executemany(
        "UPDATE effect SET before = NULL, after = NULL, space = NULL, vector = NULL, crossed = TRUE"
        " WHERE job = ? AND key = ?",
        [(job, key) for job, key, before in kept if _has_any(f"{key}{before}", gone)],
    )


def _has_any(stored: str, ids: Set[str]) -> bool:
    """Return whether a text of stored JSON is one of the ids, or that of a passage of one; what is damaged may have."""
    try:
        texts = [json.loads(quoted, strict=False) for quoted in _QUOTED.findall(stored)]
    except ValueError:
        return True
    return any(text in ids or text.rpartition("#")[0] in ids for text in texts)


def _named(data: Mapping[str, Any]) -> Iterator[str]:
    """Yield the ids of everything a row of the log speaks of."""
    yield from (value for value in data.get("note", {}).values() if isinstance(value, str))
    for op in data.get("ops", ()):
        yield from _named_by(op)


def _named_by(op: Mapping[str, Any]) -> Iterator[str]:
    yield from (op[end][1] for end in ("from", "to", "owner") if end in op)
    if "id" in op:
        yield op["id"]
        if op["op"] == "drop_passage":
            yield op["id"].rpartition("#")[0]


def _operations(connection: DatabaseConnection, seqs: Sequence[int]) -> Iterator[Operation]:
    for start in range(0, len(seqs), _ROWS_AT_ONCE):
        listed = json.dumps(seqs[start : start + _ROWS_AT_ONCE])
        statement = f"SELECT CAST(payload AS BLOB) FROM log WHERE seq IN {_LISTED} ORDER BY seq"
        for (payload,) in connection.execute(statement, (listed,)).fetchall():
            data = opened(payload)
            if data is not None:
                yield from decode(data).operations
