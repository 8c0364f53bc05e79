"""Fixtures of real git repositories in temporary folders."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from git_history import History


@pytest.fixture(autouse=True)
def _own_git_configuration(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


@pytest.fixture
def make_history(tmp_path: Path) -> Callable[[str], History]:
    """Make an empty repository in a new folder of that name."""

    def make(name: str) -> History:
        path = tmp_path / name
        path.mkdir()
        history = History(path)
        history.git("init", "--quiet", "--initial-branch=main")
        return history

    return make


@pytest.fixture
def history(make_history: Callable[[str], History]) -> History:
    """An empty repository."""
    return make_history("project")
