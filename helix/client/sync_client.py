"""The blocking client: GraphQL over HTTP to a daemon, with the standard library alone, so that hooks start fast."""

from __future__ import annotations

import http.client
import selectors
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from helix import local_socket
from helix.client.sync_operations import Operations
from helix.client.wire import (
    DEFAULT_TIMEOUT,
    EVENTS,
    MOST_ANSWER,
    PATH,
    BrokenOffError,
    EventStream,
    Relocate,
    WireRequest,
    address_of,
    broken_off,
    data_of,
    nobody_there,
    request_for,
    request_of,
    results_of,
    secure_address_of,
    too_late,
    too_much,
)
from helix.errors import DaemonError
from helix.patience import Patience, ending, is_ready

_CHUNK, _LINE = 1 << 20, 1 << 16


class Client(Operations):
    """Talks to one daemon over one connection that is kept open; threads that share a client take turns.

    Each operation is a method, `run` takes any of them by its name. `timeout` is in seconds, per request with its
    whole answer, and per line of a subscription. `store` is the folder of the daemon's store: the daemon is then
    reached by the socket in it, and gets the token only if it is a process of this user; without it, by `url`, which
    must be of this machine. With `relocate`, a daemon that has gone (an idle one leaves) is looked for once more before
    a request fails. What may have reached a daemon is sent a second time where that does no harm: what only reads, and
    what has an idempotency key, which has it count once. That is where the connection breaks off, and not after the
    time is up. What a coding agent runs says so to the daemon: what is stored is then the agent's, and what only a
    person may ask for is refused. With `team` it talks to a team's server, by TLS where that is another machine, and
    `token` is a key of it.
    """

    def __init__(
        self,
        url: str,
        token: str,
        timeout: float = DEFAULT_TIMEOUT,
        *,
        store: Path | None = None,
        relocate: Relocate | None = None,
        team: bool = False,
    ) -> None:
        self.url = url
        self._store = store
        self._token = token
        self._timeout = timeout
        self._relocate = relocate
        self._team = team
        self._connection: http.client.HTTPConnection | None = None
        self._turn = threading.Lock()

    def execute(self, document: str, variables: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Return the `data` of one GraphQL operation; its first error is raised as the class its code names."""
        return self._answered(request_of(document, variables))

    def run(self, operation: str, **arguments: Any) -> dict[str, Any]:
        """Run an operation by its name and return its `data` as JSON has it; see `wire.document`.

        Arguments go by their Python names and types: `budget_tokens` is sent as `budgetTokens`, a member of an enum
        by its name, a time as ISO 8601. None stands for "not given". An operation that takes an `idempotency_key` is
        given a new one where it has none.
        """
        request = request_for(operation, arguments)
        return results_of(request, self._answered(request))

    def _ask(self, operation: str, /, **arguments: Any) -> Any:
        from helix.client import typed  # brings the whole domain model, which `run` does without

        request = request_for(operation, typed.given(operation, arguments), by_hand=False)
        return typed.answer(operation, results_of(request, self._answered(request)))

    def _listen(self, operation: str, /, **arguments: Any) -> Iterator[Any]:
        from helix.client import typed

        request = request_for(operation, arguments)
        events = EventStream(self.url)
        with self.exchange("POST", PATH, request.body, {"accept": EVENTS}, events.sign) as response:
            if not response.headers.get("content-type", "").startswith(EVENTS):
                data_of(self.url, response.status, self._read_body(response))
            while not events.ended and (part := response.readline(_LINE)):
                for data in events.take(part):
                    yield typed.answer(operation, data)
        if not events.ended:
            raise broken_off(self.url, "the stream ended")

    @contextmanager
    def exchange(
        self, method: str, path: str, body: bytes, headers: Mapping[str, str], measure: Callable[[], int] | None = None
    ) -> Iterator[http.client.HTTPResponse]:
        """Send a request over a connection of its own, which many threads may do at once, and yield its answer.

        The answer is read as it comes; with `measure` it ends where that stays the same for longer than `timeout`.
        Raises DaemonError where none does, and InvalidInputError for too long a body.
        """
        connection = self._opened_or_found()
        shown = {**WireRequest(body=body).headers(self._token), **headers}
        try:
            opened = connection.sock  # which the connection lets go of where it is the last answer
            with ending(opened, Patience(self._timeout).is_over):
                connection.request(method, path, body, shown)
                response = connection.getresponse()
            with ending(opened, Patience(self._timeout, measure).is_over) if measure else nullcontext():
                yield response
        except (OSError, http.client.HTTPException) as error:
            raise broken_off(self.url, repr(error)) from error
        finally:
            connection.close()

    def close(self) -> None:
        """Close the connection; the client opens another when it is used again."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _answered(self, request: WireRequest) -> dict[str, Any]:
        with self._turn:
            status, answer = self._sent_safely(request)
        return data_of(self.url, status, answer)

    def _sent_safely(self, request: WireRequest) -> tuple[int, bytes]:
        """Return status and body of the answer; send the request once more where that is harmless."""
        try:
            return self._sent(request)
        except BrokenOffError as broken:
            if not request.again:
                raise
            try:
                return self._sent(request)
            except DaemonError as error:
                raise broken from error

    def _sent(self, request: WireRequest) -> tuple[int, bytes]:
        connection, patience = self._connected(), Patience(self._timeout)
        try:
            with ending(connection.sock, patience.is_over):
                connection.request("POST", PATH, request.body, request.headers(self._token))
                response = connection.getresponse()
                answer = self._read_body(response)
            if patience.is_over():
                raise TimeoutError
            return response.status, answer
        except (OSError, http.client.HTTPException) as error:
            self.close()
            if isinstance(error, TimeoutError) or patience.is_over():
                raise too_late(self.url, self._timeout) from error
            raise broken_off(self.url, repr(error)) from error
        except BaseException:
            # An interrupted request leaves its answer behind on the connection: the next one must not read it.
            self.close()
            raise

    def _read_body(self, response: http.client.HTTPResponse) -> bytes:
        """Return the body of an answer, taken part by part: a stranger's may have no end, or an untrue length."""
        parts, size = [], 0
        while part := response.read(_CHUNK):
            parts.append(part)
            size += len(part)
            if size > MOST_ANSWER:
                raise too_much(self.url)
        if response.length:
            raise http.client.IncompleteRead(b"", response.length)
        return b"".join(parts)

    def _connected(self) -> http.client.HTTPConnection:
        """Return a connection that is open as far as can be known: nothing is sent into one that is going away."""
        if self._connection is not None and _is_closing(self._connection):
            self.close()
        if self._connection is None:
            self._connection = self._opened_or_found()
        return self._connection

    def _opened_or_found(self) -> http.client.HTTPConnection:
        try:
            return self._opened()
        except DaemonError:
            if self._relocate is None:
                raise
            self.url, self._token = self._relocate()
            return self._opened()

    def _opened(self) -> http.client.HTTPConnection:
        connection: http.client.HTTPConnection
        if self._team and (secure := secure_address_of(self.url)) is not None:
            connection = http.client.HTTPSConnection(*secure, timeout=self._timeout)
        else:
            connection = found = _SocketConnection(*address_of(self.url), timeout=self._timeout)
            found.store = self._store
        try:
            connection.connect()
        except OSError as error:
            raise nobody_there(self.url, error, team=self._team) from error
        return connection


class _SocketConnection(http.client.HTTPConnection):
    """HTTP over the socket in a store's folder, where there is such."""

    store: Path | None = None

    def connect(self) -> None:
        if self.store is None or not local_socket.HAS_UNIX:
            super().connect()
        else:
            self.sock = local_socket.connect(self.store, self.timeout)


def _is_closing(connection: http.client.HTTPConnection) -> bool:
    """Whether an idle connection has something to read: between requests that can only be its end."""
    return connection.sock is None or is_ready(connection.sock, selectors.EVENT_READ, 0)
