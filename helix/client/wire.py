"""Wire: what a client sends and what it makes of answers, without a connection: both clients do the same.

Standard library alone, so that hooks start fast.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from functools import cache
from pathlib import PurePath
from typing import Any
from urllib.parse import urlsplit

from helix import resources
from helix.errors import DaemonError, HelixError, InvalidInputError, NotFoundError, QueryTimeoutError
from helix.model.speaker import HEADER, agent_of

DEFAULT_TIMEOUT = 35.0
"""Seconds to wait for an answer: a little more than the daemon's own limit, so that its error arrives first."""

REQUEST_BYTES = 4 << 20
"""Largest body of a request that the daemon takes."""

MOST_ANSWER = 256 << 20
"""Largest body of an answer that is read: several times what the daemon ever says."""

MOST_EVENT = 8 << 20
"""Largest event of a subscription that is read, in bytes."""

LOOPBACK = ("127.0.0.1", "::1", "localhost")
"""Hosts that are this machine and no other."""

PATH = "/graphql"

Relocate = Callable[[], tuple[str, str]]
"""Returns the (url, token) of a daemon that runs, starting one where none does."""

_KEY = "idempotencyKey"
_NAME = re.compile(r"^(query|mutation|subscription|fragment) (\w+)", re.MULTILINE)
_SPREAD = re.compile(r"\.\.\.\w+")
_ANOTHER = "another program may have taken its port: `helix stop` and try again"
_ANSWER = "application/graphql-response+json, application/json;q=0.9"
EVENTS = "text/event-stream"


class BrokenOffError(DaemonError):
    """A request was sent, in whole or in part, and no answer came."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WireRequest:
    """One operation on its way; `again`: to send it once more does no harm, as it only reads or has a key."""

    body: bytes
    again: bool = False
    streams: bool = False
    writes: bool = False

    def __post_init__(self) -> None:
        """Refuse what is too large: the daemon hangs up on the rest of it, and its answer is lost as often as not."""
        if len(self.body) > REQUEST_BYTES:
            raise InvalidInputError(
                f"the request is larger than {REQUEST_BYTES:,} bytes",
                hint="send it in smaller parts; `helix ingest` reads whole files",
            )

    def headers(self, token: str) -> dict[str, str]:
        """Return the headers to send, which say which agent runs this program, if one does."""
        agent = agent_of(os.environ)
        return {
            "content-type": "application/json",
            "accept": EVENTS if self.streams else _ANSWER,
            "authorization": f"Bearer {token}",
            **({HEADER: agent} if agent else {}),
        }


def request_of(asked: str, variables: Mapping[str, Any] | None = None) -> WireRequest:
    """Return the request of a document. Raises InvalidInputError for one that is too large to be taken."""
    given = dict(variables or {})
    body = json.dumps({"query": asked, "variables": given}).encode("ascii")
    named = _NAME.search(asked)
    kind = named[1] if named else ""
    again = kind == "query" or bool(given.get(_KEY))
    return WireRequest(body=body, again=again, streams=kind == "subscription", writes=kind == "mutation")


def request_for(operation: str, arguments: Mapping[str, Any], *, by_hand: bool = True) -> WireRequest:
    """Return the request of an operation; one that takes an idempotency key is given a new one where it has none.

    Arguments go by their Python names; None stands for "not given".
    """
    asked = document(operation, by_hand=by_hand)
    variables = {camel(name): _plain(value) for name, value in arguments.items() if value is not None}
    if f"${_KEY}:" in asked:
        variables.setdefault(_KEY, os.urandom(16).hex())
    return request_of(asked, variables)


def document(operation: str, *, by_hand: bool = True) -> str:
    """Return the GraphQL document by which a client asks for an operation, with the fragments that it spreads.

    It is `queries/graphql/<operation>.graphql` where one was written by hand, for what follows the graph from node to
    node, else it comes from `queries/operations.graphql`. Raises NotFoundError for no operation.
    """
    written = f"graphql/{operation}.graphql"
    if by_hand and (resources.directory("queries") / written).is_file():
        return resources.text("queries", written)
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


def results_of(request: WireRequest, data: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the operations of a request came to: of a mutation the `result` of its payload.

    Raises DaemonError for an answer without one.
    """
    try:
        return {name: payload["result"] for name, payload in data.items()} if request.writes else dict(data)
    except (TypeError, LookupError) as error:
        raise DaemonError("the answer to a mutation has no result", hint=_ANOTHER) from error


def data_of(url: str, status: int, answer: bytes | str) -> dict[str, Any]:
    """Return the `data` of an answer; its first error is raised as the class its code names."""
    try:
        body = json.loads(answer)
        errors, data = body.get("errors"), body.get("data")
        failed = _error_of(errors[0]) if errors else None
    except (ValueError, TypeError, AttributeError, LookupError, RecursionError) as error:
        raise DaemonError(f"{url} answered with HTTP {status} and no GraphQL", hint=_ANOTHER) from error
    if failed is not None:
        raise failed
    if not isinstance(data, dict):
        raise DaemonError(f"{url} answered with HTTP {status} and no data")
    return data


