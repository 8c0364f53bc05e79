"""Below a quorum: a process that `require_quorum` holds to one writes nothing, and goes on answering what is asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from helix import settings as configuration
from helix.errors import EngineError
from helix.memory.remember.request import StoreRequest
from helix.model.principal import Role
from helix.model.recall import RecallQuery
from helix.operations import memories
from helix.service import Helix
from tests.server.team import RECALL, STORE, Team
from tests.waiting import until

_WORK = (
    "INSERT INTO work (tenant, id, kind, key, payload, state, not_before, created_at)"
    " VALUES ($1, 'w1', 'decay_edges', 'w1', '{}', 'running', 0, 0)"
)


@pytest.mark.soak
def test_a_tenant_is_opened_and_read_where_nothing_may_be_written(team: Team) -> None:
    """Also with work of a process that was killed, which is begun again by the first one that may write."""
    tenant = team.tenant()
    number, key = team.server.tenant(tenant).id, team.key(tenant, Role.OWNER)
    first = team.start().announced()
    first.data(key, STORE, t="the till jams", r="off and on", s="shop")
    first.stop()
    team.sql(_WORK, number)
    strict = team.start(HELIX_REQUIRE_QUORUM="true").announced()
    commits = team.sql("SELECT commits FROM head WHERE tenant = $1", number)[0][0]
    for _ in range(2):
        found = strict.data(key, RECALL, q="till", s="shop")["recall"]["items"]
        assert [one["node"]["resolution"] for one in found] == ["off and on"]
        assert strict.data(key, "{ status { durability } }")["status"]["durability"] == "SINGLE"
        assert strict.code(key, STORE, t="the lamp flickers", r="screw it in", s="shop") == "ENGINE"
    claimed = (commits + 1,)
    assert team.sql("SELECT commits FROM head WHERE tenant = $1", number) == [claimed]
    strict.stop()
    team.start().announced().data(key, STORE, t="the lamp flickers", r="screw it in", s="shop")
    until(lambda: team.sql("SELECT state FROM work WHERE tenant = $1 AND id = 'w1'", number) == [("done",)])


def test_a_store_of_one_s_own_is_opened_and_read_too(team: Team, tmp_path: Path) -> None:
    given = {"home": tmp_path, "engine": team.cluster.address, "tenant": team.tenant(), "embedding_model": "none"}
    with Helix.open(configuration.load(given)) as helix:
        memories.store(helix, StoreRequest(trigger="the till jams", resolution="off and on", kind="fact"))
    with Helix.open(configuration.load({**given, "require_quorum": True})) as helix:
        assert helix.recall(RecallQuery(query="till")).items
        with pytest.raises(EngineError, match="worth too little"):
            memories.store(helix, StoreRequest(trigger="the lamp flickers", resolution="screw it in", kind="fact"))
