"""A shared Helix as a place of strands: what `/sync/v1` serves, by HTTP or HTTPS.

A token lets this store in; the other side says of which scopes, and signs with a key that has to be known here. What
breaks off goes on where it ended: strands are fetched by ranges and left by parts
(https://datatracker.ietf.org/doc/draft-ietf-httpbis-resumable-upload/).
"""

from __future__ import annotations

import http.client
import json
import os
import socket
import ssl
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from helix import files
from helix.errors import ConflictError, HelixError, InvalidInputError, NotFoundError, UnauthorizedError
from helix.model.strand import SYNC_PATH
from helix.patience import Patience, ending
from helix.processes import SYNC_TOKEN
from helix.strands.place import Remote, Terms, check_size
from helix.text.inert import inert, quoted

PART_BYTES = 2 << 20
"""Bytes of a part in which a strand is left."""
_SECONDS = 60.0
_TURN_SECONDS = 1800.0
_ANSWERED, _STALLED = 600.0, 120.0
"""Seconds for a whole answer, and for each block of a strand that is fetched."""
_TRIES, _FIRST_TRIES = 5, 2
"""How often something is asked; the second where nobody listens and nobody has answered before."""
_BLOCK = 1 << 16
_MOST_ANSWER = 8 << 20
_MOST_DIGITS = 15
_LONGEST_WORDS = 500
_BROKEN = (OSError, http.client.HTTPException)
_ERRORS: Mapping[int, type[HelixError]] = {400: InvalidInputError, 404: NotFoundError, 409: ConflictError}


@dataclass(frozen=True, slots=True)
class _Answer:
    status: int
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        """Return what the body says; raises InvalidInputError where it is no JSON."""
        try:
            return json.loads(self.body or b"{}")
        except (ValueError, RecursionError) as error:
            raise InvalidInputError(f"the answer (HTTP {self.status}) is none of a Helix") from error


