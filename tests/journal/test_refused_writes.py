"""What a server of PostgreSQL refused is told, and leaves nothing behind that has it refuse what comes later."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from helix.errors import DiskFullError, EngineError
from helix.journal.log import Journal
from helix.journal.postgres import tenant_database
from helix.journal.postgres.postgres_server import Server, Tenant
from helix.journal.postgres.tenant_database import TenantDatabase
from tests.journal.conftest import put_entity

FULL = """CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS
$$BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = '53100'; END$$"""
FILLED = "CREATE TRIGGER full_disk BEFORE INSERT ON log FOR EACH ROW EXECUTE FUNCTION full_disk()"


@pytest.fixture
def alone(server: Server) -> Iterator[Server]:
    """The server by one connection, which all share."""
    with closing(Server(server.url, most=1)) as reached:
        yield reached


@pytest.fixture
def journal(alone: Server, tmp_path: Path) -> tuple[Journal, Tenant]:
    """A tenant's journal, of which somebody has read a snapshot."""
    tenant = alone.create(f"refused{len(alone.tenants())}")
    database = TenantDatabase(alone, tenant.id, alone.claim(tenant.id), tmp_path / "journal")
    with database.snapshot() as connection:
        connection.execute("SELECT seq FROM log WHERE seq > ?", (0,)).fetchall()
    return Journal(database, tokenise=str.split), tenant


def test_writes_go_on_once_a_server_has_room_again(server: Server, journal: tuple[Journal, Tenant]) -> None:
    held, tenant = journal
    with server.connection() as connection:
        connection.execute(FULL)
        connection.execute(FILLED)
    try:
        for number in range(8):
            with pytest.raises(DiskFullError):
                held.append([put_entity(f"refused {number}")], 1)
    finally:
        with server.connection() as connection:
            connection.execute("DROP FUNCTION full_disk CASCADE")
    wanted = [f"kept {number:02}" for number in range(12)]
    for name in wanted:
        held.append([put_entity(name)], 1)
    with server.connection() as connection:
        rows = connection.execute("SELECT id FROM node WHERE tenant = $1 ORDER BY id", (tenant.id,)).fetchall()
    assert [name for (name,) in rows] == wanted


@pytest.mark.soak
def test_a_write_waits_for_no_lock_of_another_session_without_end(
    server: Server, journal: tuple[Journal, Tenant], monkeypatch: pytest.MonkeyPatch
) -> None:
    held, tenant = journal
    monkeypatch.setattr(tenant_database, "_SAFELY", tenant_database._SAFELY.replace("'30s'", "'100ms'"))
    with server.connection() as connection, connection.transaction():
        connection.execute("SELECT FROM head WHERE tenant = $1 FOR UPDATE", (tenant.id,))
        with pytest.raises(EngineError, match="lock timeout"):
            held.append([put_entity("waits")], 1)
    held.append([put_entity("goes on")], 1)
