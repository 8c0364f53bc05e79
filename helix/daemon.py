"""Daemon: find, start and stop the one daemon of a store.

The store's lock is the truth about what runs. `daemon.json` says where the lock's owner is reached and counts only
while it names that owner, so what a killed daemon leaves behind misleads nobody; `token` is what its clients show.
"""

from __future__ import annotations

import json
import os
import secrets
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

from helix import __version__
from helix.client import Client, error_from
from helix.errors import DaemonError, DiskFullError, HelixError, StoreLockedError
from helix.lock import StoreLock, is_locked, owner_of
from helix.settings import Settings, child_environment, load

DAEMON_FILE = "daemon.json"
TOKEN_FILE = "token"
HOOK_TOKEN_FILE = "hook-token"
PORT_FILE = "port"
LOGS = "logs"
START_LOG = "start.log"

START_SECONDS = 60.0
"""How long a client waits for the daemon it started: opening a store may replay the tail of its journal."""

STOP_SECONDS = 30.0
"""How long a daemon that was asked to stop may take to answer what it has begun and to close its store."""

_ASK_SECONDS = 5.0
_HELD_SECONDS = 20.0
_PAUSE_SECONDS = 0.05
_STARTING = "starting"
_TOKEN_BYTES = 32
_ROOM_TO_START = 1 << 20

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


def connect(settings: Settings | None = None) -> Client:
    """Return a client of the store's daemon, which is started when none runs."""
    return ensure_running(load() if settings is None else settings)


def ensure_running(settings: Settings, *, idle_minutes: float | None = None) -> Client:
    """Return a client of the one daemon of the store; however many ask at once, one daemon is started.

    `idle_minutes` is how long a daemon started here stays unused (default: the setting; 0: until it is stopped).
    Raises what kept the daemon from starting, StoreLockedError when another program has the store open, and
    DaemonError when it takes longer than START_SECONDS.
    """
    minutes = settings.idle_exit_minutes if idle_minutes is None else idle_minutes
    locate = partial(_located, settings, minutes)
    return Client(*locate(), _timeout(settings), relocate=locate)


def running(settings: Settings) -> Client | None:
    """Return a client of the store's daemon, or None when none runs."""
    daemon = find(settings.store_path)
    return None if daemon is None else Client(daemon.url, _read_token(settings.store_path), _timeout(settings))


def find(store: Path) -> Daemon | None:
    """Return the daemon that owns the store, or None: none runs, or it does not answer yet."""
    try:
        record = json.loads((store / DAEMON_FILE).read_text("utf-8"))
        daemon = Daemon(**{field.name: record[field.name] for field in fields(Daemon)})
    except (OSError, ValueError, KeyError, TypeError):
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
    """Write down that this process is the store's daemon and answers at `url`; only for the owner of the lock."""
    daemon = Daemon(
        pid=os.getpid(),
        port=port,
        url=url,
        version=__version__,
        started_at=datetime.now(UTC).isoformat(timespec="seconds"),
        identity=_identity(os.getpid()),
        idle_minutes=idle_minutes,
    )
    _write(store / PORT_FILE, str(port))
    _write(store / DAEMON_FILE, json.dumps(asdict(daemon), indent=2))
    return daemon


def withdraw(store: Path) -> None:
    """Take back what `announce` wrote: clients no longer find this daemon; the port stays noted for the next one."""
    (store / DAEMON_FILE).unlink(missing_ok=True)


def last_port(store: Path) -> int:
    """Return the port the store's last daemon had, so that bookmarks keep working; 0 when there was none."""
    try:
        return int((store / PORT_FILE).read_text("ascii"))
    except (OSError, ValueError):
        return 0


def token_of(store: Path) -> str:
    """Return the store's bearer token (256 bits), making it where there is none; only for the owner of the lock.

    A token file that others could read is replaced: what was in it may be known.
    """
    return _token_in(store / TOKEN_FILE)


def hook_token_of(store: Path) -> str:
    """Return the token that is good for a client's hooks alone, as `token_of` does; clients keep it in their settings.

    Unlike that one it may be made before a daemon runs: whoever makes it first, the next daemon takes it.
    """
    store.mkdir(parents=True, exist_ok=True, mode=0o700)
    return _token_in(store / HOOK_TOKEN_FILE)


