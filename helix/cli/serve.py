"""Serving: brings the service and its API up in this process, answers until told to leave, takes them down again."""

from __future__ import annotations

import asyncio
import faulthandler
import logging
import os
import secrets
import signal
import socket
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache, partial
from pathlib import Path
from types import FrameType
from typing import Any

import uvicorn

from helix import bearer, daemon, local_socket
from helix.api.app import Activity, create_app
from helix.api.connection_limits import guarded
from helix.api.web_pages import EXPLORER, is_built
from helix.cli.logs import start_daemon_log
from helix.cli.privacy import make_private
from helix.client_settings.plugin_files import renew
from helix.errors import DaemonError
from helix.files import check_store
from helix.operations import upkeep
from helix.processes import NEUTRAL_FOLDER, end_loading
from helix.service import Helix, restore_closed, set_aside_closed
from helix.settings import Settings
from helix.text.secrets.redact import redact

Ready = Callable[[daemon.Daemon, tuple[str, ...]], None]
"""Called once requests are answered, with what was announced and the warnings a person should see."""

logger = logging.getLogger(__name__)

_DRAIN_SECONDS = 10
_TRIES = 100
_PORTS = range(10_000, 65_536)
_TICKS = 10  # a second of the server's, between looks at what names it
_LEAVE_SECONDS = 25
"""How long a daemon that was told to leave may take altogether; `helix stop` waits a little longer."""


def serve_store(settings: Settings, *, idle_minutes: float, ready: Ready) -> None:
    """Serve the store in the process of `helix serve` until a signal, `shutdown` or idleness ends it; then close it.

    What has begun is answered first. `idle_minutes` 0: idleness never ends it. Raises DaemonError when the port is
    taken and StoreLockedError when another process has the store.
    """
    os.umask(0o077)  # what engines write beside their files is nobody else's either
    _keep_no_core()
    store = settings.store_path
    check_store(store)
    os.chdir(
        NEUTRAL_FOLDER
    )  # libraries look for their settings where a process stands, and a project is no place for them
    start_daemon_log(store, settings.log_level, lambda text: redact(text).text)
    with _listening(settings) as listener, _listening_formerly(settings) as former:
        helix = Helix.open(settings)
        try:
            address = listener.getsockname()[:2]
            announced = partial(_announced, helix, address, idle_minutes, ready)
            server = _server(helix, idle_minutes, address, announced, former)
            end_loading()  # the one store of this process, too, which lives as long as it does
            _leave_on_signals(server)
            own = _listening_in(store)
            for path in make_private(settings):
                logger.warning("closed to other users", extra={"path": str(path)})
            server.run(sockets=[listener] if own is None else [listener, own])
        finally:
            _leave_in_time()
            try:
                daemon.withdraw(store)
            finally:
                helix.close()
            faulthandler.cancel_dump_traceback_later()


def restore_closed_store(settings: Settings, backup: Path) -> dict[str, Any]:
    """Restore a backup, by command, to a store that no daemon serves, even an unreadable one.

    Returns what came of it as a job's result does, with `warnings`. Raises StoreLockedError while the store is in use.
    """
    return dict(restore_closed(settings, backup))


def set_aside_closed_store(settings: Settings) -> None:
    """Put aside the journal of a store that cannot be opened, by command. StoreLockedError while in use."""
    set_aside_closed(settings)


class _Server(uvicorn.Server):
    """A server that says when it is ready, is no longer found once it leaves, and leaves when it is idle or lost."""

    def __init__(
        self,
        config: uvicorn.Config,
        *,
        ready: Callable[[], None],
        leaving: Callable[[], None],
        idle: Callable[[], bool],
        lost: Callable[[], bool],
        elsewhere: Callable[[], Awaitable[None]],
    ) -> None:
        super().__init__(config)
        self._ready = ready
        self._leaving = leaving
        self._idle = idle
        self._lost = lost
        self._elsewhere = elsewhere

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        await self._elsewhere()
        self._ready()

    async def on_tick(self, counter: int) -> bool:
        self.should_exit = self.should_exit or self._idle() or (counter % _TICKS == 0 and self._lost())
        return await super().on_tick(counter)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        _leave_in_time()
        super().handle_exit(sig, frame)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._leaving()
        await super().shutdown(sockets)


@cache
def _leave_in_time() -> None:
    """End this process after a while in any case: what was acknowledged is on disk, and a daemon must not stay.

    The watch is a thread of C's: it needs no turn of the interpreter, which may be what never comes.
    """
    faulthandler.dump_traceback_later(_LEAVE_SECONDS, exit=True)


