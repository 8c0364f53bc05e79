"""Fixtures of the lifecycle's tests: a service whose clock stands still until it is told to go."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta

import pytest

from helix.providers.fakes import HashEmbedder
from helix.service import Helix
from helix.settings import Settings
from helix.store.store import Store

START = datetime(2026, 3, 2, 9, tzinfo=UTC)


class Moment:
    """A clock that goes on by a millisecond a look, and by as much as it is told to."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        self.now += timedelta(milliseconds=1)
        return self.now

    def forward(self, **time: float) -> datetime:
        """Go on by so much and return the new present."""
        self.now += timedelta(**time)
        return self.now


@pytest.fixture
def moment() -> Moment:
    return Moment()


@pytest.fixture
def living(
    settings: Settings, moment: Moment, put_empty_store: Callable[[Settings, HashEmbedder], None]
) -> Iterator[Helix]:
    """A service with the hash embedder and the clock `moment`."""
    embedder = HashEmbedder(256)
    put_empty_store(settings, embedder)
    with Helix.open(settings, embedder=embedder, clock=moment) as service:
        yield service


@pytest.fixture
def store(living: Helix) -> Store:
    """The store of that service."""
    return living.store
