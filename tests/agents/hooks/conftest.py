"""Fixtures of the hooks' tests: a service that holds nothing back, and a session in a project of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from helix import settings as configuration
from helix.providers.fakes import HashEmbedder
from helix.service import Helix
from tests.agents.hooks.agent_client import AgentSession
from tests.waiting import UNHURRIED


@pytest.fixture
def helix(tmp_path: Path) -> Iterator[Helix]:
    """An open service with the deterministic hash embedder, which shows its memories to every task."""
    given = {"home": tmp_path / "home", "holdback": 0.0}
    settings = configuration.load(given, environ=UNHURRIED, cwd=tmp_path)
    with Helix.open(settings, embedder=HashEmbedder()) as service:
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
