"""Daemon: find, start and stop the one daemon of a store.

The store's lock is the truth about what runs. `daemon.json` says where the lock's owner is reached and counts only
while it names that owner, so what a killed daemon leaves behind misleads nobody; `token` is what its clients show.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from helix import __version__, files, local_socket
from helix.bearer import drop_link, read_token
from helix.client import LOOPBACK, Client, error_from
from helix.errors import DaemonError, DiskFullError, HelixError, StoreLockedError
from helix.lock import StoreLock, is_locked, owner_of
from helix.processes import NEUTRAL_FOLDER, daemon_environment, python_command, start_time
from helix.settings import LOGS, Settings, load

if TYPE_CHECKING:
    from helix.client.async_client import AsyncClient

DAEMON_FILE = "daemon.json"
PORTS_FILE = "port"
"""The ports that daemons of a store listened at, a line each, the newest last."""
START_LOG = "start.log"

START_SECONDS = 60.0
"""How long a client waits for the daemon it started: opening a store may replay the tail of its journal."""

STOP_SECONDS = 30.0
"""How long a daemon that was asked to stop may take to answer what it has begun and to close its store."""

_ASK_SECONDS = 5.0
_HELD_SECONDS = 20.0
_PAUSE_SECONDS = 0.05
_STARTING = "starting"
_ROOM_TO_START = 1 << 20
_MOST_PORTS = 1_000

_NO_WINDOW: int = getattr(subprocess, "CREATE_NO_WINDOW", 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Daemon:
    """A running daemon. `identity` tells its process from a later one of the same pid.

    `idle_minutes` is how long unused it stays; 0 for one started by hand, which stays until it is stopped.
    """

    pid: int
    port: int
    url: str
    version: str
    started_at: str
    identity: str
    idle_minutes: float


def connect(settings: Settings | None = None, *, store: Path | str | None = None) -> Client:
    """Return a client of a store's daemon, which is started when none runs.

    The store is the one in the folder `store`, else that of the settings, else that of the command line here.
    """
    return ensure_running(_settings_of(settings, store))


async def connect_async(settings: Settings | None = None, *, store: Path | str | None = None) -> AsyncClient:
    """Return an asyncio client of a store's daemon, which is found and started in a thread."""
    import asyncio  # which commands do without

    from helix.client.async_client import AsyncClient

    chosen = await asyncio.to_thread(_settings_of, settings, store)
    locate = partial(_located, chosen, chosen.idle_exit_minutes)
    url, token = await asyncio.to_thread(locate)
    return AsyncClient(url, token, _timeout(chosen), store=chosen.store_path, relocate=locate)


def ensure_running(settings: Settings, *, idle_minutes: float | None = None) -> Client:
    """Return a client of the one daemon of the store; however many ask at once, one daemon is started.

    `idle_minutes` is how long a daemon started here stays unused (default: the setting; 0: until it is stopped).
    Raises what kept the daemon from starting, StoreLockedError when another program has the store open, and
    DaemonError when it takes longer than START_SECONDS.
    """
    minutes = settings.idle_exit_minutes if idle_minutes is None else idle_minutes
    locate = partial(_located, settings, minutes)
    return Client(*locate(), _timeout(settings), store=settings.store_path, relocate=locate)


def running(settings: Settings, *, timeout: float | None = None) -> Client | None:
    """Return a client of the store's daemon, or None when none runs; `timeout` in seconds, else as settings say."""
    daemon = find(settings.store_path)
    return None if daemon is None else _client(daemon, settings.store_path, timeout or _timeout(settings))


def find(store: Path) -> Daemon | None:
    """Return the running daemon of a store, or None: none runs, or it does not answer yet."""
    try:
        record = json.loads(files.read_text(store / DAEMON_FILE))
        daemon = Daemon(**{field.name: record[field.name] for field in fields(Daemon)})
        if urlsplit(daemon.url).hostname not in LOOPBACK:
            return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    return daemon if daemon.pid == owner_of(store) and is_locked(store) else None


