"""Holds that a server of PostgreSQL is prepared, served from, and taken over, by commands in processes of their own."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.machine import SCOPE, Machine
from tests.postgres_cluster import NEWEST, Cluster, running


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with running(NEWEST) as lent:
        yield lent


@pytest.mark.soak
def test_a_server_is_prepared_and_served_from_and_outlives_its_home(cluster: Cluster, tmp_path: Path) -> None:
    """Two machines take turns at one tenant: what one stored before it was killed, the other has."""
    first, second = (
        Machine(tmp_path / name / "home", {"HELIX_ENGINE": cluster.address}) for name in ("first", "second")
    )
    for machine in (first, second):
        machine.home.mkdir(parents=True)
    unprepared = first.run("store", "--trigger", "a", "--resolution", "b")
    assert unprepared.returncode != 0
    assert "helix engine init" in unprepared.stderr
    assert first("engine", "init")["engine"]["tenants"] == ["main"]
    assert first("engine", "init")["engine"]["made"] == []
    assert first("engine", "check")["engine"]["durability"] == "single"
    try:
        first.store("the proxy listens on port 8080")
        assert first("status")["status"]["durability"] == "SINGLE"
        os.kill(first("status")["daemon"]["pid"], signal.SIGKILL)
        assert len(second.names()) == 1
        assert "8080" in str(second("recall", "where does the proxy listen?", "--scope", SCOPE))
        assert second("cypher", "MATCH (m:Memory) RETURN count(m)")["cypher"]["rows"] == [[1]]
        assert [one for one in second("doctor")["doctor"]["findings"] if not one["ok"]] == []
    finally:
        for machine in (first, second):
            machine.run("stop")


@pytest.mark.soak
def test_tenants_share_nothing(cluster: Cluster, tmp_path: Path) -> None:
    homes = {name: tmp_path / name for name in ("red", "blue")}
    machines = [Machine(home, {"HELIX_ENGINE": cluster.address, "HELIX_TENANT": name}) for name, home in homes.items()]
    machines[0]("engine", "init")
    for name, machine in zip(homes, machines, strict=True):
        machine.home.mkdir()
        machine("tenant", "create", name)
    assert machines[0].run("tenant", "create", "red").returncode != 0
    try:
        machines[0].store("the cellar holds the red wine")
        machines[1].store("the shed holds blue paint")
        assert [len(machine.names()) for machine in machines] == [1, 1]
        assert "wine" not in str(machines[1]("recall", "what does the cellar hold?", "--all"))
        listed = {one["slug"]: one["rows"] for one in machines[0]("tenant", "list")["tenants"]}
        assert all(listed[name] > 0 for name in homes)
    finally:
        for machine in machines:
            machine.run("stop")


@pytest.mark.soak
def test_a_store_moves_to_a_server_and_back(cluster: Cluster, tmp_path: Path) -> None:
    here = Machine(tmp_path / "here" / "home")
    there = Machine(tmp_path / "there" / "home", {"HELIX_ENGINE": cluster.address, "HELIX_TENANT": "moved"})
    for machine in (here, there):
        machine.home.mkdir(parents=True)
    place = str(here.home / "store")
    there("engine", "init")
    try:
        here.store("the proxy listens on port 8080")
        served = here.run("migrate", "--from", place, "--to", cluster.address, "--tenant", "moved")
        assert "STORE_LOCKED" in served.stderr
        here("stop")
        for unclear in ((), ("--from", place, "--source-gone")):
            assert "--source-gone" in here.run("migrate", *unclear, "--to", cluster.address).stderr
        assert (
            here("migrate", "--from", place, "--to", cluster.address, "--tenant", "moved")["moved"]["rows"]["log"] > 0
        )
        assert "has moved" in here.run("list", "--scope", SCOPE).stderr
        assert "has moved" in here.run("migrate", "--from", place, "--to", cluster.address, "--tenant", "twice").stderr
        assert "server's own tools" in there.run("restore", "--backup", str(tmp_path / "none")).stderr
        there.store("tests need a database")
        assert len(there.names()) == 2
        there("stop")
        there("migrate", "--from", cluster.address, "--to", place, "--tenant", "moved")
        assert "is moved" in there.run("list", "--scope", SCOPE).stderr
        assert len(here.names()) == 2
        assert [one for one in here("doctor")["doctor"]["findings"] if not one["ok"]] == []
    finally:
        for machine in (here, there):
            machine.run("stop")


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://helix:hunter2@127.0.0.1/helix",
        "postgesql://helix:hunter2@127.0.0.1/helix",
        "postgresql://helix:hunter2/x@127.0.0.1/helix",
        "postgresql://helix:hunter2#x@127.0.0.1/helix",
        "postgresql://helix@127.0.0.1/helix?sslpassword=hunter2",
        "postgresql://helix:hunter2@[127.0.0.1/helix",
    ],
)
def test_a_password_in_an_address_is_refused_and_not_repeated(tmp_path: Path, address: str) -> None:
    machine = Machine(tmp_path / "home")
    machine.home.mkdir()
    for ended in (machine.run("engine", "check", address), machine.run("config", HELIX_ENGINE=address)):
        assert ended.returncode != 0
        assert "hunter2" not in ended.stderr + ended.stdout
    assert "PGPASSWORD" in ended.stderr
