"""Fixtures of the tests with a real client: a person with a connected client, and a project for each."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from coding_client import ROOT, CodingClient, program
from person import Person


@pytest.fixture(scope="session")
def client_program() -> Path:
    """The real coding client, where it is installed."""
    found = program()
    if found is None:
        pytest.skip("the real coding client is not installed: `scripts/setup client` does it where npm is")
    return found


@pytest.fixture(scope="session")
def connected(client_program: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Person]:
    """A person's client, connected to a store that holds no task back."""
    folder = tmp_path_factory.mktemp("connected")
    home = folder / "person"
    home.mkdir()
    settings = {
        "HOME": str(home),
        "HELIX_HOME": str(folder / "helix"),
        "PYTHONPATH": str(ROOT),
    }
    # In a file, as a daemon that a hook starts has the client's environment. A machine that runs all the tests is slow,
    # and what comes too late is not shown.
    (folder / "helix").mkdir()
    (folder / "helix" / "config.toml").write_text('embedding_model = "none"\nholdback = 0\nhook_ms = 10000\n', "utf-8")
    person = Person(client=CodingClient(program=client_program, home=home, project=folder), settings=settings)
    person.helix("connect", "claude-code")
    try:
        yield person
    finally:
        person.helix("disconnect")
        person.helix("stats")  # a session may have begun to start a daemon
        person.helix("stop")


@pytest.fixture
def person(connected: Person, tmp_path: Path) -> Person:
    """The same person in a new project, of which nothing is remembered."""
    project = tmp_path / "project"
    project.mkdir()
    subprocess.run(["git", "init", "--quiet", str(project)], check=True)
    connected.helix("connect", "claude-code")
    return replace(connected, client=replace(connected.client, project=project))
