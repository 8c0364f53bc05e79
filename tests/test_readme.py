"""The README's tour is run as it stands, against a real daemon with the real embedding model."""

from __future__ import annotations

import json
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


def run(line: str, environment: dict[str, str], folder: Path) -> str:
    """Return what a command of the README writes; it must end well."""
    command = shlex.split(line)
    assert command[0] == "helix"
    done = subprocess.run(
        [sys.executable, "-m", "helix.cli.main", *command[1:]],
        env=environment,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, f"{line}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def test_every_command_of_the_tour_works(environment: dict[str, str], project: Path) -> None:
    outputs = [run(line, environment, project) for line in TOUR]
    assert "Meet a full disk" in outputs[1]
    assert "[commit]" in outputs[1]
    assert "tests-need-virtual-environment" in outputs[5]
    assert "src/graph.c" in outputs[7]
    assert "hybrid" in outputs[8]


def test_claude_code_is_connected_its_history_taken_in_and_all_of_it_taken_back(
    environment: dict[str, str], project: Path, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    history = home / ".claude" / "projects" / "-project" / "s1.jsonl"
    history.parent.mkdir(parents=True)
    history.write_text(
        json.dumps(
            {
                "type": "user",
                "uuid": "u1",
                "sessionId": "s1",
                "cwd": str(project),
                "timestamp": "2026-03-01T10:00:00Z",
                "message": {"role": "user", "content": "Why is the disk full again?"},
            }
        )
        + "\n",
        "utf-8",
    )
    settings = home / ".claude" / "settings.json"
    settings.write_text('{"model": "opus"}\n', "utf-8")
    lines = [line.replace("~", str(home)) for line in block_under("Use it in Claude Code")]
    connect, ingest, report, disconnect = lines
    at_home = {**environment, "HOME": str(home)}
    run(connect, at_home, project)
    assert json.loads(settings.read_text("utf-8"))["enabledPlugins"]
    assert "1 episode" in run(ingest, at_home, project)
    assert "held back" in run(report, at_home, project)
    run(disconnect, at_home, project)
    assert settings.read_text("utf-8") == '{"model": "opus"}\n'
