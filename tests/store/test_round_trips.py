"""How often a write goes to the journal's tables. Where those are elsewhere, each trip is a network's round trip."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from helix.journal import tables
from helix.memory.remember.curate import EditRequest
from helix.memory.remember.request import StoreRequest
from helix.model.recall import Expand, RecallQuery
from helix.operations import memories
from helix.service import Helix
from tests.waiting import at_rest

pytestmark = pytest.mark.file
IN_SETS = ("read_before", "nodes", "edges", "texts", "edges_at", "passages_of", "write")
MOST_OF_AN_APPEND, MOST_OF_A_STORE = 3, 6


class Trips:
    """Counts trips: one for each call of what reads or writes sets, one for each other statement, one for a commit."""

    def __init__(self) -> None:
        self.told: list[str] = []
        self._within = 0

    def counted(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def one(*given: Any, **named: Any) -> Any:
            self.told += [] if self._within else [name]
            self._within += 1
            try:
                return call(*given, **named)
            finally:
                self._within -= 1

        return one

    def statement(self, text: str) -> None:
        counts = "INSERT INTO meta" in text  # the mark's count, which goes with the commit
        if not self._within and not text.startswith("BEGIN") and not counts:
            self.told.append(text)


@pytest.fixture
def trips(helix: Helix, monkeypatch: pytest.MonkeyPatch) -> Iterator[Trips]:
    at_rest(helix)
    memories.memories(helix, first=1)  # this thread has its connection now
    with helix.worker.standing_still():
        counting = Trips()
        for name in IN_SETS:
            monkeypatch.setattr(tables, name, counting.counted(name, getattr(tables, name)))
        for _, connection in helix.store.journal.database._opened:
            connection.set_trace_callback(counting.statement)
        yield counting


def test_a_store_and_its_append_go_to_the_tables_a_few_times(helix: Helix, trips: Trips) -> None:
    for number in range(3):
        text = f"unique{number} is known to `npm run x{number}`"
        memories.store(helix, StoreRequest(trigger=text, resolution=f"see src/part{number}.py", kind="fact"))
    trips.told.clear()
    failure = "port 8080 is taken by `npm run dev`"
    memories.store(helix, StoreRequest(trigger=failure, resolution="stop src/server.js: ERR_PORT", kind="failure"))
    assert len(trips.told) <= MOST_OF_A_STORE, trips.told
    append = trips.told[: trips.told.index("COMMIT") + 1][-MOST_OF_AN_APPEND:]
    assert append == ["read_before", "write", "COMMIT"]


def test_what_was_just_written_or_read_is_not_read_again(helix: Helix, trips: Trips) -> None:
    stored = memories.store(helix, StoreRequest(trigger="the cart", resolution="is kept in Redis", kind="fact"))
    trips.told.clear()
    assert memories.node(helix, stored.id)
    assert trips.told == []
    memories.edit(helix, stored.id, EditRequest(resolution="is kept in Postgres"))
    trips.told.clear()
    (item,) = helix.recall(RecallQuery(query="the cart", expand=Expand.NONE)).items
    assert "Postgres" in str(item.node)
    assert "nodes" not in trips.told


def test_a_failure_goes_there_no_more_often_the_more_there_are_of_its_kind(helix: Helix, trips: Trips) -> None:
    """Each one is compared with those before it: their nodes and edges are known by then."""
    for number in range(12):
        trips.told.clear()
        failure = f"build step {number} fails with E{number}"
        memories.store(helix, StoreRequest(trigger=failure, resolution="run `make clean` first", kind="failure"))
    assert len(trips.told) <= MOST_OF_A_STORE + MOST_OF_AN_APPEND, trips.told  # the systemic memory counts it, too
