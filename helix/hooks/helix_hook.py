"""The process hook: hands what a coding agent's client says to the daemon and prints its answer, or prints nothing.

    python3 -I -S helix_hook.py [--client NAME] [--home FOLDER] [--store FOLDER] [--python PROGRAM]
                                [--seconds LIMIT] < payload

One file of the standard library alone, so that it starts fast and can be copied anywhere. It always ends with status 0
and within LIMIT, whatever the daemon does. It tells nobody but the process that listens at the socket in the store's
folder, and only if that is one of this user's: no port is asked, as anybody may listen there. It never waits for a
daemon to start: where none runs, the start of a session (or the next prompt) starts one and answers nothing. The
environment's settings and the home's config.toml say which store; a `.env` in the folder an agent works in does not, as
this runs by itself.
"""

from __future__ import annotations

import json
import os
import socket
import stat
import sys
import time

LIMIT = 0.25
"""Seconds from the start of the process to its end, of the 300 ms that a hook may take, where nothing else is said."""

_STARTS_A_DAEMON = (
    *("SessionStart", "UserPromptSubmit", "BeforeAgent", "sessionStart", "beforeSubmitPrompt"),
    *("pre_user_prompt", "session.created", "chat.message"),
    *("TaskStart", "TaskResume", "agent_start", "agent_resume", "prompt_submit"),
)
"""What clients call the beginning of a session, and a prompt."""
_MOST_BYTES = 1 << 20
_MOST_TOLD = 4 << 20
"""Bytes of a payload that the daemon takes."""
_LONGEST_PATH = 100
"""Bytes of a socket's path that every system takes."""
_LOG_BYTES = 256 << 10
_CAREFUL = getattr(os, "O_NONBLOCK", 0)
"""Waits for nothing: a name can stand for a pipe."""
_ISOLATED = ("-E", "-P")
"""As in helix/processes.py, which this file cannot import: the folder an agent works in must not be imported from."""


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


def main(arguments: list[str]) -> None:
    """Run the process that a client's hook starts: hand its payload to the daemon and print the answer."""
    options = {arguments[at]: arguments[at + 1] for at in range(0, len(arguments) - 1, 2)}
    end = STARTED + _seconds(options.get("--seconds", ""))
    _end_in_time(end)
    payload = sys.stdin.buffer.read(_MOST_TOLD + 1)
    event = ""
    store = options.get("--store") or _store()
    try:
        event = _event(payload)
        try:
            answer, receipt = _ask(store, options.get("--client", "claude-code"), payload, end)
        except NoDaemon:
            if event in _STARTS_A_DAEMON:
                _start_daemon(store, options.get("--home", ""), options.get("--python", ""))
                raise NoAnswer("no daemon ran; one is being started") from None
            raise
        sys.stdout.write(answer)
        sys.stdout.flush()
        if receipt:
            _tell_printed(store, receipt, end)
    except NoAnswer as trouble:
        _note(store, event, str(trouble))
    except (OSError, ValueError, RecursionError) as trouble:
        _note(store, event, type(trouble).__name__)


def _seconds(given: str) -> float:
    try:
        return min(max(float(given), 0.01), 60.0)
    except ValueError:
        return LIMIT


class NoDaemon(NoAnswer):
    """Nothing that could answer runs."""


def _event(payload: bytes) -> str:
    if len(payload) > _MOST_TOLD:
        raise NoAnswer("the payload is too large")
    try:
        told = json.loads(payload)
    except ValueError:
        raise NoAnswer("the payload is not JSON") from None
    names = ("hook_event_name", "hookEventName", "agent_action_name", "hookName", "event")
    name = next((told[one] for one in names if one in told), None) if isinstance(told, dict) else None
    return name if isinstance(name, str) and name.replace("_", "").replace(".", "").isalpha() else ""


