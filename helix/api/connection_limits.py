"""Connection limits: how many there may be, and how long one may take to say what it wants, before a token is read.

Whoever can reach the port can open connections to it and say nothing, or half a request. Each listener has room for so
many; when it is full, the connection that has waited longest without a request makes room for the next one, so that
what is really asked is answered. The socket that the user's own commands and hooks use has a room of its own.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from asyncio import sslproto
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol, cast

import h11
from starlette.types import ASGIApp
from uvicorn import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from helix.api.access import BY_SOCKET
from helix.api.limits import BODY_BYTES

HEADER_SECONDS = 10.0
"""How long a connection may take from its first byte (or from its beginning) to the end of a request's headers."""

_MOST_BY_PORT, _MOST_BY_SOCKET, _LEAST = 64, 128, 4
_SPARE_DESCRIPTORS = 16
"""Left for files that are opened while everything is full."""
_MOST_WAITING = 32
_KEEP_ALIVE_SECONDS = 60

HANDSHAKE_SECONDS = 10.0

_AT_ONCE = 4 << 10
"""Bytes of a connection by the port that are read before others have their turn: asyncio's 256 KiB take 0.3 s where
they are chunks of one byte, or empty frames. A body of 3 MB takes 20 ms longer so."""
_LONGEST_HEAD = 64 << 10
"""Bytes of a request's headers: a browser sends the cookies of every port of a host."""


class Inside(Protocol):
    """What is known of a connection in a room."""

    upgraded: bool
    """Whether it is a WebSocket."""

    def answering(self) -> bool:
        """Return whether a request to the API has come whole up to its body and is not answered yet."""
        ...

    def stuck(self) -> bool:
        """Return whether a client of the API does not read its answer."""
        ...


