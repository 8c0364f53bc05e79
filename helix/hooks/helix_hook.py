"""The process hook: hands what a coding agent's client says to the daemon and prints its answer, or prints nothing.

    python3 -I -S helix_hook.py [--client NAME] [--home FOLDER] [--store FOLDER] [--python PROGRAM]
                                [--seconds LIMIT] < payload

One file of the standard library alone, so that it starts fast and can be copied anywhere. It always ends with status 0
and within LIMIT, whatever the daemon does. It never waits for a daemon to start: where none runs, the
start of a session (or the next prompt) starts one and answers nothing. The environment's settings and the home's
config.toml say which store; a `.env` in the folder an agent works in does not, as this runs by itself.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import time

LIMIT = 0.25
"""Seconds from the start of the process to its end, of the 300 ms that a hook may take, where nothing else is said."""

_STARTS_A_DAEMON = ("SessionStart", "UserPromptSubmit")
_LOOPBACK = ("127.0.0.1", "::1", "localhost")
_MOST_BYTES = 1 << 20
_LOG_BYTES = 256 << 10


def _age() -> float:
    """Return the seconds since this process was made, which a busy machine takes to come here; 0 where none tells."""
    try:
        with open("/proc/self/stat", "rb") as file:
            ticks = int(file.read().rpartition(b")")[2].split()[19])
        age = time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")
    except (AttributeError, OSError, ValueError, IndexError):
        return 0.0
    return age if 0.0 < age < 10.0 else 0.0


STARTED = time.monotonic() - _age()


class NoAnswer(Exception):
    """Why there is nothing to print; the message goes into the log and names nothing of the payload."""


def main(arguments: list[str]) -> str:
    """Do what the module says; return the text to print."""
    options = {arguments[at]: arguments[at + 1] for at in range(0, len(arguments) - 1, 2)}
    end = STARTED + _seconds(options.get("--seconds", ""))
    _end_in_time(end)
    payload = sys.stdin.buffer.read()
    event = ""
    store = options.get("--store") or _store()
    try:
        event = _event(payload)
        try:
            return _ask(store, options.get("--client", "claude-code"), payload, end)
        except NoDaemon:
            if event in _STARTS_A_DAEMON:
                _start_daemon(store, options.get("--home", ""), options.get("--python", ""))
                raise NoAnswer("no daemon ran; one is being started") from None
            raise
    except NoAnswer as trouble:
        _note(store, event, str(trouble))
    except (OSError, ValueError, RecursionError) as trouble:
        _note(store, event, type(trouble).__name__)
    return ""


def _seconds(given: str) -> float:
    try:
        return min(max(float(given), 0.01), 60.0)
    except ValueError:
        return LIMIT


class NoDaemon(NoAnswer):
    """Nothing that could answer runs."""


def _event(payload: bytes) -> str:
    try:
        told = json.loads(payload)
    except ValueError:
        raise NoAnswer("the payload is no JSON") from None
    name = told.get("hook_event_name") if isinstance(told, dict) else None
    return name if isinstance(name, str) and name.isalpha() else ""


def _ask(store: str, client: str, payload: bytes, end: float) -> str:
    """Return the daemon's answer, which is an object of JSON, as text."""
    host, port = _address(store)
    token = _text(store, "hook-token")
    if not token:
        raise NoAnswer("the store has no hook token")
    try:
        with socket.create_connection((host, port), timeout=_left(end)) as connection:
            # HTTP/1.0: the answer ends with the connection, and comes in one piece.
            name = f"[{host}]" if ":" in host else host
            head = (
                f"POST /hooks/{client} HTTP/1.0\r\nHost: {name}:{port}\r\nAuthorization: Bearer {token}\r\n"
                f"X-Helix-Wait: {_left(end) * 1000:.0f}\r\nX-Helix-Sent: {time.monotonic():.4f}\r\n"
                "Content-Type: application/json\r\n"
                f"Content-Length: {len(payload)}\r\n\r\n"
            )
            connection.sendall(head.encode("latin-1") + payload)
            answer = _read(connection, end)
    except TimeoutError:
        raise NoAnswer("the daemon did not answer in time") from None
    except ConnectionRefusedError:
        raise NoDaemon("nothing listens where the daemon was") from None
    headers, _, body = answer.partition(b"\r\n\r\n")
    status = headers.split(b"\r\n", 1)[0].split()
    if len(status) < 2 or not status[0].startswith(b"HTTP/") or status[1] != b"200":
        raise NoAnswer("the daemon answered with no success")
    _pin(store, headers)
    try:
        if not isinstance(json.loads(body), dict):
            raise ValueError
        return body.decode("utf-8")
    except ValueError:
        raise NoAnswer("the daemon answered with no JSON object") from None


def _pin(store: str, headers: bytes) -> None:
    """Have the commands that are run in a session that begins use its store and its scope, where the client lets us."""
    path = os.environ.get("CLAUDE_ENV_FILE", "")
    lines = (line.partition(b":") for line in headers.split(b"\r\n"))
    told = [value.strip() for name, _, value in lines if name.lower() == b"x-helix-scope"]
    if not path or not told:
        return
    from urllib.parse import unquote

    wanted = {"HELIX_DB_PATH": store, "HELIX_SCOPE": unquote(told[0].decode("latin-1"))}
    with open(path, "a", encoding="utf-8") as file:
        for name, value in wanted.items():
            quoted = value.replace("'", "'\\''")
            file.write(f"export {name}='{quoted}'\n")


