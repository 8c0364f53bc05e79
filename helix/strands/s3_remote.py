"""A bucket as a place of strands: S3, or whatever speaks its protocol. boto3 is an extra: `helix-memory[s3]`."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError, HTTPClientError
from botocore.httpsession import ProtocolError, URLLib3ReadTimeoutError, URLLib3SSLError

from helix import files
from helix.errors import InvalidInputError, NotFoundError
from helix.patience import Patience, ending
from helix.strands.place import Remote, check_size

_WAITING = Config(
    connect_timeout=10,
    read_timeout=60,
    retries={"max_attempts": 3},
    request_checksum_calculation="when_required",  # many servers that speak the protocol know no other
    response_checksum_validation="when_required",
)
_MOST_NAMES = 100_000
_MOST_ANSWER = 8 << 20
_BLOCK = 1 << 16
_PATIENCE_SECONDS, _SLOWEST = 120.0, 100
"""How long a server may take its time, and how many bytes it has to send in a second from then on."""
_HINT = "AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_REGION say who asks; HELIX_S3_ENDPOINT names another server"


class S3Remote(Remote):
    """The objects of a bucket below a prefix; who asks is told by the environment, or by AWS's own files."""

    def __init__(self, address: str, endpoint: str, stopped: Callable[[], bool]) -> None:
        said = urlsplit(address)
        self._bucket, self._prefix = said.netloc, f"{said.path.strip('/')}/".lstrip("/")
        self._address, self._stopped, self._most = address, stopped, _MOST_ANSWER
        self._client = boto3.client("s3", endpoint_url=endpoint or None, config=_WAITING)
        self._client.meta.events.register("before-send.s3", self._sent)
        pools = self._client._endpoint.http_session._pool_classes_by_scheme
        pools.update({scheme: _patient(pool, stopped) for scheme, pool in pools.items()})

    def _sent(self, request: Any, **_: object) -> Any:
        """Send a request as boto3 does, and have its answer come bit by bit, as long as it may."""
        request.stream_output = True
        request.headers.pop("Expect", None)  # boto3 would wait for ever for the end of what tells it to go on
        response = self._client._endpoint.http_session.send(request)
        most = self._most if response.status_code < 300 else _MOST_ANSWER
        response.raw = _Bounded(response.raw, most, self._stopped)
        return response

    def names(self) -> list[str]:
        """Return the names of all objects below the prefix; raises InvalidInputError for more than anybody leaves."""
        found = list[str]()
        with _Telling(self._address):
            pages = self._client.get_paginator("list_objects_v2").paginate(Bucket=self._bucket, Prefix=self._prefix)
            for number, page in enumerate(pages):
                found += (one["Key"].removeprefix(self._prefix) for one in page.get("Contents", ()))
                if max(number, len(found)) > _MOST_NAMES:
                    raise InvalidInputError(f"{self._address} lists more than {_MOST_NAMES:,} objects")
        return found

    def fetch(self, name: str, target: Path, most: int) -> None:
        """Download a strand to a new file."""
        with _Telling(self._address), os.fdopen(files.create_private(target, exclusive=True), "wb") as file:
            self._most = most
            try:
                said = self._client.get_object(Bucket=self._bucket, Key=self._prefix + name)
                check_size(int(said.get("ContentLength", 0)), most)
                file.writelines(said["Body"].iter_chunks(_BLOCK))
            finally:
                self._most = _MOST_ANSWER

    def publish(self, source: Path, name: str) -> None:
        """Upload a strand; an object is there whole or not at all."""
        with _Telling(self._address):
            self._client.upload_file(str(source), self._bucket, self._prefix + name)

    def remove(self, names: Sequence[str]) -> None:
        """Delete strands from the bucket."""
        with _Telling(self._address):
            for name in names:
                self._client.delete_object(Bucket=self._bucket, Key=self._prefix + name)


def _patient(pool: Any, stopped: Callable[[], bool]) -> Any:
    """Return a class of pools whose connections end where one that sends or is sent nothing for long, or is to stop."""

    class Connection(pool.ConnectionCls):  # type: ignore[misc]
        sent = 0

        def send(self, data: object) -> None:
            super().send(data)
            self.sent += 1

        def request(self, *arguments: object, **options: object) -> None:
            if self.sock is None:
                self.connect()
            with ending(self.sock, self._over()):
                super().request(*arguments, **options)

        def getresponse(self) -> Any:
            connected, over = self.sock, self._over()
            with ending(connected, over):
                response = super().getresponse()
            if over():  # half a header reads as a whole one
                response.close()
                raise TimeoutError("its answer comes to no end")
            response.connected = connected
            return response

        def _over(self) -> Callable[[], bool]:
            return partial(_is_over, Patience(_PATIENCE_SECONDS, lambda: self.sent), stopped)

    return type(pool.__name__, (pool,), {"ConnectionCls": Connection})


def _is_over(patience: Patience, stopped: Callable[[], bool]) -> bool:
    return stopped() or patience.is_over()


class _Bounded:
    """The body of an answer, which has an end: so many bytes, in some time, and not beyond being asked to stop."""

    def __init__(self, raw: Any, most: int, stopped: Callable[[], bool]) -> None:
        self._raw, self._left, self._stopped = raw, most, stopped
        self._began, self._read = time.monotonic(), 0

    def read(self, amt: int | None = None) -> bytes:
        """Return what has come of a strand in S3, at most `amt` bytes; nothing at the end."""
        over = partial(_is_over, Patience(_PATIENCE_SECONDS), self._stopped)
        try:
            with ending(self._raw.connected, over):
                block: bytes = self._raw.read1(min(amt or _BLOCK, _BLOCK))
        except (ProtocolError, URLLib3ReadTimeoutError, URLLib3SSLError) as error:
            raise HTTPClientError(error=error) from error
        self._read += len(block)
        self._left -= len(block)
        took = time.monotonic() - self._began
        if self._left < 0 or (took > _PATIENCE_SECONDS and self._read < took * _SLOWEST) or self._stopped():
            self._raw.close()
            raise HTTPClientError(error="its answer comes to no end")
        return block

    def stream(self) -> Iterator[bytes]:
        """Yield what comes."""
        return iter(self.read, b"")

    def close(self) -> None:
        """Let the connection to a strand's bucket go."""
        self._raw.close()


class _Telling:
    """Turns what boto3 raises into an error of Helix's."""

    def __init__(self, address: str) -> None:
        self._address = address

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, at: object) -> None:
        if isinstance(error, BotoCoreError | ClientError | boto3.exceptions.Boto3Error):
            raise NotFoundError(f"{self._address} cannot be reached: {error}", hint=_HINT) from error
        if isinstance(error, KeyError | TypeError | ValueError | RuntimeError):
            raise InvalidInputError(f"{self._address} answers as no bucket does", hint=_HINT) from error
