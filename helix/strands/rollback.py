"""Rollback: a store, or a part of it, becomes again what it was at a version; nothing of the log is lost by that."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from helix.errors import ConflictError
from helix.journal.erase import stated_again
from helix.journal.strand_versions import StoredVersion
from helix.memory.change.compose import Composer
from helix.memory.job_run.run import Watch
from helix.model.edge import Ref
from helix.model.operations import Drop, PutEdge, PutNode, drop_of
from helix.store.jobs import Ticket
from helix.store.store import Store
from helix.store.writer import Decision
from helix.strands.lineage import note_version
from helix.strands.merging import held_rows, write_node
from helix.strands.rows import WRITTEN_BYTES, Key, Selection, StrandRow, in_batches, paired_rows
from helix.strands.whole import carry_through

KIND = "rollback"
"""The kind of the changes that a rollback makes."""
Pair = tuple[StrandRow | None, StrandRow | None]


def roll_back(store: Store, version: StoredVersion, job: str, ticket: Ticket) -> dict[str, Any]:
    """Roll the store back to a strand's version, as a new version; `helix undo` takes the job back.

    What was erased since stays erased, and what was written in one change with it stays as it is. Raises
    ConflictError for a version that this store itself never held.
    """
    if version.seq is None:
        raise ConflictError(
            f"version {version.id[:12]} was never what this store held", hint="`helix strand log` shows which were"
        )
    with store.copying:
        before = note_version(store, Selection.from_name(version.selection), who="", why="before a rollback")
        note = {"kind": KIND, "job": job, "version": version.id}
        done = carry_through(store, note, lambda watch: _carry_out(store, version, job, watch), ticket)
    return {"before": before.id, **done}


def bring_to_end(store: Store, note: Mapping[str, Any], watch: Watch) -> None:
    """Finish a rollback to a strand's version that a kill cut short; raises ValueError for an unknown version."""
    version = store.journal.versions.get(note["version"])
    if version is None or version.seq is None:
        raise ValueError(f"there is no version {note['version']}")
    _carry_out(store, version, note["job"], watch)


def _carry_out(store: Store, version: StoredVersion, job: str, watch: Watch) -> dict[str, Any]:
    selection, counts = Selection.from_name(version.selection), {"restored": 0, "removed": 0}
    assert version.seq is not None
    first = len(store.journal.effects.steps(job))
    untold = stated_again(store.journal, version.seq)
    with store.journal.as_of(version.seq) as then, store.journal.snapshot() as (_, now):
        differing = _to_change(paired_rows(selection.rows(then), selection.rows(now)), untold)
        for step, batch in enumerate(in_batches(differing, _weight, heaviest=WRITTEN_BYTES), start=first):
            if watch.cancelled:
                raise ConflictError("the rollback was stopped; nothing of it stays")
            _write(store, batch, job, f"rows {step}")
            counts["restored"] += sum(former is not None for former, _ in batch)
            counts["removed"] += sum(former is None for former, _ in batch)
            watch.progress(sum(counts.values()), 0, "restoring")
    after = note_version(store, selection, who="", why=f"rollback to {version.id[:12]}")
    return {"version": after.id, "root": after.root, **counts}


def _to_change(pairs: Iterable[Pair], untold: Collection[Drop]) -> Iterator[Pair]:
    """Yield what is otherwise now, nodes first, but for what was erased, and for what nothing tells any more of then.

    `untold` was written beside what was erased since. It stays as it is, an edge where both its ends do.
    """
    removed: set[Ref] = set()
    for former, present in pairs:
        if former == present or (present and present.is_erased):
            continue
        put = present and present.put
        ends = (put.source, put.target) if isinstance(put, PutEdge) else ()
        if put and drop_of(put) in untold and removed.isdisjoint(ends):
            continue
        if former is None and isinstance(put, PutNode):
            removed.add(Ref(label=put.label, id=put.id))
        yield former, present


def _write(store: Store, batch: list[Pair], job: str, step: str) -> None:
    texts = list(dict.fromkeys(text for former, _ in batch if former is not None for text in former.texts))
    vectors = dict(zip(texts, store.embed(texts), strict=True))

    def decision() -> Decision[None]:
        composer = Composer(store, store.runtime.clock())
        here = held_rows(store.journal, [_key(pair) for pair in batch])
        for former, present in batch:
            if former is None:
                assert present is not None
                composer.add([drop_of(present.put)])
            elif isinstance(former.put, PutEdge):
                composer.add([former.put])
            else:
                composer.add(write_node(here[former.key], former, vectors))
        return Decision((composer.change(KIND, job=job, step=step),), None)

    store.writer.submit(decision)


def _weight(pair: Pair) -> int:
    return sum(row.weight for row in pair if row is not None)


def _key(pair: Pair) -> Key:
    row = pair[0] or pair[1]
    assert row is not None
    return row.key
