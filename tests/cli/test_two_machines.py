"""Holds that the stores of two machines come to the same: two daemons, by a folder, by git and over HTTP."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.machine import SCOPE, Machine


@pytest.fixture
def two(tmp_path: Path) -> Iterator[Sequence[Machine]]:
    """Two machines, each knowing the other's key as its own."""
    machines = [Machine(tmp_path / name / "home") for name in ("laptop", "desktop")]
    for machine in machines:
        machine.home.mkdir(parents=True)
    try:
        for machine in machines:
            machine("keys", "new", machine.home.parent.name)
        for here, there in (machines, machines[::-1]):
            (key,) = (key for key in there("keys", "list")["keys"] if key["own"])
            here("keys", "import", key["name"], key["public"])
            here("keys", "trust", key["name"], "--as", "user_asserted")
        yield machines
    finally:
        for machine in machines:
            machine("stop")


def synced(machine: Machine, place: str, *options: str, **given: str) -> Any:
    return machine("sync", place, *options, **given)["sync"]["result"]


def same(machines: Sequence[Machine], places: Sequence[str], *options: str) -> None:
    """Let the machines sync in turn until nothing moves; their roots are the same then."""
    for _ in range(6):
        told = [synced(machine, place, *options) for machine, place in zip(machines, places, strict=True)]
        if not any(one["taken"] or one["published"] for one in told):
            assert len({one["root"] for one in told}) == 1
            return
    raise AssertionError("they never come to the same")


def test_two_daemons_come_to_the_same(two: Sequence[Machine], tmp_path: Path, pytestconfig: pytest.Config) -> None:
    """By a folder, and in a soak by git as well."""
    laptop, desktop = two
    laptop.store("the proxy listens on port 8080")
    desktop.store("tests need a database")
    (folder := tmp_path / "place").mkdir()
    same(two, [str(folder)] * 2)
    if pytestconfig.getoption("--soak"):
        subprocess.run(["git", "init", "--quiet", "--bare", str(tmp_path / "place.git")], check=True)
        desktop.store("deploys run on friday")
        same(two, [str(tmp_path / "place.git")] * 2)
    assert len(laptop.names()) == (3 if pytestconfig.getoption("--soak") else 2)
    assert laptop.names() == desktop.names()


@pytest.mark.soak
def test_a_daemon_shares_a_scope_with_another_one(two: Sequence[Machine]) -> None:
    laptop, desktop = two
    laptop.store("the proxy listens on port 8080")
    desktop.store("tests need a database")
    desktop("store", "--trigger", "the diary is elsewhere")
    share = desktop("share", "new", "laptop", "--scope", SCOPE)["newShare"]
    desktop("stop")
    url = desktop("serve", "--detach")["serve"]["url"].removesuffix("/graphql") + "/sync/v1"
    first = synced(laptop, url, "--scope", SCOPE, HELIX_SYNC_TOKEN=share["token"])
    assert first["published"]
    while (told := synced(laptop, url))["taken"] or told["published"]:
        assert not told["problems"]
    assert len(laptop.names()) == 2
    assert laptop.names() == desktop.names()
