"""Between users: a token goes to a process of its own user alone, whoever listens where."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from helix import bearer, daemon, local_socket
from helix.client import Client
from helix.errors import DaemonError
from helix.lock import StoreLock

NOBODY = 65_534
THEIRS = """
import os, socket, sys
os.setuid(int(sys.argv[2]))
server = socket.socket(socket.AF_UNIX)
os.chdir(sys.argv[1])
server.bind("socket")
os.chmod("socket", 0o666)
server.listen()
server.settimeout(20)
print("ready", flush=True)
connection, _ = server.accept()
connection.settimeout(20)
print("heard", connection.recv(65536), flush=True)
"""
root_only = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can be another user of the machine"
)


@contextmanager
def another_user(store: Path) -> Iterator[subprocess.Popen[str]]:
    """Have a process of another user listen at the socket of a store that stands open to all."""
    passing = Path(tempfile.gettempdir())
    above = [one for one in store.parents if one.is_relative_to(passing) and one != passing]
    modes = {folder: folder.stat().st_mode & 0o777 for folder in (store, *above)}
    for folder in above:
        folder.chmod(0o711)
    store.chmod(0o777)
    process = subprocess.Popen(
        [sys.executable, "-I", "-c", THEIRS, str(store), str(NOBODY)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == "ready\n"
        yield process
    finally:
        process.kill()
        process.communicate()
        for folder, mode in modes.items():  # other tests look at who may enter these folders
            folder.chmod(mode)


def put_token(store: Path) -> None:
    bearer.token_of(store)
    daemon.announce(store, url="http://127.0.0.1:1", port=1, idle_minutes=1)


@root_only
def test_another_users_process_at_the_socket_hears_nothing(tmp_path: Path) -> None:
    with another_user(tmp_path) as process, StoreLock(tmp_path):
        put_token(tmp_path)
        with pytest.raises(DaemonError, match="another user"):
            Client("http://127.0.0.1:1", bearer.read_token(tmp_path), 20, store=tmp_path).run("status")
        assert process.communicate(timeout=20)[0] == "heard b''\n"


@root_only
def test_a_hook_tells_another_users_process_nothing(tmp_path: Path) -> None:
    from helix.hooks import helix_hook

    with another_user(tmp_path) as process, StoreLock(tmp_path):
        put_token(tmp_path)
        bearer.hook_token_of(tmp_path)
        run = subprocess.run(
            [sys.executable, "-I", "-S", helix_hook.__file__, "--store", str(tmp_path), "--seconds", "10"],
            input='{"hook_event_name": "Stop"}',
            capture_output=True,
            text=True,
            check=True,
        )
        assert run.stdout == ""
        assert process.communicate(timeout=20)[0] == "heard b''\n"
    assert "another user" in (tmp_path / "logs" / "hooks.log").read_text("ascii")


def test_a_port_that_was_taken_hears_nothing_though_the_daemons_record_names_it(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, StoreLock(tmp_path):
        port = server.getsockname()[1]
        bearer.token_of(tmp_path)
        found = daemon.announce(tmp_path, url=f"http://127.0.0.1:{port}", port=port, idle_minutes=1)
        assert daemon.find(tmp_path) == found
        with pytest.raises(DaemonError, match="no daemon answers"):
            Client(found.url, bearer.read_token(tmp_path), 20, store=tmp_path).run("status")
        server.settimeout(0.1)
        with pytest.raises(TimeoutError):
            server.accept()


@pytest.mark.parametrize("url", ["http://example.com:80", "http://127.0.0.1.example.com:80", "http://[::2]:80", "x"])
def test_a_record_that_leads_elsewhere_is_no_daemon_and_no_client_asks_there(tmp_path: Path, url: str) -> None:
    with StoreLock(tmp_path):
        daemon.announce(tmp_path, url=url, port=80, idle_minutes=1)
        assert daemon.find(tmp_path) is None
    with pytest.raises(DaemonError, match="not on this machine"):
        Client(url, "secret", 1).run("status")


def test_the_socket_is_its_owners_and_an_old_one_is_replaced(tmp_path: Path) -> None:
    for _ in range(2):
        server = local_socket.listen(tmp_path)
        assert server is not None
        assert (tmp_path / local_socket.SOCKET_FILE).stat().st_mode & 0o777 == 0o600
        local_socket.connect(tmp_path, 5).close()
        server.close()
    with pytest.raises(ConnectionRefusedError):
        local_socket.connect(tmp_path, 5)
    local_socket.forget(tmp_path)
    assert not (tmp_path / local_socket.SOCKET_FILE).exists()


def test_what_is_no_socket_is_neither_removed_nor_asked(tmp_path: Path) -> None:
    (tmp_path / local_socket.SOCKET_FILE).write_text("mine", "utf-8")
    local_socket.forget(tmp_path)
    with pytest.raises(OSError, match="no socket"):
        local_socket.connect(tmp_path)
    with pytest.raises(OSError, match="in use"):
        local_socket.listen(tmp_path)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux lists whose a connection is")
@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_a_connection_over_loopback_tells_whose_it_is_until_it_is_closed(host: str) -> None:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as listener:
        listener.bind((host, 0))
        listener.listen()
        with socket.create_connection(listener.getsockname()[:2]) as client, listener.accept()[0] as accepted:
            ends = client.getsockname()[:2], accepted.getsockname()[:2]
            assert local_socket.user_at(*ends) == os.geteuid()
            client.close()
            assert local_socket.user_at(*ends) == -1