def _ask(store: str, client: str, payload: bytes, end: float) -> tuple[str, str]:
    """Return the daemon's answer, which is an object of JSON, as text, and the name of the receipt that it wants."""
    try:
        with _connected(store, end) as connection:
            head = (
                f"{_head(store, f'POST /hooks/{client}')}X-Helix-Receipts: 1\r\n"
                f"X-Helix-Wait: {_left(end) * 1000:.0f}\r\nX-Helix-Sent: {time.monotonic():.4f}\r\n"
                "Content-Type: application/json\r\n"
                f"Content-Length: {len(payload)}\r\n\r\n"
            )
            connection.sendall(head.encode("latin-1") + payload)
            answer = _receive_all(connection, end)
    except TimeoutError:
        raise NoAnswer("the daemon did not answer in time") from None
    except (ConnectionRefusedError, FileNotFoundError):
        raise NoDaemon("no daemon runs") from None
    headers, _, body = answer.partition(b"\r\n\r\n")
    status = headers.split(b"\r\n", 1)[0].split()
    if len(status) < 2 or not status[0].startswith(b"HTTP/") or status[1] != b"200":
        raise NoAnswer("the daemon answered with no success")
    told = _parse_headers(headers)
    _pin(store, told.get(b"x-helix-scope", b""))
    try:
        if not isinstance(json.loads(body), dict):
            raise ValueError
        return body.decode("utf-8"), told.get(b"x-helix-receipt", b"").decode("latin-1")
    except ValueError:
        raise NoAnswer("the daemon answered with no JSON object") from None


def _head(store: str, request: str) -> str:
    """Return the beginning of a request: HTTP/1.0, so the answer ends with the connection, and comes in one piece."""
    token = _text(store, "hook-token")
    if not token:
        raise NoAnswer("the store has no hook token")
    return f"{request} HTTP/1.0\r\nHost: 127.0.0.1:{_port(store)}\r\nAuthorization: Bearer {token}\r\n"


def _parse_headers(headers: bytes) -> dict[bytes, bytes]:
    lines = (line.partition(b":") for line in headers.split(b"\r\n")[1:])
    return {name.strip().lower(): value.strip() for name, _, value in lines}


def _tell_printed(store: str, receipt: str, end: float) -> None:
    """Tell the daemon that the answer was printed, and wait for nothing: only then it counts as shown."""
    if not receipt.isalnum():
        raise NoAnswer("the daemon wants a receipt of no name")
    with _connected(store, end) as connection:
        connection.sendall(f"{_head(store, f'GET /hooks/receipts/{receipt}')}\r\n".encode("latin-1"))


def _pin(store: str, scope: bytes) -> None:
    """Have the commands that are run in a session that begins use its store and its scope, where the client lets us."""
    path = os.environ.get("CLAUDE_ENV_FILE", "")
    if not path or not scope:
        return
    from urllib.parse import unquote

    wanted = {"HELIX_DB_PATH": store, "HELIX_SCOPE": unquote(scope.decode("latin-1"))}
    with open(path, "a", encoding="utf-8") as file:
        for name, value in wanted.items():
            quoted = value.replace("'", "'\\''")
            file.write(f"export {name}='{quoted}'\n")


def _receive_all(connection: socket.socket, end: float) -> bytes:
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


def _connected(store: str, end: float) -> socket.socket:
    """Return a connection to the daemon once it is certain that it is this user's; as helix/local_socket.py."""
    if not hasattr(socket, "AF_UNIX"):
        raise NoAnswer("this system has no Unix sockets")
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        while True:
            connection.settimeout(_left(end))
            try:
                _reach(connection, os.path.join(store, "socket"))
                break
            except BlockingIOError:  # more are waiting to be let in than there is room for
                time.sleep(0.005)
        if _peer(connection) != os.geteuid():
            raise NoAnswer("another user's process listens in the store")
    except BaseException:
        connection.close()
        raise
    return connection


def _reach(connection: socket.socket, path: str) -> None:
    if len(os.fsencode(path)) <= _LONGEST_PATH:
        connection.connect(path)
        return
    folder = os.open(os.path.dirname(path), os.O_RDONLY)
    try:
        connection.connect(f"/proc/self/fd/{folder}/{os.path.basename(path)}")
    finally:
        os.close(folder)


