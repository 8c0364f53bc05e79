"""Holds that the real client takes the plugin as it is: valid, loaded from where it was connected, gone afterwards."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from coding_client import CodingClient
from messages_server import Script, call, say, text_of
from person import Person

import helix
from helix import local_socket
from helix.lock import StoreLock

PLUGIN = Path(helix.__file__).parent / "plugin"


@pytest.fixture
def bare_client(client_program: Path, tmp_path: Path) -> CodingClient:
    return CodingClient(program=client_program, home=tmp_path, project=tmp_path)


@pytest.mark.parametrize("part", [".", ".claude-plugin/plugin.json", ".claude-plugin/marketplace.json"])
def test_the_client_finds_nothing_wrong_with_the_plugin(bare_client: CodingClient, part: str) -> None:
    found = bare_client.run("plugin", "validate", str(PLUGIN / part), "--strict")
    assert found.returncode == 0, found.stdout
    assert "warning" not in found.stdout.partition("Plugin directory checks")[0]


@pytest.mark.soak
def test_the_client_loads_the_copy_with_all_its_parts_and_only_while_connected(person: Person) -> None:
    def began() -> dict[str, Any]:
        lines = person.client.work(Script(turns={}), "hello").splitlines()
        found: dict[str, Any] = next(json.loads(line) for line in lines if '"subtype":"init"' in line)
        return found

    loaded = began()
    assert {"helix:explorer", "helix:planner", "helix:builder"} <= set(loaded["agents"])
    assert {"helix:helix", "helix:helix-query", "helix:helix-stats"} <= set(loaded["skills"])
    assert {f"helix:{name}" for name in ("explore", "plan", "query", "stats", "observe")} <= set(
        loaded["slash_commands"]
    )
    (server,) = loaded["mcp_servers"]
    assert server["name"] == "plugin:helix:helix"
    assert server["status"] in ("connected", "pending")  # a session begins without waiting for it
    person.helix("disconnect")
    assert not any("helix" in name for name in began()["agents"])


def test_the_copy_passes_as_well(person: Person) -> None:
    (folder,) = (Path(person.settings["HELIX_HOME"]) / "clients/claude-code").glob("*/")
    found = person.client.run("plugin", "validate", str(folder), "--strict")
    assert found.returncode == 0, found.stdout


@pytest.mark.soak
def test_agents_reach_the_same_store_by_the_command_helix(person: Person) -> None:
    name = person.remember("invoices", "fact", "where the invoices are kept", "in the cellar")
    script = Script(turns={"BEGIN": [[call("Bash", command=f"helix get {name}", description="x")], [say("yes")]]})
    person.client.work(script, "BEGIN")
    assert "in the cellar" in "".join(text_of(message) for message in script.of("BEGIN")[-1]["messages"])


def answered(connection: socket.socket, answer: bytes) -> None:
    """Answer a request in this way, or never where there is no answer."""
    with connection:
        connection.recv(65536)
        if answer:
            connection.sendall(answer)
        else:
            time.sleep(3)


@contextmanager
def instead_of_the_daemon(store: Path, answer: bytes | None) -> Iterator[None]:
    """Have something else than a daemon own a store and listen there; with None nothing does."""
    if answer is None:
        yield
        return
    owner = StoreLock(store)
    owner.acquire()
    listener = local_socket.listen(store)
    assert listener is not None

    def serve() -> None:
        with suppress(OSError):
            while True:
                Thread(target=answered, args=(listener.accept()[0], answer), daemon=True).start()

    Thread(target=serve, daemon=True).start()
    try:
        yield
    finally:
        listener.close()
        local_socket.forget(store)
        owner.release()


def with_little_time(person: Person, settings: Path) -> None:
    """Have the client's hooks wait as long as they do by default: a daemon that hangs takes all of it, each time."""
    before = settings.read_text("utf-8")
    settings.write_text("".join(line for line in before.splitlines(True) if "hook_ms" not in line), "utf-8")
    person.helix("connect", "claude-code")
    settings.write_text(before, "utf-8")


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(None, id="gone", marks=pytest.mark.soak),
        pytest.param(b"", id="hung"),
        pytest.param(b"\x00\xff\r\n\r\n", id="garbage", marks=pytest.mark.soak),
        pytest.param(b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nhush", id="no JSON", marks=pytest.mark.soak),
        pytest.param(b"HTTP/1.1 500 No\r\n\r\n", id="failing", marks=pytest.mark.soak),
    ],
)
def test_a_session_goes_on_unharmed_whatever_became_of_the_daemon(person: Person, answer: bytes | None) -> None:
    home = Path(person.settings["HELIX_HOME"])
    with_little_time(person, home / "config.toml")
    person.helix("stop")
    with instead_of_the_daemon(home / "store", answer):
        script = Script(turns={"BEGIN": [[call("Bash", command="echo here", description="x")], [say("and well")]]})
        written = person.client.work(script, "BEGIN")
    assert "here" in text_of(script.of("BEGIN")[1]["messages"][-1])
    assert json.loads(written.splitlines()[-1])["result"] == "and well"
