"""Holds `helix mcp`: a client's lines reach the daemon and come back, also from a daemon that was started anew."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from command_line import Command

from helix.cli.mcp_stdio import PIPE_CLOSED
from helix.client import REQUEST_BYTES
from helix.folders import note_folder
from helix.identity import identify
from helix.lock import is_locked
from tests.waiting import MOST_SECONDS

HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "codex", "version": "1"}}
HEAVY = {"numpy", "mcp", "pydantic", "onnxruntime", "kuzu", "strawberry"}


class Session:
    """A client's end of `helix mcp`."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self._last = 0

    def tell(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def send(self, method: str, **params: Any) -> int:
        self._last += 1
        self.tell(json.dumps({"jsonrpc": "2.0", "id": self._last, "method": method, "params": params}))
        return self._last

    def read(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        found: dict[str, Any] = json.loads(self.process.stdout.readline())
        return found

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """Return the answer to a request, whatever comes before it."""
        number = self.send(method, **params)
        while (answer := self.read()).get("id") != number:
            assert "method" in answer or answer["error"]["code"] == -32700  # a notification that could not be read
        return answer

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        return dict(self.ask("tools/call", name=f"memory.{tool}", arguments=arguments)["result"])

    def open(self) -> dict[str, Any]:
        hello = self.ask("initialize", **HELLO)
        self.tell(json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}))
        return hello


@contextmanager
def started(folder: Path) -> Iterator[Session]:
    """Start `helix mcp` in a folder, and hold that it ends by itself with its input."""
    process = subprocess.Popen(
        [sys.executable, "-m", "helix.cli.main", "mcp"],
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield Session(process)
        _, err = process.communicate(timeout=MOST_SECONDS)
        assert process.returncode == 0, err
    finally:
        process.kill()
        process.wait()


@pytest.fixture
def session(home: Path, tmp_path: Path) -> Iterator[Session]:
    with started(tmp_path) as session:
        yield session


def test_tools_are_listed_and_called(session: Session, tmp_path: Path) -> None:
    assert session.open()["result"]["serverInfo"]["name"] == "helix"
    assert "memory.search" in {tool["name"] for tool in session.ask("tools/list")["result"]["tools"]}
    written = session.call("write", content="dry the wool first", when="the loom jams on wet wool", type="failure")
    assert tmp_path.name in written["structuredContent"]["scope"]
    found = session.call("search", query="the loom jams on wet wool")["structuredContent"]["items"][0]
    assert (found["name"], found["by"]) == (written["structuredContent"]["name"], "agent")


@pytest.mark.soak
def test_a_session_outlives_its_daemon(session: Session, helix_command: Command) -> None:
    session.open()
    name = session.call("note", text="the barn is red")["structuredContent"]["name"]
    assert helix_command("stop").code == 0
    assert session.call("list")["structuredContent"]["items"][0]["name"] == name
    assert helix_command("stop").code == 0
    numbers = {session.send("tools/call", name="memory.list", arguments={}) for _ in range(8)}
    assert {session.read()["id"] for _ in numbers} == numbers


@pytest.mark.soak
def test_a_session_outlives_a_daemon_that_somebody_else_replaced(session: Session, helix_command: Command) -> None:
    """The next one listens at another port, which a session that was open before does not know."""
    session.open()
    name = session.call("note", text="the barn is red")["structuredContent"]["name"]
    assert helix_command("stop").code == 0
    assert helix_command("list").code == 0
    for _ in range(2):
        assert session.call("list")["structuredContent"]["items"][0]["name"] == name


def test_many_are_answered_at_once_and_none_is_lost_at_the_end(home: Path, tmp_path: Path) -> None:
    with started(tmp_path) as session:
        session.open()
        numbers = {session.send("tools/call", name="memory.list", arguments={}) for _ in range(40)}
        assert session.process.stdin is not None
        session.process.stdin.close()
        session.process.stdin = None
        answers = [json.loads(line) for line in session.process.stdout or ()]
    assert {answer["id"] for answer in answers} == numbers
    assert all("result" in answer for answer in answers)


def test_a_question_to_a_client_that_has_left_keeps_no_process(home: Path, tmp_path: Path) -> None:
    with started(tmp_path) as session:
        session.ask("initialize", **{**HELLO, "capabilities": {"elicitation": {}}})
        session.tell(json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}))
        session.call("note", text="the barn is red")
        session.send("tools/call", name="memory.forget", arguments={"query": "which colour has the barn"})
        while session.read().get("method") != "elicitation/create":
            pass


