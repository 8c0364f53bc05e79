"""Fixtures of the strands' tests: machines, each with a store of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from helix import settings as configuration
from helix.model.clock import Clock, system_clock
from helix.providers.fakes import HashEmbedder
from helix.service import Helix
from helix.settings import Settings
from tests.waiting import UNHURRIED

Machines = Callable[..., Helix]


@pytest.fixture
def machines(tmp_path: Path, put_empty_store: Callable[[Settings, HashEmbedder], None]) -> Iterator[Machines]:
    """Make another machine with an empty store, as often as asked; the background work of none goes on by itself."""
    with ExitStack() as open_until_the_end:
        made = 0

        def machine(clock: Clock = system_clock) -> Helix:
            nonlocal made
            made += 1
            embedder = HashEmbedder(256)
            home = tmp_path / f"machine-{made}"
            settings = configuration.load({"home": home}, environ=UNHURRIED, cwd=tmp_path)
            put_empty_store(settings, embedder)
            return open_until_the_end.enter_context(Helix.open(settings, embedder=embedder, clock=clock))

        yield machine


@pytest.fixture
def three(machines: Machines) -> list[Helix]:
    """Three machines."""
    return [machines() for _ in range(3)]
