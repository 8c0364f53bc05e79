"""The process hook: whatever the daemon does, it ends in time, with status 0, and prints an answer or nothing."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import pytest

from helix import bearer, daemon, local_socket, local_store
from helix import settings as configuration
from helix.hooks import helix_hook
from helix.lock import StoreLock
from helix.processes import python_command
from tests.waiting import MOST_SECONDS, until

HOOK = Path(helix_hook.__file__)
PAYLOAD = {"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Bash"}
Behave = Callable[[socket.socket], None]


def hook(
    store: Path | None, payload: object = PAYLOAD, *, script: Path = HOOK, limit: str = "10", **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run the process as a client does, with a limit in seconds that a busy machine meets; empty for its own."""
    place = [] if store is None else ["--store", str(store)]
    place += ["--seconds", limit] if limit else []
    text = payload if isinstance(payload, str) else json.dumps(payload)
    return subprocess.run(
        [sys.executable, "-I", "-S", str(script), "--client", "claude-code", *place],
        input=text,
        env={"PATH": os.environ["PATH"], **environment},
        capture_output=True,
        text=True,
        timeout=MOST_SECONDS,
        check=False,
    )


@contextmanager
def pretending(store: Path, behave: Behave | None) -> Iterator[list[bytes]]:
    """Own the store and be a daemon that does as told with a connection (None: never takes one)."""
    heard: list[bytes] = []
    with StoreLock(store):
        daemon.announce(store, url="http://127.0.0.1:1", port=1, idle_minutes=1)
        bearer.hook_token_of(store)
        server = local_socket.listen(store)
        assert server is not None
        ended = threading.Event()

        def serve() -> None:
            while True:  # also what still waits in line when the hook has ended
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                with connection:
                    connection.settimeout(MOST_SECONDS)
                    try:
                        request = _request(connection)
                        if ended.is_set() and not request.strip():
                            return
                        heard.append(request)
                        if behave is not None:
                            behave(connection)
                    except OSError:
                        pass  # the hook has gone, as it should

        thread = threading.Thread(target=serve)
        if behave is not None:
            thread.start()
        try:
            yield heard
        finally:
            ended.set()
            if behave is not None:
                local_socket.connect(store).close()
                thread.join()
            server.close()


