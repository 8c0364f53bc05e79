"""A daemon that is asked too much: what is really asked is answered, and it leaves when it is told to."""

from __future__ import annotations

import os
import resource
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from helix import daemon
from helix.settings import Settings, load
from tests.sampling import some
from tests.waiting import MOST_SECONDS, UNHURRIED, until

LITTLE = 64
"""Descriptors that a daemon with little room has."""


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Settings, subprocess.Popen[bytes]]]:
    """A daemon that may open few files."""
    home = tmp_path_factory.mktemp("small")
    process = serve(home, LITTLE)
    yield load({"home": home}, environ=UNHURRIED, cwd=home), process
    process.terminate()
    process.communicate(timeout=MOST_SECONDS)


def serve(home: Path, descriptors: int = 1024, *words: str) -> subprocess.Popen[bytes]:
    (home / "config.toml").write_text('embedding_model = "none"\n', "utf-8")
    process = subprocess.Popen(
        [sys.executable, "-m", "helix.cli.main", "--home", str(home), "serve", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={"PATH": os.environ["PATH"], "HOME": str(home)},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, descriptors)),
    )
    assert process.stdout is not None
    assert process.stdout.readline(), "the daemon did not start"
    return process


def connections(port: int, count: int, words: bytes) -> list[socket.socket]:
    """Open connections that say no more than this."""
    opened = []
    for _ in range(count):
        try:
            one = socket.create_connection(("127.0.0.1", port), timeout=0.05)
            one.sendall(words)
        except OSError:
            continue  # let go again: there is no more room
        opened.append(one)
    return opened


def port_of(settings: Settings) -> int:
    found = daemon.find(settings.store_path)
    assert found is not None
    return found.port


HALVES = {
    "silent": b"",
    "half a head": b"POST /graphql HTTP/1.1\r\nHost: 127",
    "half a body": b"POST /graphql HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Length: 4000\r\n\r\n{",
    "a websocket": b"GET /graphql HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n",
}


@pytest.mark.parametrize("words", some(HALVES.values(), 2), ids=HALVES)
def test_others_connections_keep_neither_commands_nor_browsers_out(
    small: tuple[Settings, subprocess.Popen[bytes]], words: bytes
) -> None:
    settings, process = small
    port = port_of(settings)
    opened = connections(port, 100, words % port if b"%d" in words else words)
    try:
        client = daemon.running(settings)
        assert client is not None
        with client:
            assert client.run("status")["status"]["store"]
        with socket.create_connection(("127.0.0.1", port), timeout=MOST_SECONDS) as browser:
            browser.sendall(b"GET /healthz HTTP/1.0\r\nHost: 127.0.0.1:%d\r\n\r\n" % port)
            assert browser.recv(65536).startswith(b"HTTP/1.1 200")
    finally:
        for one in opened:
            one.close()
    assert process.poll() is None


@pytest.mark.soak
def test_websockets_that_never_come_to_be_keep_no_place(small: tuple[Settings, subprocess.Popen[bytes]]) -> None:
    """Of a header that is longer than it takes the WebSocket's server says nothing at all."""
    port = port_of(small[0])
    good = HALVES["a websocket"] % port
    unread = good.replace(b"\r\n\r\n", b"\r\nSec-WebSocket-Protocol: " + b"a," * 10_000 + b"\r\n\r\n")
    opened = connections(port, 40, unread)

    def gets_in() -> bool:
        with socket.create_connection(("127.0.0.1", port), timeout=MOST_SECONDS) as browser:
            browser.sendall(good.replace(b"\r\n\r\n", b"\r\nSec-WebSocket-Protocol: graphql-transport-ws\r\n\r\n"))
            return browser.recv(65536).startswith(b"HTTP/1.1 101")

    assert not gets_in()
    until(gets_in)
    for one in opened:
        one.close()


@pytest.mark.soak
def test_it_leaves_when_told_to_whatever_is_half_open(tmp_path: Path) -> None:
    process = serve(tmp_path)
    settings = load({"home": tmp_path}, environ=UNHURRIED, cwd=tmp_path)
    port = port_of(settings)
    kinds = [words % port if b"%d" in words else words for words in HALVES.values()]
    opened = [one for words in kinds for one in connections(port, 10, words)]
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=MOST_SECONDS)
    assert process.returncode in (0, -signal.SIGTERM)
    for one in opened:
        one.close()


STUCK = """
import signal, sys, threading
from helix.cli import serve
from helix.service import Helix
from helix.settings import load
from pathlib import Path

home = Path(sys.argv[1])
serve._LEAVE_SECONDS = 1
Helix.close = lambda self: threading.Event().wait()
ready = lambda found, words: print(found.url, flush=True)
serve.serve_store(load({"home": home}, environ={}, cwd=home), idle_minutes=0, ready=ready)
"""


@pytest.mark.soak
def test_it_leaves_even_where_its_work_never_ends(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text('embedding_model = "none"\n', "utf-8")
    process = subprocess.Popen(
        [sys.executable, "-c", STUCK, str(tmp_path)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert process.stdout is not None
    assert process.stdout.readline()
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=MOST_SECONDS)
    assert process.returncode == 1
