"""What keeps a tenant whole on a server: one home at a time, and nothing acknowledged that may not be there."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from helix import settings as configuration
from helix.errors import (
    ConfigError,
    EngineError,
    HelixError,
    NotHomeError,
    StoreError,
    StoreLockedError,
    StoreTooNewError,
)
from helix.journal.log import Journal
from helix.journal.postgres.home import Home
from helix.journal.postgres.postgres_server import Server, Tenant
from helix.journal.postgres.tenant_database import TenantDatabase
from helix.journal.postgres.tenant_states import MOVED
from helix.model.principal import Role
from helix.server.accounts import Accounts
from helix.service import Helix
from helix.store.engine import open_tenant_engine
from tests.journal.conftest import put_entity
from tests.journal.cut_wire import Wire
from tests.postgres_cluster import running
from tests.sampling import some
from tests.waiting import MOST_SECONDS, until

COMMIT = b"COMMIT"


@pytest.fixture
def tenant(server: Server) -> Tenant:
    return server.create(f"f{len(server.tenants())}")


@pytest.fixture
def at_home(server: Server, tenant: Tenant, tmp_path: Path) -> Callable[[Server], Journal]:
    """Return what makes a process that reaches the server in some way the home of the tenant."""

    def opened(by: Server = server) -> Journal:
        return Journal(TenantDatabase(by, tenant.id, by.claim(tenant.id), tmp_path / "journal"), tokenise=str.split)

    return opened


@pytest.fixture
def wire(server: Server) -> Iterator[tuple[Wire, Server]]:
    """Lend a wire to the server, and the server as it is reached by it."""
    with tempfile.TemporaryDirectory(prefix="helix-wire-", dir="/tmp") as folder:
        behind = Path(psycopg.conninfo.conninfo_to_dict(server.url)["host"]) / ".s.PGSQL.5432"  # type: ignore[arg-type]
        address = f"postgresql://postgres@/postgres?host={folder}&port=5432"
        with closing(Wire(Path(folder), behind)) as laid, closing(Server(address)) as reached:
            yield laid, reached


def names(server: Server, tenant: Tenant) -> list[str]:
    with server.connection() as connection:
        rows = connection.execute("SELECT id FROM node WHERE tenant = $1 ORDER BY id", (tenant.id,)).fetchall()
    return [name for (name,) in rows]


def test_who_is_no_longer_home_writes_nothing(server: Server, tenant: Tenant, at_home: Callable[..., Journal]) -> None:
    former = at_home()
    former.append([put_entity("a")], 1)
    present = at_home()
    with pytest.raises(NotHomeError):
        former.append([put_entity("b")], 2)
    with pytest.raises(NotHomeError):
        former.set_meta("word", "b")
    present.append([put_entity("c")], 3)
    assert names(server, tenant) == ["a", "c"]
    assert present.verify_chain().damaged == ()


def test_who_writes_past_the_home_is_noticed(server: Server, tenant: Tenant, at_home: Callable[..., Journal]) -> None:
    home = at_home()
    home.append([put_entity("a")], 1)
    with server.connection() as connection:
        connection.execute("UPDATE head SET commits = commits + 1 WHERE tenant = $1", (tenant.id,))
    with pytest.raises(NotHomeError):
        home.append([put_entity("b")], 2)
    assert names(server, tenant) == ["a"]


def test_a_commit_whose_answer_is_lost_counts_where_it_came_in(
    server: Server, tenant: Tenant, at_home: Callable[..., Journal], wire: tuple[Wire, Server]
) -> None:
    laid, reached = wire
    home = at_home(reached)
    home.append([put_entity("a")], 1)
    laid.cut_at(COMMIT, passed_on=True)
    assert [row.seq for row in home.append([put_entity("b")], 2)] == [2]
    assert [row.seq for row in home.append([put_entity("c")], 3)] == [3]
    assert names(server, tenant) == ["a", "b", "c"]
    assert home.verify_chain().damaged == ()


def test_a_commit_that_never_came_in_is_an_error_and_may_be_tried_again(
    server: Server, tenant: Tenant, at_home: Callable[..., Journal], wire: tuple[Wire, Server]
) -> None:
    laid, reached = wire
    home = at_home(reached)
    home.append([put_entity("a")], 1)
    laid.cut_at(COMMIT, passed_on=False)
    with pytest.raises(EngineError):
        home.append([put_entity("b")], 2)
    assert names(server, tenant) == ["a"]
    home.append([put_entity("b")], 2)
    assert names(server, tenant) == ["a", "b"]
    assert home.verify_chain().damaged == ()


@contextmanager
def without_its_standby(server: Server) -> Iterator[None]:
    """Have the server wait for a standby that there is not, with every commit."""

    def told(*statements: str) -> None:
        with server.connection() as connection:
            for statement in (*statements, "SELECT pg_reload_conf()"):
                connection.execute(statement.encode())

    told("ALTER SYSTEM SET synchronous_standby_names = 'ANY 1 (nobody)'")
    try:
        yield
    finally:
        told("ALTER SYSTEM RESET synchronous_standby_names")


def ended_by_cancelling(server: Server, writing: threading.Thread) -> bool:
    """Cancel whoever waits for a standby; return whether the writing has ended of that."""
    with server.connection() as connection:
        waiting = "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
        connection.execute(waiting.encode())
    return not writing.is_alive()


def test_a_cancelled_wait_for_a_standby_acknowledges_nothing(
    server: Server, tenant: Tenant, at_home: Callable[..., Journal]
) -> None:
    """PostgreSQL says that such a commit succeeded: it is on one machine alone, and warns of that."""
    with server.connection() as connection:  # a role that hears of nothing but errors must not hide it
        connection.execute("ALTER ROLE postgres SET client_min_messages = error")
    quiet = Server(server.url)
    home = at_home(quiet)
    acknowledged: list[str] = []
    refused: list[HelixError] = []

    def write_on() -> None:  # the server hears of its standby a moment later than it is told
        while not refused:
            name = f"n{len(acknowledged):06}"
            try:
                home.append([put_entity(name)], 1)
                acknowledged.append(name)
            except HelixError as error:
                refused.append(error)

    with without_its_standby(server):
        writing = threading.Thread(target=write_on)
        writing.start()
        # The change's own wait is cancelled, and that of what is to prove it; each may be seen twice.
        assert until(lambda: ended_by_cancelling(server, writing))
        writing.join()
        assert isinstance(refused[0], EngineError)
        assert "durable" in str(refused[0])
        there = names(server, tenant)
        assert there[:-1] == acknowledged  # one more can be read, and that is what makes it a trap
    with pytest.raises(NotHomeError):  # it is there after all: who does not know of it writes nothing beside it
        home.append([put_entity("later")], 3)
    with server.connection() as connection:
        connection.execute("ALTER ROLE postgres RESET client_min_messages")
    quiet.close()
    again = at_home()
    again.append([put_entity("z")], 3)
    assert names(server, tenant) == [*there, "z"]
    assert again.verify_chain().damaged == ()


def test_what_is_administered_is_no_more_acknowledged_than_what_is_stored(server: Server, tenant: Tenant) -> None:
    """A key that a standby does not know to be revoked would be good again once that takes over."""
    accounts = Accounts(server)
    prefix = accounts.create_key(tenant, "ada", Role.EDITOR, by="the test").split("_")[1]
    works = (
        lambda: accounts.revoke(tenant, prefix, by="the test"),
        lambda: server.set_quota(tenant.id, "{}"),
        lambda: server.create(f"f{uuid.uuid4().hex[:8]}"),
    )
    refused: list[HelixError] = []

    def work_on(work: Callable[[], object]) -> None:  # the server hears of its standby a moment later than it is told
        try:
            for _ in range(500):
                work()
        except HelixError as error:
            refused.append(error)

    with without_its_standby(server):
        for work in works:
            working = threading.Thread(target=work_on, args=(work,))
            working.start()
            assert until(lambda working=working: ended_by_cancelling(server, working))
    assert [type(error) for error in refused] == [EngineError] * len(works)
    assert all("durable" in str(error) for error in refused)


def test_a_home_that_lives_keeps_its_tenant_and_one_that_is_gone_does_not(server: Server, tenant: Tenant) -> None:
    here, there = uuid.uuid4(), uuid.uuid4()
    server.renew(here, "here", "", 60)
    first = server.claim(tenant.id, here)
    with pytest.raises(StoreLockedError, match="here"):
        server.claim(tenant.id, there)
    server.renew(here, "here", "", 0)
    assert (second := server.claim(tenant.id, there)) > first
    server.renew(there, "there", "", 60)
    server.leave(there)
    assert server.claim(tenant.id, here) > second


def test_a_promoted_standby_without_the_newest_claim_gives_nobody_its_epoch(
    server: Server, tenant: Tenant, at_home: Callable[..., Journal]
) -> None:
    """Who was home by it goes on to the standby and is as far as the new home: it would write what that never saw."""
    with server.connection() as connection:
        was = connection.execute("SELECT epoch, commits FROM head WHERE tenant = $1", (tenant.id,)).fetchone()
    assert was is not None
    cut_off = at_home()
    with server.connection() as connection:
        connection.execute("UPDATE head SET epoch = $2, commits = $3 WHERE tenant = $1", (tenant.id, *was))
    at_home()
    with pytest.raises(NotHomeError, match="taken over"):
        cut_off.append([put_entity("a")], 1)


@pytest.mark.soak
def test_a_session_that_is_cut_off_within_a_change_is_ended(server: Server, tenant: Tenant) -> None:
    """As one whose machine lost its power: the server hears nothing of that, and the tenant's row stays locked."""
    with closing(psycopg.connect(server.url)) as cut:
        cut.execute("SELECT set_config('idle_in_transaction_session_timeout', '2s', true)")
        cut.execute("UPDATE head SET commits = commits + 1 WHERE tenant = %s", (tenant.id,))
        with pytest.raises(StoreLockedError, match="cut off"):
            server.claim(tenant.id)
        with closing(Home(server)) as home:
            assert home.claim(tenant.id).epoch


