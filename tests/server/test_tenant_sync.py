"""Sync of a laptop's store with a tenant: both hold the same of a scope, whoever is home; no other scope travels.

All of it is a soak: what is synced over HTTP, and by whose rights, is tested in tests/strands/test_sync_api.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from helix.errors import ConflictError
from helix.model.principal import Role
from tests.machine import Machine
from tests.server.team import STORE, Process, Team, gathered
from tests.waiting import until


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Team]:
    """A team of the test's own: a home of it leaves."""
    with gathered(tmp_path) as made:
        for process in [made.start(), made.start()]:
            process.announced()
        yield made


@pytest.fixture
def laptop(tmp_path: Path) -> Iterator[Machine]:
    """A machine with a store and a key of its own."""
    (tmp_path / "laptop").mkdir()
    machine = Machine(tmp_path / "laptop" / "home")
    machine("keys", "new", "laptop")
    try:
        yield machine
    finally:
        machine.run("stop")


def _public(laptop: Machine) -> str:
    return next(str(one["public"]) for one in laptop("keys", "list")["keys"] if one["own"])


def _triggers(process: Process, key: str, scope: str) -> set[str]:
    document = "query($s: String!) { memories(scope: $s) { edges { node { trigger provenance { trust } } } } }"
    return {edge["node"]["trigger"] for edge in process.data(key, document, s=scope)["memories"]["edges"]}


def _kept(laptop: Machine, scope: str) -> set[str]:
    return {edge["node"]["trigger"] for edge in laptop("list", "--scope", scope)["memories"]["edges"]}


@pytest.mark.soak
def test_a_laptop_and_a_tenant_hold_the_same_of_a_scope(own: Team, laptop: Machine) -> None:
    tenant = own.tenant()
    whole = own.key(tenant)
    shared = own.key(tenant, Role.EDITOR, "acme/api", name="laptop", peer=_public(laptop))
    home, other = own.processes
    for scope in ("acme/api", "acme/secret"):
        home.data(whole, STORE, t=f"of the team in {scope}", r="so it is", s=scope)
        laptop("store", "--trigger", f"of the laptop in {scope}", "--resolution", "so it is", "--scope", scope)
    terms = other.send("GET", "/sync/v1/", shared).json()
    assert (terms["scopes"], terms["write"]) == (["acme/api"], True)
    laptop("keys", "import", "team", terms["key"])
    place = f"{other.url}/sync/v1"
    laptop("sync", place, "--scope", "acme/api", HELIX_SYNC_TOKEN=shared)
    assert _kept(laptop, "acme/api") == {"of the team in acme/api", "of the laptop in acme/api"}
    until(lambda: _triggers(home, whole, "acme/api") == {"of the team in acme/api", "of the laptop in acme/api"})
    assert _kept(laptop, "acme/secret") == {"of the laptop in acme/secret"}
    assert _triggers(home, whole, "acme/secret") == {"of the team in acme/secret"}
    # Another process is home from now on; it signs with the same key, and goes on where they were.
    home.stop()
    other.data(whole, STORE, t="of the next home", r="so it is", s="acme/api")
    assert other.send("GET", "/sync/v1/", shared).json()["key"] == terms["key"]
    laptop("sync", place)
    assert "of the next home" in _kept(laptop, "acme/api")


@pytest.mark.soak
def test_who_may_only_read_adds_nothing_and_others_do_not_sync(own: Team, laptop: Machine) -> None:
    tenant, here = own.tenant(), own.processes[0]
    whole = own.key(tenant)
    here.data(whole, STORE, t="of the team", r="so it is", s="acme/api")
    reader = own.key(tenant, Role.READER, "acme/api", name="reader", peer=_public(laptop))
    laptop("store", "--trigger", "of the laptop", "--resolution", "so it is", "--scope", "acme/api")
    laptop("keys", "import", "team", here.send("GET", "/sync/v1/", reader).json()["key"])
    laptop("sync", f"{here.url}/sync/v1", "--scope", "acme/api", HELIX_SYNC_TOKEN=reader)
    assert "of the team" in _kept(laptop, "acme/api")
    assert _triggers(here, whole, "acme/api") == {"of the team"}
    with pytest.raises(ConflictError, match="synced by the key"):  # how far it is believed would change by turns
        own.key(tenant, Role.EDITOR, "acme/api", peer=_public(laptop))
    for key in (whole, own.key(tenant, Role.EDITOR, "acme/api")):
        assert here.send("GET", "/sync/v1/", key).status_code == 403
    assert here.send("GET", "/sync/v1/").status_code == 401
