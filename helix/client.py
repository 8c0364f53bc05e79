"""Client: GraphQL over HTTP to a daemon, with the standard library alone, so that hooks start fast."""

from __future__ import annotations

import http.client
import json
import os
import re
import select
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from enum import Enum
from functools import cache
from pathlib import Path, PurePath
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from helix import local_socket, resources
from helix.errors import DaemonError, HelixError, InvalidInputError, NotFoundError, QueryTimeoutError
from helix.model.memory import Kind
from helix.model.speaker import HEADER, agent_of

if TYPE_CHECKING:
    from helix.model.recall import Intent

E = TypeVar("E", bound=Enum)

DEFAULT_TIMEOUT = 35.0
"""Seconds to wait for an answer: a little more than the daemon's own limit, so that its error arrives first."""

REQUEST_BYTES = 4 << 20
"""Largest body of a request that the daemon takes."""

LOOPBACK = ("127.0.0.1", "::1", "localhost")
"""Hosts that are this machine and no other."""

Relocate = Callable[[], tuple[str, str]]
"""Returns the (url, token) of a daemon that runs, starting one where none does."""

_KEY = "idempotencyKey"
_NAME = re.compile(r"^(query|mutation|subscription|fragment) (\w+)", re.MULTILINE)
_SPREAD = re.compile(r"\.\.\.\w+")
_HEADERS = {
    "content-type": "application/json",
    "accept": "application/graphql-response+json, application/json;q=0.9",
}


def document(operation: str) -> str:
    """Return the GraphQL document of an operation, with the fragments that it spreads.

    It is `queries/graphql/<operation>.graphql` where one was written by hand, for what follows the graph from node to
    node, else it comes from `queries/operations.graphql`. Raises NotFoundError for no operation.
    """
    by_hand = f"graphql/{operation}.graphql"
    if (resources.directory("queries") / by_hand).is_file():
        return resources.text("queries", by_hand)
    parts = _parts()
    wanted = [operation.title().replace("_", "")]
    if wanted[0] not in parts:
        raise NotFoundError(f"there is no operation {operation!r}", hint="the schema lists them")
    for name in wanted:
        wanted += [spread for spread in dict.fromkeys(_SPREAD.findall(parts[name])) if spread not in wanted]
    return "\n\n".join(parts[name] for name in wanted) + "\n"


@cache
def _parts() -> dict[str, str]:
    """Return the operations of `queries/operations.graphql` by their names, and the fragments as they are spread."""
    parts = resources.text("queries", "operations.graphql").strip().split("\n\n")
    names = ((_NAME.search(part), part) for part in parts)
    return {f"...{found[2]}" if found[1] == "fragment" else found[2]: part for found, part in names if found}


