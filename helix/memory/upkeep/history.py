"""History: what became of a memory, change by change, read from the journal's log."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from helix.model.clock import from_micros
from helix.model.edge import DRAWN, MERGED, Edge, Label, Ref, Relation
from helix.model.memory import Memory, Status
from helix.model.operations import PutEdge, PutNode, Row, Scalar
from helix.model.records import edge_from, node_from
from helix.model.reports import Version
from helix.model.task import Task
from helix.store.index import StoreIndex
from helix.store.store import Store

_NEEDED = frozenset({"name", "kind", "trigger", "resolution", "recorded_at"})
_SAID: Mapping[str, str] = {
    "confirm": "confirmed",
    "feedback": "judged",
    "undo_feedback": "judged",
    "settle": "judged",
    "outcome": "judged",
    "forget": "forgotten",
    "restore": "restored",
    "accept": "accepted",
    "reject": "rejected",
    "hold": "quarantined",
    "unmerge": "unmerged",
    "resolve": "decided",
    "reopen": "reopened",
    "keep_both": "kept apart",
    "reopen_duplicate": "kept apart no longer",
    "undo": "undone",
    "revert": "undone",
    "erase": "erased",
}
"""Words for kinds of change that say by themselves what happened."""
_BORN: Mapping[str, str] = {"ingest": "imported", "edit": "edited", "store": "stored"}
_PERSONS = frozenset(
    {"confirm", "restore", "revert", "accept", "reject", "hold", "unmerge", "resolve", "reopen", "merge"}
    | {"keep_both", "reopen_duplicate"}
)
"""Kinds of change that only a person asks for."""
_LONGEST = 120


@dataclass(slots=True)
class _Lineage:
    """The versions of one memory by their ids, as far as the log has been read."""

    ids: frozenset[str]
    props: dict[str, dict[str, Scalar]] = field(default_factory=dict)
    last: Memory | None = None


def history(store: Store, memory: Memory) -> list[Version]:
    """Return the history of a memory in all its versions, the oldest change first."""
    lineage = _Lineage(versions_of(store.index, memory))
    return [
        version
        for row in store.memory_rows.of(lineage.ids)
        if (version := _version(store.index, lineage, row)) is not None
    ]


def versions_of(index: StoreIndex, memory: Memory) -> frozenset[str]:
    """Return the ids of a memory's versions for its history, its own among them; not of what was folded into it."""
    found, ahead = {memory.id}, [memory.id]
    while ahead:
        here = Ref.memory(ahead.pop())
        for edge in map(edge_from, index.records.edges_at(here, Relation.SUPERSEDES)):
            if not {DRAWN, MERGED} & edge.attributes.keys():
                new = {edge.source.id, edge.target.id} - found
                found |= new
                ahead += new
    return frozenset(found)


def _version(index: StoreIndex, lineage: _Lineage, row: Row) -> Version | None:
    """Return what a row of the log made of the memory; None where it changed nothing of it.

    A row that retires one version for another is told by the one that took its place, be that written before.
    """
    touched: list[str] = []
    for op in row.change.operations:
        if isinstance(op, PutNode) and op.label is Label.MEMORY and op.id in lineage.ids:
            lineage.props.setdefault(op.id, {}).update(op.props)
            touched.append(op.id)
    whole = [one for one in dict.fromkeys(touched) if lineage.props[one].keys() >= _NEEDED]
    if not whole:
        return None  # what came before was erased, and this row says a part of it alone
    after = [cast(Memory, node_from(Label.MEMORY, one, lineage.props[one])) for one in whole]
    now = max(after, key=lambda held: (held.status is not Status.RETIRED, held == after[-1]))
    before = lineage.last
    replaced = before is not None and before.id != now.id and now.status is Status.RETIRED
    if replaced or now == before:
        return None
    lineage.last = now
    others = [edge_from(op) for op in row.change.operations if isinstance(op, PutEdge)]
    return Version(
        seq=row.seq,
        memory=now,
        at=from_micros(row.at),
        change=_word(row, before, now, others),
        by=_by(row, before, now),
        trust=now.provenance.trust,
        reason=_reason(index, row, now, others),
    )


def _word(row: Row, before: Memory | None, now: Memory, edges: Sequence[Edge]) -> str:
    kind = row.change.kind
    if kind in _SAID:
        return _SAID[kind]
    if _folding(edges, now) is not None:
        return "merged"
    if now.status is Status.QUARANTINED and (before is None or before.status is not now.status):
        return "quarantined"
    if before is None:
        return "learned" if "job" in row.change.note else _BORN.get(kind, "stored")
    if before.id != now.id:
        return "edited" if kind == "edit" else "refined"
    if before.status is not now.status:
        return {Status.RETIRED: "retired", Status.ACTIVE: "holds again"}.get(now.status, now.status.value)
    if before.valid_to != now.valid_to:
        return "ended" if now.valid_to is not None else "holds again"
    return "stored again" if kind in ("store", "ingest") else "changed"


def _folding(edges: Sequence[Edge], memory: Memory) -> Edge | None:
    return next((one for one in edges if MERGED in one.attributes and memory.ref in (one.source, one.target)), None)


def _by(row: Row, before: Memory | None, now: Memory) -> str:
    note = row.change.note
    if said := str(note.get("actor") or note.get("by") or ""):
        return said
    if "job" in note:
        return "helix"
    if row.change.kind in _PERSONS:
        return "you"
    written = before is None or before.id != now.id
    return (now.provenance.agent or now.said_by) if written else ""


def _reason(index: StoreIndex, row: Row, now: Memory, edges: Sequence[Edge]) -> str:
    note, folding = row.change.note, _folding(edges, now)
    if folding is not None:
        into = folding.target == now.ref
        return f"folded into {index.name_of(folding.source)}" if into else f"took over {index.name_of(folding.target)}"
    reasons: dict[str, Callable[[], str]] = {
        "task": lambda: _of_task(index, str(note["task"])),
        "undo": lambda: "a background job was taken back",
        "job": lambda: f"background work: {row.change.kind}",
        "outcome": lambda: f"a contradiction was decided: {note['outcome']}",
        "delta": lambda: f"feedback {cast(float, note['delta']):+g}",
    }
    return next((say() for name, say in reasons.items() if name in note), "")


def _of_task(index: StoreIndex, ident: str) -> str:
    (task,) = index.records.present([Ref.task(ident)])
    objective = task.objective if isinstance(task, Task) else ""
    return f"what came of the task: {objective or ident}"[:_LONGEST]
