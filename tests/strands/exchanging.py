"""Lets two stores exchange their rows as strands do, without the file between them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from helix.memory.job_run.run import Run
from helix.model.clock import to_micros
from helix.model.edge import Ref, Relation
from helix.model.operations import Change, DropEdge
from helix.model.provenance import Trust
from helix.service import Helix
from helix.store.store import Store
from helix.store.writer import Decision
from helix.strands import meeting, succession
from helix.strands.lineage import Known, RowsKept, note_version, rows_known
from helix.strands.merging import KIND, Merge
from helix.strands.reading import StrandEntry
from helix.strands.received import Received, Signer
from helix.strands.rows import Selection, StrandRow, Tree, row_digest
from helix.strands.three_way import side_by_side
from helix.strands.whole import Unwatched

OWN = Signer(name="me", trust=Trust.USER_ASSERTED)
ALL = Selection()


def rows_of(store: Store) -> list[StrandRow]:
    """Return every row of a store, in order."""
    with store.journal.snapshot() as (_, state):
        return list(ALL.rows(state))


def root(store: Store, selection: Selection = ALL) -> str:
    """Return the root over what a store holds, or over a part of it."""
    version, tree = note_version(store, selection, who="me", why="test"), Tree()
    with store.journal.snapshot() as (_, state):
        for row in selection.rows(state):
            tree.add(row, row_digest(row.line()))
    assert version.root == tree.root
    return tree.root


def drop(helix: Helix, source: str, target: str) -> None:
    """Take an edge away, as background work does with one that nobody uses."""
    ends = (Ref.memory(one) for one in (source, target))
    op = DropEdge(type=Relation.DEPENDS_ON, source=next(ends), target=next(ends))
    helix.store.writer.submit(lambda: Decision((Change(kind="decay_edges", operations=(op,)),), None))


def take(here: Store, there: Store, signer: Signer = OWN, *, meet: bool = True, job: str = "") -> Counter[str]:
    """Take all of one store into another one, by the last version that both have held; return the counts."""
    version = note_version(there, ALL, who="me", why="test")
    line = [one.id for one in there.journal.versions.ancestry([version.id], 1_000)]
    base = next((one for one in line if rows_known(here.path, one) is not None), None)
    entries = [StrandEntry(row.key, row, row_digest(row.line())) for row in rows_of(there)]
    job = job or here.runtime.make_id(here.runtime.clock())
    merge = Merge(
        here,
        Received(signer=signer, text_limit=here.runtime.settings.text_limit, latest=to_micros(here.runtime.clock())),
        job,
    )
    with RowsKept(here.path) as kept:
        known: Iterable[Known] = (rows_known(here.path, base) if base else None) or ()
        incoming = side_by_side(entries, known, partial=False, keep=kept.add)
        for number, batch in enumerate(list(merge.wanted(incoming, Unwatched(), len(entries)))):
            merge.write(batch, f"rows {number}")
        kept.known_as(version.id)
    if meet:
        succession.hand_on(Run(here, job, KIND, guarded=False), merge)
        known = rows_known(here.path, version.id) or ()
        meeting.meet(Run(here, job, KIND, guarded=False), merge.fresh, known, merge.counts, Unwatched())
    here.journal.versions.keep([replace(one, seq=None) for one in there.journal.versions.ancestry([version.id], 1_000)])
    note_version(here, ALL, who="me", why="merge", parents=[version.id])
    return merge.counts
