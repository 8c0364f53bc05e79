"""The tenants, keys and people of a server at the command line, as whoever runs it uses them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from helix.journal.postgres.postgres_server import Server
from helix.journal.postgres.tenant_states import INCOMING
from tests.machine import Machine
from tests.postgres_cluster import Cluster, running


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with running() as made:
        yield made


@pytest.fixture(scope="module")
def operator(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Machine:
    """A machine whose settings name a server that has Helix's tables."""
    folder = tmp_path_factory.mktemp("operator")
    machine = Machine(folder / "home", {"HELIX_ENGINE": cluster.address, "HELIX_OIDC_ISSUER": "https://i.example"})
    machine("engine", "init")
    return machine


@pytest.mark.soak
def test_a_tenant_lives_and_ends(operator: Machine, cluster: Cluster) -> None:
    assert operator("tenant", "create", "shop")["tenant"]["state"] == "active"
    assert "already" in operator.run("tenant", "create", "shop").stderr
    assert operator.run("tenant", "delete", "shop", "--confirm", "shop").returncode == 2  # it is active
    assert operator("tenant", "suspend", "shop")["tenant"]["state"] == "suspended"
    assert "suspended" in operator.run("list", HELIX_TENANT="shop").stderr
    assert operator("tenant", "resume", "shop")["tenant"]["state"] == "active"
    assert operator("tenant", "quota", "shop", "--memories", "10")["quota"] == {"memories": 10}
    assert operator("tenant", "quota", "shop", "--requests", "5")["quota"] == {"memories": 10, "requests": 5}
    assert operator("tenant", "quota", "shop")["quota"] == {"memories": 10, "requests": 5}
    assert operator("tenant", "quota", "shop", "--unlimited", "--bytes", "9")["quota"] == {"bytes": 9}
    operator("key", "create", "claude", "--role", "agent", "--tenant", "shop")
    operator("tenant", "suspend", "shop")
    assert operator.run("tenant", "delete", "shop").returncode == 2  # the name is to be said once more
    assert operator("tenant", "delete", "shop", "--confirm", "shop") == {"deleted": "shop"}
    operator("tenant", "create", "late")
    with closing(Server(cluster.address)) as server:
        server.set_state(server.tenant("late").id, INCOMING)
    assert "tenant delete late" in operator.run("list", HELIX_TENANT="late").stderr
    assert operator("tenant", "delete", "late", "--confirm", "late") == {"deleted": "late"}
    assert "shop" not in {one["slug"] for one in operator("tenant", "list")["tenants"]}
    actions = [one["action"] for one in operator("engine", "audit")["audit"]]
    assert {"tenant.create", "tenant.suspended", "tenant.active", "tenant.quota", "tenant.delete"} <= set(actions)


@pytest.mark.soak
def test_a_check_names_who_may_change_the_audit_and_what_takes_that_right(operator: Machine, cluster: Cluster) -> None:
    """As an older Helix grants it that migrates beside this one."""
    with closing(Server(cluster.address)) as server, server.connection() as connection:
        connection.execute("CREATE ROLE serves")
        connection.execute("GRANT SELECT, INSERT, UPDATE, DELETE ON audit TO serves")
    assert operator("engine", "check")["engine"]["auditChangedBy"] == ["serves"]
    operator("engine", "migrate", "--role", "serves")
    assert operator("engine", "check")["engine"]["auditChangedBy"] == []


def test_a_key_is_shown_once_and_revoked(operator: Machine) -> None:
    made = operator("key", "create", "ci", "--role", "hook", "--scope", "a/b", "--days", "30")["key"]
    prefix = made.split("_")[1]
    listed = {one["prefix"]: one for one in operator("key", "list")["keys"]}
    assert listed[prefix]["scopes"] == ["a/b"]
    assert listed[prefix]["revoked_at"] is None
    assert made.split("_", 2)[2] not in str(listed)
    operator("key", "revoke", prefix)
    assert {one["prefix"]: one for one in operator("key", "list")["keys"]}[prefix]["revoked_at"]
    assert operator.run("key", "revoke", "ffffffffffff").returncode == 3
    assert operator.run("key", "create", "x", "--role", "god").returncode == 2
    link = operator("key", "link", "ada", "--url", "https://helix.example/")["link"]
    assert link.startswith("https://helix.example/open/hx_")


@pytest.mark.soak
def test_people_come_and_go(operator: Machine) -> None:
    operator("user", "add", "248", "--role", "editor", "--name", "Ada")
    assert [(one["name"], one["issuer"], one["role"]) for one in operator("user", "list")["users"]] == [
        ("Ada", "https://i.example", "editor")
    ]
    operator("user", "remove", "248")
    assert operator("user", "list")["users"] == []
    assert operator.run("user", "remove", "248").returncode == 3
    for line in (("user", "add", "248", "--role", "editor"), ("user", "remove", "248")):
        assert "--issuer" in operator.run(*line, HELIX_OIDC_ISSUER="").stderr


def test_keys_do_not_travel_in_the_open(operator: Machine) -> None:
    ended = operator.run("engine", "serve", "--listen", "0.0.0.0:0")
    assert ended.returncode == 2
    assert "unencrypted" in ended.stderr
    assert operator.run("engine", "serve", "--listen", "8765").returncode == 2