class Client:
    """Talks to one daemon over one connection that is kept open; threads that share a client take turns.

    `timeout` is in seconds, per request. `store` is the folder of the daemon's store: the daemon is then reached by
    the socket in it, and gets the token only if it is a process of this user; without it, by `url`, which must be of
    this machine. With `relocate`, a daemon that has gone (an idle one leaves) is looked for once more before a request
    fails. What may have reached a daemon is sent a second time only with an idempotency key, which has it count once:
    where the connection breaks off, and not after the time is up. What a coding agent runs says so to the daemon: what
    is stored is then the agent's, and what only a person may ask for is refused.
    """

    def __init__(
        self,
        url: str,
        token: str,
        timeout: float = DEFAULT_TIMEOUT,
        *,
        store: Path | None = None,
        relocate: Relocate | None = None,
    ) -> None:
        self.url = url
        self._store = store
        self._token = token
        self._timeout = timeout
        agent = agent_of(os.environ)
        self._headers = {**_HEADERS, HEADER: agent} if agent else _HEADERS
        self._relocate = relocate
        self._connection: http.client.HTTPConnection | None = None
        self._turn = threading.Lock()

    def execute(self, document: str, variables: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Return the `data` of one GraphQL operation; its first error is raised as the class its code names."""
        given = dict(variables or {})
        body = json.dumps({"query": document, "variables": given}).encode("ascii")
        with self._turn:
            status, answer = self._post(body, again=bool(given.get(_KEY)))
        return _data_of(self.url, status, answer)

    def run(self, operation: str, **arguments: Any) -> dict[str, Any]:
        """Run an operation and return its `data`: all that it answers with; see `document`.

        Arguments go by their Python names and types: `budget_tokens` is sent as `budgetTokens`, a member of an enum
        by its name, a time as ISO 8601. None stands for "not given". An operation that takes an `idempotency_key` is
        given a new one where it has none.
        """
        asked = document(operation)
        variables = {_camel(name): _wire(value) for name, value in arguments.items() if value is not None}
        if f"${_KEY}:" in asked:
            variables.setdefault(_KEY, os.urandom(16).hex())
        return self.execute(asked, variables)

    def recall(
        self,
        query: str,
        *,
        scope: str | None = None,
        kinds: Sequence[Kind | str] = (),
        limit: int | None = None,
        intent: Intent | str | None = None,
        files: Sequence[str] = (),
        budget_tokens: int | None = None,
        session: str | None = None,
        explain: bool | None = None,
    ) -> dict[str, Any]:
        """Return the answer to one question: `items` in order of score, and how they were found."""
        if intent is not None:
            from helix.model.recall import Intent  # brings the whole domain model, which most clients do without

            intent = _member(Intent, intent)
        answer = self.run(
            "recall",
            query=query,
            scope=scope,
            kinds=[_member(Kind, kind) for kind in kinds],
            limit=limit,
            intent=intent,
            files=files,
            budget_tokens=budget_tokens,
            session=session,
            explain=explain,
        )
        return dict(answer["recall"])

    def store(
        self,
        *,
        trigger: str,
        resolution: str,
        kind: Kind | str,
        scope: str | None = None,
        name: str | None = None,
        confidence: float | None = None,
        importance: float | None = None,
        files: Sequence[str] = (),
        source: str | None = None,
        agent: str | None = None,
        attributes: Mapping[str, Any] | None = None,
        idempotency_key: str | None = None,
    ) -> dict[str, Any]:
        """Remember something and return what it came to: `status`, `name`, `id`, and the kinds of secret redacted."""
        answer = self.run(
            "store",
            trigger=trigger,
            resolution=resolution,
            kind=_member(Kind, kind),
            scope=scope,
            name=name,
            confidence=confidence,
            importance=importance,
            files=files,
            source=source,
            agent=agent,
            attributes=attributes,
            idempotency_key=idempotency_key,
        )
        return dict(answer["store"])

    @contextmanager
    def exchange(
        self, method: str, path: str, body: bytes, headers: Mapping[str, str]
    ) -> Iterator[http.client.HTTPResponse]:
        """Send a request over a connection of its own, which many threads may do at once, and yield its answer.

        The answer is read as it comes. Raises DaemonError where none does, and InvalidInputError for too long a body.
        """
        if len(body) > REQUEST_BYTES:
            raise InvalidInputError(f"the request is larger than {REQUEST_BYTES:,} bytes", hint="send it in parts")
        connection = self._opened_or_found()
        shown = {**self._headers, **headers, "authorization": f"Bearer {self._token}"}
        try:
            connection.request(method, path, body, shown)
            yield connection.getresponse()
        except (OSError, http.client.HTTPException) as error:
            message = f"the connection to the daemon at {self.url} broke off: {error!r}"
            raise DaemonError(message, hint="what was asked for may or may not have been done") from error
        finally:
            connection.close()

    def close(self) -> None:
        """Close the connection; the client opens another when it is used again."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _post(self, body: bytes, *, again: bool) -> tuple[int, bytes]:
        """Return status and body of the answer; send the request once more where that is harmless (`again`)."""
        if len(body) > REQUEST_BYTES:
            # The daemon hangs up on the rest of it, and its refusal is lost as often as not.
            raise InvalidInputError(
                f"the request is larger than {REQUEST_BYTES:,} bytes",
                hint="send it in smaller parts; `helix ingest` takes in whole files",
            )
        try:
            return self._sent(body)
        except _BrokenOffError as broken:
            if not again:
                raise
            try:
                return self._sent(body)
            except DaemonError as error:
                raise broken from error

    def _sent(self, body: bytes) -> tuple[int, bytes]:
        connection = self._connected()
        try:
            connection.request("POST", "/graphql", body, {**self._headers, "authorization": f"Bearer {self._token}"})
            response = connection.getresponse()
            return response.status, response.read()
        except TimeoutError as error:
            self.close()
            hint = "`helix status` shows whether it is busy; what was asked for may still be carried out"
            raise QueryTimeoutError(
                f"the daemon at {self.url} did not answer within {self._timeout:g} s", hint=hint
            ) from error
        except (OSError, http.client.HTTPException) as error:
            self.close()
            hint = "what was asked for may or may not have been done: look before you send it again"
            message = f"the connection to the daemon at {self.url} broke off: {error!r}"
            raise _BrokenOffError(message, hint=hint) from error
        except BaseException:
            # An interrupted request leaves its answer behind on the connection: the next one must not read it.
            self.close()
            raise

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
        address = urlsplit(self.url)
        if address.hostname not in LOOPBACK:
            raise DaemonError(
                f"{self.url} is not on this machine", hint="a token is shown to this machine's daemon alone"
            )
        connection = _Connection(address.hostname or "", address.port, timeout=self._timeout)
        connection.store = self._store
        try:
            connection.connect()
        except OSError as error:
            hint = "`helix status` shows whether one runs"
            raise DaemonError(f"no daemon answers at {self.url}: {error.strerror or error}", hint=hint) from error
        return connection


class _BrokenOffError(DaemonError):
    """A request was sent, in whole or in part, and no answer came."""


class _Connection(http.client.HTTPConnection):
    """HTTP over the socket in a store's folder, where there is such."""

    store: Path | None = None

    def connect(self) -> None:
        if self.store is None or not local_socket.HAS_UNIX:
            super().connect()
        else:
            self.sock = local_socket.connect(self.store, self.timeout)


def error_from(code: str, message: str, hint: str | None = None) -> HelixError:
    """Return an error of the class that `code` names; of HelixError itself where this version knows no such code."""
    return next((cls for cls in _classes(HelixError) if cls.code == code), HelixError)(message, hint=hint)


def _classes(base: type[HelixError]) -> Iterator[type[HelixError]]:
    yield base
    for cls in base.__subclasses__():
        yield from _classes(cls)


def _data_of(url: str, status: int, answer: bytes) -> dict[str, Any]:
    try:
        body = json.loads(answer)
        errors, data = body.get("errors"), body.get("data")
    except (ValueError, AttributeError) as error:
        hint = "another program may have taken its port: `helix stop` and try again"
        raise DaemonError(f"{url} answered with HTTP {status} and no GraphQL", hint=hint) from error
    if errors:
        extensions = errors[0].get("extensions") or {}
        raise error_from(extensions.get("code", HelixError.code), errors[0]["message"], extensions.get("hint"))
    if not isinstance(data, dict):
        raise DaemonError(f"{url} answered with HTTP {status} and no data")
    return data


def _is_closing(connection: http.client.HTTPConnection) -> bool:
    """Whether an idle connection has something to read: between requests that can only be its end."""
    return connection.sock is None or bool(select.select([connection.sock], [], [], 0)[0])


def _camel(name: str) -> str:
    return re.sub(r"_([a-z])", lambda match: match[1].upper(), name)


def _wire(value: Any) -> Any:
    if isinstance(value, Enum):
        return value.name
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, PurePath):
        return str(value)
    if isinstance(value, tuple | list):
        return [_wire(item) for item in value]
    return value


def _member(enum: type[E], value: str) -> E:
    try:
        return enum(str(value).lower())
    except ValueError as error:
        known = ", ".join(str(member.value) for member in enum)
        raise InvalidInputError(f"unknown {enum.__name__.lower()} {value!r}", hint=f"one of: {known}") from error
