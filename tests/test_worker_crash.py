"""A background job that is killed in any place is done once after the next start: nothing doubled, nothing lost."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from helix.memory.worker.kinds import KINDS

VICTIM = Path(__file__).parent / "crash" / "worker_victim.py"
PLACES = ("taken", "before 1", "after 1", "before 1", "after 1", "finishing", "finished")
SHORT = ("after 1", "finishing")
"""Where a kind is killed unless --soak asks for every place: after a step, and before it is noted as done."""
STEPS = 6
ALL = ("steps", *KINDS)


@pytest.fixture(scope="module")
def places(pytestconfig: pytest.Config) -> dict[str, tuple[str, ...]]:
    """Where a job of each kind is killed."""
    soak = pytestconfig.getoption("--soak")
    return {kind: PLACES if kind in ("steps", "consolidate") or soak else SHORT for kind in ALL}


@pytest.fixture(scope="module")
def told_of(places: dict[str, tuple[str, ...]], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What became of a job of each kind: one program tries them all, as loading Helix takes longer than a job."""
    path = os.pathsep.join((str(VICTIM.parents[2]), os.environ.get("PYTHONPATH", "")))
    run = subprocess.run(
        [sys.executable, str(VICTIM), str(tmp_path_factory.mktemp("killed")), json.dumps(places)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
        timeout=1_200,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    return dict(json.loads(run.stdout))


@pytest.mark.parametrize("kind", ALL)
def test_a_job_that_is_killed_in_many_places_is_done_once(
    kind: str, places: dict[str, tuple[str, ...]], told_of: dict[str, Any]
) -> None:
    told = told_of[kind]
    assert told["deaths"] == len(places[kind]), "each found something left to be done"
    assert told["killed"] == told["quiet"] != told["seeded"]
    if kind == "steps":
        assert sum(node.startswith("Episode: step") for node in told["killed"]["nodes"]) == STEPS
