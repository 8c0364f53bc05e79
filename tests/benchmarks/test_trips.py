"""The benchmark that counts what one call passes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.soak
def test_each_call_is_counted_by_what_it_passes() -> None:
    program = "import sys; sys.path[:0] = ['.', 'scripts']; from benchmarks.trips import trips; trips()"
    told = subprocess.run(
        [sys.executable, "-c", program, "--json", "--most", "400"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert told.returncode == 0, told.stderr
    found = json.loads(told.stdout)
    assert found.keys() == {"store", "recall", "hook of a failed command"}
    for counted in found.values():
        assert 20 < counted["files"] < counted["functions"] <= counted["calls"]
    entered = {name: "\n".join(counted["most"]) for name, counted in found.items()}
    assert "/memory/remember/remember.py remember" in entered["store"]
    assert "/recall/pagerank.py" in entered["recall"]
    assert "/agents/hook_events/dispatcher.py" in entered["hook of a failed command"]
    assert "/memory/remember/remember.py remember" not in entered["recall"]
