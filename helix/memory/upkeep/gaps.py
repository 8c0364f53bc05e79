"""Gaps: what is known to be unknown - questions that nothing answered - until a later memory answers them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from helix.errors import ConflictError
from helix.journal.state import Records
from helix.memory.change.compose import Composer
from helix.memory.change.find import standing_memory_of
from helix.memory.change.versions import take_back_retirement
from helix.memory.contradiction.classify import thresholds_of
from helix.memory.job_run.run import Run
from helix.model.edge import Edge, Label, Ref, Relation
from helix.model.memory import GLOBAL_SCOPE, Kind, Memory, Status
from helix.model.provenance import QUOTED
from helix.model.recall import RecallAnswer
from helix.model.records import edge_from
from helix.recall.similar import nearest
from helix.store.index import Rows, StoreIndex
from helix.store.matrix import cosine_of
from helix.store.runtime import Runtime
from helix.store.store import Store
from helix.store.writer import Decision
from helix.text.statement.wording import terms

_NEAREST = 8
_TOLD = 0.5
"""Share of a question's words that an answer has."""
_TOLD_WITHOUT_VECTORS = 0.75
_MOST_GAPS = 200
"""Gaps that a new memory is held against by its words alone, where there are no vectors."""
_CLOSED = {"closed": True}


def unanswered(runtime: Runtime, answer: RecallAnswer) -> bool:
    """Return whether upkeep notes a gap after a recall.

    It does where the best item is less like the question than an answer would be.
    """
    return all(item.relevance < _bar(runtime) for item in answer.items)


def count_open(index: StoreIndex, scope: str | None = None) -> int:
    """Return how many gaps of exactly this scope (None: of any) are open."""
    return len(_of_status(index, Status.ACTIVE, scope))


def notice(store: Store, memory_id: str) -> list[Memory]:
    """Close the gaps that a memory, just stored, answers, and return them."""

    def decision() -> Decision[list[Memory]]:
        composer = Composer(store, store.runtime.clock())
        answer = standing_memory_of(store.index, memory_id)
        closed = [_close(composer, gap, answer) for gap in _answered(store, answer)]
        return Decision((composer.change("close_gap", memory=memory_id),) if closed else (), closed)

    known = store.index.memory_by_id(memory_id)
    # Nearly every memory answers none. A gap noted meanwhile is later than the memory, which cannot answer it.
    if known is None or next(_answered(store, known), None) is None:
        return []
    return store.writer.submit(decision)


def close_gaps(run: Run, payload: Mapping[str, Any]) -> Mapping[str, int]:
    """Close the gaps of a scope that later memories answer, and open those again whose answer is gone; as a job.

    Payload {"scope": a scope, or None for all}. A closed gap is retired, with an edge from its answer to it (SOLVES).
    """
    store, scope = run.store, payload.get("scope")
    for gap in _gaps(store.index, Status.RETIRED, scope):
        if run.cancelled:
            return dict(run.counts)
        closing = _closing(store.records, gap)
        if closing and all(_gone(store.records, edge.source) for edge in closing):
            run.write(f"open {gap.id}", _reopening(store, gap.id))
            run.count("gaps opened again")
            run.say(f"open again: {gap.name}")
    for gap in _gaps(store.index, Status.ACTIVE, scope):
        if run.cancelled:
            break
        if (answer := _answer_of(store, gap)) is not None:
            run.write(f"close {gap.id} by {answer.id}", _closing_by(store, gap.id))
            run.count("gaps closed")
            run.say(f"close: {gap.name}, answered by {answer.name}")
    return dict(run.counts)


def reopen_gap(store: Store, name_or_id: str) -> Memory:
    """Open a gap again that was closed by mistake; the memory that closed it no longer does.

    Raises ConflictError for what is no closed gap.
    """

    def decision() -> Decision[Memory]:
        composer = Composer(store, store.runtime.clock())
        gap = standing_memory_of(store.index, name_or_id)
        back = _reopen(composer, store.index, gap)
        if back is None:
            raise ConflictError(f"{gap.name!r} ({gap.id}) is not a gap that an answer closed")
        return Decision((composer.change("reopen_gap", memory=gap.id),), back)

    return store.writer.submit(decision)


def _close(composer: Composer, gap: Memory, answer: Memory) -> Memory:
    ref = gap.ref
    composer.patch(ref, status=Status.RETIRED, retired_at=composer.now)
    composer.put_edge(
        Edge(
            type=Relation.SOLVES,
            source=answer.ref,
            target=ref,
            created_at=composer.now,
            attributes=_CLOSED,
            provenance=replace(answer.provenance, extractor="gaps"),
        )
    )
    return replace(gap, status=Status.RETIRED, retired_at=composer.now)


def _closing_by(store: Store, gap_id: str) -> Callable[[Composer], None]:
    def compose(composer: Composer) -> None:
        gap = standing_memory_of(store.index, gap_id)
        answer = _answer_of(store, gap) if gap.status is Status.ACTIVE else None
        if answer is not None:
            _close(composer, gap, answer)

    return compose


def _reopening(store: Store, gap_id: str) -> Callable[[Composer], None]:
    def compose(composer: Composer) -> None:
        _reopen(composer, store.index, standing_memory_of(store.index, gap_id))

    return compose


