"""Fixtures of the API's tests: a Helix behind a real server."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from api_server import TOKEN, Serve, Served, running

from helix.api.app import create_app
from helix.service import Helix


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Return a function that serves a Helix for the rest of the test."""
    with ExitStack() as stack:

        def start(helix: Helix, explorer_folder: Path | None = None) -> Served:
            stopped: list[str] = []
            app = create_app(
                helix, token=TOKEN, shutdown=lambda: stopped.append("asked"), explorer_folder=explorer_folder
            )
            return stack.enter_context(running(app, stopped))

        yield start


@pytest.fixture
def served(helix: Helix, serve: Serve) -> Served:
    """A served Helix with an empty store."""
    return serve(helix)
