"""The daemon of a store: one runs, it is found again, and nothing a killed one leaves behind misleads anybody."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, replace
from fcntl import LOCK_SH, flock
from pathlib import Path

import pytest

from helix import bearer, daemon
from helix.errors import ConfigError, DaemonError, StoreLockedError
from helix.lock import StoreLock, is_locked
from helix.processes import daemon_environment
from helix.settings import Settings
from tests.sampling import some
from tests.waiting import MOST_SECONDS, until

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture
def plain(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[Settings]:
    """Settings of a store without a model, whose daemon runs this checkout and is gone after the test."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT), prepend=os.pathsep)
    sources = {**settings.sources, "embedding_model": "flag"}
    settings = replace(settings, embedding_model="none", sources=sources)
    yield settings
    if daemon.find(settings.store_path) is not None:
        daemon.stop(settings)


def serve(settings: Settings, *arguments: str) -> subprocess.Popen[str]:
    """Start `helix serve` the way a person does."""
    return subprocess.Popen(
        [sys.executable, "-m", "helix.cli.main", "--json", "--store", str(settings.store_path), "serve", *arguments],
        env=daemon_environment(settings),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def error_of(process: subprocess.Popen[str]) -> dict[str, str]:
    """Return the error a command ended with."""
    _, words = process.communicate(timeout=MOST_SECONDS)
    error: dict[str, str] = json.loads(words.splitlines()[-1])["error"]
    return error


def running(settings: Settings) -> daemon.Daemon:
    found = daemon.find(settings.store_path)
    assert found is not None
    return found


def recorded(settings: Settings, **changes: object) -> daemon.Daemon:
    """Write a daemon.json as some daemon could have left it."""
    left = daemon.announce(settings.store_path, url="http://127.0.0.1:1", port=1, idle_minutes=1)
    changed = replace(left, **changes)  # type: ignore[arg-type]  # the fields of a Daemon, by name
    (settings.store_path / daemon.DAEMON_FILE).write_text(json.dumps(asdict(changed)), "utf-8")
    return changed


def test_clients_that_start_at_once_get_one_daemon_and_stopping_leaves_nothing_behind(plain: Settings) -> None:
    with ThreadPoolExecutor(4) as pool:
        clients = list(pool.map(lambda _: daemon.ensure_running(plain), range(4)))
    found = running(plain)
    assert {client.url for client in clients} == {found.url}
    assert found.idle_minutes == plain.idle_exit_minutes
    assert clients[0].run("status")["status"]["store"] == str(plain.store_path)
    assert (plain.store_path / bearer.TOKEN_FILE).stat().st_mode & 0o777 == 0o600
    for client in clients:
        client.close()

    stopped = daemon.stop(plain)
    assert stopped is not None and stopped.pid == found.pid
    assert not is_locked(plain.store_path)
    assert not (plain.store_path / daemon.DAEMON_FILE).exists()
    assert daemon.stop(plain) is None


@pytest.mark.soak
def test_two_servers_of_one_store_end_up_as_one_and_the_other_names_it(plain: Settings) -> None:
    servers = [serve(plain), serve(plain)]
    until(lambda: any(server.poll() is not None for server in servers) and daemon.find(plain.store_path))
    (loser,) = [server for server in servers if server.poll() is not None]
    (winner,) = [server for server in servers if server is not loser]
    error = error_of(loser)
    assert (loser.returncode, error["code"]) == (StoreLockedError.exit_code, StoreLockedError.code)
    assert str(winner.pid) in error["message"]

    # One that was started by hand leaves on Ctrl-C, closes its store and says nothing about it.
    winner.send_signal(signal.SIGINT)
    _, words = winner.communicate(timeout=MOST_SECONDS)
    assert (winner.returncode, words) == (0, "")
    assert not is_locked(plain.store_path)


def test_after_a_kill_a_connected_client_gets_a_new_daemon_at_a_port_of_its_own(plain: Settings) -> None:
    client = daemon.ensure_running(plain)
    first = running(plain)
    os.kill(first.pid, signal.SIGKILL)
    until(lambda: not is_locked(plain.store_path))
    assert (plain.store_path / daemon.DAEMON_FILE).exists()
    assert daemon.find(plain.store_path) is None

    # The client that was connected starts the new one by itself.
    assert client.run("status")["status"]["version"]
    second = running(plain)
    assert second.pid != first.pid
    assert second.port != first.port and client.url == second.url
    client.close()


@pytest.mark.soak
def test_a_connected_client_goes_on_with_a_daemon_that_somebody_else_started(plain: Settings) -> None:
    client = daemon.ensure_running(plain)
    first = running(plain)
    daemon.stop(plain)
    daemon.ensure_running(plain).close()
    assert running(plain).port != first.port
    assert client.run("status")["status"]["version"]
    client.close()


@pytest.mark.soak
def test_a_daemon_takes_no_port_that_one_of_its_store_had_before(plain: Settings) -> None:
    used = [port for port in range(1_024, 65_536) if port // 2 % 8]
    noted = plain.store_path / daemon.PORTS_FILE
    noted.parent.mkdir(parents=True, exist_ok=True)
    noted.write_text("\n".join(map(str, (*used, -1, 0, 99_999_999))), "utf-8")  # some are none
    daemon.ensure_running(plain).close()
    now = running(plain).port
    assert now not in used
    assert daemon.used_ports(plain.store_path)[-2:] == (used[-1], now)


@pytest.mark.soak
def test_at_the_last_port_a_daemon_says_where_it_is_to_a_page_and_nothing_to_others(plain: Settings) -> None:
    first = daemon.ensure_running(plain)
    old = running(plain).port
    page = json.loads(got(old, "/page", authorization=f"Bearer {bearer.read_token(plain.store_path)}"))["page"]
    daemon.stop(plain)
    daemon.ensure_running(plain).close()
    told = json.loads(got(old, f"/moved?page={page}&nonce={'ab' * 24}"))
    assert told["port"] == running(plain).port != old
    assert set(told) == {"port", "salt", "sealed", "proof"}
    token = bearer.read_token(plain.store_path)
    for path in ("/graphql", "/healthz", "/", "/metrics", f"/moved?page={page}", "/moved?page=1&nonce=2"):
        assert set(json.loads(got(old, path, authorization=f"Bearer {token}"))) == {"error"}
    assert got(old, "/" + "a" * 9_000) == b""
    first.close()


def got(port: int, path: str, **headers: str) -> bytes:
    """Return what is answered at a port, whatever the status."""
    lines = [f"GET {path} HTTP/1.1", f"host: 127.0.0.1:{port}", "connection: close"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    with socket.create_connection(("127.0.0.1", port), timeout=MOST_SECONDS) as connection:
        connection.sendall("\r\n".join([*lines, "", ""]).encode())
        answer = b""
        with suppress(ConnectionResetError):
            while part := connection.recv(65_536):
                answer += part
    return answer.partition(b"\r\n\r\n")[2]


@pytest.mark.soak
def test_an_unused_daemon_leaves_by_itself_and_closes_its_store(plain: Settings) -> None:
    server = serve(plain, "--idle-exit", "0.01")
    ready, words = server.communicate(timeout=MOST_SECONDS)
    assert json.loads(ready)["serve"]["idle_minutes"] == 0.01
    assert (server.returncode, words) == (0, "")
    assert not is_locked(plain.store_path)
    assert not (plain.store_path / daemon.DAEMON_FILE).exists()


@pytest.mark.soak
@pytest.mark.parametrize("how", some(["the store", "the record", "another's record"], 1))
def test_a_daemon_that_nobody_finds_any_more_leaves_by_itself(plain: Settings, how: str) -> None:
    server = serve(plain)
    until(lambda: daemon.find(plain.store_path) is not None or server.poll() is not None)
    record = plain.store_path / daemon.DAEMON_FILE
    if how == "the store":
        plain.store_path.rename(plain.home / "moved")
    elif how == "the record":
        record.unlink()
    else:
        record.write_text(json.dumps(asdict(replace(running(plain), pid=1))), "utf-8")
    _, words = server.communicate(timeout=MOST_SECONDS)
    assert (server.returncode, words) == (0, "")
    assert not is_locked(plain.store_path)


@pytest.mark.soak
def test_a_daemon_of_another_version_is_replaced_unless_it_was_started_by_hand(plain: Settings) -> None:
    daemon.ensure_running(plain).close()
    first = running(plain)
    path = plain.store_path / daemon.DAEMON_FILE
    path.write_text(json.dumps(asdict(replace(first, version="0.0.1"))), "utf-8")
    daemon.ensure_running(plain).close()
    second = running(plain)
    assert second.pid != first.pid

    path.write_text(json.dumps(asdict(replace(second, version="0.0.1", idle_minutes=0))), "utf-8")
    with pytest.raises(DaemonError, match=r"Helix 0\.0\.1.*started by hand"):
        daemon.ensure_running(plain)


@pytest.mark.soak
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_daemon_that_cannot_say_that_it_is_ready_serves_all_the_same(plain: Settings) -> None:
    line = [sys.executable, "-m", "helix.cli.main", "--store", str(plain.store_path), "serve"]
    with Path("/dev/full").open("wb") as full:
        process = subprocess.Popen(line, env=daemon_environment(plain), stdout=full, stderr=full)
    until(lambda: daemon.find(plain.store_path) is not None or process.poll() is not None)
    with daemon.connect(plain) as client:
        assert client.run("status")["status"]["store"] == str(plain.store_path)
    assert running(plain).pid == process.pid, "the one that could not say so"
    daemon.stop(plain)
    process.wait(MOST_SECONDS)


@pytest.mark.soak
def test_a_taken_port_is_named_with_what_to_do(plain: Settings) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        server = serve(plain, "--port", str(port))
        error = error_of(server)
    assert (server.returncode, error["code"]) == (DaemonError.exit_code, DaemonError.code)
    assert f"port {port}" in error["message"]
    assert "--port" in error["hint"]
    assert not is_locked(plain.store_path)


def test_what_kept_a_daemon_from_starting_is_what_its_client_raises(plain: Settings) -> None:
    loud = replace(plain, log_level="loud", sources={**plain.sources, "log_level": "flag"})
    with pytest.raises(ConfigError, match="unknown log level 'loud'") as raised:
        daemon.ensure_running(loud)
    assert raised.value.hint == "one of: debug, info, warning, error"


def test_a_record_counts_only_while_its_process_holds_the_store(plain: Settings) -> None:
    with StoreLock(plain.store_path):
        recorded(plain)
        assert daemon.find(plain.store_path) is not None
        recorded(plain, pid=os.getpid() + 1)
        assert daemon.find(plain.store_path) is None
    recorded(plain)
    assert daemon.find(plain.store_path) is None


def test_somebody_else_who_asks_at_the_same_time_is_no_owner_of_the_store(plain: Settings) -> None:
    with StoreLock(plain.store_path) as lock:
        recorded(plain)
    # What a client that asks holds, for as long as it takes to ask.
    with lock.path.open("rb") as asking:
        flock(asking, LOCK_SH)
        assert not is_locked(plain.store_path)
        assert daemon.find(plain.store_path) is None


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"pid": 1}', "\x00"])
def test_a_broken_record_is_no_daemon(plain: Settings, text: str) -> None:
    with StoreLock(plain.store_path):
        (plain.store_path / daemon.DAEMON_FILE).write_text(text, "utf-8")
        assert daemon.find(plain.store_path) is None


def test_a_later_process_of_the_same_pid_is_never_sent_a_signal(plain: Settings) -> None:
    heard: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, frame: heard.append(number))
    try:
        with StoreLock(plain.store_path):
            recorded(plain, identity="another start")
            with pytest.raises(DaemonError, match=f"process {os.getpid()}"):
                daemon.stop(plain)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert not heard


def test_another_program_that_has_the_store_is_named_and_left_alone(
    plain: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(daemon, "_HELD_SECONDS", 0.1)
    with StoreLock(plain.store_path):
        for ask in (daemon.stop, daemon.ensure_running):
            with pytest.raises(StoreLockedError, match=f"process {os.getpid()}"):
                ask(plain)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can leave files to another user")
def test_a_token_that_root_left_in_a_store_is_told_to_the_stores_owner(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "token").write_text("x" * 43, "ascii")
    (tmp_path / "token").chmod(0o600)
    os.chown(tmp_path, 65_534, 65_534)
    monkeypatch.chdir(tmp_path)  # the folders above are root's alone
    os.seteuid(65_534)
    try:
        with pytest.raises(DaemonError, match="cannot be read") as told:
            bearer.read_token(Path())
    finally:
        os.seteuid(0)
    assert "another user made it in your folder" in str(told.value.hint)


def test_the_token_is_private_stable_and_replaced_when_others_could_read_it(tmp_path: Path) -> None:
    token = bearer.token_of(tmp_path)
    path = tmp_path / bearer.TOKEN_FILE
    assert len(token) >= 43
    assert path.stat().st_mode & 0o777 == 0o600
    assert bearer.token_of(tmp_path) == token
    path.chmod(0o644)
    assert bearer.token_of(tmp_path) != token
    assert path.stat().st_mode & 0o777 == 0o600
    path.write_text("", "ascii")
    assert len(bearer.token_of(tmp_path)) >= 43