def _reopen(composer: Composer, index: StoreIndex, gap: Memory) -> Memory | None:
    closing = _closing(index.records, gap)
    if gap.kind is not Kind.GAP or gap.status is not Status.RETIRED or not closing:
        return None
    for edge in closing:  # it stays, and says that this memory was tried: it is not taken for the answer again
        composer.put_edge(replace(edge, attributes={"closed": False}))
    return take_back_retirement(composer, index, gap)


def _closing(records: Records, gap: Memory) -> list[Edge]:
    """Return the edges by which a gap is closed: those of its answer and of the answer's versions."""
    return [edge for edge in _solving(records, gap) if edge.attributes.get("closed")]


def _solving(records: Records, gap: Memory) -> Iterator[Edge]:
    ref = gap.ref
    for op in records.edges_at(ref):
        if op.type is Relation.SOLVES and op.target == ref:
            yield edge_from(op)


def _gone(records: Records, answer: Ref) -> bool:
    """Return whether an answer stands no longer; a newer version, or what it was folded into, has its edges."""
    return cast(Memory, records.node(answer)).status not in (Status.ACTIVE, Status.ARCHIVED)


def _answered(store: Store, answer: Memory) -> Iterator[Memory]:
    """Yield the open gaps that a memory answers; what costs least to tell is looked at first."""
    if answer.kind is Kind.GAP or answer.status is not Status.ACTIVE:
        return
    said = store.index.vectors_of(answer.ref)
    for gap in _open_near(store, answer.scope, said):
        if not _may_answer(gap, answer):
            continue
        asked = store.index.vectors_of(gap.ref)
        if asked and not said:
            continue  # its own vector is to come, and decides then
        cosine = max(cosine_of(one, asked[0]) for one in said) if asked else None
        if _answers(store, gap, answer, cosine):
            yield gap


def _open_near(store: Store, scope: str, said: Sequence[bytes]) -> list[Memory]:
    """Return the open gaps nearest to a memory's vectors of those that see its scope; without any, the latest."""
    index = store.index
    gaps = _of_status(index, Status.ACTIVE, None if scope == GLOBAL_SCOPE else scope)
    if gaps and said:
        return [gap for gap, _ in nearest(index, said[0], gaps, threshold=_bar(store.runtime), limit=_NEAREST)]
    return list(map(index.memory, index.newest(gaps, _MOST_GAPS)))


def _answer_of(store: Store, gap: Memory) -> Memory | None:
    """Return the memory that answers a gap best, or None."""
    for memory, cosine in _near(store, gap):
        if _may_answer(gap, memory) and _answers(store, gap, memory, cosine):
            return memory
    return None


def _may_answer(gap: Memory, memory: Memory) -> bool:
    """Return whether a memory is a later one than a gap, no hearsay, and speaks of the same.

    Hearsay is what nobody here stands for: whoever can have a command fail would end a question of the user's by it.
    """
    late = memory.recorded_at >= gap.recorded_at
    return late and memory.said_by not in QUOTED and _share_covered(gap, memory) >= _TOLD


def _answers(store: Store, gap: Memory, memory: Memory, cosine: float | None) -> bool:
    """Return whether what may answer a gap is near enough to it (None: neither has a vector), and was not tried."""
    near = cosine >= _bar(store.runtime) if cosine is not None else _share_covered(gap, memory) >= _TOLD_WITHOUT_VECTORS
    return near and all(edge.source.id != memory.id for edge in _solving(store.records, gap))


def _share_covered(gap: Memory, memory: Memory) -> float:
    """Return the share of a question's words that a memory has."""
    asked = terms(f"{gap.trigger}\n{gap.resolution}")
    return len(asked & terms(f"{memory.trigger}\n{memory.resolution}")) / max(1, len(asked))


def _bar(runtime: Runtime) -> float:
    """Return the cosine of a question and its answer: they say less of the same than two statements would."""
    thresholds = thresholds_of(runtime)
    return (thresholds.related + thresholds.similar) / 2


def _near(store: Store, gap: Memory) -> list[tuple[Memory, float]]:
    """Return the memories nearest to a gap that its scope sees, with their cosines; none where it has no vector."""
    index = store.index
    own = index.vectors_of(gap.ref)
    if not own:
        return []
    active = index.where(Label.MEMORY, statuses=[Status.ACTIVE], kinds=[kind for kind in Kind if kind is not Kind.GAP])
    seen = active & (index.of_scope(gap.scope) | index.of_scope(GLOBAL_SCOPE))
    return nearest(index, own[0], seen, threshold=_bar(store.runtime), limit=_NEAREST)


def _gaps(index: StoreIndex, status: Status, scope: str | None) -> list[Memory]:
    """Return the gaps of a status and scope (None: of all), the earliest first."""
    held = map(index.memory, _of_status(index, status, scope))
    return sorted(held, key=lambda memory: (memory.recorded_at, memory.id))


def _of_status(index: StoreIndex, status: Status, scope: str | None) -> Rows:
    return index.where(Label.MEMORY, scope=scope, statuses=[status], kinds=[Kind.GAP])
