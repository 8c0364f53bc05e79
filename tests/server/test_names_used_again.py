"""Names used again: a tenant that has the name of one that was removed shows nothing of it, nor takes its keys."""

from __future__ import annotations

from helix.model.principal import Role
from tests.server.team import STORE, Process, Team
from tests.waiting import until

_ALL = "{ memories { edges { node { trigger resolution } } } }"


def test_what_was_kept_under_a_name_is_not_shown_to_who_has_it_next(team: Team) -> None:
    """Also before the process that served the old one has noticed, by whichever way a request comes to it."""
    slug = team.tenant()
    old = team.key(slug, Role.OWNER)
    team.processes[0].data(old, STORE, t="the till jams", r="quastel", s="shop")
    assert "quastel" in str(team.processes[1].data(old, _ALL))
    team.anew(slug)
    new = team.key(slug, Role.OWNER)

    def asked(process: Process) -> bool:
        """Ask with both keys; return whether the old one is no longer known."""
        assert "quastel" not in str(process.data(new, _ALL))
        process.data(new, STORE, t="the lamp flickers", r="zinnober", s="shop")
        assert "zinnober" in str(process.data(new, _ALL))
        assert "zinnober" not in str(process.ask(old, _ALL))
        asked = process.send("POST", "/v1/keys", old, json={"name": "mine", "role": "owner"})
        assert asked.status_code == 401, asked.text
        return process.code(old, _ALL) == "UNAUTHORIZED"

    for process in team.processes[:2]:
        until(lambda process=process: asked(process))
    assert [key["name"] for key in team.processes[0].send("GET", "/v1/keys", new).json()["keys"]] == ["ada"]


def test_what_was_administered_under_a_name_is_told_to_who_runs_the_server_alone(team: Team) -> None:
    slug, kept = team.tenant(), team.server.tenant(team.tenant())
    people = [("https://again.example", "alice"), ("https://again.example", "bob")]
    for issuer, subject in people:
        team.accounts.add_member(team.server.tenant(slug), issuer, subject, Role.EDITOR, by="the test")
    team.accounts.add_member(kept, *people[1], Role.READER, by="the test")
    old = team.key(slug, Role.OWNER, name="quastel")
    assert "quastel" in team.processes[0].send("GET", "/v1/audit", old).text
    team.anew(slug)
    new = team.key(slug, Role.OWNER, name="zinnober")
    for process in team.processes[:2]:
        for path in ("keys", "users", "audit"):
            told = process.send("GET", f"/v1/{path}", new).text
            assert "quastel" not in told and "alice" not in told and "bob" not in told, path
        assert "zinnober" in process.send("GET", "/v1/audit", new).text
    assert "quastel" in str(team.accounts.audit(slug))
    known = "SELECT subject FROM account WHERE issuer = $1 ORDER BY subject"
    assert team.sql(known, people[0][0]) == [("bob",)]
    team.accounts.remove_member(kept, *people[1], by="the test")
    assert team.sql(known, people[0][0]) == []
