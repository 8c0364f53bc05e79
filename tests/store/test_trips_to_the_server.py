"""How often a store and a recall go to a server of PostgreSQL and wait: round trips, by what the wire carried."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.pq import Trace

from helix import settings as configuration
from helix.journal.postgres.postgres_server import Server
from helix.journal.postgres.server_connections import ServerConnections
from helix.journal.postgres.tenant_database import TenantDatabase
from helix.memory.remember.request import StoreRequest
from helix.model.recall import RecallQuery
from helix.operations import memories
from helix.providers.fakes import HashEmbedder
from helix.service import Helix
from tests.waiting import UNHURRIED, at_rest

OF_A_STORE = 5
"""To lock the tenant's head, to read what was before, and passages; to write; to commit. It may take 6."""
OF_A_FIRST_RECALL, OF_THE_NEXT = 1, 0
"""For what it shows, and nothing once that is in memory."""
_WAITS_NO_MORE = "\tReadyForQuery"
"""What a server says once it answered all that it was sent: that travelled together."""


@pytest.fixture
def opened(server: Server, tmp_path: Path) -> Iterator[Callable[[], Helix]]:
    """Return what opens a store that a server keeps, with nothing in its memory yet."""
    tenant = server.create(f"trips{len(server.tenants())}").slug
    given = {"home": tmp_path / "home", "engine": server.url, "tenant": tenant}
    settings = configuration.load(given, environ=UNHURRIED, cwd=tmp_path)
    return lambda: Helix.open(settings, embedder=HashEmbedder())


def trips_of(helix: Helix, work: Callable[[], object], said: Path) -> int:
    """Return how often some work goes to the server, on the connections that its journal is lent."""
    database, real = helix.store.journal.database, ServerConnections.lent
    assert isinstance(database, TenantDatabase)
    ours = database._server._connections

    @contextmanager
    def lent(connections: ServerConnections) -> Iterator[psycopg.Connection[Any]]:
        with real(connections) as connection:
            if connections is not ours:  # on others a home says that it lives
                yield connection
                return
            with said.open("ab") as file:
                connection.pgconn.trace(file.fileno())
                connection.pgconn.set_trace_flags(Trace.SUPPRESS_TIMESTAMPS)
                try:
                    yield connection
                finally:
                    connection.pgconn.untrace()

    at_rest(helix)
    said.write_bytes(b"")
    with helix.worker.standing_still(), pytest.MonkeyPatch.context() as patch:
        patch.setattr(ServerConnections, "lent", lent)
        work()
    return said.read_text(errors="replace").count(_WAITS_NO_MORE)


def store(helix: Helix, trigger: str) -> None:
    memories.store(helix, StoreRequest(trigger=trigger, resolution="see src/part.py", kind="fact", scope="shop"))


def test_a_store_and_a_recall_go_to_the_server_a_few_times(opened: Callable[[], Helix], tmp_path: Path) -> None:
    query = RecallQuery(query="what is known to npm run?", scope="shop")
    with opened() as helix:
        for number in range(3):
            store(helix, f"unique{number} is known to `npm run x{number}`")
        trips = trips_of(helix, lambda: store(helix, "port 8080 is taken by `npm run dev`"), tmp_path / "said")
        assert trips == OF_A_STORE
    with opened() as helix:
        found = [trips_of(helix, lambda: helix.recall(query), tmp_path / "said") for _ in range(2)]
        assert helix.recall(query).items
    assert found == [OF_A_FIRST_RECALL, OF_THE_NEXT]


def test_the_server_goes_on_counting_how_long_a_change_is_idle(opened: Callable[[], Helix], tmp_path: Path) -> None:
    """Behind a Flush it no longer counts, and a home that falls asleep there would hold its tenant for ever."""
    with opened() as helix:
        trips_of(helix, lambda: store(helix, "port 8080 is taken by `npm run dev`"), tmp_path / "said")
    said = [line.split("\t") for line in (tmp_path / "said").read_text(errors="replace").splitlines()]
    states = [(place, words[3].strip()) for place, words in enumerate(said) if words[2:3] == ["ReadyForQuery"]]
    flushed = [place for place, words in enumerate(said) if words[2:3] == ["Flush"]]
    behind = [next(state for at, state in states if at > place) for place in flushed]
    # Whether the client asks at all goes by whether the answer has come by then.
    assert set(behind) <= {"I"}, "the change has ended where the server is asked for what is left"
    assert [state for _, state in states][: OF_A_STORE - 1] == ["T"] * (OF_A_STORE - 1)
