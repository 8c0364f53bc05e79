"""A job that is killed in its middle, wherever, completes when Helix starts again: every step once, none twice."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from helix import settings as configuration
from helix.memory.worker.undo import undo
from helix.model.edge import Ref
from helix.model.memory import Memory
from helix.model.work_item import WorkState
from helix.providers.fakes import HashEmbedder
from helix.store import doctor
from helix.store.store import Store
from tests.sampling import some
from tests.victims import Victims
from tests.waiting import UNHURRIED

STEPS = 5
PLACES = (
    "before a step's transaction",
    "inside a step's transaction",
    "behind a step's transaction",
    "before memory has a step",
    "when all steps are done",
)


def opened(home: Path) -> Store:
    return Store(configuration.load({"home": home}, environ=UNHURRIED, cwd=home), embedder=HashEmbedder())


def check_done_once(store: Store) -> str:
    (item,) = store.work.items()
    assert (item.state, item.result) == (WorkState.DONE, {"memories added": STEPS})
    rows = [row for row in store.journal.rows(0, 1_000) if row.change.note.get("job") == item.id]
    assert [row.change.note["step"] for row in rows] == [f"memory {number}" for number in range(STEPS)]
    counter = store.records.node(Ref.memory("counter"))
    assert isinstance(counter, Memory)
    assert counter.uses == STEPS, "each step counted itself once"
    for number in range(STEPS):
        found, _ = store.catalogue.view.words.search([f"unique{number}"])
        assert found.size == 1
    store.graph.settle()
    assert [finding for finding in doctor.examine(store).findings if not finding.ok] == []
    return item.id


@pytest.mark.parametrize("place", some(PLACES, 2))
def test_a_job_killed_in_the_middle_has_every_step_exactly_once(victims: Victims, tmp_path: Path, place: str) -> None:
    assert victims.run("job_victim", tmp_path, place, random.Random(place).randint(2, STEPS)) == -9
    assert victims.run("job_victim", tmp_path, "nowhere", 0) == 0
    store = opened(tmp_path)
    job = check_done_once(store)
    assert undo(store, job).conflicts == ()
    assert store.records.counts() == {"Memory": 1, "edges": 0, "passages": 0}
    assert [finding for finding in doctor.examine(store).findings if not finding.ok] == []
    store.close()


def test_a_job_killed_again_and_again_completes_in_the_end(victims: Victims, tmp_path: Path) -> None:
    assert [victims.run("job_victim", tmp_path, place, 2) for place in PLACES[:3]] == [-9] * 3
    assert victims.run("job_victim", tmp_path, "nowhere", 0) == 0
    store = opened(tmp_path)
    check_done_once(store)
    assert store.work.items()[0].attempts == 4
    store.close()
