"""Holds that a bucket is a place of strands, by boto3 and a small server that speaks the part of S3 that is needed."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

import pytest

from helix.errors import InvalidInputError, NotFoundError
from helix.strands import s3_remote
from helix.strands.s3_remote import S3Remote


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