def _server(
    helix: Helix,
    idle_minutes: float,
    address: tuple[str, int],
    ready: Callable[[], None],
    former: socket.socket | None,
) -> _Server:
    store = helix.settings.store_path

    def leave() -> None:
        _leave_in_time()
        server.should_exit = True

    app = create_app(helix, token=bearer.token_of(store), hook_token=bearer.hook_token_of(store), shutdown=leave)
    activity: Activity = app.state.activity

    def idle() -> bool:
        unused = idle_minutes > 0 and activity.idle_seconds > idle_minutes * 60
        return unused and not (helix.jobs.are_running() or helix.worker.at_work)

    def lost() -> bool:
        gone = not daemon.is_announced(store)
        if gone:
            logger.warning("leaving: daemon.json is gone, or names another process")
        fenced = helix.store.journal.database.fenced
        if fenced:
            logger.warning("leaving: another process may serve the tenant by now")
        return gone or fenced

    config = guarded(app, address, grace_seconds=_DRAIN_SECONDS)

    def leaving() -> None:
        daemon.withdraw(store)
        helix.store.graph.leave()

    async def elsewhere() -> None:
        if former is not None:  # pages that the last daemon left open ask there where this one is
            await asyncio.start_server(partial(app.state.handover.answer, address[1]), sock=former, limit=4_096)

    server = _Server(config, ready=ready, leaving=leaving, idle=idle, lost=lost, elsewhere=elsewhere)
    return server


def _announced(helix: Helix, address: tuple[str, int], idle_minutes: float, ready: Ready) -> None:
    host, port = address
    url = f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
    store = helix.settings.store_path
    # A damaged journal may be noticed here. Nobody is told of a daemon that then ends.
    warnings = (*upkeep.status(helix).warnings, *_missing())
    found = daemon.announce(store, url=url, port=port, idle_minutes=idle_minutes)
    try:
        renew(helix.settings.home, store, hook_ms=helix.settings.hook_ms)
    except OSError:
        logger.exception("the plugin of connected clients could not be brought up to date")
    # Requests are answered from here on, whether or not there is room (or anybody left) to say so.
    with suppress(OSError):
        ready(found, warnings)


def _missing() -> Iterator[str]:
    if not is_built(EXPLORER):
        yield "the explorer is not built: install Node.js 20.19 or newer, then run scripts/serve again"


def _listening(settings: Settings) -> socket.socket:
    """Return a socket that listens: on the port that is set, else on one that no daemon of this store had before.

    While none runs another user may listen at its old port, and leave a service worker behind in the browser that asks
    at all of that port's pages later, as this user.
    """
    if settings.port:
        return _listen(settings.host, settings.port)
    used = daemon.used_ports(settings.store_path)
    for _ in range(_TRIES):
        # By chance, and not the system's choice: whoever holds all that it would give but one chooses that one.
        port = secrets.choice(_PORTS)
        if port not in used:
            with suppress(DaemonError):
                return _listen(settings.host, port)
    raise DaemonError(
        f"of {_TRIES} ports none can be had that no daemon of this store had before",
        hint="other programs hold nearly all: end them, or name a port with `helix serve --port N`",
    )


@contextmanager
def _listening_formerly(settings: Settings) -> Iterator[socket.socket | None]:
    """Listen at the last daemon's port too, if nobody else does; it answers one question there, and nothing else."""
    used = () if settings.port else daemon.used_ports(settings.store_path)
    found: socket.socket | None = None
    with suppress(DaemonError):
        found = _listen(settings.host, used[-1]) if used else None
    try:
        yield found
    finally:
        if found is not None:
            found.close()


def _listening_in(store: Path) -> socket.socket | None:
    """Return the socket that this user's own programs reach the daemon by."""
    try:
        return local_socket.listen(store)
    except OSError as error:
        words = f"{store / local_socket.SOCKET_FILE} cannot be listened at: {error.strerror or error}"
        raise DaemonError(words, hint="remove what is in its place, or keep the store on a local disk") from error


def _keep_no_core() -> None:
    """Leave no image of this process's memory behind, should it crash: tokens and memories are in it."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))


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
            hint="another program may listen there: take another with `helix serve --port N`, or 0 for a new one",
        ) from error


def _leave_on_signals(server: _Server) -> None:
    def leave(number: int, frame: FrameType | None) -> None:
        server.should_exit = True

    # The server has handlers of its own while it runs and hands what they caught to these at its end, where the
    # usual ones would end the process before the store is closed.
    for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), leave)
