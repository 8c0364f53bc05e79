"""A background job that is killed in any place is done once after the next start: nothing doubled, nothing lost."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from helix.memory.worker.kinds import KINDS

VICTIM = Path(__file__).parent / "crash" / "worker_victim.py"
PLACES = ("taken", "before 1", "after 1", "before 1", "after 1", "finishing", "finished")
SHORT = ("after 1", "finishing")
"""Where a kind is killed unless --soak asks for every place: after a step, and before it is noted as done."""
STEPS = 6


@pytest.mark.parametrize("kind", ["steps", *KINDS])
def test_a_job_that_is_killed_in_many_places_is_done_once(
    tmp_path: Path, kind: str, pytestconfig: pytest.Config
) -> None:
    places = PLACES if kind in ("steps", "consolidate") or pytestconfig.getoption("--soak") else SHORT
    path = os.pathsep.join((str(VICTIM.parents[2]), os.environ.get("PYTHONPATH", "")))
    run = subprocess.run(
        [sys.executable, str(VICTIM), str(tmp_path), kind, *places],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
        timeout=120,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    told = json.loads(run.stdout)
    assert told["deaths"] == len(places), "each found something left to be done"
    assert told["killed"] == told["quiet"] != told["seeded"]
    if kind == "steps":
        assert sum(node.startswith("Episode: step") for node in told["killed"]["nodes"]) == STEPS
