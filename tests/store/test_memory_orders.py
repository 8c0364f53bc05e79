"""Orders of the list of memories: each sorts by what it says, and its pages hold everything once."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import Any

import pytest

from helix.errors import InvalidInputError
from helix.memory.remember.request import StoreRequest
from helix.model.memory import Memory, MemoryOrder
from helix.operations import memories
from helix.service import Helix

SORTED: dict[MemoryOrder, Callable[[Memory], Any]] = {
    MemoryOrder.OLDEST: lambda one: one.recorded_at,
    MemoryOrder.MOST_USED: lambda one: -one.uses,
    MemoryOrder.LEAST_EFFECTIVE: lambda one: (one.helped + 0.5) / (one.helped + one.failed + 1),
    MemoryOrder.NAME: lambda one: one.name.casefold(),
}
NAMES = ("Zebra", "apple", "Mango", "banana", "cherry", "Quince", "ábaco")


@pytest.fixture
def fruit(helix: Helix) -> list[str]:
    """The names of memories of which some were used, and helped or failed."""
    found = [
        memories.store(
            helix, StoreRequest(trigger=f"what {name} is", resolution=f"sort {n * 7}", kind="fact", name=name)
        ).name
        for n, name in enumerate(NAMES)
    ]
    memories.feedback(helix, [found[0]], delta=1.0, quality=5)
    memories.feedback(helix, [found[0]], delta=1.0, quality=5)
    memories.feedback(helix, [found[3]], delta=1.0, quality=5)
    memories.feedback(helix, [found[2]], delta=-1.0)
    memories.feedback(helix, [found[4]], delta=-4.0)
    memories.feedback(helix, [found[5]], delta=2.0)
    return found


def walked(helix: Helix, order: MemoryOrder, first: int, between: Callable[[], object] = lambda: None) -> list[Memory]:
    """Return what all pages of an order hold, one after another."""
    found: list[Memory] = []
    after: str | None = None
    while True:
        page = memories.memories(helix, order=order, first=first, after=after)
        found += page
        if page.next_cursor is None:
            return found
        after = page.next_cursor
        between()


@pytest.mark.parametrize("order", MemoryOrder)
@pytest.mark.parametrize("first", [1, 2, 200])
def test_pages_hold_everything_once_in_order(helix: Helix, fruit: list[str], order: MemoryOrder, first: int) -> None:
    found = walked(helix, order, first)
    assert sorted(one.name for one in found) == sorted(fruit)
    key = SORTED.get(order, lambda one: -one.recorded_at.timestamp())
    assert [one.id for one in found] == [one.id for one in sorted(found, key=key)]
    assert memories.memories(helix, order=order, first=first).total == len(fruit)


def test_what_failed_comes_first_and_what_nobody_judged_stands_between(helix: Helix, fruit: list[str]) -> None:
    found = [one.name for one in walked(helix, MemoryOrder.LEAST_EFFECTIVE, 200)]
    assert found[:2] == [fruit[4], fruit[2]]
    assert found.index(fruit[1]) < found.index(fruit[5])


@pytest.mark.parametrize("order", SORTED)
def test_what_moves_or_comes_meanwhile_shifts_nothing(helix: Helix, fruit: list[str], order: MemoryOrder) -> None:
    added = iter(range(3))

    def between() -> None:
        for n in islice(added, 1):
            said = StoreRequest(trigger=f"new {n}", resolution=f"at {n * 13}", kind="fact", name=f"new-{n}")
            memories.store(helix, said)
            memories.feedback(helix, [fruit[0]], delta=-1.0, quality=5)

    found = [one.name for one in walked(helix, order, 1, between)]
    still = [name for name in fruit if name != fruit[0]]
    assert [name for name in found if name in still] == [
        one.name for one in sorted(map(lambda name: memories.get(helix, name), still), key=SORTED[order])
    ]


def test_a_list_goes_on_behind_what_was_forgotten(helix: Helix, fruit: list[str]) -> None:
    page = memories.memories(helix, order=MemoryOrder.NAME, first=2)
    rest = memories.memories(helix, order=MemoryOrder.NAME, after=page.next_cursor).items
    memories.forget(helix, page.items[-1].name)
    assert memories.memories(helix, order=MemoryOrder.NAME, after=page.next_cursor).items == rest


def test_a_cursor_belongs_to_its_order(helix: Helix, fruit: list[str]) -> None:
    cursor = memories.memories(helix, order=MemoryOrder.NAME, first=2).next_cursor
    for order in set(MemoryOrder) - {MemoryOrder.NAME}:
        with pytest.raises(InvalidInputError, match="is not a cursor of this list"):
            memories.memories(helix, order=order, after=cursor)
