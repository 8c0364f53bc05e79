"""What the tests of the journal open: its tables in each of the engines that may keep them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from helix.journal.backend import Backend
from helix.journal.database import Database
from helix.journal.postgres.postgres_server import Server
from helix.journal.postgres.tenant_database import TenantDatabase
from helix.model.edge import Label
from helix.model.operations import Change, PutNode

Opened = Callable[[], Backend]


def put_entity(name: str) -> Change:
    """Return the change that writes an entity of that name."""
    return Change(kind="test", operations=(PutNode(label=Label.ENTITY, id=name, props={"name": name}),))


@pytest.fixture(params=["sqlite", "postgres"])
def tables(request: pytest.FixtureRequest, tmp_path: Path) -> Opened:
    """Return what opens the tables of one journal, anew each time it is called."""
    if request.param == "sqlite":
        return lambda: Database(tmp_path / "journal.db")
    server: Server = request.getfixturevalue("server")
    tenant = server.create(f"t{len(server.tenants())}")
    return lambda: TenantDatabase(server, tenant.id, server.claim(tenant.id), tmp_path / "journal")
