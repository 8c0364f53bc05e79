"""The README's tour is run as it stands, against a real daemon with the real embedding model."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text("utf-8")


def block_under(heading: str) -> list[str]:
    """Return the commands of the first shell block under a heading of the README."""
    match = re.search(rf"## {heading}\n.*?```sh\n(.*?)```", README, re.DOTALL)
    assert match is not None
    return [line.split("  #")[0].strip() for line in match[1].splitlines() if line.strip()]


TOUR = block_under("Tour")


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory, models_path: Path) -> Iterator[dict[str, str]]:
    home = tmp_path_factory.mktemp("tour")
    (home / "models").symlink_to(models_path)
    kept = {name: value for name, value in os.environ.items() if not name.startswith("HELIX_")}
    environment = {**kept, "HELIX_HOME": str(home), "BROWSER": "true", "NO_COLOR": "1"}
    yield environment
    subprocess.run([sys.executable, "-m", "helix.cli.main", "stop"], env=environment, capture_output=True, check=False)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small repository with a commit that the tour's question is about."""
    folder = tmp_path_factory.mktemp("project")
    stream = (
        "commit refs/heads/main\ncommitter Ada <a@example.org> 1700000000 +0000\ndata <<E\n"
        "Meet a full disk before the graph does\n\n"
        "A write is refused while there is too little room to fold the log in.\nE\n"
        "M 644 inline src/graph.c\ndata <<E\nint x;\nE\n"
    )
    subprocess.run(["git", "init", "-q", "-b", "main", str(folder)], check=True)
    subprocess.run(["git", "-C", str(folder), "fast-import", "--quiet"], input=stream, text=True, check=True)
    return folder


def test_the_tour_has_ten_lines_and_the_start_two_commands() -> None:
    assert len(TOUR) == 10
    assert block_under("Start") == ["scripts/serve", "scripts/test"]
    for command in block_under("Start"):
        assert os.access(ROOT / command, os.X_OK)


def test_every_command_of_the_tour_works(environment: dict[str, str], project: Path) -> None:
    outputs = []
    for line in TOUR:
        command = shlex.split(line)
        assert command[0] == "helix"
        run = subprocess.run(
            [sys.executable, "-m", "helix.cli.main", *command[1:]],
            env=environment,
            cwd=project,
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert run.returncode == 0, f"{line}\n{run.stdout}\n{run.stderr}"
        outputs.append(run.stdout)
    assert "Meet a full disk" in outputs[1]
    assert "[unproven]" in outputs[1]
    assert "tests-need-virtual-environment" in outputs[5]
    assert "src/graph.c" in outputs[7]
    assert "hybrid" in outputs[8]