def test_every_change_has_the_server_end_it_where_nobody_goes_on(
    server: Server, tenant: Tenant, at_home: Callable[..., Journal]
) -> None:
    with at_home().database.transaction() as connection:
        told = connection.execute(
            "SELECT key FROM meta UNION ALL SELECT current_setting('idle_in_transaction_session_timeout')"
            " UNION ALL SELECT current_setting('client_min_messages')"
        )
        assert [value for (value,) in told][-2:] == ["10s", "warning"]


def test_what_moved_is_claimed_by_nobody(server: Server, tenant: Tenant) -> None:
    with closing(Home(server)) as mover:
        mover.claim(tenant.id)
        server.set_state(tenant.id, MOVED)
    with closing(Home(server)) as home, pytest.raises(StoreError, match="moved"):
        home.claim(tenant.id)


@pytest.mark.soak
def test_a_home_lives_while_readers_have_every_connection(server: Server) -> None:
    with closing(Server(server.url, most=2)) as busy, closing(Home(busy)) as home, ExitStack() as lent:
        for _ in range(2):
            lent.enter_context(busy.connection())
        renewed = home._renewed
        assert until(lambda: home._renewed > renewed)


def test_a_home_that_slept_serves_nothing_before_it_knows_what_was_taken(
    server: Server, tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    slept, told = threading.Event(), list[bool]()
    with closing(Home(server)) as home:
        home.claim(tenant.id)
        renew, homes = home._server.renew, home._server.homes

        def sleeps(*values: Any) -> None:
            """Return as from a sleep that was longer than the lease."""
            monkeypatch.setattr(home, "_renewed", -1_000_000.0)
            with server.connection() as connection:
                connection.execute("UPDATE process SET until = now() WHERE id = $1", (home.id,))
            if not slept.is_set():
                server.claim(tenant.id, uuid.uuid4())
            slept.set()
            renew(*values)

        def asks(process: uuid.UUID) -> dict[int, tuple[int, int]]:
            if slept.is_set():  # and not for what was under way before
                told.append(home.lost(tenant.id))
            return homes(process)

        monkeypatch.setattr(home._server, "homes", asks)
        monkeypatch.setattr(home._server, "renew", sleeps)
        assert until(lambda: told)
        assert told[0]
        assert until(lambda: home.lives and home.lost(tenant.id))


@pytest.mark.soak
def test_two_machines_cannot_have_one_address(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each would take the other's tenants, and hand requests on to itself."""
    monkeypatch.setattr("helix.journal.postgres.home._CLAIMED_WITHIN_SECONDS", 2.0)
    address = "http://127.0.0.1:1"
    with closing(Home(server, address)):
        Home(server, address).close()  # it began anew, on the same machine
    other = uuid.uuid4()
    server.renew(other, "process 7 on another", address, 1)
    Home(server, address).close()  # once that one counts as gone
    server.renew(other, "process 7 on another", address, 60)
    with pytest.raises(ConfigError, match="process 7 on another"):
        Home(server, address)
    server.leave(other)


@pytest.mark.soak
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells machines of one name apart")
def test_two_machines_of_one_name_and_two_processes_cannot_have_one_address(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As machines that were cloned, or `--internal` with the port of a process beside it."""
    monkeypatch.setattr("helix.journal.postgres.home._CLAIMED_WITHIN_SECONDS", 2.0)
    address, other = "http://127.0.0.1:1", uuid.uuid4()
    with closing(Home(server, address)):
        (name,) = server.living_at(address)
    server.renew(other, f"{name[:-9]}{'0' * 8})", address, 60)
    with pytest.raises(ConfigError, match=socket.gethostname()):
        Home(server, address)
    server.leave(other)
    with subprocess.Popen(["sleep", "60"]) as beside:
        server.renew(other, name.replace(f"process {os.getpid()}", f"process {beside.pid}"), address, 60)
        with pytest.raises(ConfigError, match=f"process {beside.pid}"):
            Home(server, address)
        beside.kill()
    Home(server, address).close()  # it has ended, whatever the server knows
    server.leave(other)


@pytest.mark.soak
def test_the_next_host_is_asked_where_one_answers_nothing(server: Server) -> None:
    """As a machine that lost its power, or was cut off: nothing there refuses a connection."""
    there = conninfo_to_dict(server.url)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        hosts = {"host": f"127.0.0.1,{there['host']}", "port": f"{silent.getsockname()[1]},{there['port']}"}
        both = make_conninfo(server.url, **hosts, target_session_attrs="read-write")
        with closing(Server(both)) as found, closing(Home(found)) as home:
            found.check()
            assert home.lives


@pytest.mark.soak
def test_a_server_that_hangs_is_left_for_the_next_host(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """As with a hung disk: its connections stay open, and nothing is said on them any more."""
    monkeypatch.setattr("helix.journal.postgres.home.LIVES_SECONDS", 3.0)
    with running() as hung, closing(Server(hung.address)) as first:
        first.migrate()
        there = conninfo_to_dict(server.url)
        hosts = {"host": f"{hung.folder},{there['host']}", "port": f"{hung.port},{there['port']}"}
        both = make_conninfo(server.url, **hosts, target_session_attrs="read-write")
        found, beside = (Server(both) for _ in range(2))
        with closing(found), closing(beside), closing(Home(found, "", [beside])) as home:
            assert found.tenants() == beside.tenants() == []  # each has a connection; nobody waits at that of `beside`
            with ThreadPoolExecutor(1) as pool, ExitStack() as stopped:
                hung.kill(signal.SIGSTOP)
                stopped.callback(hung.kill, signal.SIGCONT)
                assert isinstance(pool.submit(found.create, "while-it-hangs").exception(MOST_SECONDS), EngineError)
                until(lambda: home.lives)
                assert "while-it-hangs" not in [one.slug for one in found.tenants()]
                assert [one.id for one in beside.tenants()] == [one.id for one in server.tenants()]
                with server.connection() as connection:
                    told = connection.execute("SELECT count(*) FROM process WHERE id = $1", (home.id,)).fetchone()
                assert told == (1,)


def test_commits_that_are_cut_off_together_are_all_settled(
    wire: tuple[Wire, Server], at_home: Callable[..., Journal]
) -> None:
    """Though each holds one of the pool's connections, which has none left to look with."""
    laid, reached = wire
    with closing(Server(reached.url, most=1)) as narrow:
        home = at_home(narrow)
        laid.cut_at(COMMIT, passed_on=True)
        assert [row.seq for row in home.append([put_entity("a")], 1)] == [1]
        assert len(home.rows(0, 10)) == 1


def test_a_restarted_server_fails_no_request(server: Server, tenant: Tenant, at_home: Callable[..., Journal]) -> None:
    home = at_home()
    home.append([put_entity("a")], 1)
    with server.connection() as one:
        others = "pid <> pg_backend_pid() AND datname = 'postgres'"
        one.execute(f"SELECT pg_terminate_backend(pid, 20_000) FROM pg_stat_activity WHERE {others}".encode())
    assert home.rows(0, 1)
    home.append([put_entity("b")], 2)
    assert names(server, tenant) == ["a", "b"]


def test_a_store_that_is_closed_gives_its_tenant_back(server: Server, tenant: Tenant, tmp_path: Path) -> None:
    told = {"home": tmp_path / "home", "engine": server.url, "tenant": tenant.slug, "embedding_model": "none"}
    for _ in range(2):
        Helix.open(configuration.load(told, environ={}, cwd=tmp_path)).close()
        with server.connection() as connection:
            found = connection.execute("SELECT home FROM head WHERE tenant = $1", (tenant.id,)).fetchone()
        assert found == (None,)


def test_who_erases_is_told_until_when_archives_hold_it(server: Server, tenant: Tenant, tmp_path: Path) -> None:
    told = {"home": tmp_path / "home", "engine": server.url, "tenant": tenant.slug, "embedding_model": "none"}
    day = (datetime.now(UTC) + timedelta(days=30)).strftime("%Y-%m-%d")
    for days, said in ((0, "as long as they are kept"), (30, f"until {day}")):
        settings = configuration.load({**told, "archive_days": days}, environ={}, cwd=tmp_path)
        with closing(Helix.open(settings)) as helix:
            assert said in helix.store.journal.database.scrub()


@pytest.mark.soak
def test_a_home_is_told_when_it_is_one_no_longer(server: Server, tenant: Tenant, tmp_path: Path) -> None:
    with closing(Home(server)) as home:
        database = TenantDatabase(
            server, tenant.id, home.claim(tenant.id).epoch, tmp_path / "journal", lost=lambda: home.lost(tenant.id)
        )
        assert not database.fenced
        with server.connection() as connection:  # as if it had been asleep for so long
            connection.execute("UPDATE head SET home = NULL WHERE tenant = $1", (tenant.id,))
        assert until(lambda: database.fenced)


@pytest.mark.parametrize("lost", some(["commits = commits - 1", "epoch = epoch - 1"], 1))
def test_a_home_is_told_where_the_server_lost_what_it_acknowledged(
    server: Server, tenant: Tenant, tmp_path: Path, lost: str
) -> None:
    """As a standby that lagged, or an older copy, knows of less; who only reads would never find out."""
    named = {"home": tmp_path / "home", "engine": server.url, "tenant": tenant.slug}
    settings = configuration.load(named, environ={}, cwd=tmp_path)
    with closing(Home(server)) as home:
        engine = open_tenant_engine(server, home, tenant.id, settings, tmp_path, lambda: None)
        Journal(engine.backend, tokenise=str.split).append([put_entity("a")], 1)
        renewed = home._renewed
        assert until(lambda: home._renewed > renewed)
        assert not engine.backend.fenced
        with server.connection() as connection:
            connection.execute(f"UPDATE head SET {lost} WHERE tenant = $1", (tenant.id,))
        assert until(lambda: engine.backend.fenced)


def test_code_of_the_release_before_goes_on_beside_what_takes_nothing_from_it(server: Server) -> None:
    put_in = "INSERT INTO migration (number, name, hash, least) VALUES (9999, '9999_later.sql', 'x', $1)"
    try:
        for least, refused in ((2, False), (9999, True)):
            with server.connection() as connection:
                connection.execute("DELETE FROM migration WHERE number = 9999")
                connection.execute(put_in, (least,))
            if refused:
                with pytest.raises(StoreTooNewError):
                    server.check()
            else:
                server.check()
    finally:
        with server.connection() as connection:
            connection.execute("DELETE FROM migration WHERE number = 9999")


@pytest.mark.soak
def test_the_server_gives_up_a_home_that_sleeps_in_the_midst_of_a_change(server: Server, tmp_path: Path) -> None:
    """Whether it had read something in it or not; two of them sleep at the same time, as each is waited for."""
    asleep, awake = threading.Barrier(3), threading.Event()
    tenants = [server.create(f"t{uuid.uuid4().hex[:12]}").id for _ in range(2)]

    def sleeping(tenant: int, reads: bool) -> None:
        home = TenantDatabase(server, tenant, server.claim(tenant), tmp_path)
        with suppress(HelixError), home.transaction() as held:
            if reads:
                held.execute("SELECT count(*) FROM node").fetchone()
            asleep.wait()
            awake.wait()

    threads = [threading.Thread(target=sleeping, args=one) for one in zip(tenants, (False, True), strict=True)]
    for thread in threads:
        thread.start()
    asleep.wait()

    def claimed(tenant: int) -> int:
        with suppress(StoreLockedError):
            return server.claim(tenant)
        return 0

    try:
        for tenant in tenants:
            assert until(lambda tenant=tenant: claimed(tenant))  # type: ignore[misc]
    finally:
        awake.set()
        for thread in threads:
            thread.join()


@pytest.mark.soak
def test_a_home_that_sleeps_before_it_has_said_all_is_ended_by_who_takes_its_place(server: Server) -> None:
    """The server waits for the rest of what travels together, and counts no idle time meanwhile."""
    tenant = server.create(f"t{uuid.uuid4().hex[:12]}").id
    with suppress(psycopg.OperationalError), psycopg.connect(server.url, autocommit=True) as asleep, asleep.pipeline():
        asleep.execute("BEGIN")
        asleep.execute("UPDATE head SET commits = commits + 1 WHERE tenant = %s", (tenant,))
        asleep.pgconn.flush()

        def is_held() -> bool:
            with server.connection() as connection:
                look = "SELECT 1 FROM head WHERE tenant = $1 FOR UPDATE SKIP LOCKED"
                return connection.execute(look, (tenant,)).fetchone() is None

        def claimed() -> int:
            with suppress(StoreLockedError):
                return server.claim(tenant)
            return 0

        assert until(is_held)
        with pytest.raises(StoreLockedError, match="cut off"):
            server.claim(tenant)
        assert until(claimed)
    assert asleep.closed
