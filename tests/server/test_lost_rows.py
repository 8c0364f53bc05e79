"""A server that lost what it had acknowledged: a standby that lagged was promoted, or a copy was put in its place."""

from __future__ import annotations

from collections.abc import Callable

from helix.journal.postgres.dialect import tables
from helix.model.principal import Role
from tests.server.team import RECALL, STORE, Process, Team
from tests.waiting import until

CYPHER = '{ cypher(query: "MATCH (m:Memory) RETURN m.trigger") { rows } }'
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


def store(process: Process, key: str, *triggers: str) -> None:
    for trigger in triggers:
        process.data(key, STORE, t=trigger, r="so it is", s="shop")


def test_what_the_server_lost_is_told_nobody_soon_though_nothing_is_written(team: Team) -> None:
    slug = team.tenant()
    key = team.key(slug, Role.OWNER)
    home, other = team.processes
    store(home, key, "the till is old")
    put_back = kept(team, slug)
    store(home, key, "the drawer is lost")
    assert len(listed(other, key)) == 2
    put_back()
    until(lambda: listed(home, key) == listed(other, key) == {"the till is old"})
    found = home.data(key, RECALL, q="the drawer is lost", s="shop")["recall"]["items"]
    assert [item["node"]["trigger"] for item in found if "drawer" in item["node"]["trigger"]] == []


def test_the_graph_tells_nothing_that_the_server_lost_once_as_much_is_written_again(team: Team) -> None:
    slug = team.tenant()
    key = team.key(slug, Role.OWNER)
    home, other = team.processes
    store(home, key, "the till is old")
    put_back = kept(team, slug)
    store(home, key, "the drawer is lost", "the lamp is lost")
    assert len(in_graph(other, key)) == 3
    put_back()
    until(lambda: len(listed(home, key)) == 1)
    store(home, key, "the door is new", "the stairs are new", "the roof is new")
    assert in_graph(other, key) == listed(home, key) >= {"the till is old", "the roof is new"}
    assert len(lost(other, key)) == 1
