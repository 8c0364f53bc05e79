"""Handshakes: a connection by TLS counts from its beginning, as long as it has yet to say a word that makes sense.

asyncio tells of a connection only once its handshake is over, and waits a minute for that: whoever opens connections
and says nothing on them would have every descriptor of a server.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from typing import cast

from helix.api.rooms import ListenerRoom

HANDSHAKE_SECONDS = 10.0


class Handshake(asyncio.Protocol):
    """A connection in a room whose handshake is under way; what it becomes then takes its place."""

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
