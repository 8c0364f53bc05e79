"""Citus: each tenant's rows are together on one machine, and each statement finds them there.

With an address of a coordinator the whole contract of the journal runs there, too: `tables` has it as a third engine.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from helix.errors import NotHomeError
from helix.journal.log import Journal
from helix.journal.postgres.dialect import tables
from helix.journal.postgres.postgres_server import Server
from tests.journal.conftest import CITUS, opened_on, put_entity


@pytest.fixture
def spread() -> Iterator[Server]:
    if CITUS not in os.environ:
        pytest.skip(f"Citus is tried where {CITUS} names the address of a coordinator")
    with closing(Server(os.environ[CITUS])) as server:
        server.migrate()
        yield server


def test_the_tables_of_a_tenant_are_spread_together(spread: Server) -> None:
    with spread.connection() as connection:
        found = connection.execute(
            "SELECT colocation_id, distribution_column FROM citus_tables WHERE table_name::text = ANY($1)",
            ([*tables()],),
        ).fetchall()
    assert len(found) == len(tables())
    assert {column for _, column in found} == {"tenant"}
    assert len({together for together, _ in found}) == 1


def test_a_former_home_writes_nothing(spread: Server, tmp_path: Path) -> None:
    opened = opened_on(spread, tmp_path)
    former = Journal(opened(), tokenise=str.split)
    former.append([put_entity("first")], 1)
    home = Journal(opened(), tokenise=str.split)
    with pytest.raises(NotHomeError):
        former.append([put_entity("second")], 1)
    home.append([put_entity("third")], 1)
    assert home.verify_chain().damaged == ()
    with home.snapshot() as (_, state):
        assert {node.id for node in state.nodes()} == {"first", "third"}


def test_all_tenants_are_asked_for_work_that_is_due(spread: Server) -> None:
    assert spread.with_work(0, 10) == []
