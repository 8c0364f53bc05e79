"""Fixtures of the API's tests: a Helix behind a real server."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from api_server import Serve, Served, serving

from helix import settings as configuration
from helix.providers.fakes import HashEmbedder
from helix.service import Helix
from tests.waiting import UNHURRIED


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Return a function that serves a Helix for the rest of the test."""
    with ExitStack() as stack:

        def start(helix: Helix, pages_folder: Path | None = None) -> Served:
            return stack.enter_context(serving(helix, pages_folder))

        yield start


@pytest.fixture
def served(helix: Helix, serve: Serve) -> Served:
    """A served Helix with an empty store."""
    return serve(helix)


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A served Helix for tests that do not mind what others have stored in it."""
    folder = tmp_path_factory.mktemp("shared")
    settings = configuration.load({"home": folder / "home"}, environ=UNHURRIED, cwd=folder)
    with Helix.open(settings, embedder=HashEmbedder()) as helix, serving(helix) as server:
        yield server