def stop(settings: Settings) -> Daemon | None:
    """Stop the store's daemon and return it once its store is closed; None when none ran.

    It is asked first and sent SIGTERM after that; it is never killed. Raises DaemonError when it stays, and
    StoreLockedError when what has the store open is no daemon.
    """
    store = settings.store_path
    daemon = find(store)
    if daemon is None:
        if is_locked(store):
            raise _held(store)
        return None
    gone = partial(_until, lambda: owner_of(store) != daemon.pid or not is_locked(store), STOP_SECONDS)
    if not (_asked_to_stop(daemon, store) and gone()) and not (_signalled(daemon) and gone()):
        raise DaemonError(
            f"the daemon (process {daemon.pid}) has not stopped within {STOP_SECONDS:g} s",
            hint=f"{store / LOGS} may say why; killing it loses nothing that was acknowledged",
        )
    return daemon


def announce(store: Path, *, url: str, port: int, idle_minutes: float) -> Daemon:
    """Announce this process as the store's daemon that answers at `url`; only for the owner of the lock."""
    daemon = Daemon(
        pid=os.getpid(),
        port=port,
        url=url,
        version=__version__,
        started_at=datetime.now(UTC).isoformat(timespec="seconds"),
        identity=start_time(os.getpid()),
        idle_minutes=idle_minutes,
    )
    _write(store / PORTS_FILE, "".join(f"{one}\n" for one in [*used_ports(store), port][-_MOST_PORTS:]))
    _write(store / DAEMON_FILE, json.dumps(asdict(daemon), indent=2))
    return daemon


def withdraw(store: Path) -> None:
    """Withdraw the daemon's announcement: clients no longer find it; its port stays noted as used."""
    (store / DAEMON_FILE).unlink(missing_ok=True)
    local_socket.forget(store)
    drop_link(store)


def is_announced(store: Path) -> bool:
    """Return whether `daemon.json` still names this daemon: without it no client finds it, nor ends it."""
    try:
        return bool(json.loads(files.read_text(store / DAEMON_FILE))["pid"] == os.getpid())
    except (FileNotFoundError, NotADirectoryError, ValueError, KeyError, TypeError, RecursionError):
        return False
    except OSError:  # such as no descriptor left: that says nothing of the file
        return True


def used_ports(store: Path) -> tuple[int, ...]:
    """Return the ports that the store's daemon has used, as far as noted, the newest last."""
    try:
        noted = dict.fromkeys(map(int, files.read_text(store / PORTS_FILE).split()))
        return tuple(port for port in noted if 0 < port < 1 << 16)
    except (OSError, ValueError):
        return ()


def _settings_of(settings: Settings | None, store: Path | str | None) -> Settings:
    return settings or load({"db_path": store and Path(store).absolute()})


def _located(settings: Settings, minutes: float) -> tuple[str, str]:
    store = settings.store_path
    daemon = find(store)
    if daemon is not None and daemon.version != __version__:
        _retire(daemon, settings)
        daemon = None
    return (daemon or _started(settings, minutes)).url, read_token(store)


def _retire(daemon: Daemon, settings: Settings) -> None:
    """Stop a daemon of another version that a client started and that is not at work; otherwise say why it stays."""
    words = f"the daemon of {settings.store_path} is Helix {daemon.version}, and this is {__version__}"
    if not daemon.idle_minutes:
        raise DaemonError(f"{words}; it was started by hand", hint="end it with `helix stop`, then try again")
    with _client(daemon, settings.store_path, _timeout(settings)) as client:
        jobs = client.execute("{ status { jobs { kind state } } }")["status"]["jobs"]  # which every version answers
    at_work = [job["kind"] for job in jobs if job["state"] == "RUNNING"]
    if at_work:
        raise DaemonError(f"{words}; it is at work ({at_work[0]})", hint="try again when `helix status` shows no job")
    stop(settings)


def _started(settings: Settings, minutes: float) -> Daemon:
    """Start the daemon, or wait for the client that is already starting it."""
    store = settings.store_path
    deadline = time.monotonic() + START_SECONDS
    turn = StoreLock(store, name=_STARTING)
    while True:
        try:
            turn.acquire()
            break
        except StoreLockedError:
            if (daemon := find(store)) is not None:
                return daemon
            if time.monotonic() > deadline:
                hint = f"{store / LOGS / START_LOG} may say why"
                raise DaemonError("a daemon is being started and does not get ready", hint=hint) from None
    try:
        return _let_in(store) or _spawned(settings, minutes, deadline)
    finally:
        turn.release()


