"""Holds the laws of merging: nothing is lost, nothing comes back, and it does not matter who takes from whom first."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from exchanging import drop, root, rows_of, take
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from test_carrying import know_each_other
from test_sync import folder as folder
from test_sync import pair, settle, synced

from helix.errors import ConflictError, InvalidInputError, NotFoundError
from helix.memory.capture.episodes import EpisodeRequest
from helix.memory.erasure.hard_forget import hard_forget, plan_hard_forget
from helix.memory.remember.curate import EditRequest
from helix.memory.remember.request import StoreRequest
from helix.model.edge import Label, Ref
from helix.model.memory import Status
from helix.model.provenance import Trust
from helix.model.tombstone import is_tombstone
from helix.operations import background_work, capture, memories
from helix.service import Helix
from helix.strands.received import Signer
from helix.strands.whole import Unwatched
from tests.sampling import draws
from tests.strands.conftest import Machines


def store(helix: Helix, trigger: str, resolution: str = "", **fields: object) -> str:
    return memories.store(helix, StoreRequest(trigger=trigger, resolution=resolution, kind="fact", **fields)).id


def held(helix: Helix) -> dict[str, Status]:
    nodes = (row.put for row in rows_of(helix.store) if row.table == "Memory")
    return {str(node.props["trigger"]): Status(str(node.props["status"])) for node in nodes}


def test_both_come_to_the_same_whoever_takes_first(machines: Machines) -> None:
    one, other = machines(), machines()
    store(one, "the proxy listens on port 8080")
    store(other, "tests need a running database")
    take(one.store, other.store)
    take(other.store, one.store)
    assert root(one.store) == root(other.store)
    assert {row.line() for row in rows_of(one.store)} == {row.line() for row in rows_of(other.store)}


def test_taking_the_same_in_again_changes_nothing(machines: Machines) -> None:
    one, other = machines(), machines()
    store(one, "the proxy listens on port 8080")
    store(other, "tests need a running database")
    take(one.store, other.store)
    before = root(one.store), one.store.journal.last_seq
    assert not +take(one.store, other.store)
    assert (root(one.store), one.store.journal.last_seq) == before


def test_what_one_side_alone_changed_is_taken_and_what_it_dropped_is_dropped(machines: Machines) -> None:
    one, other = machines(), machines()
    proxy, database = store(one, "the proxy listens on port 8080"), store(one, "tests need a running database")
    memories.edge(one, proxy, database, "depends_on")
    take(other.store, one.store)
    memories.forget(other, proxy)
    drop(other, proxy, database)
    take(one.store, other.store)
    assert held(one)["the proxy listens on port 8080"] is Status.FORGOTTEN
    assert root(one.store) == root(other.store)


@pytest.mark.soak
def test_what_a_person_said_is_forgotten_and_not_lost_where_the_other_side_undid_what_came_in(
    machines: Machines, folder: Path
) -> None:
    one, other = pair(machines)
    proxy = store(one, "the proxy listens on port 8080")
    synced(one, folder)
    (job,) = synced(other, folder)["jobs"]
    background_work.undo(other, job)
    store(other, "tests need a running database")
    settle(folder, other, one)
    assert held(one)["the proxy listens on port 8080"] is Status.FORGOTTEN
    memories.restore(one, proxy)
    settle(folder, one, other)
    assert memories.get(other, proxy).status is Status.ACTIVE


def test_what_one_side_changed_is_not_lost_where_the_other_dropped_it(machines: Machines) -> None:
    one, other = machines(), machines()
    proxy, database = store(one, "the proxy listens on port 8080"), store(one, "tests need a running database")
    memories.edge(one, proxy, database, "depends_on")
    take(other.store, one.store)
    drop(other, proxy, database)
    memories.edge(one, proxy, database, "depends_on", weight=2.0)
    take(one.store, other.store)
    take(other.store, one.store)
    assert root(one.store) == root(other.store)
    assert any(row.table == "DEPENDS_ON" for row in rows_of(one.store))


def test_without_a_common_version_nothing_is_dropped(machines: Machines) -> None:
    one, other = machines(), machines()
    proxy, database = store(one, "the proxy listens on port 8080"), store(one, "tests need a running database")
    memories.edge(one, proxy, database, "depends_on")
    take(other.store, one.store)
    drop(other, proxy, database)
    for machine in (one, other):
        for file in (machine.store.path / "strands").iterdir():
            file.unlink()
    take(one.store, other.store)
    take(other.store, one.store)
    assert root(one.store) == root(other.store)
    assert any(row.table == "DEPENDS_ON" for row in rows_of(one.store))


def test_a_stranger_takes_neither_a_name_nor_a_place_in_what_is_found(machines: Machines) -> None:
    stranger, here = machines(), machines()
    for helix, words in ((stranger, "run the tests with make"), (here, "run the tests with uv")):
        memories.store(helix, StoreRequest(trigger=words, resolution="", kind="fact", name="how-to-test"))
        capture.record_episode(helix, EpisodeRequest(content=words, source="letters:one"))
    (mine,) = here.store.index.memories_named("how-to-test")
    take(here.store, stranger.store, Signer(name="stranger", trust=Trust.WEB))
    assert here.store.index.named("global", "how-to-test") == mine.ref
    found = here.store.index.found_by_text()
    (episode,) = (row for row in rows_of(here.store) if row.table == "Episode" and row.texts and "uv" in row.texts[0])
    assert here.store.index.row_of(Ref.episode(episode.put.id)) in found


@pytest.fixture
def acquainted(three: list[Helix]) -> list[Helix]:
    """Three machines of one person."""
    know_each_other(*three)
    return three


FACTS = ("the api listens on port 8001", "the api listens on port 8002", "deploys run on friday", "tests need docker")
ACTIONS = st.one_of(
    st.tuples(st.just("store"), st.sampled_from(FACTS)),
    st.tuples(st.sampled_from(["forget", "restore", "confirm", "helped", "erase", "edit", "say"]), st.integers(0, 9)),
    st.tuples(st.just("edge"), st.tuples(st.integers(0, 9), st.integers(0, 9))),
    st.tuples(st.just("take"), st.integers(0, 2)),
)
HISTORIES = st.lists(st.tuples(st.integers(0, 2), ACTIONS), min_size=1, max_size=12)


Takes = Callable[[int, int], object]
"""Has a machine, by its number, take from another one."""


def act(machines: list[Helix], at: int, action: tuple[str, object], takes: Takes, erased: set[str]) -> None:
    helix = machines[at]
    what, of = action
    known = sorted((row.put.id for row in rows_of(helix.store) if row.table == "Memory"), key=str)
    with suppress(ConflictError, InvalidInputError, NotFoundError):
        if what == "store":
            store(helix, str(of))
        elif what == "take":
            takes(at, int(of))
        elif what == "edge" and known:
            source, target = (known[one % len(known)] for one in of)
            memories.edge(helix, source, target, "solves")
        elif known and isinstance(of, int):
            one = known[of % len(known)]
            if what == "edit":
                memories.edit(helix, one, EditRequest(resolution=f"since machine {at} said so"))
            elif what == "say":
                capture.record_episode(helix, EpisodeRequest(content=f"machine {at} ran the tests", session="s"))
            elif what == "helped":
                memories.feedback(helix, [one], delta=1.0)
            elif what == "erase":
                plan = plan_hard_forget(helix.store, one)
                erased.update(each.ref.id for each in plan.goes if each.ref.label is Label.MEMORY)
                hard_forget(helix.store, plan, Unwatched())
            else:
                getattr(memories, what)(helix, one)


@pytest.mark.soak
@settings(
    max_examples=draws(7),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    deadline=None,
)
@given(history=HISTORIES)
@example(history=[(1, ("store", FACTS[0])), (1, ("store", FACTS[2])), (1, ("erase", 0)), (1, ("edge", (0, 1)))])
def test_whatever_happens_on_three_machines_they_come_to_the_same(
    history: list[Any], acquainted: list[Helix], folder: Path
) -> None:
    erased: set[str] = set()
    for at, action in history:
        act(acquainted, at, action, lambda at, _: synced(acquainted[at], folder), erased)
    ids = {row.key for one in acquainted for row in rows_of(one.store) if row.table in ("Memory", "Episode")}
    trusts = {
        (row.key, str(row.put.props.get("trust")))
        for one in acquainted
        for row in rows_of(one.store)
        if "trust" in row.put.props
    }
    settle(folder, *acquainted)
    after = {row.key: row for row in rows_of(acquainted[0].store)}
    assert ids <= after.keys()
    for one in acquainted:
        for row in rows_of(one.store):
            if row.table == "Memory" and row.put.id in erased:
                assert is_tombstone(row.put.props) and not row.texts
    best = {key: min(Trust(trust).rank for held, trust in trusts if held == key) for key, _ in trusts}
    for key, rank in best.items():
        if key in after and "trust" in after[key].put.props:
            assert Trust(str(after[key].put.props["trust"])).rank >= rank


def test_no_edge_is_drawn_at_what_was_erased(machines: Machines) -> None:
    helix = machines()
    proxy, database = store(helix, "the proxy listens on port 8080"), store(helix, "tests need a running database")
    hard_forget(helix.store, plan_hard_forget(helix.store, proxy), Unwatched())
    for ends in ((proxy, database), (database, proxy)):
        with pytest.raises(ConflictError, match="was erased for good"):
            memories.edge(helix, *ends, "solves")
    assert not [row for row in rows_of(helix.store) if row.table == "SOLVES"]
