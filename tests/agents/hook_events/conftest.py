"""Fixtures of the hooks' tests: a service that holds nothing back, and a session in a project of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from helix import settings as configuration
from helix.providers.fakes import HashEmbedder
from helix.service import Helix
from helix.settings import Settings
from tests.agents.hook_events.agent_client import AgentSession
from tests.waiting import UNHURRIED


@pytest.fixture
def helix(tmp_path: Path, put_empty_store: Callable[[Settings, HashEmbedder], None]) -> Iterator[Helix]:
    """An open service with the deterministic hash embedder, which shows its memories to every task."""
    given = {"home": tmp_path / "home", "holdback": 0.0}
    settings = configuration.load(given, environ=UNHURRIED, cwd=tmp_path)
    embedder = HashEmbedder()
    put_empty_store(settings, embedder)
    with Helix.open(settings, embedder=embedder) as service:
        yield service


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project's folder."""
    folder = tmp_path / "shop"
    (folder / "src").mkdir(parents=True)
    return folder


@pytest.fixture
def session(helix: Helix, project: Path) -> AgentSession:
    """A session that has not begun."""
    return AgentSession(helix, project)
