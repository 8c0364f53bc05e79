"""Holds that what was erased on one machine is gone on the others, with its versions and the names in it."""

from __future__ import annotations

import json
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
from helix.memory.remember.request import StoreRequest
from helix.model.memory import Status
from helix.model.provenance import Trust
from helix.operations import capture, ingest, memories, review, syncing, tasks
from helix.service import Helix
from helix.store.listing import MemoryFilter
from helix.strands.whole import Unwatched
from tests.memory.conftest import Moment
from tests.memory.saying import PROJECT, job, learned, say
from tests.memory.working import copied
from tests.sampling import some
from tests.strands.conftest import Machines
from tests.waiting import finished

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


@pytest.mark.parametrize("change", some([{"name": "hq"}, {"resolution": "second floor"}], 1))
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


@pytest.mark.parametrize("elsewhere", some(["the tests need docker", ""], 1))
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


@pytest.mark.soak
def test_a_name_that_something_else_speaks_of_stays(machines: Machines, folder: Path) -> None:
    one, other = pair(machines)
    said = store(one, OFFICE)
    settle(folder, one, other)
    store(other, "the caretaker lives in Sesame Street")
    erase(one, said)
    settle(folder, other, one)
    for machine in (one, other):
        assert sorted(told_in_rows(machine)) == ["Entity", "Episode", "Memory"]


@pytest.mark.soak
@pytest.mark.parametrize("change", some([{"name": "hq"}, {"resolution": "second floor"}, {"kind": "convention"}], 1))
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


@pytest.mark.soak
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


@pytest.mark.soak
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


@pytest.mark.soak
def test_no_edge_to_what_was_erased_comes_in_and_says_its_words(machines: Machines, folder: Path) -> None:
    one, other = pair(machines)
    erased = store(one, "the vault is called Nautilus")
    store(one, "the vault is called Kraken")
    (dispute,) = review.contradictions(one, any_status=True).items
    settle(folder, one, other)
    review.resolve_contradiction(other, dispute.first.id, dispute.second.id, "both")
    erase(one, erased)
    synced(other, folder)
    synced(one, folder)
    assert not [row.table for row in rows_of(one.store) if b"autilus" in row.line()]


def read(helix: Helix, folder: Path, remote: str = "a/shop") -> None:
    """Ingest a session of a client in which the office is named, and notes that say where it is."""
    project = folder / "project"
    (project / ".git").mkdir(parents=True, exist_ok=True)
    (project / ".git/config").write_text(f'[remote "origin"]\nurl = git@example.org:{remote}.git\n', "utf-8")
    (project / "NOTES.md").write_text(f"# Rules\n\n- Always use yarn for packages.\n- {OFFICE}.\n", "utf-8")
    call = {
        "type": "user",
        "uuid": "b0000000-7c3d-4e4f-8a9b-0c1d2e3f4a5b",
        "sessionId": "0498a1b2-7c3d-4e4f-8a9b-0c1d2e3f4a5b",
        "cwd": str(project),
        "timestamp": "2026-11-29T10:00:02.000Z",
        "message": {"role": "user", "content": f"Please note that {OFFICE}, next to the bakery."},
    }
    (folder / "history.jsonl").write_text(json.dumps(call) + "\n", "utf-8")
    finished(helix, ingest.ingest_transcript(helix, str(folder / "history.jsonl")))
    finished(helix, ingest.ingest_notes(helix, [str(project / "NOTES.md")]))


def erase_all(helix: Helix) -> None:
    for node in (*memories.memories(helix, MemoryFilter()).items, *capture.episodes(helix).items):
        if "Sesame" in " ".join(map(str, (getattr(node, "trigger", ""), getattr(node, "content", "")))):
            erase(helix, node.id)


