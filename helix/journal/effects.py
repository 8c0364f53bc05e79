"""Effects: what each background job did to every node, edge and passage it touched, kept so that it can be undone.

A change whose note names a `job` (and a `step` of it) is recorded by the transaction that accepts it; one whose note
names a job under `undo` ends that job's record.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import cast

from helix.errors import ConflictError
from helix.journal import state, tables
from helix.journal.backend import Backend, DatabaseConnection
from helix.journal.writes import Writes
from helix.model.clock import LATEST, from_micros, to_micros
from helix.model.edge import Ref
from helix.model.operations import (
    Change,
    Drop,
    DropPassage,
    Operation,
    Put,
    PutEdge,
    PutNode,
    PutPassage,
    decode_operation,
    drop_of,
    encode_operation,
)
from helix.model.records import EDGE_DEFAULTS, NODE_DEFAULTS

KEPT_JOBS = 100
"""Jobs, the last ones, whose effects are kept; older ones cannot be undone any more."""

_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), sort_keys=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """What a job did to one thing: `drop` names it, `before` puts what was there ahead of the job (None: nothing).

    `after` is the `digest` of what the job left, None where it left nothing; `crossed` says that somebody else wrote
    between two steps of the job. `seq` is the row of the log in which the job touched it last.
    """

    drop: Drop
    before: Put | None
    after: bytes | None
    crossed: bool
    seq: int


def digest(held: Put | None) -> bytes | None:
    """Return a digest of the row a job touched in the journal, the same for the same content; None for no row.

    A passage counts by its owner and text, whatever its number; a property that is None counts as one that is absent.
    """
    match held:
        case None:
            return None
        case PutNode():
            content: object = {**NODE_DEFAULTS.get(held.label, {}), **held.props}
        case PutEdge():
            content = {**EDGE_DEFAULTS, **held.props}
        case PutPassage():
            content = {"owner": held.owner.id, "label": held.owner.label, "text": held.text}
    said = {name: value for name, value in cast(dict[str, object], content).items() if value is not None}
    return hashlib.sha256(_ENCODER.encode(said).encode()).digest()


class Touched:
    """Watches the operations of one change of a job; other changes pass without a trace."""

    def __init__(self, connection: DatabaseConnection, writes: Writes) -> None:
        self._connection = connection
        self._writes = writes
        self._before: dict[Drop, Put | None] = {}

    def note(self, op: Operation, change: Change) -> None:
        """Look in the journal at what an operation concerns, ahead of its being ingested."""
        if "job" in change.note and (drop := drop_of(op)) not in self._before:
            self._before[drop] = self._writes.held(drop)

    def record(self, change: Change, seq: int, at: int) -> None:
        """Write to the journal what a job's change came to; ConflictError for a step that is there already."""
        if "job" in change.note:
            job, step = str(change.note["job"]), str(change.note.get("step", ""))
            self._step(job, step, seq)
            self._effects(job, step, seq)
        if "undo" in change.note:
            job = str(change.note["undo"])
            self._connection.execute("INSERT INTO undone VALUES (?, ?, ?)", (job, seq, at))
            self._connection.execute("DELETE FROM effect WHERE job = ?", (job,))

    def _step(self, job: str, step: str, seq: int) -> None:
        execute = self._connection.execute
        if execute("SELECT 1 FROM job_step WHERE job = ? AND step = ?", (job, step)).fetchone():
            raise ConflictError(f"step {step!r} of job {job} is in the journal already")
        if not execute("SELECT 1 FROM job_step WHERE job = ? LIMIT 1", (job,)).fetchone():
            _prune(self._connection)
        execute("INSERT INTO job_step VALUES (?, ?, ?)", (job, step, seq))

    def _effects(self, job: str, step: str, seq: int) -> None:
        """Write what the change did to each thing; `crossed` where it was not as the job had left it before."""
        rows = []
        for drop, before in self._before.items():
            put = None if before is None else _ENCODER.encode(encode_operation(before))
            vector = before.vector if isinstance(before, PutPassage) else None
            after = digest(self._writes.held(drop))
            key = _ENCODER.encode(encode_operation(drop))
            rows.append((job, key, step, seq, put, after, vector is not None, vector, digest(before)))
        self._connection.executemany(
            "INSERT INTO effect (job, key, step, seq, before, after, crossed, space, vector)"
            " VALUES (?, ?, ?, ?, ?, ?, FALSE, (SELECT id FROM space WHERE active AND ?), ?)"
            " ON CONFLICT (job, key) DO UPDATE SET step = excluded.step, seq = excluded.seq, after = excluded.after,"
            " crossed = effect.crossed OR effect.after IS NOT ?",
            rows,
        )


