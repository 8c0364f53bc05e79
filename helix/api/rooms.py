"""Rooms: the connections of a listener, as many as there is room for."""

from __future__ import annotations

import asyncio
from typing import Protocol


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
        """Let a connection to the API in, in the place of another if need be; False where all are being answered."""
        self._inside = {one: other for one, other in self._inside.items() if not one.is_closing()}
        if len(self._inside) >= self.most:
            waiting = next((one for one, other in self._inside.items() if not other.answering()), None)
            stuck = waiting or next((one for one, other in self._inside.items() if other.stuck()), None)
            if stuck is None:
                return False
            del self._inside[stuck]
            stuck.abort()
        self._inside[transport] = protocol
        return True

    def leave(self, transport: asyncio.Transport) -> None:
        """Give up the place of a connection to the API that becomes another one, if it still has it."""
        self._inside.pop(transport, None)

    def takes_websocket(self) -> bool:
        """Return whether the API has room for one WebSocket more: they stay, and nothing makes them leave."""
        held = sum(other.upgraded for one, other in self._inside.items() if not one.is_closing())
        return held < self.most_websockets

    @property
    def most_websockets(self) -> int:
        """How many of the API's connections may be WebSockets."""
        return max(self.most // 4, 1)