@pytest.mark.soak
@pytest.mark.parametrize("synced_before", some([True, False], 1))
def test_what_another_machine_read_of_the_same_history_and_notes_goes_too(
    machines: Machines, folder: Path, tmp_path: Path, synced_before: bool
) -> None:
    one, other = pair(machines)
    for machine in (one, other):
        read(machine, tmp_path)
    if synced_before:
        settle(folder, one, other)
    erase_all(one)
    assert not told_in_rows(one)
    settle(folder, other, one)
    for machine, remote in ((one, "a/shop"), (other, "renamed/shop")):
        assert not told_in_rows(machine)
        assert not told_in_files(machine)
        read(machine, tmp_path, remote)
        assert not told_in_rows(machine)
    assert any("yarn" in memory.trigger for memory in memories.memories(one, MemoryFilter()).items)


def test_what_was_said_on_another_machine_in_the_same_words_stays(
    machines: Machines, folder: Path, tmp_path: Path
) -> None:
    one, other = pair(machines)
    read(one, tmp_path)
    said = store(other, OFFICE)
    erase_all(one)
    settle(folder, one, other)
    assert [memories.get(machine, said).trigger for machine in (one, other)] == [OFFICE, OFFICE]


@pytest.mark.soak
@pytest.mark.parametrize("reworded", ["the address of the office is 7 Elm Road", f"{OFFICE}, second floor"])
def test_machines_agree_on_an_edit_of_what_rested_on_an_episode_that_was_erased(
    machines: Machines, folder: Path, reworded: str
) -> None:
    one, other = pair(machines)
    said = store(one, OFFICE, **AGENTS)
    settle(folder, one, other)
    (heard,) = capture.episodes(one).items
    memories.edit(other, said, EditRequest(trigger=reworded))
    erase(one, heard.id)
    settle(folder, other, one)
    assert rows_of(one.store) == rows_of(other.store)
    for machine in (one, other):
        assert [memory.trigger for memory in memories.memories(machine, MemoryFilter()).items] == [reworded]


@pytest.mark.soak
@pytest.mark.parametrize("first", some([1, 0], 1))
def test_what_two_machines_erased_each_in_its_way_is_derived_on_neither_again(
    machines: Machines, folder: Path, first: int
) -> None:
    moment = Moment()
    one, other = machines(moment), machines(moment)
    know_each_other(one, other)
    (heard,) = say(one.store, f"Remember: {OFFICE}.")
    consolidate(job(one.store, "first"), {"scope": PROJECT})
    (derived,) = learned(one.store)
    settle(folder, one, other)
    steps = [(one, derived.id), (other, heard)]
    for machine, ident in steps[::-1] if first else steps:
        erase(machine, ident)
        moment.forward(hours=1)
    settle(folder, one, other)
    for machine in (one, other):
        say(machine.store, f"Remember: {OFFICE}.")
        consolidate(job(machine.store, "again"), {"scope": PROJECT})
        assert learned(machine.store) == []


def lines(*contents: str) -> list[str]:
    return [json.dumps({"type": "episode", "content": content}) for content in contents]


@pytest.mark.soak
def test_an_export_that_another_machine_read_goes_where_it_says_what_was_erased(
    machines: Machines, folder: Path
) -> None:
    one, other = pair(machines)
    said = store(one, OFFICE)
    ingest.ingest_jsonl(other, lines(f"We met. {OFFICE.capitalize()}. We left.", "The canteen opens at noon."))
    erase(one, said)
    settle(folder, other, one)
    assert rows_of(one.store) == rows_of(other.store)
    for machine in (one, other):
        assert not told_in_files(machine)
        assert "The canteen opens at noon." in [one.content for one in capture.episodes(machine).items]


@pytest.mark.soak
def test_what_the_plan_says_stays_is_erased_by_no_sync(machines: Machines, folder: Path) -> None:
    one, other = pair(machines)
    ingest.ingest_jsonl(
        one, [json.dumps({"type": "memory", "kind": "fact", "trigger": "The office is small.", "resolution": ""})]
    )
    (noted,) = one.store.index.memories(Status.ACTIVE)
    edited = memories.edit(one, noted.id, EditRequest(trigger=OFFICE))
    said = memories.store(one, StoreRequest(trigger="Where we meet", resolution=OFFICE, kind="decision")).id
    settle(folder, one, other)
    assert edited.id in {each.ref.id for each in plan_hard_forget(one.store, said).stays}
    erase(one, said)
    settle(folder, one, other)
    assert [memories.get(machine, edited.id).trigger for machine in (one, other)] == [OFFICE] * 2