def _request(connection: socket.socket) -> bytes:
    data = b""
    while b"\r\n\r\n" not in data and (piece := connection.recv(65536)):
        data += piece
    head, _, body = data.partition(b"\r\n\r\n")
    length = next(
        (int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")), len(body)
    )
    while len(body) < length and (piece := connection.recv(65536)):
        body += piece
    return head + b"\r\n\r\n" + body


def saying(answer: bytes) -> Behave:
    return lambda connection: connection.sendall(answer)


def ok(body: bytes, status: bytes = b"200 OK") -> bytes:
    return b"HTTP/1.1 " + status + b"\r\ncontent-type: application/json\r\n\r\n" + body


def trouble(store: Path) -> str:
    """Return what the process wrote into the log last."""
    return str(json.loads((store / "logs/hooks.log").read_text("ascii").splitlines()[-1])["trouble"])


def test_it_hands_over_what_it_is_told_and_prints_the_answer(tmp_path: Path) -> None:
    answer = '{"hookSpecificOutput": {"additionalContext": "caf\\u00e9"}}'
    with pretending(tmp_path, saying(ok(answer.encode()))) as heard:
        run = hook(tmp_path)
    assert (run.returncode, run.stdout, run.stderr) == (0, answer, "")
    head, _, body = heard[0].partition(b"\r\n\r\n")
    assert head.startswith(b"POST /hooks/claude-code HTTP/1.0\r\n")
    assert f"Authorization: Bearer {bearer.hook_token_of(tmp_path)}".encode() in head
    assert json.loads(body) == PAYLOAD


GARBAGE = {
    "no HTTP": b"\x00\xff" * 2000,
    "no end": b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 3_000_000,
    "nothing": b"",
    "half a head": b"HTTP/1.1 200 OK\r\ncontent-",
    "no JSON": ok(b"<html>it works</html>"),
    "no object": ok(b'["a", "list"]'),
    "not UTF-8": ok(b'{"a": "\xff"}'),
    "an error": ok(b'{"additionalContext": "refused"}', b"401 Unauthorized"),
    "a detour": ok(b'{"additionalContext": "moved"}', b"302 Found"),
    "deep": ok(b"[" * 100_000),
}


def test_commands_of_a_session_that_begins_are_pinned_to_its_store_and_scope(tmp_path: Path) -> None:
    store, pinned = tmp_path / "it's a store", tmp_path / "environment"
    store.mkdir()
    scope = "example.org/a b/@it's"

    def answer(connection: socket.socket) -> None:
        connection.sendall(f"HTTP/1.0 200 OK\r\nX-Helix-Scope: {quote(scope)}\r\n\r\n{{}}".encode())

    with pretending(store, answer):
        assert hook(store, PAYLOAD, CLAUDE_ENV_FILE=str(pinned)).stdout == "{}"
    shell = f". '{pinned}'; printf '%s|%s' \"$HELIX_DB_PATH\" \"$HELIX_SCOPE\""
    told = subprocess.run(["sh", "-c", shell], capture_output=True, text=True, check=True).stdout
    assert told == f"{store}|{scope}"


@pytest.mark.parametrize("answer", GARBAGE.values(), ids=GARBAGE)
def test_an_answer_that_is_none_is_not_printed(tmp_path: Path, answer: bytes) -> None:
    with pretending(tmp_path, saying(answer)):
        run = hook(tmp_path)
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")


def slowly(connection: socket.socket) -> None:
    """Send a byte now and then, so that no single wait is long."""
    for byte in ok(b"{" + b" " * 10_000 + b"}"):
        connection.sendall(bytes([byte]))
        time.sleep(0.02)


def silently(connection: socket.socket) -> None:
    connection.recv(1)


@pytest.mark.parametrize("behave", [None, silently, slowly], ids=["never accepted", "hung", "dripping"])
def test_a_daemon_that_hangs_is_not_waited_for(tmp_path: Path, behave: Behave | None) -> None:
    with pretending(tmp_path, behave):
        run = hook(tmp_path, limit="")
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")
    # On a busy machine the process is ended at its limit before it has noted why.
    log = tmp_path / "logs/hooks.log"
    noted = log.exists() and log.read_bytes().endswith(b"\n")
    assert not noted or trouble(tmp_path) in {"the daemon did not answer in time", "the time is up"}


def test_a_client_that_never_says_what_happened_is_not_waited_for(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", str(HOOK), "--store", str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.wait(MOST_SECONDS) == 0
    assert process.communicate()[0] == b""


def test_a_dead_daemon_costs_nothing_but_a_line_in_the_log(tmp_path: Path) -> None:
    with pretending(tmp_path, None):
        pass
    assert (tmp_path / daemon.DAEMON_FILE).exists()
    assert (tmp_path / local_socket.SOCKET_FILE).exists()
    run = hook(tmp_path)
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")
    assert trouble(tmp_path) == "no daemon runs"


def test_a_port_that_another_program_took_is_told_nothing(tmp_path: Path) -> None:
    """The record of a daemon names its port; who listens there must not get the token, whoever holds the lock."""
    heard: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as server, StoreLock(tmp_path):
        port = server.getsockname()[1]
        daemon.announce(tmp_path, url=f"http://127.0.0.1:{port}", port=port, idle_minutes=1)
        bearer.hook_token_of(tmp_path)
        assert hook(tmp_path).returncode == 0
        server.settimeout(0.2)
        with pytest.raises(TimeoutError):
            heard.append(server.accept()[0].recv(1))
    assert not heard


def test_a_payload_without_end_is_not_read_to_it(tmp_path: Path) -> None:
    with pretending(tmp_path, saying(ok(b"{}"))) as heard:
        run = hook(tmp_path, json.dumps({**PAYLOAD, "cwd": "x" * (5 << 20)}))
    assert (run.returncode, run.stdout) == (0, "")
    assert not any(request.strip() for request in heard)
    assert trouble(tmp_path) == "the payload is too large"


@pytest.mark.parametrize("name", ["hook-token", "port", "logs/hooks.log"])
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes with names")
def test_a_pipe_in_a_files_place_is_not_waited_for(tmp_path: Path, name: str) -> None:
    (tmp_path / "logs").mkdir()
    with pretending(tmp_path, saying(ok(b"{}"))):
        (tmp_path / name).unlink(missing_ok=True)
        os.mkfifo(tmp_path / name)
        run = hook(tmp_path)
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout == ("" if name == "hook-token" else "{}")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes with names")
@pytest.mark.parametrize("name", ["config.toml", "confirmed.json"])
@pytest.mark.parametrize("linked", [False, True])
def test_no_pipe_in_the_home_is_waited_for(tmp_path: Path, name: str, linked: bool) -> None:
    home = tmp_path / "home"
    home.mkdir()
    os.mkfifo(tmp_path / "pipe" if linked else home / name)
    if linked:
        (home / name).symlink_to(tmp_path / "pipe")
    with pretending(home / "store", saying(ok(b"{}"))):
        run = hook(None, HELIX_HOME=str(home), CLAUDE_PROJECT_DIR=str(tmp_path))
    assert (run.returncode, run.stdout) == (0, "{}")


def test_a_store_of_a_long_name_is_reached(tmp_path: Path) -> None:
    store = tmp_path.joinpath(*["a-long-name-of-a-folder"] * 8)
    store.mkdir(parents=True)
    with pretending(store, saying(ok(b"{}"))):
        assert hook(store).stdout == "{}"


@pytest.mark.parametrize(
    "payload", ["", "{", "[1]", '"x"', '{"hook_event_name": 7}', "\x00", '{"hook_event_name": "../x"}']
)
def test_whatever_it_is_told_it_ends_well(tmp_path: Path, payload: str) -> None:
    run = hook(tmp_path, payload)
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")


def test_without_a_store_nothing_is_made(tmp_path: Path) -> None:
    run = hook(tmp_path / "nowhere")
    assert (run.returncode, run.stdout) == (0, "")
    assert not (tmp_path / "nowhere").exists()


def test_the_log_never_says_what_an_agent_did(tmp_path: Path) -> None:
    assert hook(tmp_path, {**PAYLOAD, "tool_input": {"command": "deploy --password hunter2"}}).returncode == 0
    assert "hunter2" not in (tmp_path / "logs/hooks.log").read_text("ascii")
    assert (tmp_path / "logs/hooks.log").stat().st_mode & 0o077 == 0


def test_the_log_does_not_grow_without_end(tmp_path: Path) -> None:
    log = tmp_path / "logs/hooks.log"
    log.parent.mkdir()
    log.write_text("x" * 300_000, "ascii")
    hook(tmp_path)
    assert log.stat().st_size < 1000
    assert (tmp_path / "logs/hooks.log.1").exists()


PLACES: dict[str, tuple[dict[str, str], str]] = {
    "by name": ({"HELIX_DB_PATH": "{root}/named"}, "named"),
    "of a home": ({"HELIX_HOME": "{root}/home"}, "home/store"),
    "of a home with settings": ({"HELIX_HOME": "{root}/configured"}, "configured/elsewhere"),
    "of a project": (
        {"HELIX_HOME": "{root}/home", "CLAUDE_PROJECT_DIR": "{root}/project/deep"},
        "",
    ),
}


@pytest.mark.parametrize(("variables", "expected"), PLACES.values(), ids=PLACES)
def test_it_uses_the_store_that_the_settings_say(tmp_path: Path, variables: dict[str, str], expected: str) -> None:
    for folder in ("named", "home/store", "configured/elsewhere", "project/deep"):
        (tmp_path / folder).mkdir(parents=True)
    expected = expected or str(local_store.make(tmp_path / "project", tmp_path / "home").relative_to(tmp_path))
    (tmp_path / "configured/config.toml").write_text(f'db_path = "{tmp_path}/configured/elsewhere"\n', "utf-8")
    environ = {name: value.format(root=tmp_path) for name, value in variables.items()}
    hook(None, **environ)
    assert (tmp_path / expected / "logs/hooks.log").exists()
    cwd = Path(environ.get("CLAUDE_PROJECT_DIR", str(tmp_path)))
    assert configuration.load(environ=environ, cwd=cwd).store_path == tmp_path / expected


def test_the_settings_in_a_projects_own_environment_file_do_not_count(tmp_path: Path) -> None:
    """It runs by itself in whatever folder an agent works in, so a cloned repository must not say what it starts."""
    project = tmp_path / "project"
    project.mkdir()
    (project / ".env").write_text(f"HELIX_DB_PATH={tmp_path}/planted\n", "utf-8")
    (tmp_path / "planted").mkdir()
    hook(None, CLAUDE_PROJECT_DIR=str(project), HELIX_HOME=str(tmp_path / "home"))
    assert not (tmp_path / "planted/logs").exists()


def test_a_store_that_came_with_a_project_is_not_used(tmp_path: Path) -> None:
    (tmp_path / "project/.helix/store").mkdir(parents=True)
    hook(None, CLAUDE_PROJECT_DIR=str(tmp_path / "project"), HELIX_HOME=str(tmp_path / "home"))
    assert not (tmp_path / "project/.helix/store/logs").exists()


def test_a_copy_of_the_one_file_works_anywhere(tmp_path: Path) -> None:
    copy = Path(shutil.copy(HOOK, tmp_path / "copy.py"))
    store = tmp_path / "store"
    with pretending(store, saying(ok(b'{"a": 1}'))):
        assert hook(store, script=copy).stdout == '{"a": 1}'


@pytest.mark.parametrize("event", ["SessionStart", "UserPromptSubmit", "PreToolUse"])
def test_a_session_that_begins_without_a_daemon_has_one_started(tmp_path: Path, event: str) -> None:
    program = tmp_path / "python"
    program.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/asked.new && mv {tmp_path}/asked.new {tmp_path}/asked\n')
    program.chmod(0o755)
    store = tmp_path / "store"
    store.mkdir()
    run = subprocess.run(
        [sys.executable, "-I", "-S", str(HOOK), "--store", str(store), "--python", str(program), "--seconds", "20"],
        input=json.dumps({"hook_event_name": event}),
        capture_output=True,
        text=True,
        timeout=MOST_SECONDS,
        check=True,
    )
    assert run.stdout == ""
    asked = tmp_path / "asked"
    if event == "PreToolUse":
        assert trouble(store) == "no daemon runs"
        return
    assert trouble(store) == "no daemon ran; one is being started"
    until(asked.exists)
    assert asked.read_text("utf-8").split() == [
        *python_command("helix.cli.main", "--store", str(store), "hook", "start")[1:]
    ]


@pytest.mark.parametrize("receipt", ["", "ab12cd34", "../../graphql"])
def test_it_tells_that_it_has_printed_an_answer_whose_receipt_is_wanted(tmp_path: Path, receipt: str) -> None:
    header = f"X-Helix-Receipt: {receipt}\r\n" if receipt else ""
    answer = f"HTTP/1.0 200 OK\r\n{header}\r\n".encode() + b'{"a": 1}'
    with pretending(tmp_path, saying(answer)) as heard:
        run = hook(tmp_path)
    assert (run.returncode, run.stdout, run.stderr) == (0, '{"a": 1}', "")
    asked = [request.split(b"\r\n")[0].decode() for request in heard if request.strip()]
    wanted = [f"GET /hooks/receipts/{receipt} HTTP/1.0"] if receipt.isalnum() else []
    assert asked == ["POST /hooks/claude-code HTTP/1.0", *wanted]


def test_what_was_not_printed_is_not_told_of(tmp_path: Path) -> None:
    """A client that went away, as the agent was interrupted, closes what the process prints into."""
    answer = b'HTTP/1.0 200 OK\r\nX-Helix-Receipt: ab12\r\n\r\n{"a": 1}'
    read, write = os.pipe()
    os.close(read)
    with pretending(tmp_path, saying(answer)) as heard:
        process = subprocess.run(
            [sys.executable, "-I", "-S", str(HOOK), "--store", str(tmp_path), "--seconds", "10"],
            input=json.dumps(PAYLOAD).encode(),
            stdout=write,
            timeout=MOST_SECONDS,
            check=False,
        )
    os.close(write)
    assert process.returncode == 0
    assert not [request for request in heard if b"receipts/" in request]
