"""A background job that is killed in any place is done once after the next start: nothing doubled, nothing lost."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from helix.memory.worker.kinds import KINDS
from tests.sampling import some
from tests.victims import Victims

PLACES = ("taken", "before 1", "after 1", "before 1", "after 1", "finishing", "finished")
SHORT = ("before 1", "after 1", "finishing")
"""Where an ordinary run kills: before a step, after it, as it must not be done again, and once all are done."""
STEPS = 6


@pytest.mark.parametrize("kind", some(["steps", *KINDS], 2))
def test_a_job_that_is_killed_in_many_places_is_done_once(
    victims: Victims, tmp_path: Path, pytestconfig: pytest.Config, kind: str
) -> None:
    places = PLACES if pytestconfig.getoption("--soak") else SHORT
    assert victims.run("worker_victim", tmp_path, kind, *places) == 0
    told = json.loads((tmp_path / "told.json").read_text("utf-8"))
    assert told["deaths"] == len(places), "each found something left to be done"
    assert told["killed"] == told["quiet"] != told["seeded"]
    if kind == "steps":
        assert sum(node.startswith("Episode: step") for node in told["killed"]["nodes"]) == STEPS
