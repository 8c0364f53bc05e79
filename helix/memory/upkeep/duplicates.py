"""Duplicates: pairs of memories that say nearly the same, for a person to fold together or to keep apart."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

from helix.errors import ConflictError, InvalidInputError
from helix.memory.change.compose import Composer
from helix.memory.change.find import standing_memory_of
from helix.memory.contradiction.classify import thresholds_of
from helix.memory.contradiction.validity import recompute_validity
from helix.memory.upkeep.merge import apart_from, fold, kept_apart, rank, set_apart
from helix.model.clock import to_micros
from helix.model.edge import Label, Ref, Relation
from helix.model.memory import Memory, Status
from helix.model.paging import Key, page_of
from helix.model.reports import Duplicate, Page
from helix.store.index import StoreIndex
from helix.store.near_pairs import NearPairs
from helix.store.store import Store
from helix.store.writer import Decision

BOTH = "both"


class _Pair(NamedTuple):
    """Two rows by the ids of their memories, in the order in which pairs are listed."""

    distance: float
    one: str
    other: str

    def key(self) -> Key:
        """Return where it lies in its list."""
        return tuple(self)


def duplicates(
    store: Store, scope: str | None, threshold: float | None, limit: int, after: str | None
) -> Page[Duplicate]:
    """Return a page of near-duplicate memories of a scope (None: of each), as pairs, the most similar first.

    By default that is as similar as a refinement is to what it refines. Left out are pairs that a person keeps apart
    and pairs that contradict each other. Raises InvalidInputError for a threshold out of range, or a wrong cursor.
    """
    index = store.index
    waiting = (
        _Pair(round(1 - cosine, 6), *sorted((index.id_of(one), index.id_of(other))))
        for one, other, cosine in _pairs(index, store, scope, threshold)
    )
    pairs = page_of(waiting, _Pair.key, first=limit, after=after)
    return pairs.each(partial(_duplicate, index))


def count(store: Store, scope: str | None) -> int:
    """Return how many pairs of near-duplicate memories `duplicates` lists."""
    return len(_pairs(store.index, store, scope, None))


def settle_pair(store: Store, a: str, b: str, winner: str) -> Memory:
    """Have a person fold one of two duplicates into the other, the winner, or keep `both`; return the one that stays.

    What was folded comes back with `unmerge`; a pair that is kept apart is not listed, and not folded by a job.
    Raises NotFoundError, ConflictError where one of them is not active, or InvalidInputError for another winner.
    """

    def decision() -> Decision[Memory]:
        composer, index = Composer(store, store.runtime.clock()), store.index
        one, other = _two(index, a, b)
        if winner == BOTH:
            set_apart(composer, one, other)
            return Decision((composer.change("keep_both", first=one.id, second=other.id),), one)
        stays = standing_memory_of(index, winner)
        if stays.id not in (one.id, other.id):
            raise InvalidInputError(f"{winner!r} is none of the two", hint="name one of them, or `both`")
        goes = other if stays.id == one.id else one
        fold(composer, store.records, stays, goes, decided=True)
        recompute_validity(composer, store)
        return Decision((composer.change("merge", memory=goes.id),), stays)

    return store.writer.submit(decision)


def reopen(store: Store, a: str, b: str) -> Memory:
    """Take back that two duplicates are kept from being merged; raises ConflictError where they are not."""

    def decision() -> Decision[Memory]:
        composer = Composer(store, store.runtime.clock())
        one, other = (standing_memory_of(store.index, name) for name in (a, b))
        if other.id not in apart_from(one) and one.id not in apart_from(other):
            raise ConflictError(f"{one.name!r} and {other.name!r} are not kept apart")
        set_apart(composer, one, other, apart=False)
        return Decision((composer.change("reopen_duplicate", first=one.id, second=other.id),), one)

    return store.writer.submit(decision)


def _pairs(index: StoreIndex, store: Store, scope: str | None, threshold: float | None) -> list[tuple[int, int, float]]:
    """Return (row, row, cosine) of the pairs that wait; those from the default on are remembered."""
    least = thresholds_of(store.runtime).update if threshold is None else threshold
    if not 0.0 < least <= 1.0:
        raise InvalidInputError(f"threshold must be above 0 and at most 1, not {least!r}")
    active = index.where(Label.MEMORY, statuses=[Status.ACTIVE]) & index.holding(to_micros(store.runtime.clock()))
    found = (store.near_pairs if threshold is None else NearPairs()).of(index, active, least)
    here, settled = index.where(Label.MEMORY, scope=scope), _settled_pairs(index)
    return [pair for pair in found if pair[0] in here and not settled & {pair[:2], pair[1::-1]}]


def _settled_pairs(index: StoreIndex) -> set[tuple[int, int]]:
    """Return the rows of the pairs that contradict each other or are kept apart, one way round."""
    against = [row for ref in index.sources_of(Relation.CONTRADICTS) if (row := index.row_of(ref)) is not None]
    rivals = index.supports_of(against, Relation.CONTRADICTS)
    found = {(row, other) for row, others in zip(against, rivals, strict=True) for other in others}
    for memory in kept_apart(index.records):
        ends = [index.row_of(Ref.memory(ident)) for ident in (memory.id, *apart_from(memory))]
        found |= {(ends[0], other) for other in ends[1:] if ends[0] is not None and other is not None}
    return found


def _duplicate(index: StoreIndex, pair: _Pair) -> Duplicate | None:
    held = [index.memory_by_id(one) for one in (pair.one, pair.other)]
    if None in held:
        return None
    first, second = sorted((one for one in held if one is not None), key=rank)
    return Duplicate(id=f"{pair.one} {pair.other}", first=first, second=second, similarity=1 - pair.distance)


def _two(index: StoreIndex, a: str, b: str) -> tuple[Memory, Memory]:
    one, other = standing_memory_of(index, a), standing_memory_of(index, b)
    if one.id == other.id or one.scope != other.scope:
        raise ConflictError(f"{a!r} and {b!r} are not two memories of one scope")
    for memory in (one, other):
        if memory.status is not Status.ACTIVE:
            raise ConflictError(f"{memory.name!r} is {memory.status}, not active")
    return one, other
