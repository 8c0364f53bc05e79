"""Holds that what was erased on one machine is gone on the others, with its versions and the names in it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from exchanging import rows_of
from test_carrying import know_each_other, store
from test_sync import folder as folder
from test_sync import pair, settle, synced

from helix.memory.erasure.hard_forget import hard_forget, plan_hard_forget
from helix.memory.extraction.consolidation import consolidate
from helix.memory.remember.curate import EditRequest
from helix.model.memory import Status
from helix.model.provenance import Trust
from helix.operations import memories
from helix.service import Helix
from helix.strands.whole import Unwatched
from tests.memory.conftest import Moment
from tests.memory.saying import PROJECT, job, learned, say
from tests.memory.working import copied
from tests.strands.conftest import Machines

OFFICE = "the address of the office is 5 Sesame Street"
AGENTS: dict[str, Any] = {"agent": "bot", "trust": Trust.AGENT_INFERRED}


def erase(helix: Helix, ident: str) -> None:
    hard_forget(helix.store, plan_hard_forget(helix.store, ident), Unwatched())


def told_in_rows(helix: Helix) -> list[str]:
    return [row.table for row in rows_of(helix.store) if b"Sesame" in row.line()]


def told_in_files(helix: Helix) -> list[str]:
    helix.store.graph.settle()
    helix.store.journal.database.checkpoint()
    with copied(helix.store.path) as files:
        return [file.name for file in files if b"Sesame" in file.read_bytes()]


def test_all_versions_leave_the_files_of_another_machine(machines: Machines, folder: Path) -> None:
    one, other = pair(machines)
    said = memories.edit(one, store(one, OFFICE, **AGENTS), EditRequest(resolution="second floor")).id
    settle(folder, one, other)
    assert "journal.db" in told_in_files(other)
    erase(one, said)
    settle(folder, one, other)
    assert not told_in_files(other)


@pytest.mark.parametrize("change", [{"name": "hq"}, {"resolution": "second floor"}])
def test_a_version_that_another_machine_made_meanwhile_goes_too(
    machines: Machines, folder: Path, change: dict[str, Any]
) -> None:
    one, other = pair(machines)
    said = store(one, OFFICE, **AGENTS)
    settle(folder, one, other)
    memories.edit(other, said, EditRequest(**change))
    erase(one, said)
    settle(folder, one, other)
    for machine in (one, other):
        assert not told_in_rows(machine)
        assert not told_in_files(machine)


@pytest.mark.parametrize("elsewhere", ["the tests need docker", ""])
def test_no_name_comes_back_by_a_machine_that_left_something_before_it_knew(
    machines: Machines, folder: Path, elsewhere: str
) -> None:
    one, other = pair(machines)
    said = store(one, OFFICE)
    settle(folder, one, other)
    assert "Entity" in told_in_rows(other)
    if elsewhere:
        store(other, elsewhere)
    else:
        memories.feedback(other, [said], 1.0)
    erase(one, said)
    settle(folder, other, one)
    for machine in (one, other):
        assert not told_in_rows(machine)
    assert not told_in_files(one)


def test_a_name_that_something_else_speaks_of_stays(machines: Machines, folder: Path) -> None:
    one, other = pair(machines)
    said = store(one, OFFICE)
    settle(folder, one, other)
    store(other, "the caretaker lives in Sesame Street")
    erase(one, said)
    settle(folder, other, one)
    for machine in (one, other):
        assert sorted(told_in_rows(machine)) == ["Entity", "Episode", "Memory"]


@pytest.mark.parametrize("change", [{"name": "hq"}, {"resolution": "second floor"}, {"kind": "convention"}])
def test_a_version_of_a_machine_that_did_not_know_comes_in_nowhere(
    machines: Machines, folder: Path, change: dict[str, Any]
) -> None:
    one, other = pair(machines)
    said = store(one, OFFICE, **AGENTS)
    settle(folder, one, other)
    memories.edit(other, memories.edit(other, said, EditRequest(**change)).id, EditRequest(importance=9.0))
    synced(other, folder)
    erase(one, said)
    synced(one, folder)
    assert not told_in_rows(one)
    assert not told_in_files(one)
    settle(folder, one, other)


def test_what_was_learned_of_what_was_erased_comes_in_nowhere(machines: Machines, folder: Path) -> None:
    one, other = pair(machines)
    (heard,) = say(one.store, f"Remember: {OFFICE}.")
    settle(folder, one, other)
    consolidate(job(other.store, "learn"), {"scope": PROJECT})
    assert learned(other.store)
    synced(other, folder)
    erase(one, heard)
    synced(one, folder)
    assert not told_in_rows(one)
    settle(folder, one, other)
    assert not told_in_rows(other)


def test_what_is_said_again_is_not_erased_with_a_version_of_what_was(machines: Machines, folder: Path) -> None:
    one, other = pair(machines)
    said = store(one, OFFICE)
    settle(folder, one, other)
    memories.edit(other, said, EditRequest(resolution="second floor"))
    synced(other, folder)
    erase(one, said)
    again = store(one, OFFICE)
    settle(folder, one, other)
    assert [memories.get(machine, again).trigger for machine in (one, other)] == [OFFICE] * 2


def test_what_contradicts_something_erased_comes_in(machines: Machines, folder: Path) -> None:
    moment = Moment()
    one, other = machines(moment), machines(moment)
    know_each_other(one, other)
    said = store(one, "the api listens on port 8001", **AGENTS)
    settle(folder, one, other)
    moment.forward(days=3)
    later = store(other, "the api listens on port 8002", **AGENTS)
    assert memories.get(other, said).valid_to is not None
    synced(other, folder)
    erase(one, said)
    synced(one, folder)
    assert memories.get(one, later).status is Status.ACTIVE
    settle(folder, one, other)
