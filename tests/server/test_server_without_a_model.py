"""A server without an embedding model: whoever runs it is told what to do, its clients what recall goes by."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from helix.model.principal import Role
from helix.processes import python_command
from tests.server.team import Team
from tests.waiting import MOST_SECONDS


@pytest.mark.soak
def test_the_log_says_how_to_install_one_and_clients_are_told_of_no_file(team: Team, tmp_path: Path) -> None:
    key = team.key(team.tenant(), Role.READER)
    with (tmp_path / "log").open("w") as log:
        serving = subprocess.Popen(
            python_command("helix.cli.main", "engine", "serve", "--listen", "127.0.0.1:0", program=sys.executable),
            env={
                "PATH": os.environ["PATH"],
                "HOME": str(tmp_path),
                "HELIX_HOME": str(tmp_path / "home"),
                "HELIX_ENGINE": team.address,
            },
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
    try:
        assert serving.stdout is not None
        url = serving.stdout.readline().split()[-1]
        asked = {"query": "{ status { warnings } }"}
        told = httpx.post(
            f"{url}/graphql",
            json=asked,
            headers={"authorization": f"Bearer {key}"},
            timeout=MOST_SECONDS,
            trust_env=False,
        )
        warnings = told.json()["data"]["status"]["warnings"]
    finally:
        serving.terminate()
        serving.communicate(timeout=MOST_SECONDS)
    assert any("recall goes by words" in one for one in warnings)
    assert str(tmp_path) not in str(warnings)
    said = [line for line in (tmp_path / "log").read_text("utf-8").splitlines() if "recall goes by words" in line]
    assert len(said) == 1
    assert "helix models install" in said[0]