def _token_in(path: Path) -> str:
    with suppress(FileNotFoundError):
        token = path.read_text("ascii").strip()
        private = sys.platform == "win32" or not path.stat().st_mode & 0o077
        if private and len(token) >= _TOKEN_BYTES:
            return token
        path.unlink()
    token = secrets.token_urlsafe(_TOKEN_BYTES)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as file:
        file.write(token)
    return token


def _located(settings: Settings, minutes: float) -> tuple[str, str]:
    store = settings.store_path
    daemon = find(store)
    if daemon is not None and daemon.version != __version__:
        _retire(daemon, settings)
        daemon = None
    return (daemon or _started(settings, minutes)).url, _read_token(store)


def _retire(daemon: Daemon, settings: Settings) -> None:
    """Stop a daemon of another version that a client started and that is not at work; otherwise say why it stays."""
    words = f"the daemon of {settings.store_path} is Helix {daemon.version}, and this is {__version__}"
    if not daemon.idle_minutes:
        raise DaemonError(f"{words}; it was started by hand", hint="end it with `helix stop`, then try again")
    with Client(daemon.url, _read_token(settings.store_path), _timeout(settings)) as client:
        jobs = client.run("jobs")["jobs"]
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
    log.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
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
    with log.open("ab") as words:
        words.truncate(0)
        return subprocess.Popen(
            [sys.executable, "-m", "helix.cli.main", *serve],
            cwd=store,
            env={**child_environment(settings), "HELIX_HOME": str(settings.home.absolute())},
            stdin=subprocess.DEVNULL,
            stdout=words,
            stderr=words,
            start_new_session=True,
            creationflags=_NO_WINDOW,
        )


def _failure(log: Path) -> HelixError:
    """Return the error a daemon died of: its own where it left one, else the last lines it wrote."""
    lines = log.read_text("utf-8", "replace").splitlines()
    with suppress(ValueError, KeyError, IndexError, TypeError):
        error = json.loads(lines[-1])["error"]
        return error_from(error["code"], error["message"], error["hint"])
    if shutil.disk_usage(log.parent).free < _ROOM_TO_START:  # what it had to say of that found no room either
        words = f"no room on the disk of {log.parent.parent}: the daemon cannot start"
        return DiskFullError(words, hint="free some space and try again: nothing was lost")
    said = "\n".join(lines[-5:]) or "without a word"
    return DaemonError(f"the daemon ended before it was ready: {said}", hint=f"see {log.parent}")


def _asked_to_stop(daemon: Daemon, store: Path) -> bool:
    with suppress(HelixError), Client(daemon.url, _read_token(store), timeout=_ASK_SECONDS) as client:
        return bool(client.run("shutdown")["shutdown"])
    return False


def _signalled(daemon: Daemon) -> bool:
    # On Windows every signal is a kill.
    if sys.platform == "win32" or _identity(daemon.pid) != daemon.identity:
        return False
    with suppress(ProcessLookupError):
        os.kill(daemon.pid, signal.SIGTERM)
    return True


def _identity(pid: int) -> str:
    """Return the start time of a process as its system writes it, or "" where it does not tell."""
    if sys.platform == "win32":
        return ""
    try:
        # Field 22, counted from behind the program's name, which may hold anything.
        return Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()[19]
    except (FileNotFoundError, IndexError):
        listing = ["ps", "-o", "lstart=", "-p", str(pid)]
        return subprocess.run(listing, capture_output=True, text=True, check=False).stdout.strip()


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


def _read_token(store: Path) -> str:
    try:
        return (store / TOKEN_FILE).read_text("ascii").strip()
    except OSError as error:
        hint = "only the store's owner may use it"
        raise DaemonError(f"the daemon's token cannot be read: {error}", hint=hint) from error


def _timeout(settings: Settings) -> float:
    return settings.request_timeout_ms / 1000 + 5


def _write(path: Path, text: str) -> None:
    """Write a small file whole or not at all."""
    draft = path.with_name(path.name + ".new")
    draft.write_text(text, "utf-8")
    draft.replace(path)
