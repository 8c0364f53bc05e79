"""A bucket as a place of strands: S3, or whatever speaks its protocol. boto3 is an extra: `helix-memory[s3]`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlsplit

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from helix.errors import NotFoundError
from helix.strands.place import Remote, check_size

_WAITING = Config(
    connect_timeout=10,
    read_timeout=60,
    retries={"max_attempts": 3},
    request_checksum_calculation="when_required",  # many servers that speak the protocol know no other
    response_checksum_validation="when_required",
)
_HINT = "AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_REGION say who asks; HELIX_S3_ENDPOINT names another server"


class S3Remote(Remote):
    """The objects of a bucket below a prefix; who asks is told by the environment, or by AWS's own files."""

    def __init__(self, address: str, endpoint: str) -> None:
        said = urlsplit(address)
        self._bucket, self._prefix = said.netloc, f"{said.path.strip('/')}/".lstrip("/")
        self._address = address
        self._client = boto3.client("s3", endpoint_url=endpoint or None, config=_WAITING)

    def names(self) -> list[str]:
        """Return the names of all objects below the prefix."""
        with _Telling(self._address):
            pages = self._client.get_paginator("list_objects_v2").paginate(Bucket=self._bucket, Prefix=self._prefix)
            return [one["Key"].removeprefix(self._prefix) for page in pages for one in page.get("Contents", ())]

    def fetch(self, name: str, target: Path, most: int) -> None:
        """Download an object to a new file."""
        with _Telling(self._address):
            said = self._client.head_object(Bucket=self._bucket, Key=self._prefix + name)
            check_size(int(said["ContentLength"]), most)
            self._client.download_file(self._bucket, self._prefix + name, str(target))

    def publish(self, source: Path, name: str) -> None:
        """Upload a file; an object is there whole or not at all."""
        with _Telling(self._address):
            self._client.upload_file(str(source), self._bucket, self._prefix + name)

    def remove(self, names: Sequence[str]) -> None:
        """Delete objects."""
        with _Telling(self._address):
            for name in names:
                self._client.delete_object(Bucket=self._bucket, Key=self._prefix + name)


class _Telling:
    """Turns what boto3 raises into an error of Helix's."""

    def __init__(self, address: str) -> None:
        self._address = address

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, at: object) -> None:
        if isinstance(error, BotoCoreError | ClientError | boto3.exceptions.Boto3Error):
            raise NotFoundError(f"{self._address} cannot be reached: {error}", hint=_HINT) from error