def _peer(connection: socket.socket) -> int:
    """Return the user id of the process that listens, as the system says; -1 where it does not."""
    if hasattr(socket, "SO_PEERCRED"):
        return int.from_bytes(connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)[4:8], sys.byteorder)
    if sys.platform == "darwin":
        return int.from_bytes(connection.getsockopt(0, 1, 76)[4:8], sys.byteorder)
    return -1


def _store() -> str:
    """Return the folder of the store, as helix/settings.py finds it, but for what a `.env` says."""
    given = os.environ.get("HELIX_DB_PATH")
    if given:
        return _whole(given)
    home = _whole(os.environ.get("HELIX_HOME") or "~/.helix")
    configured = _configured(os.path.join(home, "config.toml"))
    if configured:
        return _whole(configured)
    projects = _projects(home)
    folder = os.path.realpath(os.environ.get("CLAUDE_PROJECT_DIR") or os.getcwd())
    while True:
        note = projects.get(folder)
        if isinstance(note, dict) and note.get("store"):
            return os.path.join(home, "stores", os.path.basename(str(note["store"])))
        above = os.path.dirname(folder)
        if above == folder:
            return os.path.join(home, "store")
        folder = above


def _projects(home: str) -> dict[str, object]:
    """Return the projects with a store of their own, as helix/local_store.py notes them; it lies in the home."""
    try:
        made = json.loads(_content(os.path.join(home, "confirmed.json"), _MOST_BYTES))["local_stores"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return {}
    return made if isinstance(made, dict) else {}


def _configured(path: str) -> str:
    text = _content(path, _MOST_BYTES)
    if not text:
        return ""
    try:
        import tomllib

        return str(tomllib.loads(text.decode("utf-8")).get("db_path", ""))
    except (ImportError, ValueError, RecursionError):
        return ""


def _whole(path: str) -> str:
    return os.path.abspath(os.path.expanduser(path))


def _port(store: str) -> str:
    """Return the port of the newest daemon, the last line of those that daemons of the store had."""
    return (_text(store, "port").split() or [""])[-1]


def _text(store: str, name: str) -> str:
    try:
        return _content(os.path.join(store, name), 65536).decode("ascii").strip()
    except ValueError:
        return ""


def _content(path: str, most: int) -> bytes:
    """Return the beginning of a regular file, without waiting for a pipe; empty where there is none."""
    try:
        with open(os.open(path, os.O_RDONLY | _CAREFUL), "rb") as file:
            return file.read(most) if stat.S_ISREG(os.fstat(file.fileno()).st_mode) else b""
    except OSError:
        return b""


def _start_daemon(store: str, home: str, python: str) -> None:
    """Start a daemon in a session of its own and go on; `helix hook start` sees to it that there is one."""
    import subprocess

    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    if python or os.path.isfile(os.path.join(package, "daemon.py")):
        command = [python or sys.executable, *_ISOLATED, "-m", "helix.cli.main"]
    else:
        command = ["helix"]
    subprocess.Popen(
        [*command, *(["--home", home] if home else []), "--store", store, "hook", "start"],
        cwd=os.path.abspath(os.sep),
        env={name: value for name, value in os.environ.items() if not name.startswith("PYTHON")},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
    )


def _note(store: str, event: str, trouble: str) -> None:
    """Write a line to the store's log of hooks, where there is a store; without one there is nobody to tell."""
    folder = os.path.join(store, "logs")
    if not os.path.isdir(store) or os.path.islink(folder):
        return
    try:
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
        way = os.O_WRONLY | os.O_CREAT | os.O_APPEND | _CAREFUL | getattr(os, "O_NOFOLLOW", 0)
        text = json.dumps(line).encode("ascii") + b"\n"
        file = os.open(path, way, 0o600)
        os.write(file, text)
        os.close(file)
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
        main(sys.argv[1:])
    finally:
        os._exit(0)  # at once, also after an error: an agent's work goes on without its memory