class ListenerRoom:
    """The connections of one listener: at most `most`, and of them a quarter at most WebSockets."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._inside: dict[asyncio.Transport, Inside] = {}

    def enter(self, transport: asyncio.Transport, protocol: Inside) -> bool:
        """Let a connection to the API in, in the place of another if need be; False where all are being answered.

        One that is closed has its place until its client has read what it was told: it may never do so.
        """
        self._inside = {one: other for one, other in self._inside.items() if not _is_gone(one)}
        full = len(self._inside) >= self.most
        if full and not any(self._end_first(fits) for fits in (_is_leaving, _is_waiting, _is_stuck)):
            return False
        self._inside[transport] = protocol
        return True

    def _end_first(self, fits: Callable[[asyncio.Transport, Inside], bool]) -> bool:
        """End the connection that is longest in here of those that fit; return whether there was one."""
        found = next((one for one, other in self._inside.items() if fits(one, other)), None)
        if found is not None:
            del self._inside[found]
            found.abort()
        return found is not None

    def leave(self, transport: asyncio.Transport) -> None:
        """Give up the place of a connection to the API that becomes another one, if it still has it."""
        self._inside.pop(transport, None)

    def takes_websocket(self) -> bool:
        """Return whether the API has room for one WebSocket more: they stay, and nothing makes them leave."""
        held = sum(_is_websocket(one, other) for one, other in self._inside.items())
        return held < self.most_websockets or self._end_first(_is_leaving_websocket)

    @property
    def most_websockets(self) -> int:
        """How many of the API's connections may be WebSockets."""
        return max(self.most // 4, 1)


def _is_leaving(one: asyncio.Transport, _: Inside) -> bool:
    return one.is_closing()


def _is_waiting(_: asyncio.Transport, other: Inside) -> bool:
    return not other.answering()


def _is_stuck(_: asyncio.Transport, other: Inside) -> bool:
    return other.stuck()


def _is_websocket(one: asyncio.Transport, other: Inside) -> bool:
    return other.upgraded and not _is_gone(one)


def _is_leaving_websocket(one: asyncio.Transport, other: Inside) -> bool:
    return _is_websocket(one, other) and one.is_closing()


def _is_gone(transport: asyncio.Transport) -> bool:
    if not transport.is_closing():
        return False
    try:
        held = transport.get_extra_info("socket")
    except AttributeError:  # one of TLS that has ended lets go of all that it had
        return True
    return held is None or held.fileno() < 0


class Handshake(asyncio.Protocol):
    """A connection in a room whose handshake is under way; what it becomes then takes its place.

    asyncio tells of a connection only once its handshake is over, and waits a minute for that: whoever opens
    connections and says nothing on them would have every descriptor of a server.
    """

    by_port: ListenerRoom
    tls: ssl.SSLContext
    becomes: Callable[..., asyncio.Protocol]
    upgraded = False

    def __init__(self, **named: object) -> None:
        """Take what the protocol is made of that it becomes."""
        self._named = named
        self._early: list[bytes] = []
        self._next: asyncio.Protocol | None = None
        self._work: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        raw = cast(asyncio.Transport, transport)
        if not self.by_port.enter(raw, self):
            raw.abort()
            return
        raw.pause_reading()  # what comes now is for the handshake
        self._work = asyncio.get_running_loop().create_task(self._shake_hands(raw))

    async def _shake_hands(self, raw: asyncio.Transport) -> None:
        loop = asyncio.get_running_loop()
        try:
            secure = await loop.start_tls(
                raw, self, self.tls, server_side=True, ssl_handshake_timeout=HANDSHAKE_SECONDS
            )
        except OSError:  # it speaks no TLS, takes too long, is gone, or made room for another one
            raw.abort()
            return
        finally:
            self.by_port.leave(raw)
        if secure is None or secure.is_closing():
            return
        self._next = protocol = self.becomes(**self._named)
        secure.set_protocol(protocol)
        protocol.connection_made(secure)
        for data in self._early:
            protocol.data_received(data)

    def data_received(self, data: bytes) -> None:
        self._early.append(data)  # what came in one piece with the end of the handshake

    def connection_lost(self, exc: Exception | None) -> None:
        if self._next is not None:  # it was on its way here when that one took over
            self._next.connection_lost(exc)

    def answering(self) -> bool:
        """Return that the API was asked nothing yet on a connection by TLS."""
        return False

    def stuck(self) -> bool:
        """Return that no answer of the API waits to be read on a connection by TLS."""
        return False


class GuardedProtocol(H11Protocol):
    """HTTP of one connection, with a limit on its number and on how long it takes to ask."""

    by_port, by_socket = ListenerRoom(_MOST_BY_PORT), ListenerRoom(_MOST_BY_SOCKET)
    address: tuple[str, int] | None = None
    """What a connection by the socket counts as having come in by: the address of the port."""

    upgraded = False
    _patience: asyncio.TimerHandle | None = None
    _refused = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._room = self.by_port
        if HAS_UNIX and transport.get_extra_info("socket").family == socket.AF_UNIX:
            self._room, self.server = self.by_socket, self.address
            self.app_state = {**self.app_state, BY_SOCKET: True}
        else:  # asyncio's transports have it, under no other name
            transport.max_size = _AT_ONCE  # type: ignore[attr-defined]
        if self._room.enter(transport, self):
            self._be_patient()
        else:
            self._refused = True
            transport.abort()

    def data_received(self, data: bytes) -> None:
        if self._refused:
            return
        super().data_received(data)
        if self.answering():
            self._hurry_no_more()
        elif self._patience is None and not self.transport.is_closing():
            self._be_patient()

    def connection_lost(self, exc: Exception | None) -> None:
        self._hurry_no_more()
        super().connection_lost(exc)

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.conn.their_state is h11.SEND_BODY and not self.transport.is_closing():
            self._be_patient()  # what was refused unread must not go on for ever
            self._refused = b"transfer-encoding" in dict(self.scope["headers"])  # to read chunks takes longest

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        if not self._room.takes_websocket():
            self.send_400_response("There are too many WebSockets.")
            return
        self.upgraded = True
        self._hurry_no_more()
        super().handle_websocket_upgrade(event)
        self.loop.call_later(HEADER_SECONDS, self._end_unaccepted)

    def _end_unaccepted(self) -> None:
        """End a WebSocket that never came to be: its server says nothing of a handshake that it cannot read."""
        if self.transport.is_closing():  # one of TLS has no protocol any more
            return
        if not getattr(self.transport.get_protocol(), "handshake_complete", True):
            self.transport.abort()

    def shutdown(self) -> None:
        try:
            super().shutdown()
        except h11.LocalProtocolError:  # in the middle of something that is no request
            self.transport.abort()

    def answering(self) -> bool:
        """Return whether a request to the API has come whole up to its body and is not answered yet."""
        return self.upgraded or (self.cycle is not None and not self.cycle.response_complete)

    def stuck(self) -> bool:
        """Return whether a client of the API does not read its answer."""
        return not self.upgraded and bool(self.flow.write_paused)

    def _be_patient(self) -> None:
        self._hurry_no_more()
        self._patience = self.loop.call_later(HEADER_SECONDS, self.transport.abort)

    def _hurry_no_more(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None


class GuardedWebSocket(WebSocketsSansIOProtocol):
    """A WebSocket that reads nothing while its client does not: each ping is answered, and the answers are kept."""

    def pause_writing(self) -> None:
        super().pause_writing()
        self.transport.pause_reading()

    def resume_writing(self) -> None:
        super().resume_writing()
        if not self.read_paused:
            self.transport.resume_reading()


HAS_UNIX = hasattr(socket, "AF_UNIX")


def guarded(
    app: ASGIApp,
    address: tuple[str, int],
    *,
    grace_seconds: int,
    most: int = _MOST_BY_PORT,
    tls: ssl.SSLContext | None = None,
    **more: Any,
) -> Config:
    """Return an API's app with its connections limited, to as many as the descriptors that are left allow.

    `address` is where it listens by a port, and `most` how many connections it takes there, by `tls` if that is
    given. `grace_seconds` is how long what has begun may take once it was told to leave; `more` goes to uvicorn. Who
    is at the other end is what the system says: by uvicorn's own choice a header would say it, of whoever connects
    over loopback.
    """
    config = Config(
        app,
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        lifespan="on",
        ws_max_size=BODY_BYTES,
        h11_max_incomplete_event_size=_LONGEST_HEAD,
        timeout_keep_alive=_KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=grace_seconds,
        **more,
    )
    free = _free_descriptors()
    port, local = (max(min(wanted, free // 3), _LEAST) for wanted in (most, _MOST_BY_SOCKET))
    members: dict[str, Any] = {"by_port": ListenerRoom(port), "by_socket": ListenerRoom(local), "address": address}
    protocol: Any = type("GuardedProtocol", (GuardedProtocol,), members)
    if tls is not None:
        sslproto.SSLProtocol.max_size = _AT_ONCE  # what a transport of TLS reads at once
        protocol = type("Handshake", (Handshake,), {"by_port": members["by_port"], "tls": tls, "becomes": protocol})
    config.http = protocol
    config.ws = GuardedWebSocket
    config.backlog = max(min(_MOST_WAITING, free // 6), _LEAST)
    return config


def rooms_of(config: Config) -> tuple[int, int]:
    """Return how many HTTP connections and WebSockets the port has room for, of a config that `guarded` made."""
    room: ListenerRoom = cast(Any, config.http).by_port
    return room.most, room.most_websockets


def _free_descriptors() -> int:
    """Return how many more files this process may open, after it has allowed itself what it may."""
    try:
        import resource
    except ImportError:  # Windows
        return 1_000
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 4_096 if hard == resource.RLIM_INFINITY else min(hard, 4_096)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        soft = wanted
    try:
        used = len(list(Path("/dev/fd").iterdir()))
    except OSError:
        used = 64
    return max((4_096 if soft == resource.RLIM_INFINITY else soft) - used - _SPARE_DESCRIPTORS, 0)