class HttpRemote(Remote):
    """What one Helix shares with the holder of `token`."""

    def __init__(self, address: str, token: str | None, stopped: Callable[[], bool]) -> None:
        """Raises UnauthorizedError without a token."""
        if not token:
            raise UnauthorizedError(
                f"no token for {address} is kept", hint=f"`helix sync` asks for it, or takes it from {SYNC_TOKEN}"
            )
        self._address, self._token, self._stopped = address, token, stopped
        self._broken: Exception | None = None
        self._met = False
        self._connection: http.client.HTTPConnection | None = None

    def close(self) -> None:
        """End the connection that the requests of a sync go by, one after the other; the next request makes another."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def terms(self) -> Terms:
        """Return with whom strands are exchanged there, and of which scopes."""
        with self._as_a_helix():
            said = self._asked("GET", "/")
            scopes, write = tuple(map(str, said["scopes"])), said["write"] is True
            return Terms(peer=str(said["key"]), scopes=scopes, asked=True, may_leave=write)

    def names(self) -> list[str]:
        """Have the other side import what lies there and leave what it holds; return the names of all strands."""
        self._turn()
        with self._as_a_helix():
            return [str(one["name"]) for one in self._asked("GET", "/strands")["strands"]]

    def fetch(self, name: str, target: Path, most: int) -> None:
        """Write a strand to a new file, as often going on as the connection breaks off."""
        with os.fdopen(files.create_private(target, exclusive=True), "wb") as file:
            for _ in self._tries():
                try:
                    if self._fetch_more(name, file, most):
                        return
                except _BROKEN as error:
                    self._broken = error

    def _fetch_more(self, name: str, file: Any, most: int) -> bool:
        """Fetch from where the file ends; return whether that is all of it."""
        held = file.tell()
        asked = {"Range": f"bytes={held}-"}
        with self._sent("GET", f"/strands/{name}", headers=asked, patience=Patience(_STALLED, file.tell)) as response:
            if response.status not in (200, 206):
                self._refuse(_answer_of(response))
            if response.status == 200 and held:
                file.seek(0)
                file.truncate()
            total = _total(response)
            check_size(total, most)
            while (block := response.read(_BLOCK)) and file.tell() <= total:
                file.write(block)
        return bool(file.tell() == total)

    def publish(self, source: Path, name: str) -> None:
        """Leave a strand part by part, and have the other side take it in."""
        total = source.stat().st_size
        with files.open_regular(source) as content:
            for _ in self._tries():
                try:
                    if self._leave_rest(name, content, total):
                        break
                except _BROKEN as error:
                    self._broken = error
        for problem in self._turn():
            if name in problem:
                raise InvalidInputError(f"{self._address} did not take it in: {problem}")

    def _leave_rest(self, name: str, content: Any, total: int) -> bool:
        """Leave what has not arrived yet; return whether all has."""
        offset, complete = self._arrived(name)
        for _ in range(2 * (total // PART_BYTES + _TRIES)):
            if complete:
                return True
            self._check_going()
            content.seek(offset)
            said = {"Upload-Offset": str(offset), "Upload-Length": str(total)}
            headers = {**said, "Content-Type": "application/partial-upload"}
            answer = self._answer("PATCH", f"/uploads/{name}", content.read(PART_BYTES), headers)
            if answer.status not in (201, 204, 409):
                self._refuse(answer)
            offset, complete = self._arrived(name) if answer.status == 409 else _place_in(answer)
        return False

    def _arrived(self, name: str) -> tuple[int, bool]:
        answer = self._answer("HEAD", f"/uploads/{name}")
        if answer.status != 204:
            self._refuse(answer)
        return _place_in(answer)

    def remove(self, names: Sequence[str]) -> None:
        """Take away strands that this store has left there."""
        for name in names:
            self._asked("DELETE", f"/strands/{name}")

    def _turn(self) -> list[str]:
        """Have the other side exchange what lies there with its store; return what it passed over."""
        end = time.monotonic() + _TURN_SECONDS
        while (answer := self._answer("POST", "/turns")).status == 409:  # it exchanges with somebody else
            self._wait(end)
        with self._as_a_helix():
            job = str(self._json_of(answer)["job"])
            while (said := self._asked("GET", f"/turns/{job}"))["state"] == "running":
                self._wait(end)
            if said["state"] != "done":
                why = _words(said["error"])
                raise ConflictError(f"{self._address} could not exchange: {why}", hint="try again later")
            return [_words(one) for one in said["problems"]]

    @contextmanager
    def _as_a_helix(self) -> Iterator[None]:
        """Raise InvalidInputError for an answer that is another one than what a Helix gives."""
        try:
            yield
        except (KeyError, TypeError, AttributeError) as error:
            raise InvalidInputError(f"{self._address} is not a shared Helix: it answers as none does") from error

    def _wait(self, end: float) -> None:
        self._check_going()
        if time.monotonic() > end:
            raise ConflictError(f"{self._address} is busy", hint="try again later")
        time.sleep(0.2)

    def _check_going(self) -> None:
        if self._stopped():
            raise ConflictError("the sync was stopped; what was imported stays")

    def _tries(self) -> Iterator[int]:
        """Count tries, with a longer wait before each; raises NotFoundError after the last."""
        self._broken = None
        for number in range(_TRIES):
            if number == _FIRST_TRIES and self._nobody_is_there():
                break
            self._check_going()
            if number:
                time.sleep(0.1 * 4**number)
            yield number
        raise NotFoundError(f"{self._address} cannot be reached: {self._broken or 'it breaks off'}", hint="try again")

    def _nobody_is_there(self) -> bool:
        return not self._met and isinstance(self._broken, ConnectionRefusedError | socket.gaierror)

    def _asked(self, method: str, path: str) -> Any:
        return self._json_of(self._answer(method, path))

    def _json_of(self, answer: _Answer) -> Any:
        if answer.status not in (200, 202, 204):
            self._refuse(answer)
        return answer.json()

    def _answer(
        self, method: str, path: str, body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> _Answer:
        """Return the answer to a request, which may be sent more than once."""
        for _ in self._tries():
            try:
                with self._sent(method, path, body, headers) as response:
                    answer = _answer_of(response)
            except _BROKEN as error:
                self._broken = error
            else:
                self._met = True
                if answer.status not in (429, 502, 503, 504):
                    return answer
                self._broken = OSError(f"HTTP {answer.status}")
        raise AssertionError("unreachable")

    @contextmanager
    def _sent(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        patience: Patience | None = None,
    ) -> Iterator[http.client.HTTPResponse]:
        """Yield what answers a request, for as long as there is patience with it."""
        self._connection = connection = self._connection or self._connected()
        patience, whole = patience or Patience(_ANSWERED), False
        try:
            if connection.sock is None:
                connection.connect()
            with ending(connection.sock, lambda: self._stopped() or patience.is_over()):
                told = {"Authorization": f"Bearer {self._token}", "Accept-Encoding": "identity", **(headers or {})}
                connection.request(method, urlsplit(self._address).path + path, body, told)
                with closing(connection.getresponse()) as response:
                    yield response  # a redirect is no answer: the token goes nowhere else
                    whole = response.isclosed() and not response.length  # it is closed, too, where it broke off
        finally:
            if not whole:
                self.close()

    def _connected(self) -> http.client.HTTPConnection:
        said = urlsplit(self._address)
        assert said.hostname is not None
        if said.scheme == "http":
            return http.client.HTTPConnection(said.hostname, said.port, timeout=_SECONDS)
        return http.client.HTTPSConnection(
            said.hostname, said.port, timeout=_SECONDS, context=ssl.create_default_context()
        )

    def _refuse(self, answer: _Answer) -> None:
        """Raise the error that an answer tells."""
        try:
            error = answer.json()["errors"][0]
            message, told = _words(error["message"]), error.get("extensions", {}).get("hint")
            hint = _words(told) if told else None
        except (InvalidInputError, AttributeError, KeyError, IndexError, TypeError):
            message, hint = f"HTTP {answer.status}", f"the address ends in {SYNC_PATH}"
        if answer.status == 401:
            hint = f"it may be revoked: ask whoever shares it for another one, and give that in {SYNC_TOKEN}"
            raise UnauthorizedError(f"the token for {self._address} is not known there", hint=hint)
        if answer.status == 403:
            raise UnauthorizedError(f"{self._address}: {message}", hint=hint)
        raise _ERRORS.get(answer.status, NotFoundError)(f"{self._address}: {message}", hint=hint)


def _words(said: object) -> str:
    """Return what the other side says as one short line in quotes: errors are shown to agents, too."""
    return quoted(inert(str(said)[:_LONGEST_WORDS]))


def _place_in(answer: _Answer) -> tuple[int, bool]:
    """Return how much of an upload has arrived, and whether that is all."""
    told = answer.headers.get("upload-offset", "")
    if not _is_size(told):
        raise http.client.HTTPException("it does not say how much has arrived")
    return int(told), answer.headers.get("upload-complete") == "?1"


def _answer_of(response: http.client.HTTPResponse) -> _Answer:
    body = response.read(_MOST_ANSWER)
    return _Answer(response.status, {name.lower(): value for name, value in response.getheaders()}, body)


def _total(response: http.client.HTTPResponse) -> int:
    """Return how many bytes the whole of what is fetched has; raises HTTPException where it does not say."""
    told = response.getheader("content-range", "").rpartition("/")[2] or response.getheader("content-length", "")
    if not _is_size(told):
        raise http.client.HTTPException("it does not say how large it is")
    return int(told)


def _is_size(told: str) -> bool:
    return told.isdecimal() and len(told) <= _MOST_DIGITS
