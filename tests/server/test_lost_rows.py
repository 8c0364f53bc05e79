"""A server that lost what it had acknowledged: a standby that lagged was promoted, or a copy was put in its place."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from helix.journal.postgres.dialect import tables
from helix.model.principal import Role
from tests.server.team import RECALL, STORE, Process, Team
from tests.waiting import until

CYPHER = '{ cypher(query: "MATCH (m:Memory) RETURN m.trigger") { rows } }'
RECOVER = "mutation { recover { result { id } } }"
ACKNOWLEDGE = "mutation { acknowledgeLoss { result } }"
WARNED = "{ status { warnings } }"
LISTED = '{ memories(scope: "shop", first: 200) { edges { node { trigger } } } }'


def kept(team: Team, slug: str) -> Callable[[], None]:
    """Keep a tenant's rows as they are; return what puts them back, as a copy of the whole server would be."""
    number = team.server.tenant(slug).id
    for name in tables():
        team.sql(f"CREATE TABLE kept_{number}_{name} AS SELECT * FROM {name} WHERE tenant = {number:d}")

    def put_back() -> None:
        with team.server.connection() as connection, connection.transaction():
            connection.execute("SELECT set_config('session_replication_role', 'replica', true)")
            for name in tables():
                connection.execute(f"DELETE FROM {name} WHERE tenant = $1", (number,))
                connection.execute(f"INSERT INTO {name} OVERRIDING SYSTEM VALUE SELECT * FROM kept_{number}_{name}")

    return put_back


def listed(process: Process, key: str) -> set[str]:
    return {edge["node"]["trigger"] for edge in process.data(key, LISTED)["memories"]["edges"]}


def in_graph(process: Process, key: str) -> set[str]:
    found = until(lambda: process.ask(key, CYPHER).get("data"))
    return {str(trigger) for (trigger,) in found["cypher"]["rows"]}


def lost(process: Process, key: str) -> list[str]:
    """Return what a process warns of that was lost."""
    told = process.data(key, WARNED)["status"]["warnings"]
    return [one for one in told if "the journal lost what was acknowledged" in one]


def kept_graphs(process: Process, tenant: int) -> list[Path]:
    return list(process.home.glob(f"*/tenants/{tenant}/**/*.knows-more-*"))


def move(team: Team, tenant: int, home: Process, key: str) -> None:
    """Have another process be a tenant's home, as if that of before had slept."""
    team.sql("UPDATE head SET home = NULL, epoch = epoch + 1 WHERE tenant = $1", tenant)
    whose = "SELECT url FROM head JOIN process ON id = home WHERE tenant = $1"
    until(lambda: home.code(key, WARNED) == "OK" and team.sql(whose, tenant) == [(home.url,)])


def store(process: Process, key: str, *triggers: str) -> None:
    for trigger in triggers:
        process.data(key, STORE, t=trigger, r="so it is", s="shop")


def with_the_till(team: Team) -> tuple[Process, Process, str, Callable[[], None]]:
    """Return two processes, a key of a tenant of theirs with one memory, and what puts its rows back to that."""
    slug = team.tenant()
    key = team.key(slug, Role.OWNER)
    home, other = team.processes[:2]
    store(home, key, "the till is old")
    return home, other, key, kept(team, slug)


def test_what_the_server_lost_is_told_nobody_soon_though_nothing_is_written(team: Team) -> None:
    home, other, key, put_back = with_the_till(team)
    store(home, key, "the drawer is lost")
    assert len(listed(other, key)) == 2
    put_back()
    until(lambda: listed(home, key) == listed(other, key) == {"the till is old"})
    found = home.data(key, RECALL, q="the drawer is lost", s="shop")["recall"]["items"]
    assert [item["node"]["trigger"] for item in found if "drawer" in item["node"]["trigger"]] == []


@pytest.mark.soak
def test_the_graph_tells_nothing_that_the_server_lost_once_as_much_is_written_again(team: Team) -> None:
    home, other, key, put_back = with_the_till(team)
    store(home, key, "the drawer is lost", "the lamp is lost")
    assert len(in_graph(other, key)) == 3
    put_back()
    until(lambda: len(listed(home, key)) == 1)
    store(home, key, "the door is new", "the stairs are new", "the roof is new")
    assert in_graph(other, key) == listed(home, key) >= {"the till is old", "the roof is new"}
    assert len(lost(other, key)) == 1


@pytest.mark.soak
def test_a_loss_is_told_by_each_home_until_somebody_has_acknowledged_it(team: Team) -> None:
    slug = team.tenant()
    key = team.key(slug, Role.OWNER)
    first, second = team.processes[:2]
    number = team.server.tenant(slug).id
    store(first, key, "the till is old")
    put_back = kept(team, slug)
    store(first, key, "the drawer is lost")
    assert len(in_graph(first, key)) == 2
    put_back()
    until(lambda: len(listed(first, key)) == 1)
    assert in_graph(first, key) == {"the till is old"}
    told = lost(first, key)
    assert len(told) == len(kept_graphs(first, number)) == 1
    for home in (second, first):
        move(team, number, home, key)
        assert lost(home, key) == told
        assert len(kept_graphs(first, number)) == 1
    first.data(key, RECOVER)
    until(lambda: "changes were taken back" in lost(first, key)[0])
    move(team, number, second, key)
    assert "changes were taken back" in lost(second, key)[0]
    assert second.data(key, ACKNOWLEDGE)["acknowledgeLoss"]["result"] == 1
    assert lost(second, key) == []
    move(team, number, first, key)
    assert lost(first, key) == kept_graphs(first, number) == []


@pytest.mark.soak
def test_a_loss_is_told_though_no_graph_was_asked(team: Team) -> None:
    home, other, key, put_back = with_the_till(team)
    store(home, key, "the drawer is lost", "the lamp is lost")
    put_back()
    until(lambda: len(listed(home, key)) == 1)
    assert "rows 2 to 3" in lost(other, key)[0]
    found = home.data(key, "{ health { status } doctor { healthy } }")
    assert (found["health"]["status"], found["doctor"]["healthy"]) == ("failing", False)
    assert home.data(key, ACKNOWLEDGE)["acknowledgeLoss"]["result"] == 1
    assert lost(other, key) == []


def test_a_process_tells_what_was_lost_while_another_was_home(team: Team) -> None:
    home, other, key, put_back = with_the_till(team)
    number = int(team.sql("SELECT max(tenant) FROM head")[0][0])
    store(home, key, "the drawer is lost")
    put_back()
    move(team, number, other, key)
    store(other, key, "the lamp is new", "the door is new")
    assert lost(other, key) == []
    move(team, number, home, key)
    assert "not those that were acknowledged" in lost(home, key)[0]
    assert home.data(key, ACKNOWLEDGE)["acknowledgeLoss"]["result"] == 1
    for one in (other, home):
        move(team, number, one, key)
        assert lost(one, key) == []