@pytest.mark.soak
@pytest.mark.parametrize("source", some(["wiki:offices", ""], 1))
def test_what_is_said_again_after_all_know_of_the_erasure_is_told_on_all(
    machines: Machines, folder: Path, source: str
) -> None:
    one, other = pair(machines)
    said = store(one, OFFICE)
    settle(folder, one, other)
    erase(one, said)
    settle(folder, one, other)
    again = store(other, OFFICE, source=source)
    settle(folder, other, one)
    assert [memories.get(machine, again).trigger for machine in (one, other)] == [OFFICE] * 2


@pytest.mark.soak
def test_what_is_not_shared_is_not_erased_with_what_is(machines: Machines, folder: Path) -> None:
    one, other = pair(machines)
    said = store(one, OFFICE, scope="shop")
    ingest.ingest_jsonl(other, lines(OFFICE), scope="private")
    own = store(other, OFFICE, scope="private")
    for machine in (other, one, other):
        finished(machine, syncing.sync(machine, str(folder), scopes=["shop"]))
    erase(one, said)
    for machine in (one, other, one):
        finished(machine, syncing.sync(machine, str(folder), scopes=["shop"]))
    assert memories.get(other, own).trigger == OFFICE
    assert OFFICE in [episode.content for episode in capture.episodes(other, scope="private").items]


@pytest.mark.soak
def test_a_rule_that_a_person_confirmed_does_not_go_because_its_section_does(
    machines: Machines, folder: Path, tmp_path: Path
) -> None:
    one, other = pair(machines)
    for machine in (one, other):
        read(machine, tmp_path)
    (yarn,) = (memory for memory in other.store.index.memories(Status.ACTIVE) if "yarn" in memory.trigger)
    memories.confirm(other, yarn.id)
    erase_all(one)
    settle(folder, one, other)
    assert memories.get(other, yarn.id).said_by == "you"


@pytest.mark.soak
def test_what_was_read_beside_an_erased_sentence_is_kept_out_nowhere(machines: Machines, folder: Path) -> None:
    one, other = pair(machines)
    said = store(one, OFFICE)
    beside = "The canteen opens at noon every day."
    told = {"type": "memory", "kind": "fact", "trigger": f"{OFFICE}. {beside}", "resolution": ""}
    ingest.ingest_jsonl(other, [json.dumps(told)])
    erase(one, said)
    settle(folder, one, other)
    ingest.ingest_jsonl(one, [json.dumps({**told, "trigger": beside})])
    settle(folder, one, other)
    for machine in (one, other):
        assert beside in [memory.trigger for memory in machine.store.index.memories(Status.ACTIVE)]
        assert not told_in_rows(machine)


@pytest.mark.soak
def test_what_somebody_said_elsewhere_in_a_sentence_of_their_own_stays(machines: Machines, folder: Path) -> None:
    one, other = pair(machines)
    said = store(one, "Run the tests")
    settle(folder, one, other)
    own = store(other, "Never run the tests on the production database")
    erase(one, said)
    settle(folder, one, other)
    assert [memories.get(machine, own).said_by for machine in (one, other)] == ["you", "you"]


@pytest.mark.soak
def test_a_plan_of_another_machine_that_quotes_what_was_erased_stays(machines: Machines, folder: Path) -> None:
    one, other = pair(machines)
    said = store(one, OFFICE)
    settle(folder, one, other)
    todo = [{"id": "1", "objective": f"Print that {OFFICE}"}, {"id": "2", "objective": f"Note: {OFFICE}."}]
    plan = tasks.save_plan(other, json.dumps({"objective": "signs", "tasks": todo}), scope="shop").plan
    erase(one, said)
    settle(folder, one, other)
    assert [task.objective for task in tasks.plan(other, plan.id).tasks] == [each["objective"] for each in todo]
