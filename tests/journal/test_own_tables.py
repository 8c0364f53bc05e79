"""Own tables: Helix in a database with others' tables, made by several at once, and by roles that may not do all."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from helix.errors import EngineError, NotFoundError, StoreError
from helix.journal.postgres import postgres_server
from helix.journal.postgres.dialect import scripts
from helix.journal.postgres.postgres_server import Server
from helix.journal.postgres.tenant_states import SUSPENDED
from helix.memory.remember.request import StoreRequest
from helix.operations import memories
from helix.providers.fakes import HashEmbedder
from helix.server.accounts import Accounts
from helix.service import Helix
from helix.settings import load
from tests.machine import Machine
from tests.postgres_cluster import Cluster, running


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with running() as lent, closing(Server(lent.address)) as server:
        for role in ("owner", "helix"):
            said(server, f"CREATE ROLE {role} LOGIN")
        yield lent


@pytest.fixture
def address(cluster: Cluster, request: pytest.FixtureRequest) -> str:
    """The address of an empty database, whose schema the role `owner` owns, for a superuser."""
    name = f"d{abs(hash(request.node.name))}"
    with closing(Server(cluster.address)) as server:
        said(server, f"CREATE DATABASE {name}")
    made = cluster.address.replace("/postgres?", f"/{name}?")
    with closing(Server(made)) as server:
        said(server, "ALTER SCHEMA public OWNER TO owner")
    return made


def said(server: Server, statement: str) -> list[tuple[object, ...]]:
    with server.connection() as connection:
        cursor = connection.execute(statement.encode())
        return cursor.fetchall() if cursor.description else []


def by(role: str, address: str) -> str:
    return address.replace("postgres@", f"{role}@", 1)


def test_a_role_that_serves_may_use_helixs_own_tables_alone(address: str) -> None:
    with closing(Server(address)) as server:
        said(server, "CREATE TABLE invoices (number int)")
        server.migrate()
        server.grant("helix")
        may = "SELECT has_table_privilege('helix', '{}', 'SELECT'), has_table_privilege('helix', '{}', 'DELETE')"
        told = {one: said(server, may.format(one, one))[0] for one in ("invoices", "log", "audit", "member", "cluster")}
        with pytest.raises(NotFoundError, match="no role"):
            server.grant("nobody")
    assert told == {
        "invoices": (False, False),
        "log": (True, True),
        "audit": (True, False),
        "member": (True, True),
        "cluster": (True, False),
    }


@pytest.mark.parametrize("table", ["process", "migration", "audit"])
def test_another_programs_table_is_named_and_a_schema_of_its_own_helps(address: str, table: str) -> None:
    with closing(Server(address)) as server:
        said(server, f"CREATE TABLE {table} (number int, name text)")
        for asked in (server.check, server.migrate):
            with pytest.raises(StoreError, match=f"another program's table {table}") as refused:
                asked()
            assert "search_path" in refused.value.hint
        said(server, "CREATE SCHEMA own AUTHORIZATION owner")
    with closing(Server(f"{by('owner', address)}&options=-csearch_path%3Down")) as server:
        assert len(server.migrate()) == len(said(server, "SELECT number FROM migration"))
        server.check()
        server.grant("helix")
    with closing(Server(f"{by('helix', address)}&options=-csearch_path%3Down")) as server:
        server.check()
        assert server.open_between_tenants() == ""


def test_a_server_of_an_earlier_helix_gets_what_it_lacks_and_loses_what_is_kept_no_more(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(Server(address)) as server:
        earlier = {name: text for name, text in scripts().items() if name < "0005"}
        with monkeypatch.context() as before:
            before.setattr(postgres_server, "scripts", lambda: earlier)
            server.migrate()
        tenant = server.create("shop")
        said(server, f"INSERT INTO poison VALUES ({tenant.id}, 2, 1, 'refused')")
        with pytest.raises(StoreError, match="lacks tables"):
            server.check()
        assert server.migrate() == [name for name in scripts() if name not in earlier]
        server.check()
        server.grant("helix")
        assert said(server, "SELECT to_regclass('poison') IS NULL") == [(True,)]


@pytest.mark.soak
def test_several_that_make_the_tables_at_once_all_succeed(address: str) -> None:
    with ExitStack() as opened, ThreadPoolExecutor(4) as pool:
        servers = [opened.enter_context(closing(Server(address))) for _ in range(4)]
        made = list(pool.map(Server.migrate, servers))
    assert sorted(map(bool, made)) == [False, False, False, True]


def test_the_second_wall_is_looked_at_in_every_table_and_what_lowers_it_is_said(address: str) -> None:
    with closing(Server(by("owner", address))) as owner, closing(Server(by("helix", address))) as serving:
        owner.migrate()
        owner.grant("helix")
        assert serving.open_between_tenants() == ""
        assert "owns the tables" in owner.open_between_tenants()
        said(owner, "ALTER TABLE log DISABLE ROW LEVEL SECURITY")
        assert serving.open_between_tenants() == "not in log"
        said(owner, "ALTER TABLE log ENABLE ROW LEVEL SECURITY")
        with closing(Server(address)) as server:
            said(server, "ALTER ROLE helix BYPASSRLS")
            try:
                assert "BYPASSRLS" in serving.open_between_tenants()
            finally:
                said(server, "ALTER ROLE helix NOBYPASSRLS")


@pytest.mark.soak
def test_a_server_that_can_only_be_read_is_said_to_be_one(address: str) -> None:
    with closing(Server(f"{address}&options=-cdefault_transaction_read_only%3Don")) as server:
        with pytest.raises(EngineError, match="can only be read") as refused:
            server.migrate()
        assert "primary" in refused.value.hint


@pytest.mark.soak
def test_a_server_that_lets_no_more_connections_in_is_said_to(address: str) -> None:
    with closing(Server(address)) as server:
        server.migrate()
        server.grant("helix")
        said(server, "ALTER ROLE helix CONNECTION LIMIT 1")
        with closing(Server(by("helix", address))) as one, closing(Server(by("helix", address))) as two:
            assert one.answers()
            assert one.tenants() == []
            with pytest.raises(EngineError, match="too many connections") as refused:
                two.tenants()
            assert "lets no more connections in" in refused.value.hint
            assert (one.answers(), two.answers()) == (True, False)
            said(server, "ALTER ROLE helix CONNECTION LIMIT -1")
            assert two.answers()


@pytest.mark.soak
def test_an_index_is_made_and_removed_by_the_role_that_owns_the_tables(address: str, tmp_path: Path) -> None:
    with (
        closing(Server(address)) as server,
        closing(Server(by("owner", address))) as owner,
        closing(Server(by("helix", address))) as serving,
    ):
        owner.migrate()
        owner.grant("helix")
        shop = serving.create("shop")
        settings = load({"home": tmp_path, "engine": serving.url, "tenant": "shop"}, environ={}, cwd=tmp_path)
        with Helix.open(settings, embedder=HashEmbedder()) as helix:
            memories.store(helix, StoreRequest(trigger="the till jams", resolution="", kind="fact", scope="shop"))
        with pytest.raises(StoreError, match="helix may make no index: the tables are owner's") as refused:
            serving.index_vectors("shop")
        assert "postgresql://owner@" in refused.value.hint
        with pytest.raises(StoreError, match="owner may not create the extension") as refused:
            owner.index_vectors("shop")
        said(server, refused.value.hint.partition(": ")[2])
        assert owner.index_vectors("shop") > 0
        serving.set_state(shop.id, SUSPENDED)
        operator = Machine(tmp_path / "operator", {"HELIX_ENGINE": serving.url})
        delete = ("tenant", "delete", "shop", "--confirm", "shop")
        assert "owner alone may remove" in operator.run(*delete).stderr
        assert serving.tenant("shop").state == SUSPENDED
        assert [one.action for one in Accounts(server).audit("shop")] == []
        operator(*delete, "--engine", owner.url)
        assert serving.tenants() == []
