"""A primary with a standby: what was acknowledged under a quorum is there when the standby takes over."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest

from helix.errors import EngineError, HelixError, NotHomeError
from helix.journal.log import Journal
from helix.journal.postgres.home import Home
from helix.journal.postgres.postgres_server import Server
from helix.journal.postgres.tenant_database import TenantDatabase
from helix.model.reports import Durability
from tests.journal.conftest import put_entity
from tests.postgres_cluster import Cluster, running
from tests.waiting import MOST_SECONDS, until

KILLS, MANY_KILLS = 2, 10
"""In an ordinary run, and in a soak: each waits until the primary counts as gone."""


def following(primary: Cluster) -> Cluster:
    """Return a standby that follows a primary, which does not wait for it."""
    standby = replace(primary, port=primary.port + 1)
    connect = f"host={primary.folder} port={primary.port} user=postgres"
    standby.run("pg_basebackup", "-D", str(standby.data), "-d", connect, "-R", "-X", "stream", "-c", "fast")
    standby.start()
    return standby


def with_standby(primary: Cluster) -> Cluster:
    """Return a standby that follows a primary, which waits for it from then on."""
    standby = following(primary)
    with psycopg.connect(primary.address, autocommit=True) as asked:
        asked.execute("ALTER SYSTEM SET synchronous_standby_names = 'ANY 1 (*)'")
        asked.execute("SELECT pg_reload_conf()")
        quorum = "SELECT 1 FROM pg_stat_replication WHERE sync_state = 'quorum'"
        until(lambda: asked.execute(quorum).fetchone())
    return standby


def either(primary: Cluster, standby: Cluster) -> str:
    """Return the address of whichever of two takes writes."""
    return (
        f"postgresql://postgres@/postgres?host={primary.folder},{standby.folder}"
        f"&port={primary.port},{standby.port}&target_session_attrs=read-write"
    )


class Writing(threading.Thread):
    """Writes one change after another until one is refused; knows what was acknowledged."""

    def __init__(self, home: Journal, name: str) -> None:
        super().__init__(name=name)
        self._home = home
        self.acknowledged: list[str] = []
        self.refused: HelixError | None = None
        self.start()

    def run(self) -> None:
        while self.refused is None:
            one = f"{self.name}-{len(self.acknowledged):05}"
            try:
                self._home.append([put_entity(one)], 1)
                self.acknowledged.append(one)
            except HelixError as error:
                self.refused = error


def written_where_it_is_reached(home: Journal, name: str) -> bool:
    """Write a change; return False where the server that the home wrote to before is gone."""
    try:
        home.append([put_entity(name)], 3)
    except NotHomeError:
        raise
    except EngineError:
        return False
    return True


def killed(primary: Cluster, tenant: int, beside: Path, name: str) -> tuple[Cluster, list[str]]:
    """Kill a primary among writes; return the standby that was promoted, and what had been acknowledged."""
    standby = with_standby(primary)
    with closing(Server(either(primary, standby))) as server:
        tables = TenantDatabase(server, tenant, server.claim(tenant), beside, requires_quorum=True)
        home = Journal(tables, tokenise=str.split)
        assert tables.durability is Durability.QUORUM
        writing = Writing(home, name)
        until(lambda: len(writing.acknowledged) >= 20)
        primary.kill()
        writing.join()
        assert isinstance(writing.refused, EngineError), writing.refused
    standby.run("pg_ctl", "-D", str(standby.data), "-w", "promote")
    return standby, writing.acknowledged


def held(server: Server, tenant: int, beside: Path) -> set[str]:
    """Return what a tenant holds, once all of it proves to be whole."""
    with server.connection() as connection:  # a primary that was promoted has no standby yet
        connection.execute("ALTER SYSTEM RESET synchronous_standby_names")
        connection.execute("SELECT pg_reload_conf()")
    survivor = Journal(TenantDatabase(server, tenant, server.claim(tenant), beside), tokenise=str.split)
    assert survivor.verify_chain().damaged == ()
    assert survivor.compare_state().differences == ()
    with survivor.snapshot() as (_, state):
        return {node.id for node in state.nodes()}


@pytest.mark.soak
def test_what_is_acknowledged_under_a_quorum_outlives_the_primary(tmp_path: Path, pytestconfig: pytest.Config) -> None:
    """Time after time the primary is killed among writes, and the standby promoted in its place."""
    acknowledged: set[str] = set()
    with running() as primary:
        with closing(Server(primary.address)) as server:
            server.migrate()
            tenant = server.create("team").id
        serving = primary
        try:
            for kill in range(1, 1 + (MANY_KILLS if pytestconfig.getoption("--soak") else KILLS)):
                serving, names = killed(serving, tenant, tmp_path / "x", f"k{kill}")
                acknowledged.update(names)
                with closing(Server(serving.address)) as server:
                    there = held(server, tenant, tmp_path / "x")
                assert acknowledged <= there
                assert len(there) <= len(acknowledged) + kill, "of each kill one change may be there beside"
            with closing(Server(serving.address)) as server:
                tables = TenantDatabase(server, tenant, server.claim(tenant), tmp_path / "x", requires_quorum=True)
                with closing(Journal(tables, tokenise=str.split)) as journal:
                    assert journal.last_seq == len(there)
                    with pytest.raises(EngineError, match="worth too little"):
                        journal.set_meta("a", "b")
        finally:
            if serving is not primary:
                serving.stop()


@pytest.mark.soak
def test_a_home_that_a_lagging_standby_never_heard_of_writes_nothing_there(tmp_path: Path) -> None:
    """The next home is drawn another epoch than the one that the standby has lost."""

    def home(server: Server, beside: str) -> Journal:
        tables = TenantDatabase(server, tenant, server.claim(tenant), tmp_path / beside)
        return Journal(tables, tokenise=str.split)

    with running() as primary, closing(Server(primary.address)) as server:
        server.migrate()
        tenant = server.create("team").id
        standby = following(primary)
        with psycopg.connect(standby.address, autocommit=True) as asked:
            until(lambda: asked.execute("SELECT 1 FROM head WHERE tenant = %s", (tenant,)).fetchone())
        standby.stop()
        with closing(Server(either(primary, standby))) as reached:
            lost = home(reached, "lost")
            lost.append([put_entity("a")], 1)
            primary.kill()
            standby.start()
            try:
                standby.run("pg_ctl", "-D", str(standby.data), "-w", "promote")
                with closing(Server(standby.address)) as promoted:
                    present = home(promoted, "present")
                    present.append([put_entity("b")], 2)
                    with pytest.raises(NotHomeError):
                        until(lambda: written_where_it_is_reached(lost, "c"))
                    present.append([put_entity("d")], 4)
                    assert present.verify_chain().damaged == ()
                    with present.snapshot() as (_, state):
                        assert {node.id for node in state.nodes()} == {"b", "d"}
            finally:
                standby.stop()


@pytest.mark.soak
def test_a_home_lives_where_its_standby_is_lost() -> None:
    """It says so without a standby: or it would count as gone, and answer nothing, while nothing can be written.

    Nor is it in the way that a tenant is being opened, which waits for the standby.
    """
    with ThreadPoolExecutor(1) as opening, running() as primary, closing(Server(primary.address)) as server:
        server.migrate()
        tenant = server.create("team").id
        home = Home(server, "http://127.0.0.1:1")
        with psycopg.connect(primary.address, autocommit=True) as asked:
            asked.execute("ALTER SYSTEM SET synchronous_standby_names = 'ANY 1 (*)'")
            asked.execute("SELECT pg_reload_conf()")
            waits = "SELECT 1 FROM pg_settings WHERE name = 'synchronous_standby_names' AND setting <> ''"
            until(lambda: asked.execute(waits).fetchone())
            claimed = opening.submit(home.claim, tenant)
            waiting = "SELECT 1 FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
            until(lambda: asked.execute(waiting).fetchone())
            known = "SELECT until FROM process WHERE id = %s"
            before = asked.execute(known, (home.id,)).fetchone()
            for _ in range(2):
                until(lambda last=before: asked.execute(known, (home.id,)).fetchone() > last)
                before = asked.execute(known, (home.id,)).fetchone()
            assert home.lives
            assert not claimed.done()
            asked.execute("ALTER SYSTEM RESET synchronous_standby_names")
            asked.execute("SELECT pg_reload_conf()")
        assert claimed.result(MOST_SECONDS).before == 0
        home.close()