def _prune(connection: DatabaseConnection) -> None:
    """Forget the jobs beyond the last ones; one that is still queued has to pass over its steps yet."""
    kept = (
        f"SELECT job FROM (SELECT job FROM job_step GROUP BY job ORDER BY max(seq) DESC LIMIT {KEPT_JOBS - 1})"
        " UNION SELECT id FROM work WHERE state IN ('queued', 'running')"
    )
    for table in ("effect", "job_step", "undone"):
        connection.execute(f"DELETE FROM {table} WHERE job NOT IN ({kept})")


class Effects:
    """Reads of what jobs did, from any thread."""

    def __init__(self, database: Backend) -> None:
        self._database = database

    def steps(self, job: str) -> dict[str, int]:
        """Return the steps of a job that are in the journal, with the rows of the log that hold them, in order."""
        with self._database.reading() as connection:
            rows = connection.execute("SELECT step, seq FROM job_step WHERE job = ? ORDER BY seq", (job,))
            return {str(step): int(seq) for step, seq in rows}

    def has_step(self, job: str, step: str) -> bool:
        """Return whether a step of a job is in the journal."""
        with self._database.reading() as connection:
            found = connection.execute("SELECT 1 FROM job_step WHERE job = ? AND step = ?", (job, step))
            return found.fetchone() is not None

    def of(self, job: str) -> list[Effect]:
        """Return what a job did, by the journal, in the order in which it touched things first."""
        with self._database.reading() as connection:
            active = connection.execute("SELECT id FROM space WHERE active").fetchone()
            rows = connection.execute(
                "SELECT key, before, after, crossed, seq, space, vector FROM effect WHERE job = ? ORDER BY rowid",
                (job,),
            ).fetchall()
        return [
            Effect(
                drop=cast(Drop, decode_operation(json.loads(key))),
                before=_put(before, vector if active == (space,) else None),
                after=after,
                crossed=bool(crossed),
                seq=seq,
            )
            for key, before, after, crossed, seq, space, vector in rows
        ]

    def jobs_since(self, moment: datetime) -> dict[str, tuple[str, int]]:
        """Return the jobs in the journal that wrote from this moment on and were not undone, each with kind and a row.

        The kind is empty for a job that was never queued: the row of the log tells it.
        """
        with self._database.reading() as connection:
            rows = connection.execute(
                "SELECT job_step.job, coalesce(max(work.kind), ''), max(job_step.seq) FROM job_step"
                " JOIN log ON log.seq = job_step.seq LEFT JOIN work ON work.id = job_step.job"
                " WHERE log.at >= ? AND job_step.job NOT IN (SELECT job FROM undone) GROUP BY job_step.job",
                (to_micros(moment),),
            ).fetchall()
        return {str(job): (str(kind), int(seq)) for job, kind, seq in rows}

    def undone_at(self, job: str) -> datetime | None:
        """Return when a job was taken back, by the journal, or None."""
        with self._database.reading() as connection:
            row = connection.execute("SELECT at FROM undone WHERE job = ?", (job,)).fetchone()
        return None if row is None else from_micros(row[0] if row[0] in range(LATEST) else LATEST)

    def held(self, drops: Sequence[Drop]) -> list[Put | None]:
        """Return what the journal's state has now of each thing, None for nothing."""
        with self._database.reading() as connection:
            found = state.held(connection, drops)
        return [found[drop] for drop in drops]

    def attached(self, refs: Collection[Ref]) -> Iterator[Drop]:
        """Yield the edges and passages of the nodes in the journal's state."""
        with self._database.reading() as connection:
            edges, passages = tables.edges_at(connection, refs), tables.passages_of(connection, refs)
        for ref in refs:
            yield from map(state.edge_drop, edges[ref])
            yield from (DropPassage(id=passage_id) for passage_id in passages[ref])


def _put(stored: str | None, vector: bytes | None) -> Put | None:
    if stored is None:
        return None
    op = cast(Put, decode_operation(json.loads(stored)))
    return replace(op, vector=vector) if isinstance(op, PutPassage) else op
