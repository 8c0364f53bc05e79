"""Fixtures of the command line's tests: one real daemon, without a model, shared by all of them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from command_line import Command, run_here
from people import FOREIGN, SETTINGS, files_below

from helix.client_settings import descriptions

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


@pytest.fixture
def person(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A person's home folder, with settings of a client, and a project to work in."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude/settings.json").write_text(FOREIGN, "utf-8")
    (tmp_path / "project/.git").mkdir(parents=True)
    (tmp_path / "project/inner").mkdir()
    monkeypatch.chdir(tmp_path / "project/inner")
    yield tmp_path


@pytest.fixture
def machine(person: Path, monkeypatch: pytest.MonkeyPatch) -> dict[Path, bytes]:
    """The settings of every client, as they were; none of their programs is on the path."""
    for name in ("XDG_CONFIG_HOME", "CODEX_HOME", "APPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", str(person / "bin"))
    monkeypatch.setattr(descriptions, "_SYSTEM", "linux")
    for name, text in SETTINGS.items():
        (person / name).parent.mkdir(parents=True, exist_ok=True)
        (person / name).write_bytes(text.encode())
    return files_below(person)
