"""Administration: what owners may do about keys and people over HTTP; everything of it is written down."""

from __future__ import annotations

import json
from typing import Any

import pytest

from helix.model.principal import Role
from tests.server.team import Team
from tests.waiting import until

STATUS = "{ status { edges } }"


@pytest.mark.parametrize("role", [role for role in Role if role is not Role.OWNER])
def test_only_owners_administer(team: Team, role: Role) -> None:
    key = team.key(team.tenant(), role)
    for method, path in (("GET", "keys"), ("POST", "keys"), ("POST", "links"), ("GET", "users"), ("GET", "audit")):
        told = team.processes[0].send(method, f"/v1/{path}", key, json={"name": "x", "role": "owner"})
        assert told.status_code == 403, path


def test_an_owner_of_some_scopes_is_none_of_the_tenant(team: Team) -> None:
    key = team.key(team.tenant(), Role.OWNER, "shop")
    assert team.processes[0].send("GET", "/v1/keys", key).status_code == 403


def test_an_owner_makes_and_revokes_keys(team: Team) -> None:
    tenant, here = team.tenant(), team.processes[0]
    owner = team.key(tenant, Role.OWNER, name="grace")
    made = here.send("POST", "/v1/keys", owner, json={"name": "claude", "role": "agent", "scopes": ["shop"], "days": 1})
    key = made.json()["key"]
    assert here.code(key, '{ memories(scope: "shop") { totalCount } }') == "OK"
    listed = {one["name"]: one for one in here.send("GET", "/v1/keys", owner).json()["keys"]}
    assert listed["claude"]["scopes"] == ["shop"]
    assert listed["claude"]["made_by"] == "grace"
    assert not any(key.split("_", 2)[2] in str(one) for one in listed.values())
    prefix = key.split("_")[1]
    assert here.send("DELETE", f"/v1/keys/{prefix}", owner).json() == {"revoked": prefix}
    until(lambda: here.code(key, STATUS) == "UNAUTHORIZED")
    audit = [(one["actor"], one["action"]) for one in here.send("GET", "/v1/audit", owner).json()["audit"]]
    assert audit[:2] == [("grace", "key.revoke"), ("grace", "key.create")]


def test_an_owner_s_hand_ends_at_the_tenant(team: Team) -> None:
    ours, theirs, here = team.tenant(), team.tenant(), team.processes[0]
    owner, key = team.key(ours, Role.OWNER), team.key(theirs)
    prefix = key.split("_")[1]
    assert here.send("DELETE", f"/v1/keys/{prefix}", owner).status_code == 404
    assert here.code(key, STATUS) == "OK"
    assert prefix not in here.send("GET", "/v1/keys", owner).text
    assert theirs not in here.send("GET", "/v1/audit", owner).text


def test_a_link_of_an_owner_opens_a_browser(team: Team) -> None:
    here, owner = team.processes[1], team.key(team.tenant(), Role.OWNER)
    url = here.send("POST", "/v1/links", owner, json={"name": "ada", "role": "reader"}).json()["url"]
    assert url.startswith(here.url)
    assert here.client.post(url).status_code == 303


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"name": "x"},
        {"name": "x", "role": "god"},
        {"name": "", "role": "agent"},
        {"name": "x" * 101, "role": "agent"},
        {"name": "x\n", "role": "agent"},
        {"name": "operator root", "role": "agent"},
        {"name": "\ud800", "role": "agent"},
        {"name": "x", "role": "agent", "scopes": ["\ud800"]},
        {"name": "x", "role": "agent", "days": -1},
        {"name": "x", "role": "agent", "days": "1"},
        {"name": "x", "role": "agent", "scopes": "shop"},
        {"name": "x", "role": "agent", "scopes": [""]},
        {"name": "x", "role": "agent", "scopes": ["a"] * 101 + [str(n) for n in range(101)]},
        [],
        "x" * 70_000,
    ],
)
def test_a_wrong_request_says_what_is_wrong(team: Team, body: Any) -> None:
    owner = team.key(team.tenant(), Role.OWNER)
    told = team.processes[0].send(
        "POST", "/v1/keys", owner, content=json.dumps(body), headers={"content-type": "application/json"}
    )
    assert told.status_code == 400
    assert told.json()["errors"][0]["extensions"]["code"] == "INVALID_INPUT"
