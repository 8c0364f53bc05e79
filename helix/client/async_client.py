"""The client for asyncio: the same operations as the blocking one, with as many requests at once as are awaited."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import h11

from helix import local_socket
from helix.client import typed
from helix.client.async_operations import AsyncOperations
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
    too_late,
    too_much,
)
from helix.errors import DaemonError

_CHUNK = 64 << 10


class AsyncClient(AsyncOperations):
    """Talks to one daemon from an event loop; the arguments and the rules are those of `helix.Client`.

    Connections are kept open for the requests that follow. A request that is cancelled ends its connection; what was
    asked for may still be carried out.
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
        self._relocate = relocate
        self._idle: list[_AsyncConnection] = []

    async def execute(self, document: str, variables: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Return the `data` of one GraphQL operation; its first error is raised as the class its code names."""
        return await self._answered(request_of(document, variables))

    async def run(self, operation: str, **arguments: Any) -> dict[str, Any]:
        """Run an operation by its name and return its `data` as JSON has it; see `Client.run`."""
        request = request_for(operation, arguments)
        return results_of(request, await self._answered(request))

    async def close(self) -> None:
        """Close the connections; the client opens others when it is used again."""
        while self._idle:
            self._idle.pop().close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def _ask(self, operation: str, /, **arguments: Any) -> Any:
        request = request_for(operation, typed.given(operation, arguments), by_hand=False)
        return typed.answer(operation, results_of(request, await self._answered(request)))

    async def _listen(self, operation: str, /, **arguments: Any) -> AsyncIterator[Any]:
        request = request_for(operation, arguments)
        connection = await self._opened_or_found()
        try:
            async with aclosing(self._events(connection, request)) as events:
                async for data in events:
                    yield typed.answer(operation, data)
        finally:
            connection.close()

    async def _events(self, connection: _AsyncConnection, request: WireRequest) -> AsyncGenerator[dict[str, Any], None]:
        try:
            async with asyncio.timeout(self._timeout) as limit:
                head = await connection.send(request, self._token)
                if not dict(head.headers).get(b"content-type", b"").startswith(EVENTS.encode()):
                    data_of(self.url, head.status_code, await connection.read())
                events = EventStream(self.url)
                async for part in connection.chunks():
                    known = events.lines
                    for data in events.take(part):
                        limit.reschedule(None)
                        yield data
                    if events.ended:
                        return
                    if events.lines != known:  # a daemon that lives writes a line at least every 15 s
                        limit.reschedule(asyncio.get_running_loop().time() + self._timeout)
        except TimeoutError as error:
            raise too_late(self.url, self._timeout) from error
        except (OSError, h11.RemoteProtocolError) as error:
            raise broken_off(self.url, repr(error)) from error
        raise broken_off(self.url, "the stream ended")

    async def _answered(self, request: WireRequest) -> dict[str, Any]:
        try:
            status, answer = await self._sent(request)
        except BrokenOffError as broken:
            if not request.again:
                raise
            try:
                status, answer = await self._sent(request)
            except DaemonError as error:
                raise broken from error
        return data_of(self.url, status, answer)

    async def _sent(self, request: WireRequest) -> tuple[int, bytes]:
        connection = await self._connected()
        try:
            async with asyncio.timeout(self._timeout):
                head = await connection.send(request, self._token)
                answer = await connection.read()
        except TimeoutError as error:
            raise too_late(self.url, self._timeout) from error
        except (OSError, h11.RemoteProtocolError) as error:
            raise broken_off(self.url, repr(error)) from error
        else:
            if connection.reusable():
                self._idle.append(connection)
            return head.status_code, answer
        finally:
            if connection not in self._idle:
                connection.close()

    async def _connected(self) -> _AsyncConnection:
        while self._idle:
            connection = self._idle.pop()
            if connection.is_open():
                return connection
            connection.close()
        return await self._opened_or_found()

    async def _opened_or_found(self) -> _AsyncConnection:
        try:
            return await self._opened()
        except DaemonError:
            if self._relocate is None:
                raise
            self.url, self._token = await asyncio.to_thread(self._relocate)
            return await self._opened()

    async def _opened(self) -> _AsyncConnection:
        host, port = address_of(self.url)
        try:
            if self._store is None or not local_socket.HAS_UNIX:
                streams = await asyncio.wait_for(asyncio.open_connection(host, port), self._timeout)
            else:
                # A socket of this machine takes a connection at once or not at all.
                opened = local_socket.connect(self._store, self._timeout)
                opened.setblocking(False)
                streams = await asyncio.open_unix_connection(sock=opened)
        except OSError as error:
            raise nobody_there(self.url, error) from error
        return _AsyncConnection(*streams, host=f"{host}:{port}")


class _AsyncConnection:
    """HTTP/1.1 over one connection: one request after the other."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, host: str) -> None:
        self._reader, self._writer, self._host = reader, writer, host
        self._http = h11.Connection(h11.CLIENT)

    def is_open(self) -> bool:
        """Whether the other end is there, as far as can be known."""
        return not self._reader.at_eof() and not self._writer.is_closing()

    def reusable(self) -> bool:
        """Make ready for the next request, where both sides have said all and neither wants to end."""
        if self._http.our_state is not h11.DONE or self._http.their_state is not h11.DONE:
            return False
        self._http.start_next_cycle()
        return True

    def close(self) -> None:
        """End the connection, whatever is under way."""
        self._writer.close()

    async def send(self, request: WireRequest, token: str) -> h11.Response:
        """Send a request and return the head of its answer."""
        headers = {"host": self._host, "content-length": str(len(request.body)), **request.headers(token)}
        asked = h11.Request(method="POST", target=PATH, headers=list(headers.items()))
        for event in (asked, h11.Data(data=request.body), h11.EndOfMessage()):
            self._writer.write(self._http.send(event) or b"")
        await self._writer.drain()
        head = await self._next()
        while isinstance(head, h11.InformationalResponse):
            head = await self._next()
        assert isinstance(head, h11.Response)
        return head

    async def chunks(self) -> AsyncIterator[bytes]:
        """Yield the body of the answer as it comes."""
        while isinstance(event := await self._next(), h11.Data):
            yield bytes(event.data)

    async def read(self) -> bytes:
        """Return the whole body of the answer. Raises DaemonError for one without measure."""
        body = bytearray()
        async for chunk in self.chunks():
            body += chunk
            if len(body) > MOST_ANSWER:
                raise too_much(self._host)
        return bytes(body)

    async def _next(self) -> h11.Event:
        while (event := self._http.next_event()) is h11.NEED_DATA:
            self._http.receive_data(await self._reader.read(_CHUNK))
        if isinstance(event, h11.ConnectionClosed):
            raise h11.RemoteProtocolError("it was closed")
        assert not isinstance(event, type)
        return event