def test_a_client_that_reads_nothing_is_read_on_and_one_that_is_gone_ends_it(home: Path, tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "helix.cli.main", "mcp"], cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdin is not None
    assert process.stdout is not None
    session = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": HELLO}
    lists = ({"jsonrpc": "2.0", "id": number, "method": "tools/list"} for number in range(1, 3))
    for message in (session, *lists):
        process.stdin.write(json.dumps(message).encode() + b"\n")
        process.stdin.flush()
    process.stdout.readline()
    process.stdout.close()  # the client is gone, but for the pipe on which it tells more
    call = {"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": {"name": "memory.list", "arguments": {}}}
    told = json.dumps(call).encode() + b"\n"
    with suppress(BrokenPipeError):
        while process.poll() is None:
            os.write(process.stdin.fileno(), told)
    with suppress(BrokenPipeError):
        process.stdin.close()
    assert process.wait(MOST_SECONDS) == PIPE_CLOSED


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_process_that_is_told_to_end_leaves_no_session_behind(
    home: Path, tmp_path: Path, helix_command: Command, number: signal.Signals
) -> None:
    def sessions() -> tuple[int, int]:
        """How many began in the shared daemon, and how many of them nobody has ended."""
        log = (home / "store/logs/helix.log").read_text("utf-8")
        begun = log.count("Created new transport")
        return begun, begun - log.count("Terminating session")

    with started(tmp_path) as session:
        session.open()
        session.call("list")
        begun, open_ones = sessions()
        session.process.send_signal(number)
        assert session.process.wait(MOST_SECONDS) == 130
        session.process.returncode = 0
    assert sessions() == (begun, open_ones - 1)


def test_what_is_no_message_is_refused_and_the_next_one_answered(session: Session) -> None:
    session.open()
    ids = [
        f'{{"id": {one}, "method": "ping"}}' for one in ("[1]", "{}", "null", "1.5", "true")
    ] * 5  # more than it has workers
    odd = (*ids, '{"id": 5, "method": {"x": 1}}', '{"id": 5, "method": ["x"]}', "x" * (REQUEST_BYTES + 10))
    for line in ("{", "[]", "1", '"x"', "[" * 100_000, "{}" + "x" * 10, *odd):
        session.tell(line)
        assert session.read()["error"]["code"] == -32700
    session.tell("")
    assert "error" in session.ask("no/such/method")
    surrogate = {"_meta": {"io.modelcontextprotocol/protocolVersion": "\ud800"}}
    assert "error" in session.ask("tools/call", name="\ud800", **surrogate)
    assert session.call("list")["structuredContent"]["items"] is not None


def test_a_text_that_was_cut_in_the_middle_of_a_letter_is_kept(session: Session) -> None:
    session.open()
    written = session.call("note", text="the owl ships on Mondays \ud83d")
    assert written["structuredContent"]["status"] == "added"
    (found,) = session.call("search", query="when does the owl ship \ud83e")["structuredContent"]["items"]
    assert found["text"] == "the owl ships on Mondays ?"


def test_what_the_daemon_cannot_read_is_told_to_who_asked(session: Session) -> None:
    session.open()
    deep = json.loads("[" * 400 + "]" * 400)
    told = session.ask("tools/call", name="memory.list", arguments={"scope": deep})["error"]
    assert (told["code"], "recursion" in told["message"]) == (-32700, True)


def test_no_depth_of_a_message_ends_its_process(session: Session) -> None:
    session.open()
    for depth in range(900, 1_010):
        nested = "[" * depth + "]" * depth
        session.tell(f'{{"jsonrpc": "2.0", "method": "notifications/x", "params": {{"a": {nested}}}}}')
    assert session.call("list")["structuredContent"]["items"] is not None


def test_its_process_loads_neither_a_model_nor_the_server() -> None:
    program = "import sys, helix.cli.main, helix.cli.mcp_stdio, helix.daemon; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert HEAVY.isdisjoint(loaded)


@pytest.mark.soak
def test_a_client_is_greeted_before_there_is_a_daemon(home: Path, tmp_path: Path, helix_command: Command) -> None:
    helix_command("stop")
    with started(tmp_path) as session:
        hello = session.ask("initialize", **HELLO)["result"]
        assert hello["protocolVersion"] == HELLO["protocolVersion"]
        assert len(session.ask("tools/list")["result"]["tools"]) == 9
        assert not is_locked(home / "store")
        session.tell(json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}))
        assert session.call("list")["structuredContent"]["items"] is not None
        assert (
            session.ask("initialize", **{**HELLO, "protocolVersion": "1999-01-01"})["result"]["protocolVersion"]
            != "1999-01-01"
        )


def test_a_client_is_told_why_there_is_no_daemon(tmp_path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HELIX_HOME", "/dev/null/nowhere")
        with started(tmp_path) as session:
            session.open()
            assert session.ask("tools/call", name="memory.list", arguments={})["error"]["message"]


def test_an_agent_is_asked_to_tell_of_a_folder_that_claims_a_project(home: Path, tmp_path: Path) -> None:
    told = []
    for name in ("mine", "claims"):
        (tmp_path / name / ".git").mkdir(parents=True)
        (tmp_path / name / ".git/config").write_text('[remote "origin"]\nurl = git@github.com:eve/loom.git\n', "utf-8")
        project = identify(tmp_path / name)
        assert project is not None
        with started(tmp_path / name) as session:
            told.append(session.open()["result"]["instructions"])
        note_folder(home, project)
    assert ["Tell the user" in one for one in told] == [False, True]
    assert f"sees the memory of \u00ab{tmp_path / 'mine'}\u00bb" in told[1]
