"""Holds that a version made on one machine takes the place of the old one on the other, whatever was done to that."""

from __future__ import annotations

from pathlib import Path

from test_carrying import store
from test_sync import folder as folder
from test_sync import pair, settle

from helix.memory.remember.curate import EditRequest
from helix.model.recall import RecallQuery
from helix.operations import memories
from tests.strands.conftest import Machines

OFFICE = "the address of the office is 5 Sesame Street"


def test_an_edited_memory_keeps_its_name_through_a_sync(machines: Machines, folder: Path) -> None:
    one, other = pair(machines)
    ident = store(one, OFFICE, name="office")
    for floor in ("first floor", "second floor", "third floor"):
        settle(folder, one, other)
        ident = memories.edit(one, ident, EditRequest(resolution=floor)).id
    settle(folder, one, other)
    for machine in (one, other):
        assert memories.get(machine, "office").id == ident


def test_what_was_edited_here_and_judged_elsewhere_is_forgotten_by_its_name(machines: Machines, folder: Path) -> None:
    one, other = pair(machines)
    store(one, OFFICE, name="office")
    settle(folder, one, other)
    memories.edit(one, "office", EditRequest(resolution="second floor"))
    memories.feedback(other, ["office"], 1.0)
    settle(folder, one, other)
    memories.forget(one, "office")
    assert not one.recall(RecallQuery(query="address of the office")).items
