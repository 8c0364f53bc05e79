"""Holds that a bucket is a place of strands, by boto3 and a small server that speaks the part of S3 that is needed."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

import pytest

from helix.errors import InvalidInputError, NotFoundError
from helix.strands import s3_remote
from helix.strands.s3_remote import S3Remote
from tests.sampling import some


class Bucket(BaseHTTPRequestHandler):
    """One bucket, `memory`, which pages its lists by two."""

    objects: dict[str, bytes]

    def _key(self) -> str:
        return unquote(urlsplit(self.path).path).removeprefix("/memory").lstrip("/")

    def _answer(self, status: int, body: bytes = b"") -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def do_PUT(self) -> None:
        self.objects[self._key()] = self.rfile.read(int(self.headers["Content-Length"]))
        self._answer(200)

    def do_DELETE(self) -> None:
        self.objects.pop(self._key(), None)
        self._answer(204)

    def do_GET(self) -> None:
        if not unquote(urlsplit(self.path).path).startswith("/memory"):
            self._answer(404, b"<Error><Code>NoSuchBucket</Code><Message>none</Message></Error>")
        elif key := self._key():
            self._answer(200 if key in self.objects else 404, self.objects.get(key, b""))
        else:
            self._list(parse_qs(urlsplit(self.path).query))

    do_HEAD = do_GET

    def _list(self, asked: dict[str, list[str]]) -> None:
        after = asked.get("continuation-token", [""])[0]
        keys = sorted(key for key in self.objects if key.startswith(asked.get("prefix", [""])[0]) and key > after)
        more = f"<NextContinuationToken>{keys[1]}</NextContinuationToken>" if len(keys) > 2 else ""
        told = "".join(f"<Contents><Key>{key}</Key></Contents>" for key in keys[:2])
        cut = "true" if more else "false"
        self._answer(200, f"<ListBucketResult><IsTruncated>{cut}</IsTruncated>{more}{told}</ListBucketResult>".encode())

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of the server; who asks is told by the environment."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "of-a-test")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    handler = type("Held", (Bucket,), {"objects": {"elsewhere/x": b"not below the prefix"}})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def place_at(endpoint: str, address: str = "s3://memory/helix") -> S3Remote:
    return S3Remote(address, endpoint, lambda: False)


class Endless(Bucket):
    """A server whose lists and objects never end; `told` counts what it was asked for."""

    told: list[str]

    def do_GET(self) -> None:
        self.told.append(self.path)
        if self._key().endswith("large"):
            self._answer(200, b"x" * 5_000)
        elif self._key():
            self._stream(b"x" * 1_000)
        elif "without-end" in self.path:
            self._stream(b"<Contents><Key>a</Key></Contents>" * 1_000)
        else:
            keys = "".join(f"<Contents><Key>helix/{len(self.told)}/{number}</Key></Contents>" for number in range(40))
            more = f"<IsTruncated>true</IsTruncated><NextContinuationToken>{len(self.told)}</NextContinuationToken>"
            self._answer(200, f"<ListBucketResult>{more}{keys}</ListBucketResult>".encode())

    def _stream(self, block: bytes) -> None:
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        with suppress(OSError):
            while True:
                self.wfile.write(b"%x\r\n%b\r\n" % (len(block), block))


@pytest.fixture
def endless(endpoint: str) -> Iterator[tuple[str, list[str]]]:
    """The address of a server that never ends, and what it was asked for."""
    handler = type("Hostile", (Endless,), {"objects": {}, "told": [], "protocol_version": "HTTP/1.1"})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", handler.told
        server.shutdown()


@pytest.mark.soak
def test_a_list_without_an_end_is_given_up(
    endless: tuple[str, list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    endpoint, asked = endless
    monkeypatch.setattr(s3_remote, "_MOST_NAMES", 100)
    with pytest.raises(InvalidInputError, match="more than 100 objects"):
        place_at(endpoint).names()
    assert len(asked) == 3
    monkeypatch.setattr(s3_remote, "_MOST_ANSWER", 1 << 20)
    with pytest.raises(NotFoundError, match="no end"):
        place_at(endpoint, "s3://memory/without-end").names()


def test_an_object_brings_no_more_than_may_be_fetched(endless: tuple[str, list[str]], tmp_path: Path) -> None:
    endpoint, _ = endless
    for name in ("large", "endless"):
        with pytest.raises((InvalidInputError, NotFoundError)):
            place_at(endpoint).fetch(name, tmp_path / name, 4_000)
        assert (tmp_path / name).stat().st_size <= 4_000


ENDLESS = {
    "a header": (b"HTTP/1.1 200 OK\r\nX: ", b"a"),
    "that one may go on": (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "a part's length": (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;", b"a"),
}


class Slow(BaseHTTPRequestHandler):
    """Begins an answer with `words[0]`, and sends `words[1]` again and again from then on."""

    words: tuple[bytes, bytes]

    def _answer(self) -> None:
        first, again = self.words
        with suppress(OSError):
            self.wfile.write(first)
            while again:
                self.wfile.write(again)
                time.sleep(0.02)

    do_GET = do_PUT = do_DELETE = _answer

    def handle_expect_100(self) -> bool:
        """Say of it that one may go on, but not where that ends."""
        self.wfile.write(b"HTTP/1.1 100 Continue\r\n")
        self.close_connection = True
        return False

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def slow(endpoint: str) -> Iterator[Callable[[tuple[bytes, bytes]], str]]:
    """Serve such answers; returns the address."""
    with ExitStack() as until_the_end:

        def serve(words: tuple[bytes, bytes]) -> str:
            server = ThreadingHTTPServer(("127.0.0.1", 0), type("One", (Slow,), {"words": words}))
            server.daemon_threads = True
            until_the_end.enter_context(server)
            until_the_end.callback(server.shutdown)
            threading.Thread(target=server.serve_forever, daemon=True).start()
            return f"http://127.0.0.1:{server.server_port}"

        yield serve


@pytest.mark.parametrize("words", some(((words,) for words in ENDLESS.values()), 1), ids=ENDLESS)
@pytest.mark.parametrize("asked", some([True, False], 1), ids=["stop", "patience"])
def test_an_answer_that_never_begins_is_given_up(
    slow: Callable[[tuple[bytes, bytes]], str],
    words: tuple[bytes, bytes],
    asked: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if not asked:
        monkeypatch.setattr(s3_remote, "_PATIENCE_SECONDS", 0.3)
    place = S3Remote("s3://memory/helix", slow(words), lambda: asked)
    (source := tmp_path / "source").write_bytes(b"x")
    for ask in (place.names, lambda: place.publish(source, "a"), lambda: place.fetch("a", tmp_path / "b", 9)):
        with pytest.raises(NotFoundError, match="cannot be reached"):
            ask()


def test_what_may_be_sent_is_sent_without_being_told_so(
    slow: Callable[[tuple[bytes, bytes]], str], tmp_path: Path
) -> None:
    """boto3 would look for the end of "100 Continue" for ever, though the connection is at its end."""
    (source := tmp_path / "source").write_bytes(b"x")
    place_at(slow((b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", b""))).publish(source, "a")


@pytest.mark.parametrize("told", ["<Size>1</Size>", "<Key>helix/a</Key><Size>x</Size>"])
def test_a_list_that_no_bucket_gives_is_none(slow: Callable[[tuple[bytes, bytes]], str], told: str) -> None:
    body = f"<ListBucketResult><Contents>{told}</Contents></ListBucketResult>".encode()
    address = slow((b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body), b""))
    with pytest.raises(InvalidInputError, match="answers as no bucket does"):
        place_at(address).names()


def test_a_bucket_keeps_what_is_left_in_it(endpoint: str, tmp_path: Path) -> None:
    place = place_at(endpoint)
    names = [f"{'a' * 16}/{number:08}-{'b' * 16}-{'c' * 16}.dna" for number in range(5)]
    for name in names:
        (source := tmp_path / "source").write_bytes(name.encode() * 1_000)
        place.publish(source, name)
    assert place.names() == names
    place.fetch(names[3], tmp_path / "fetched", 1 << 20)
    assert (tmp_path / "fetched").read_bytes() == names[3].encode() * 1_000
    place.remove(names[:4])
    assert place_at(endpoint).names() == names[4:]
    with pytest.raises(NotFoundError, match="cannot be reached"):
        place.fetch(names[0], tmp_path / "gone", 1 << 20)
    with pytest.raises(NotFoundError, match="cannot be reached"):
        place_at(endpoint, "s3://another").names()