def _error_of(error: Mapping[str, Any]) -> HelixError:
    extensions = error.get("extensions") or {}
    return error_from(extensions.get("code", HelixError.code), error["message"], extensions.get("hint"))


class EventStream:
    """The events of a subscription, out of server-sent events as they come in, part by part.

    `lines` counts the whole lines so far. https://html.spec.whatwg.org/multipage/server-sent-events.html
    """

    def __init__(self, url: str) -> None:
        self.lines = 0
        self.ended = False
        """Whether the daemon has said that there are no more."""
        self._url = url
        self._told = False
        self._rest = b""
        self._kind = ""
        self._data: list[str] = []
        self._size = 0

    def take(self, part: bytes) -> Iterator[dict[str, Any]]:
        """Yield the `data` of each event that a part completes. Raises DaemonError for one without measure."""
        *lines, self._rest = (self._rest + part).split(b"\n")
        for line in lines:
            self.lines += 1
            event = self._line(line.decode("utf-8", "replace").rstrip("\r"))
            if event is not None and event[0] == "next":
                self._told = True
                yield data_of(self._url, 200, event[1])
                self._told = False
            self.ended |= event is not None and event[0] == "complete"
            if self.ended:
                return
        if self._size + len(self._rest) > MOST_EVENT:
            raise too_much(self._url, MOST_EVENT)

    def sign(self) -> int:
        """Return another number as long as there is life: a line came, or an event is with whoever is told of it."""
        return time.monotonic_ns() if self._told else self.lines

    def _line(self, line: str) -> tuple[str, str] | None:
        """Take a line; return the event that it completes, as its type and its data."""
        if not line:
            event = (self._kind, "\n".join(self._data))
            self._kind, self._data, self._size = "", [], 0
            return event if event[0] else None
        field, _, value = line.partition(":")
        if field == "event":
            self._kind = value.removeprefix(" ")
        elif field == "data":
            self._data.append(value.removeprefix(" "))
            self._size += len(line)
        return None


def error_from(code: str, message: str, hint: str | None = None) -> HelixError:
    """Return a server's answer as a client's error, of the class that `code` names.

    A code that this version does not know gives a HelixError itself.
    """
    return next((cls for cls in _classes(HelixError) if cls.code == code), HelixError)(message, hint=hint)


def _classes(base: type[HelixError]) -> Iterator[type[HelixError]]:
    yield base
    for cls in base.__subclasses__():
        yield from _classes(cls)


def broken_off(url: str, why: object) -> BrokenOffError:
    """Return the error of a connection that ended before the answer did."""
    hint = "what was asked for may or may not have been done: look before you send it again"
    return BrokenOffError(f"the connection to the daemon at {url} broke off: {why}", hint=hint)


def too_much(url: str, most: int = MOST_ANSWER) -> DaemonError:
    """Return the error of an answer, or an event, without measure."""
    return DaemonError(f"{url} answers with more than {most:,} bytes", hint="another program may have its port")


def too_late(url: str, seconds: float) -> QueryTimeoutError:
    """Return the error of an answer that did not come in time."""
    hint = "`helix status` shows whether it is busy; what was asked for may still be carried out"
    return QueryTimeoutError(f"the daemon at {url} did not answer within {seconds:g} s", hint=hint)


def nobody_there(url: str, error: OSError, *, team: bool = False) -> DaemonError:
    """Return the error of a daemon, or of a team's server, that takes no connection."""
    whose, hint = "daemon", "`helix status` shows whether one runs"
    if team:
        whose, hint = "server", "check the address that the setting `server` has (HELIX_SERVER), or ask who runs it"
    return DaemonError(f"no {whose} answers at {url}: {error.strerror or error}", hint=hint)


def address_of(url: str) -> tuple[str, int]:
    """Return host and port of a daemon. Raises DaemonError for one on another machine, which is shown no token."""
    address = urlsplit(url)
    if address.hostname not in LOOPBACK:
        raise DaemonError(f"{url} is not on this machine", hint="a token is shown to this machine's daemon alone")
    return address.hostname, address.port or 80


def secure_address_of(url: str) -> tuple[str, int] | None:
    """Return host and port of a server that speaks TLS; None for one that does not."""
    address = urlsplit(url)
    return (address.hostname or "", address.port or 443) if address.scheme == "https" else None


def camel(name: str) -> str:
    """Return a client's Python name as GraphQL has it on the wire: `budgetTokens` of `budget_tokens`."""
    return re.sub(r"_([a-z])", lambda match: match[1].upper(), name)


def _plain(value: Any) -> Any:
    if isinstance(value, Enum):
        return value.name
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, PurePath):
        return str(value)
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    return value
