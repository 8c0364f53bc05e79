"""Holds that an erasure takes elsewhere what was read of the same, and nothing that somebody made of it or said."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from exchanging import root
from test_carrying import store
from test_erased_elsewhere import OFFICE, erase, lines
from test_sync import folder as folder
from test_sync import pair, settle

from helix.memory.capture.episodes import EpisodeRequest
from helix.memory.remember.curate import EditRequest
from helix.memory.remember.request import StoreRequest
from helix.model.memory import Status
from helix.operations import capture, ingest, memories, syncing
from helix.service import Helix
from tests.sampling import some
from tests.strands.conftest import Machines
from tests.waiting import finished

ELSEWHERE = "ask Ada about all the rooms of the building"


def read(helix: Helix, said: str = OFFICE, scope: str = "shop") -> str:
    """Read a memory that says it; return its id."""
    told = {"type": "memory", "kind": "fact", "trigger": said, "resolution": "", "scope": scope}
    ingest.ingest_jsonl(helix, [json.dumps(told)])
    return next(one.id for one in helix.store.index.memories(Status.ACTIVE) if one.trigger == said)


def reworded(helix: Helix) -> str:
    memories.edit(
        helix, memories.edit(helix, read(helix), EditRequest(trigger=ELSEWHERE)).id, EditRequest(importance=9)
    )
    return ELSEWHERE


def said_more(helix: Helix) -> str:
    memories.edit(helix, read(helix), EditRequest(resolution="second floor"))
    return "second floor"


def confirmed(helix: Helix) -> str:
    memories.confirm(helix, read(helix))
    return OFFICE


def stored(helix: Helix) -> str:
    read(helix)
    memories.store(helix, StoreRequest(trigger=OFFICE, resolution="It is in the cellar.", kind="fact", scope="shop"))
    return "It is in the cellar."


def recorded(helix: Helix) -> str:
    ingest.ingest_jsonl(helix, lines(OFFICE), scope="shop")
    capture.record_episode(helix, EpisodeRequest(content=OFFICE, role="user", scope="shop"))
    return OFFICE


def told(helix: Helix) -> str:
    held = [f"{one.trigger} {one.resolution}" for one in helix.store.index.memories(Status.ACTIVE)]
    return "\n".join([*held, *(one.content for one in capture.episodes(helix).items)])


@pytest.mark.parametrize("first", some([1, 0], 1))
@pytest.mark.parametrize("made", some([confirmed, reworded, said_more, stored, recorded], 1))
def test_what_a_person_made_of_something_read_stays_on_every_machine(
    machines: Machines, folder: Path, made: Callable[[Helix], str], first: int
) -> None:
    both = pair(machines)
    said = store(both[0], OFFICE, scope="shop")
    kept = made(both[1])
    erase(both[0], said)
    settle(folder, both[first], both[1 - first])
    assert [kept in told(machine) for machine in both] == [True, True]


@pytest.mark.soak
def test_what_was_read_beside_it_stays_and_another_lesson_of_the_same_occasion(
    machines: Machines, folder: Path, tmp_path: Path
) -> None:
    one, other = pair(machines)
    said = store(one, OFFICE, scope="shop")
    notes = tmp_path / "AGENTS.md"
    notes.write_text(f"# Rules\n\n- Always use yarn for packages.\n- {OFFICE}.\n", "utf-8")
    finished(other, ingest.ingest_notes(other, [str(notes)], scope="shop"))
    lesson = {"type": "memory", "kind": "fact", "trigger": OFFICE, "resolution": "Ring twice.", "scope": "shop"}
    ingest.ingest_jsonl(one, [json.dumps({**lesson, "trigger": "Before a visit"})])
    ingest.ingest_jsonl(other, [json.dumps({**lesson, "trigger": "Before a visit", "resolution": "Bring a cake."})])
    visit = next(one.id for one in one.store.index.memories(Status.ACTIVE) if one.resolution == "Ring twice.")
    erase(one, said)
    erase(one, visit)
    settle(folder, one, other)
    for machine in (one, other):
        assert "Bring a cake." in told(machine)
        assert "Always use yarn" in told(machine)
        assert "Ring twice" not in told(machine)
        assert "Sesame" not in told(machine)
    finished(other, ingest.ingest_notes(other, [str(notes)], scope="shop"))
    settle(folder, one, other)
    assert [("yarn" in told(machine), "Sesame" in told(machine)) for machine in (one, other)] == [(True, False)] * 2


@pytest.mark.parametrize("agent", some(["bot", ""], 1))
def test_what_is_said_once_the_other_machine_knows_is_told_on_both(
    machines: Machines, folder: Path, agent: str
) -> None:
    one, other = pair(machines)
    rule = read(other, "the canteen opens at noon")
    erase(one, store(one, OFFICE, scope="shop"))
    settle(folder, one, other)
    edited = memories.edit(other, rule, EditRequest(trigger=OFFICE, agent=agent)).id
    settle(folder, one, other)
    for machine in (one, other):
        assert memories.get(machine, edited).trigger == OFFICE
        assert memories.get(machine, rule).status is Status.RETIRED


@pytest.mark.soak
def test_what_was_erased_in_a_scope_that_is_not_shared_keeps_out_nothing_of_one_that_is(
    machines: Machines, folder: Path
) -> None:
    one, other = pair(machines)
    erase(one, store(one, OFFICE, scope="private"))
    noted = read(other)
    for machine in (other, one, other, one):
        finished(machine, syncing.sync(machine, str(folder), scopes=["shop"]))
    assert memories.get(one, noted).trigger == OFFICE
    assert root(one.store) != root(other.store), "one has a tombstone more"
