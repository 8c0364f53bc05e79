"""Meeting: memories that came in meet those that are here by the rules of `memory/contradiction/rivals.py`.

The very same is folded; what contradicts is settled, or waits for a person. Two memories that both are here as they are
there have met there. So only pairs are compared of which the other side does not have both.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from helix.errors import ConflictError
from helix.memory.change.compose import Composer
from helix.memory.contradiction.classify import NewStatement, same_words
from helix.memory.contradiction.rivals import settle_in_run, unsettled
from helix.memory.job_run.run import Run, Watch
from helix.memory.neighbours import LeftOut, nearest_active
from helix.memory.upkeep.merge import fold, rank
from helix.model.edge import Label, Ref
from helix.model.memory import Memory, Status
from helix.store.index import Rows, StoreIndex
from helix.store.store import Store
from helix.strands.lineage import SHORT, Known
from helix.strands.rows import paired_rows, row_digest, row_of


def meet(run: Run, fresh: Sequence[Ref], known: Iterable[Known], counts: Counter[str], ticket: Watch) -> None:
    """Have a strand's memories meet those that are here; `known` is all that the other side has, in order.

    Raises ConflictError where the job was asked to stop.
    """
    store = run.store
    alike = _alike(store, known)
    generation = store.index.generation

    def elsewhere(index: StoreIndex) -> Rows:
        return alike if index.generation == generation else index.rows_of(())

    pairs = _to_compare(store.index, fresh, alike)
    for done, (ref, met) in enumerate(pairs):
        _rest(ticket, done, 2 * len(pairs))
        while (twin := _twin(store, ref, elsewhere if met else None)) is not None and _fold(run, ref, twin):
            counts["folded"] += 1
    for done, (ref, met) in enumerate(pairs):
        _rest(ticket, len(pairs) + done, 2 * len(pairs))
        (memory,) = store.records.present([ref])
        for one in unsettled(store, memory, elsewhere if met else None) if isinstance(memory, Memory) else ():
            settle_in_run(run, one)


def _rest(ticket: Watch, done: int, total: int) -> None:
    if ticket.cancelled:
        raise ConflictError("the import was stopped; nothing of it stays")
    if done % 100 == 0:
        ticket.progress(done, total, "comparing what came in with what is here")


def _alike(store: Store, known: Iterable[Known]) -> Rows:
    """Return the memories that are here as they are there."""
    there = (one for one in known if one.key[:2] == ("0", Label.MEMORY.value))
    found = []
    with store.journal.snapshot() as (_, state):
        here = (
            row_of(node, state.texts_of(Ref(label=node.label, id=node.id)))
            for node in state.nodes_in_order(Label.MEMORY)
        )
        for row, one in paired_rows(here, there):
            if row is not None and one is not None and row_digest(row.line())[:SHORT] == one.digest:
                found.append(Ref.memory(row.key[2]))
    return store.index.rows_of(found)


def _to_compare(index: StoreIndex, fresh: Iterable[Ref], alike: Rows) -> list[tuple[Ref, bool]]:
    """Return what has somebody here to meet, and whether it has met those that are alike; the best founded first.

    So what was folded into a memory is folded no further: of a chain each would take over all that is before it.
    """
    others = index.where(Label.MEMORY, statuses=[Status.ACTIVE]) - alike
    scopes = index.scopes_of(others)
    found = []
    for ref in fresh:
        row = index.row_of(ref)
        if row is not None and index.status_of(ref) is Status.ACTIVE:
            met = row in alike
            if not met or index.scope_of(row) in scopes:
                found.append((rank(index.memory(row)), ref, met))
    return [(ref, met) for _, ref, met in sorted(found, key=lambda one: one[0])]


def _twin(store: Store, ref: Ref, but: LeftOut | None) -> Memory | None:
    (memory,) = store.records.present([ref])
    if not isinstance(memory, Memory) or memory.status is not Status.ACTIVE:
        return None
    if memory.valid_to is not None and memory.valid_to <= store.runtime.clock():
        return None  # what says the same and holds is another claim: that this one ended is not told of it
    said = NewStatement(
        kind=memory.kind,
        trigger=memory.trigger,
        resolution=memory.resolution,
        trust=memory.provenance.trust,
    )
    vectors = store.index.vectors_of(ref)
    if not vectors:
        return None
    near = nearest_active(store, vectors[0], memory.scope, 5, but=but)
    return next((other for other, *_ in near if other.id != memory.id and same_words(other, said)), None)


def _fold(run: Run, ref: Ref, twin: Memory) -> bool:
    """Fold a memory and its twin, the better founded one staying; return whether both were still there."""
    pair = [ref, twin.ref]

    def compose(composer: Composer) -> bool:
        memories = [node for node in run.store.records.present(pair) if isinstance(node, Memory)]
        if len(memories) < 2 or any(memory.status is not Status.ACTIVE for memory in memories):
            return False
        stays, goes = sorted(memories, key=rank)
        fold(composer, run.store.records, stays, goes)
        return True

    return bool(run.write(f"fold {ref.id} {twin.id}", compose))
