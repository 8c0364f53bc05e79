"""What PostgreSQL cut short in the middle: it is ended by itself, though the tenant's home lives on and nobody asks."""

from __future__ import annotations

from helix.model.principal import Role
from tests.server.team import STORE, Team
from tests.waiting import until

HARD = "mutation($n: String!, $c: ID!) { hardForget(input: {nameOrId: $n, confirm: $c}) { result { id } } }"


def test_an_erasure_that_failed_is_ended_by_itself(team: Team) -> None:
    slug = team.tenant()
    key, number = team.key(slug, Role.OWNER), team.server.tenant(slug).id
    home = team.processes[0]
    kept = home.data(key, STORE, t="the till jams", r="quastel", s="shop")["store"]["result"]["id"]
    name = f"refused_{number}"
    team.sql(f"CREATE SEQUENCE {name}")
    team.sql(
        f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS"
        f" $$ BEGIN PERFORM nextval('{name}'); RAISE 'the disk is slow'; END $$"
    )
    when = f"FOR EACH ROW WHEN (OLD.tenant = {number}) EXECUTE FUNCTION {name}()"
    team.sql(f"CREATE TRIGGER {name} BEFORE UPDATE ON log {when}")
    home.data(key, HARD, n=kept, c=kept)
    until(lambda: team.sql(f"SELECT is_called FROM {name}") == [(True,)])
    team.sql(f"DROP TRIGGER {name} ON log")
    noted = "SELECT 1 FROM meta WHERE tenant = $1 AND key = 'erasing' AND value <> ''"
    until(lambda: not team.sql(noted, number))
    assert team.sql("SELECT 1 FROM log WHERE tenant = $1 AND payload IS NULL", number)
