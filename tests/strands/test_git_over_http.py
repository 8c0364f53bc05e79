"""Holds that a git server may be slow, and may neither hold a sync up nor fill disk or memory: by git's own server."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from helix.errors import InvalidInputError, NotFoundError
from helix.ingest import repository
from helix.strands.git_remote import BRANCH, GitRemote
from tests.sampling import some
from tests.waiting import until

NAME = f"{'a' * 16}/00000001-{'b' * 16}-{'c' * 16}.dna"
SIZE = 1 << 20


class Server(BaseHTTPRequestHandler):
    """What is asked of repositories below a folder is answered by `git http-backend`, a pack bit by bit."""

    root: Path
    pause = 0.0
    stands_still = False
    over = threading.Event()

    def _answer(self) -> None:
        said, body = urlsplit(self.path), self.rfile.read(int(self.headers.get("Content-Length", 0)))
        given = {
            "GIT_PROJECT_ROOT": str(self.root),
            "GIT_HTTP_EXPORT_ALL": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
            "PATH_INFO": said.path,
            "QUERY_STRING": said.query,
            "REQUEST_METHOD": self.command,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "CONTENT_LENGTH": str(len(body)),
        }
        ran = subprocess.run(
            ["git", "http-backend"], input=body, stdout=subprocess.PIPE, env={**os.environ, **given}, check=True
        )
        head, _, answer = ran.stdout.partition(b"\r\n\r\n")
        self.send_response(200)
        for line in head.decode().splitlines():
            self.send_header(*line.split(": ", 1))
        self.end_headers()
        self._slowly(answer)

    def _slowly(self, answer: bytes) -> None:
        step = SIZE // 16
        for start in range(0, len(answer), step):
            self.wfile.write(answer[start : start + step])
            if len(answer) > SIZE:
                self.over.wait(60 if self.stands_still and start > SIZE // 2 else self.pause)

    do_GET = do_POST = _answer

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[tuple[type[Server], str]]:
    """A server with an empty repository, and its address."""
    there = tmp_path / "there" / "memory.git"
    subprocess.run(["git", "init", "--quiet", "--bare", str(there)], check=True)
    handler = type("Of", (Server,), {"root": there.parent, "over": threading.Event()})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as served:
        served.daemon_threads = True
        threading.Thread(target=served.serve_forever, daemon=True).start()
        yield handler, f"http://127.0.0.1:{served.server_port}/memory.git"
        handler.over.set()
        served.shutdown()


def at(folder: Path, address: str) -> GitRemote:
    return GitRemote(folder, address, lambda: False)


@pytest.fixture
def filled(tmp_path: Path, server: tuple[type[Server], str]) -> tuple[type[Server], str]:
    """The server, once a strand lies there."""
    (source := tmp_path / "source").write_bytes(os.urandom(2 * SIZE))
    at(tmp_path / "mine.git", str(tmp_path / "there" / "memory.git")).publish(source, NAME)
    return server


@pytest.mark.soak
def test_a_transfer_that_goes_on_may_take_longer_than_git_may_be_silent(
    filled: tuple[type[Server], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    handler, address = filled
    monkeypatch.setattr(repository, "_SILENCE_SECONDS", 4)
    handler.pause, began = 0.2, time.monotonic()
    place = at(tmp_path / "other.git", address)
    assert place.names() == [NAME]
    assert time.monotonic() - began > 4
    place.fetch(NAME, tmp_path / "fetched", 4 * SIZE)
    assert (tmp_path / "fetched").read_bytes() == (tmp_path / "source").read_bytes()


@pytest.mark.soak
def test_a_transfer_that_stands_still_is_ended(
    filled: tuple[type[Server], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    handler, address = filled
    monkeypatch.setattr(repository, "_SILENCE_SECONDS", 2)
    handler.stands_still = True
    with pytest.raises(InvalidInputError, match="did not answer"):
        at(tmp_path / "other.git", address).names()
    assert not list((tmp_path / "other.git").glob("objects/pack/tmp_*"))
    handler.stands_still = False
    assert at(tmp_path / "other.git", address).names() == [NAME]


@pytest.mark.soak
@pytest.mark.parametrize(
    "left", some(["shallow.lock", "refs/helix/strands.lock", "config.lock", "objects/pack/tmp_pack_1"], 1)
)
def test_what_git_leaves_that_was_killed_stops_no_later_sync(
    filled: tuple[type[Server], str], tmp_path: Path, left: str
) -> None:
    _, address = filled
    assert at(tmp_path / "other.git", address).names() == [NAME]
    (lock := tmp_path / "other.git" / left).write_bytes(b"")
    (source := tmp_path / "another").write_bytes(b"x")
    at(tmp_path / "mine.git", str(tmp_path / "there" / "memory.git")).publish(source, another := NAME.replace("1", "2"))
    assert at(tmp_path / "other.git", address).names() == [NAME, another]
    assert not lock.exists()


def test_git_that_waits_at_a_place_for_a_pipe_is_ended_with_what_it_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(repository, "_SILENCE_SECONDS", 2)
    there = tmp_path / "there.git"
    subprocess.run(["git", "init", "--quiet", "--bare", str(there)], check=True)
    os.mkfifo(there / BRANCH)
    with pytest.raises(NotFoundError, match="cannot be reached"):
        at(tmp_path / "mine.git", str(there)).names()

    def running() -> str:
        return subprocess.run(["ps", "-A", "-ww", "-o", "args="], capture_output=True, text=True, check=True).stdout

    until(lambda: str(there) not in running())


def test_a_server_fills_no_disk(
    filled: tuple[type[Server], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    handler, address = filled
    monkeypatch.setattr(repository, "_MOST_BROUGHT", SIZE // 4)
    handler.pause = 0.2
    with pytest.raises(InvalidInputError, match="more than there is room for"):
        at(tmp_path / "other.git", address).names()


def test_trees_that_hold_each_other_fill_no_memory(tmp_path: Path) -> None:
    there = tmp_path / "there.git"

    def git(*arguments: str, given: str = "") -> str:
        command = ["git", "-C", str(there), "-c", "user.name=a", "-c", "user.email=a", *arguments]
        return subprocess.run(command, input=given, capture_output=True, text=True, check=True).stdout.strip()

    subprocess.run(["git", "init", "--quiet", "--bare", str(there)], check=True)
    kind, held = "100644 blob", git("hash-object", "-w", "--stdin", given="x")
    for _ in range(4):
        entries = "".join(f"{kind} {held}\t{number:03}\n" for number in range(100))
        kind, held = "040000 tree", git("mktree", given=entries)
    git("update-ref", BRANCH, git("commit-tree", held, "-m", "strands"))
    with pytest.raises(InvalidInputError, match="more files or branches"):
        at(tmp_path / "mine.git", str(there)).names()
