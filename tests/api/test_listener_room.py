"""The room of a listener: a connection that is closed has its place until its client has read what it was told."""

from __future__ import annotations

import asyncio
import socket
from contextlib import ExitStack

from helix.api.connection_limits import ListenerRoom
from tests.waiting import MOST_SECONDS


class Told(asyncio.Protocol):
    """A connection that is told more than fits, and then closed."""

    upgraded = True

    def __init__(self, room: ListenerRoom, arrived: asyncio.Queue[tuple[asyncio.Transport, bool, bool]]) -> None:
        self._room, self._arrived = room, arrived

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        as_websocket = self._room.takes_websocket()
        entered = self._room.enter(transport, self)
        transport.write(b"a" * (16 << 20))
        transport.close()
        self._arrived.put_nowait((transport, entered, as_websocket))

    def answering(self) -> bool:
        return True

    def stuck(self) -> bool:
        return False


def test_who_never_reads_what_a_closed_connection_was_told_makes_room_for_the_next() -> None:
    async def run() -> list[tuple[bool, bool, bool]]:
        room, arrived = ListenerRoom(4), asyncio.Queue[tuple[asyncio.Transport, bool, bool]]()
        server = await asyncio.get_running_loop().create_server(lambda: Told(room, arrived), "127.0.0.1", 0)
        address, told = server.sockets[0].getsockname(), []
        with ExitStack() as open_:
            for _ in range(7):
                open_.enter_context(socket.create_connection(address))
                told.append(await asyncio.wait_for(arrived.get(), MOST_SECONDS))
            await asyncio.sleep(0)
            held = [(one.get_extra_info("socket").fileno() >= 0, *said) for one, *said in told]
        server.close()
        return held

    held = asyncio.run(run())
    assert all(entered and as_websocket for _, entered, as_websocket in held)
    assert sum(open_ for open_, _, _ in held) == 1, "a quarter of the room is for WebSockets"
