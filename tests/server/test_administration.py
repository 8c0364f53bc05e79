"""Administration: what owners may do about keys and people over HTTP; everything of it is written down."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import Any
from urllib.parse import urlsplit

import pytest

from helix.journal.postgres.tenant_states import SUSPENDED
from helix.model.principal import Role
from helix.server.accounts import LINK
from tests.server.team import Process, Team
from tests.waiting import MOST_SECONDS, until

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


@contextmanager
def held_request(process: Process, key: str, body: bytes) -> Iterator[socket.socket]:
    """Lend a request for a new key of which but one byte of the body was sent."""
    place = urlsplit(process.url)
    with socket.create_connection((str(place.hostname), place.port), timeout=MOST_SECONDS) as held:
        told = f"POST /v1/keys HTTP/1.1\r\nHost: {place.netloc}\r\nAuthorization: Bearer {key}\r\nConnection: close\r\n"
        held.sendall(f"{told}Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode())
        held.sendall(body[:1])
        yield held


def said(held: socket.socket, rest: bytes = b"") -> bytes:
    """Return what a connection is answered till its end, once it has sent the rest.

    Who refuses a request before all of it has come resets the connection.
    """
    answer = b""
    with suppress(ConnectionError):
        held.sendall(rest)
        while part := held.recv(65_536):
            answer += part
    return answer


MOLE = json.dumps({"name": "mole", "role": "owner"}).encode()


def test_a_request_that_was_begun_before_its_key_was_revoked_makes_no_key(team: Team) -> None:
    tenant, here = team.tenant(), team.processes[0]
    owner = team.key(tenant, Role.OWNER)
    with held_request(here, owner, MOLE) as held:
        team.accounts.revoke(team.server.tenant(tenant), owner.split("_")[1], by="the test")
        until(lambda: here.send("GET", "/v1/keys", owner).status_code == 401)
        answer = said(held)  # the rest of its body is not waited for
    assert b" 200 " not in answer.partition(b"\r\n")[0]
    assert [one.name for one in team.accounts.keys(team.server.tenant(tenant))] == ["ada"]


def test_a_request_that_was_begun_before_its_tenant_was_suspended_makes_no_key(team: Team) -> None:
    tenant, here = team.tenant(), team.processes[0]
    owner = team.key(tenant, Role.OWNER)
    with held_request(here, owner, MOLE) as held:
        team.server.set_state(team.server.tenant(tenant).id, SUSPENDED)
        assert b" 200 " not in said(held, MOLE[1:]).partition(b"\r\n")[0]
    assert [one.name for one in team.accounts.keys(team.server.tenant(tenant))] == ["ada"]


def test_a_link_that_is_revoked_while_it_is_opened_leaves_no_session(team: Team) -> None:
    tenant = team.server.tenant(team.tenant())
    link = team.accounts.create_key(tenant, "guest", Role.OWNER, by="the test", seconds=900, kind=LINK)
    prefix = link.split("_")[1]
    waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%api_key%'"
    with ThreadPoolExecutor(2) as both:
        with team.server.changing() as connection:
            connection.execute("SELECT 1 FROM api_key WHERE prefix = $1 FOR UPDATE", (prefix,))
            opened = both.submit(team.accounts.redeem, link)
            until(lambda: team.sql(waiting) == [(1,)])
            revoked = both.submit(team.accounts.revoke, tenant, prefix, by="the test")
            until(lambda: team.sql(waiting) == [(2,)])
        session = opened.result(MOST_SECONDS)
        revoked.result(MOST_SECONDS)
    assert session is not None
    assert team.accounts.principal_of(session) is None


def test_what_a_key_makes_that_is_called_as_a_link_is_not_revoked_with_the_link(team: Team) -> None:
    tenant = team.server.tenant(team.tenant())
    link = team.accounts.create_key(tenant, "guest", Role.READER, by="the test", seconds=900, kind=LINK)
    prefix = link.split("_")[1]
    made = team.accounts.create_key(tenant, "ada", Role.OWNER, by=f"link {prefix}")
    team.accounts.revoke(tenant, prefix, by="the test")
    assert team.accounts.principal_of(made) is not None
