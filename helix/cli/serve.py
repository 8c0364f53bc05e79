"""Serving: brings the service and its API up in this process, answers until told to leave, takes them down again."""

from __future__ import annotations

import logging
import os
import signal
import socket
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Any

import uvicorn

from helix import daemon
from helix.api.app import Activity, create_app
from helix.api.limits import BODY_BYTES
from helix.cli.logs import start_daemon_log
from helix.cli.plugin_files import renew
from helix.errors import DaemonError
from helix.service import Helix, restore_closed
from helix.settings import Settings
from helix.text.redact import redact

Ready = Callable[[daemon.Daemon, tuple[str, ...]], None]
"""Called once requests are answered, with what was announced and the warnings a person should see."""

logger = logging.getLogger(__name__)

_DRAIN_SECONDS = 10
_KEEP_ALIVE_SECONDS = 60


def serve_store(settings: Settings, *, idle_minutes: float, ready: Ready) -> None:
    """Serve the store in this process until a signal, the `shutdown` mutation or idleness ends it; then close it.

    What has begun is answered first. `idle_minutes` 0: idleness never ends it. Raises DaemonError when the port is
    taken and StoreLockedError when another process has the store.
    """
    os.umask(0o077)  # what engines write beside their files is nobody else's either
    store = settings.store_path
    start_daemon_log(store, settings.log_level, lambda text: redact(text).text)
    with _listening(settings) as listener:
        helix = Helix.open(settings)
        try:
            server = _server(helix, idle_minutes, lambda: _announced(helix, listener, idle_minutes, ready))
            _leave_on_signals(server)
            server.run(sockets=[listener])
        finally:
            daemon.withdraw(store)
            helix.close()


def restore_closed_store(settings: Settings, backup: Path) -> dict[str, Any]:
    """Put a backup in the place of a store that no daemon serves, even of one that cannot be opened.

    Returns what came of it as a job's result does, with `warnings`. Raises StoreLockedError while the store is in use.
    """
    return dict(restore_closed(settings, backup))


class _Server(uvicorn.Server):
    """A server that says when it is ready, is no longer found once it leaves, and leaves when it is idle."""

    def __init__(
        self,
        config: uvicorn.Config,
        *,
        ready: Callable[[], None],
        leaving: Callable[[], None],
        idle: Callable[[], bool],
    ) -> None:
        super().__init__(config)
        self._ready = ready
        self._leaving = leaving
        self._idle = idle

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._ready()

    async def on_tick(self, counter: int) -> bool:
        self.should_exit = self.should_exit or self._idle()
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._leaving()
        await super().shutdown(sockets)


def _server(helix: Helix, idle_minutes: float, ready: Callable[[], None]) -> _Server:
    store = helix.settings.store_path

    def leave() -> None:
        server.should_exit = True

    app = create_app(helix, token=daemon.token_of(store), hook_token=daemon.hook_token_of(store), shutdown=leave)
    activity: Activity = app.state.activity

    def idle() -> bool:
        unused = idle_minutes > 0 and activity.idle_seconds > idle_minutes * 60
        return unused and not helix.at_work()

    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        server_header=False,
        lifespan="on",
        ws_max_size=BODY_BYTES,
        timeout_keep_alive=_KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=_DRAIN_SECONDS,
    )
    server = _Server(config, ready=ready, leaving=lambda: daemon.withdraw(store), idle=idle)
    return server


def _announced(helix: Helix, listener: socket.socket, idle_minutes: float, ready: Ready) -> None:
    host, port = listener.getsockname()[:2]
    url = f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
    store = helix.settings.store_path
    found = daemon.announce(store, url=url, port=port, idle_minutes=idle_minutes)
    try:
        token = daemon.hook_token_of(store)
        renew(helix.settings.home, store, url=url, token=token, hook_ms=helix.settings.hook_ms)
    except OSError:
        logger.exception("the plugin of connected clients could not be brought up to date")
    # Requests are answered from here on, whether or not there is room (or anybody left) to say so.
    with suppress(OSError):
        ready(found, tuple(helix.status().warnings))


def _listening(settings: Settings) -> socket.socket:
    """Return a socket that listens: on the port that is set, else on the last one if it is free, else on any."""
    if settings.port:
        return _listen(settings.host, settings.port)
    if last := daemon.last_port(settings.store_path):
        try:
            return _listen(settings.host, last)
        except DaemonError:
            pass  # taken meanwhile: nobody asked for this very port
    return _listen(settings.host, 0)


def _listen(host: str, port: int) -> socket.socket:
    try:
        listener = socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
        # Connections inherit it. Without it the second half of an answer waits 40 ms for the client's acknowledgement:
        # asyncio only sets it by itself on sockets that were made with the protocol's number.
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return listener
    except OSError as error:
        raise DaemonError(
            f"port {port} of {host} cannot be had: {error.strerror or error}",
            hint="another program may listen there: take another with `helix serve --port N`, or 0 for any free one",
        ) from error


def _leave_on_signals(server: _Server) -> None:
    def leave(number: int, frame: FrameType | None) -> None:
        server.should_exit = True

    # The server has handlers of its own while it runs and hands what they caught to these at its end, where the
    # usual ones would end the process before the store is closed.
    for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), leave)