def _let_in(store: Path) -> Daemon | None:
    """Return None once the store is free, or its daemon: one that leaves lets go soon, one just starting answers."""
    found: list[Daemon] = []

    def settled() -> bool:
        found.extend(filter(None, [find(store)]))
        return bool(found) or not is_locked(store)

    if not _until(settled, _HELD_SECONDS):
        raise _held(store)
    return found[0] if found else None


def _spawned(settings: Settings, minutes: float, deadline: float) -> Daemon:
    store = settings.store_path
    log = store / LOGS / START_LOG
    files.private_folder(log.parent)
    child = _spawn(settings, minutes, log)
    # The daemon is meant to outlive this process; should it end first, it is not left behind as a zombie.
    threading.Thread(target=child.wait, daemon=True).start()
    while (daemon := find(store)) is None:
        if child.poll() is not None and not is_locked(store):
            raise _failure(log)
        if time.monotonic() > deadline:
            raise DaemonError(
                f"the daemon (process {child.pid}) is not ready after {START_SECONDS:g} s",
                hint=f"it may yet get ready: `helix status` tells, and {log} may say why",
            )
        time.sleep(_PAUSE_SECONDS)
    return daemon


def _spawn(settings: Settings, minutes: float, log: Path) -> subprocess.Popen[bytes]:
    """Start `helix serve` detached: its own session, no terminal or console, its words in `log`."""
    store = settings.store_path.absolute()
    serve = ["--json", "--store", str(store), "serve", "--idle-exit", f"{minutes:g}"]
    with os.fdopen(files.create_private(log), "ab") as words:
        return subprocess.Popen(
            python_command("helix.cli.main", *serve),
            cwd=NEUTRAL_FOLDER,
            env={**daemon_environment(settings), "HELIX_HOME": str(settings.home.absolute())},
            stdin=subprocess.DEVNULL,
            stdout=words,
            stderr=words,
            start_new_session=True,
            creationflags=_NO_WINDOW,
        )


def _failure(log: Path) -> HelixError:
    """Return the error a daemon died of: its own where it left one, else the last lines it wrote."""
    lines = files.read_text(log, errors="replace").splitlines()
    with suppress(ValueError, KeyError, IndexError, TypeError):
        error = json.loads(lines[-1])["error"]
        return error_from(error["code"], error["message"], error["hint"])
    if shutil.disk_usage(log.parent).free < _ROOM_TO_START:  # what it had to say of that found no room either
        words = f"no room on the disk of {log.parent.parent}: the daemon cannot start"
        return DiskFullError(words, hint="free some space and try again: nothing was lost")
    said = "\n".join(lines[-5:]) or "without a word"
    return DaemonError(f"the daemon ended before it was ready: {said}", hint=f"see {log.parent}")


def _asked_to_stop(daemon: Daemon, store: Path) -> bool:
    with suppress(HelixError), _client(daemon, store, _ASK_SECONDS) as client:
        return bool(client.run("shutdown")["shutdown"])
    return False


def _signalled(daemon: Daemon) -> bool:
    # On Windows every signal is a kill.
    if sys.platform == "win32" or start_time(daemon.pid) != daemon.identity:
        return False
    with suppress(ProcessLookupError):
        os.kill(daemon.pid, signal.SIGTERM)
    return True


def _held(store: Path) -> StoreLockedError:
    return StoreLockedError(
        f"the store {store} is open in process {owner_of(store)}, which does not answer as a daemon",
        hint="wait if it has only just started; otherwise end that program",
    )


def _until(condition: Callable[[], bool], seconds: float) -> bool:
    """Return True as soon as the condition holds, False when it does not within that time."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(_PAUSE_SECONDS)
    return True


def _client(daemon: Daemon, store: Path, timeout: float) -> Client:
    return Client(daemon.url, read_token(store), timeout, store=store)


def _timeout(settings: Settings) -> float:
    return settings.request_timeout_ms / 1000 + 5


def _write(path: Path, text: str) -> None:
    """Write a small file whole or not at all."""
    files.write_private(path, text)
