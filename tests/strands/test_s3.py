"""Holds that a bucket is a place of strands, by boto3 and a small server that speaks the part of S3 that is needed."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

import pytest

from helix.errors import NotFoundError
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


def test_a_bucket_keeps_what_is_left_in_it(endpoint: str, tmp_path: Path) -> None:
    place = S3Remote("s3://memory/helix", endpoint)
    names = [f"{'a' * 16}/{number:08}-{'b' * 16}-{'c' * 16}.dna" for number in range(5)]
    for name in names:
        (source := tmp_path / "source").write_bytes(name.encode() * 1_000)
        place.publish(source, name)
    assert place.names() == names
    place.fetch(names[3], tmp_path / "fetched", 1 << 20)
    assert (tmp_path / "fetched").read_bytes() == names[3].encode() * 1_000
    place.remove(names[:4])
    assert S3Remote("s3://memory/helix", endpoint).names() == names[4:]
    with pytest.raises(NotFoundError, match="cannot be reached"):
        place.fetch(names[0], tmp_path / "gone", 1 << 20)
    with pytest.raises(NotFoundError, match="cannot be reached"):
        S3Remote("s3://another", endpoint).names()