def _read(connection: socket.socket, end: float) -> bytes:
    pieces: list[bytes] = []
    size = 0
    while True:
        connection.settimeout(_left(end))
        piece = connection.recv(65536)
        if not piece:
            return b"".join(pieces)
        pieces.append(piece)
        size += len(piece)
        if size > _MOST_BYTES:
            raise NoAnswer("the answer has no end")


def _left(end: float) -> float:
    """Return the seconds that are left, which a socket may wait."""
    left = end - time.monotonic()
    if left <= 0:
        raise NoAnswer("the time is up")
    return left


def _address(store: str) -> tuple[str, int]:
    """Return where the daemon that owns the store listens: on this machine, and only while it lives."""
    try:
        told = json.loads(_text(store, "daemon.json"))
        host, port = told["url"].rpartition(":")[0].rpartition("/")[2].strip("[]"), int(told["port"])
        owner = int(told["pid"])
    except (ValueError, KeyError, TypeError, AttributeError):
        raise NoDaemon("no daemon runs") from None
    if host not in _LOOPBACK or not 0 < port < 65536:
        raise NoAnswer("the daemon's address is not on this machine")
    if _text(store, "lock") != str(owner) or not _is_locked(os.path.join(store, "lock")):
        raise NoDaemon("the daemon has gone")
    return host, port


def _is_locked(path: str) -> bool:
    """Return whether a living process holds the file; as helix/lock.py writes it."""
    try:
        lock = os.open(path, os.O_RDWR)
    except OSError:
        return False
    try:
        if sys.platform == "win32":
            import msvcrt

            os.lseek(lock, 1 << 30, os.SEEK_SET)
            msvcrt.locking(lock, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(lock)
    return False


def _store() -> str:
    """Return the folder of the store, as helix/settings.py finds it, but for what a `.env` says."""
    given = os.environ.get("HELIX_DB_PATH")
    if given:
        return _whole(given)
    home = _whole(os.environ.get("HELIX_HOME") or "~/.helix")
    configured = _configured(os.path.join(home, "config.toml"))
    if configured:
        return _whole(configured)
    folder = os.environ.get("CLAUDE_PROJECT_DIR") or os.getcwd()
    while True:
        store = os.path.join(folder, ".helix", "store")
        if os.path.isdir(store) and os.path.dirname(store) != home:
            return store
        above = os.path.dirname(folder)
        if above == folder:
            return os.path.join(home, "store")
        folder = above


def _configured(path: str) -> str:
    if not os.path.isfile(path):
        return ""
    try:
        import tomllib

        with open(path, "rb") as file:
            return str(tomllib.load(file).get("db_path", ""))
    except (ImportError, OSError, ValueError):
        return ""


def _whole(path: str) -> str:
    return os.path.abspath(os.path.expanduser(path))


def _text(store: str, name: str) -> str:
    try:
        with open(os.path.join(store, name), "rb") as file:
            return file.read(65536).decode("ascii").strip()
    except (OSError, ValueError):
        return ""


def _start_daemon(store: str, home: str, python: str) -> None:
    """Start a daemon in a session of its own and go on; `helix hook start` sees to it that there is one."""
    import subprocess

    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    if python or os.path.isfile(os.path.join(package, "daemon.py")):
        command = [python or sys.executable, "-m", "helix.cli.main"]
    else:
        command = ["helix"]
    subprocess.Popen(
        [*command, *(["--home", home] if home else []), "--store", store, "hook", "start"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
    )


def _note(store: str, event: str, trouble: str) -> None:
    """Write a line to the store's log of hooks, where there is a store; without one there is nobody to tell."""
    if not os.path.isdir(store):
        return
    try:
        folder = os.path.join(store, "logs")
        os.makedirs(folder, mode=0o700, exist_ok=True)
        path = os.path.join(folder, "hooks.log")
        if os.path.exists(path) and os.path.getsize(path) > _LOG_BYTES:
            os.replace(path, path + ".1")
        now = time.time()
        line = {
            "at": time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now)) + f".{int(now % 1 * 1000):03d}+00:00",
            "event": event,
            "trouble": trouble,
            "ms": round((time.monotonic() - STARTED) * 1000, 1),
        }
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "a", encoding="ascii") as file:
            file.write(json.dumps(line) + "\n")
    except OSError:
        pass  # a full disk is no reason to stop an agent


def _end_in_time(end: float) -> None:
    """Have this process end when its time is up, even where it is still being told what happened."""
    try:
        import signal

        signal.signal(signal.SIGALRM, lambda number, frame: os._exit(0))
        signal.setitimer(signal.ITIMER_REAL, max(end + 0.01 - time.monotonic(), 0.001))
    except (AttributeError, ValueError):
        pass  # Windows: sockets have their own limit, and a client closes what it has written


if __name__ == "__main__":
    try:
        sys.stdout.write(main(sys.argv[1:]))
        sys.stdout.flush()
    finally:
        os._exit(0)  # at once, also after an error: an agent's work goes on without its memory
