"""Rollback: a store, or a part of it, becomes again what it was at a version; nothing of the log is lost by that."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from helix.errors import ConflictError
from helix.journal.strand_versions import StoredVersion
from helix.memory.change.compose import Composer
from helix.model.operations import DropEdge, DropNode, Operation, PutEdge, PutNode
from helix.model.tombstone import is_tombstone
from helix.store.jobs import Ticket
from helix.store.store import Store
from helix.store.writer import Decision
from helix.strands.lineage import note_version
from helix.strands.merging import BATCH, held_rows, write_node
from helix.strands.rows import Key, Row, Selection
from helix.strands.whole import whole

KIND = "rollback"
"""The kind of the changes that a rollback makes."""
Pair = tuple[Row | None, Row | None]


def roll_back(store: Store, version: StoredVersion, job: str, ticket: Ticket) -> dict[str, Any]:
    """Make what a version is of what it was then, as a new version; `helix undo` takes the job back.

    What was erased since stays erased. Raises ConflictError for a version that this store itself never held.
    """
    if version.seq is None:
        raise ConflictError(
            f"version {version.id[:12]} was never what this store held", hint="`helix strand log` shows which were"
        )
    selection, counts = Selection.from_name(version.selection), {"restored": 0, "removed": 0}
    before, _ = note_version(store, selection, who="", why="before a rollback")
    with (
        whole(store, job),
        store.journal.as_of(version.seq) as then,
        store.journal.snapshot() as (_, now),
    ):
        differing = ((a, b) for a, b in paired(selection.rows(then), selection.rows(now)) if a != b and not _erased(b))
        for step, batch in enumerate(iter(lambda: list(islice(differing, BATCH)), [])):
            if ticket.cancelled:
                raise ConflictError("the rollback was stopped; nothing of it stays")
            _write(store, batch, job, f"rows {step}")
            counts["restored"] += sum(former is not None for former, _ in batch)
            counts["removed"] += sum(former is None for former, _ in batch)
            ticket.progress(sum(counts.values()), 0, "restoring")
    after, _ = note_version(store, selection, who="", why=f"rollback to {version.id[:12]}")
    return {"version": after.id, "before": before.id, "root": after.root, **counts}


def paired(one: Iterable[Row], other: Iterable[Row]) -> Iterator[Pair]:
    """Yield the rows of two sides by their keys, None where a side has none; both come in the order of their keys."""
    left, right = iter(one), iter(other)
    a, b = next(left, None), next(right, None)
    while a is not None or b is not None:
        if b is None or (a is not None and a.key < b.key):
            yield a, None
            a = next(left, None)
        elif a is None or b.key < a.key:
            yield None, b
            b = next(right, None)
        else:
            yield a, b
            a, b = next(left, None), next(right, None)


def _erased(row: Row | None) -> bool:
    return row is not None and isinstance(row.put, PutNode) and is_tombstone(row.put.props)


def _write(store: Store, batch: list[Pair], job: str, step: str) -> None:
    texts = list(dict.fromkeys(text for former, _ in batch if former is not None for text in former.texts))
    vectors = dict(zip(texts, store.embed(texts), strict=True))

    def decision() -> Decision[None]:
        composer = Composer(store, store.runtime.clock())
        here = held_rows(store, [_key(pair) for pair in batch])
        for former, present in batch:
            if former is None:
                assert present is not None
                composer.add([_dropping(present)])
            elif isinstance(former.put, PutEdge):
                composer.add([former.put])
            else:
                composer.add(write_node(here[former.key], former, vectors))
        return Decision((composer.change(KIND, job=job, step=step),), None)

    store.writer.submit(decision)


def _key(pair: Pair) -> Key:
    row = pair[0] or pair[1]
    assert row is not None
    return row.key


def _dropping(row: Row) -> Operation:
    put = row.put
    if isinstance(put, PutEdge):
        return DropEdge(type=put.type, source=put.source, target=put.target)
    return DropNode(label=put.label, id=put.id)
