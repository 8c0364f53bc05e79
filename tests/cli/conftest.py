"""Fixtures of the command line's tests: one real daemon, without a model, shared by all of them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from command_line import Command, run_here

ROOT = Path(__file__).resolve().parents[2]


def _live_in(folder: Path, patch: pytest.MonkeyPatch) -> None:
    patch.setenv("HELIX_HOME", str(folder))
    patch.setenv("HELIX_EMBEDDING_MODEL", "none")
    patch.setenv("PYTHONPATH", str(ROOT), prepend=os.pathsep)
    patch.delenv("HELIX_DB_PATH", raising=False)
    patch.setenv("HOME", str(folder.parent))
    patch.chdir(folder.parent)  # somebody's home is no project; the checkout and any other folder are


@pytest.fixture(scope="session")
def shared_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A home of its own, whose daemon is gone after the last test."""
    folder = tmp_path_factory.mktemp("cli") / "home"
    yield folder
    with pytest.MonkeyPatch.context() as patch:
        _live_in(folder, patch)
        run_here("stop")


@pytest.fixture
def home(shared_home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The shared home, which the environment points to for one test: what runs after it must not meet it."""
    _live_in(shared_home, monkeypatch)
    return shared_home


@pytest.fixture
def helix_command(home: Path) -> Command:
    """Run command lines against the shared daemon."""
    return run_here
