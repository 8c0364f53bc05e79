"""What the tests of the journal open: its tables in each of the engines that may keep them."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing
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


CITUS = "HELIX_TEST_CITUS"
"""Names the address of a coordinator of Citus, whose database the tests may fill; without it nothing is run there."""


@pytest.fixture(params=["sqlite", "postgres", *(["citus"] if CITUS in os.environ else [])])
def tables(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Opened]:
    """Return what opens the tables of one journal, anew each time it is called."""
    if request.param == "sqlite":
        yield lambda: Database(tmp_path / "journal.db")
    elif request.param == "postgres":
        yield opened_on(request.getfixturevalue("server"), tmp_path)
    else:
        with closing(Server(os.environ[CITUS])) as server:
            server.migrate()
            yield opened_on(server, tmp_path)


def opened_on(server: Server, folder: Path) -> Opened:
    """Return what opens the tables of a new tenant, anew each time."""
    tenant = server.create(f"t{uuid.uuid4().hex[:12]}")
    return lambda: TenantDatabase(server, tenant.id, server.claim(tenant.id), folder / "journal")
