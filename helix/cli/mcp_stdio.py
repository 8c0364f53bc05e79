"""The command `mcp`: MCP over stdin and stdout, passed on line by line to the daemon, which is the server.

So this process starts fast and loads no model, and what a client asks by stdio and by HTTP is answered by one program.
"""

from __future__ import annotations

import base64
import json
import os
import queue
import re
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, suppress
from http.client import HTTPResponse
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import quote

import click

from helix import resources
from helix.cli.invocation import Invocation
from helix.cli.options import claim_words, project_here
from helix.client import REQUEST_BYTES, Client
from helix.errors import DaemonError, HelixError
from helix.folders import note_folder
from helix.model.speaker import FOLDER_HEADER

PATH = "/mcp"
SESSION, VERSION = "mcp-session-id", "mcp-protocol-version"
_VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
_NAMED_BY = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
_PLAIN = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?")
_AT_ONCE = 16
_AT_END_S = 30.0
_NOT_FOUND, _PARSE_ERROR, _INTERNAL_ERROR = 404, -32700, -32603
_GREETED, _CANCELLED = "notifications/initialized", "notifications/cancelled"
PIPE_CLOSED, _INTERRUPTED = 141, 130
_ENDS = tuple(number for name in ("SIGTERM", "SIGHUP") if (number := getattr(signal, name, None)) is not None)

Message = dict[str, Any]


@click.command()
@click.pass_obj
def mcp(invocation: Invocation, /) -> None:
    """Speak the Model Context Protocol on stdin and stdout, for a client that starts this.

    \b
    helix connect codex
    claude mcp add helix -- helix mcp
    """
    if sys.stdin.isatty():
        invocation.say(
            "a coding agent starts this and speaks MCP with it; `helix connect` has it do so. Ctrl-C ends it."
        )
    for number in _ENDS:
        signal.signal(number, _end)
    try:
        bridge = Bridge(invocation.client, Path.cwd(), sys.stdout.buffer, notice=_notice(invocation))
        bridge.carry(_lines(sys.stdin.buffer))
    except KeyboardInterrupt:
        os._exit(_INTERRUPTED)  # Python's own end aborts where a worker is just writing


def _end(number: int, frame: object) -> None:
    """Leave as at the end of the input, which ends the client's session at the daemon too."""
    raise KeyboardInterrupt


def _lines(stream: BinaryIO) -> Iterator[bytes]:
    """Yield the lines of a stream; of one that is longer than a request may be its beginning, which is none then."""
    while line := stream.readline(REQUEST_BYTES + 1):
        yield line
        while line and not line.endswith(b"\n"):
            line = stream.readline(REQUEST_BYTES)


def _notice(invocation: Invocation) -> str:
    """Return what the agent is asked to tell the user of the folder, which by MCP nobody else can."""
    with suppress(HelixError, OSError):  # what is amiss is told to the first call
        settings = invocation.settings
        project = project_here(settings, Path.cwd())
        before = () if settings.server else note_folder(settings.home, project, keeps=False)
        if lines := [*claim_words(project, before)]:
            return "\n".join(("Tell the user before you go on:", *lines))
    return ""


class Bridge:
    """Carries one client's messages to the daemon, and back what it answers.

    A client's hello and its lists of what there is are answered here, by what `queries/mcp.json` holds of them: many
    clients begin without the tools that are not there at once, and a daemon that has to be started takes seconds. A
    session that the daemon no longer knows, as it was started anew, is opened again with the client's own hello.
    """

    def __init__(self, connect: Callable[[], Client], folder: Path, out: BinaryIO, *, notice: str = "") -> None:
        """`notice` is told to the agent with what the server is for."""
        self._connect = connect
        self._out = out
        self._headers = {"accept": "application/json, text/event-stream", FOLDER_HEADER: quote(os.fsencode(folder))}
        self._known = json.loads(resources.text("queries", "mcp.json"))
        if notice:
            self._known["hello"]["instructions"] += f"\n{notice}"
        self._hello: Message | None = None
        self._session: Mapping[str, str] = {}
        self._daemon: Client | None = None
        self._finding, self._opening, self._writing = threading.Lock(), threading.Lock(), threading.Lock()
        self._work: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._workers: list[threading.Thread] = []
        self._cancelled: set[object] = set()
        self._asked_back: set[object] = set()
        self._begun = self._done = 0
        self._ended = threading.Condition()

    def carry(self, lines: Iterable[bytes]) -> None:
        """Pass on what comes until it ends, then wait for what is still asked, but for what waits for the client."""
        try:
            for line in lines:
                if line.strip():
                    self._take(line)
            with self._ended:
                self._ended.wait_for(lambda: self._done + len(self._asked_back) >= self._begun, _AT_END_S)
        finally:
            if self._session:
                self._quietly(self._end)

    def _take(self, line: bytes) -> None:
        try:
            message = json.loads(line) if len(line) <= REQUEST_BYTES else None
        except (ValueError, RecursionError):
            message = None
        if (
            not isinstance(message, dict)
            or not isinstance(message.get("method", ""), str)
            or not isinstance(message.get("id", 0), str | int)
            or isinstance(message.get("id"), bool)
        ):
            words = f"a message is one line of JSON of at most {REQUEST_BYTES:,} bytes"
            self._write({"jsonrpc": "2.0", "id": None, "error": {"code": _PARSE_ERROR, "message": words}})
            return
        method, is_request = message.get("method"), "id" in message and "method" in message
        if is_request and method == "initialize":
            self._greet(message)
        elif self._hello is not None and is_request and method in self._known["lists"] and not _has_cursor(message):
            self._write({"jsonrpc": "2.0", "id": message["id"], "result": self._known["lists"][method]})
        elif self._hello is not None and method == _GREETED:
            self._later(lambda: self._quietly(self._opened))
        elif is_request:
            self._later(lambda: self._answer(message))
        else:  # in its order: what the client tells, and what it answers itself
            self._note_cancelled(message)
            self._asked_back.discard(message.get("id"))
            self._quietly(lambda: list(self._ask(message)))

    def _note_cancelled(self, message: Message) -> None:
        params = message.get("params")
        if message.get("method") == _CANCELLED and isinstance(params, dict):
            number = params.get("requestId")
            self._cancelled |= {number} if isinstance(number, str | int) else set()

    def _greet(self, message: Message) -> None:
        """Answer a client's hello; the daemon gets it once the client has said that it has the answer."""
        self._hello, self._session = message, {}
        params = message.get("params")
        wanted = params.get("protocolVersion") if isinstance(params, dict) else None
        version = wanted if wanted in self._known["versions"] else self._known["versions"][-1]
        result = {**self._known["hello"], "protocolVersion": version}
        self._write({"jsonrpc": "2.0", "id": message["id"], "result": result})

    def _later(self, work: Callable[[], None]) -> None:
        """Have work done beside other work; what comes meanwhile goes on being read, as work may wait for it."""
        self._begun += 1
        self._work.put(work)
        if len(self._workers) < _AT_ONCE:
            self._workers.append(threading.Thread(target=self._keep_working, daemon=True))
            self._workers[-1].start()

    def _keep_working(self) -> None:
        while True:
            work = self._work.get()
            try:
                work()
            finally:
                with self._ended:
                    self._done += 1
                    self._ended.notify_all()

    def _answer(self, message: Message) -> None:
        """Write what the daemon answers to a request; what kept it from answering, where there is none."""
        answered, back = False, set[object]()
        try:
            for answer in self._ask(message):
                if "error" in answer and answer.get("id") is None:  # of what the daemon could not even read
                    answer["id"] = message["id"]
                answered = answered or answer.get("id") == message["id"]
                if "method" in answer and answer.get("id") is not None:
                    back.add(answer["id"])
                    with self._ended:
                        self._asked_back.add(answer["id"])
                        self._ended.notify_all()
                self._write(answer)
            if not answered and message["id"] not in self._cancelled:
                raise DaemonError("the daemon gave no answer", hint="it was stopped, perhaps: try again")
        except (HelixError, ValueError, RecursionError) as error:  # also of a header or an answer that cannot be read
            failure = {"code": _INTERNAL_ERROR, "message": f"{getattr(error, 'code', HelixError.code)}: {error}"}
            self._write({"jsonrpc": "2.0", "id": message["id"], "error": failure})
        finally:
            self._asked_back -= back

    def _quietly(self, work: Callable[[], object]) -> None:
        """Do what nobody waits for an answer to; what keeps it from being done goes to stderr."""
        try:
            work()
        except (HelixError, RecursionError) as error:  # the latter of a message nested deeper than can be passed on
            click.echo(str(error), err=True)

    def _ask(self, message: Message, *, again: bool = True) -> Iterator[Message]:
        """Yield what the daemon answers to one message, within the client's session where it has one."""
        session = self._opened()
        with self._sent(message, session) as response:
            if response.status != _NOT_FOUND or not session or not again:
                yield from _answers(response)
                return
        with self._opening:
            if self._session is session:
                self._session = {}
        yield from self._ask(message, again=False)

    def _opened(self) -> Mapping[str, str]:
        """Return the headers of the client's session, opened at the daemon where it is not; none without a hello."""
        if self._hello is None:
            return {}
        with self._opening:
            if not self._session:
                with self._sent(self._hello, {}) as response:
                    answers = list(_answers(response))
                    session = response.headers.get(SESSION)
                version = next((one["result"]["protocolVersion"] for one in answers if "result" in one), None)
                if session is None or version is None:
                    raise DaemonError("the daemon opened no session", hint="`helix status` shows which daemon runs")
                opened = {SESSION: session, VERSION: str(version)}
                with self._sent({"jsonrpc": "2.0", "method": _GREETED}, opened) as response:
                    response.read()
                self._session = opened
            return self._session

    def _sent(self, message: Message, session: Mapping[str, str]) -> AbstractContextManager[HTTPResponse]:
        headers = {**self._headers, **session, **_routed(message)}
        # Half of a letter, where a client cut a text in two, is none that the daemon could read.
        body = json.dumps(message, ensure_ascii=False).encode("utf-8", "replace")
        return self._found().exchange("POST", PATH, body, headers)

    def _found(self) -> Client:
        with self._finding:
            if self._daemon is None:
                self._daemon = self._connect()
            return self._daemon

    def _end(self) -> None:
        with self._found().exchange("DELETE", PATH, b"", {**self._headers, **self._session}) as response:
            response.read()

    def _write(self, message: Message) -> None:
        with self._writing:
            try:
                self._out.write(json.dumps(message).encode("ascii") + b"\n")
                self._out.flush()
            except OSError:  # the client is gone, and with it everybody who could be told
                os._exit(PIPE_CLOSED)


def _has_cursor(message: Message) -> bool:
    params = message.get("params")
    return isinstance(params, dict) and "cursor" in params


def _routed(message: Message) -> dict[str, str]:
    """Return the headers that the newest version of the protocol wants beside a message that says so of itself."""
    params = message.get("params")
    meta = params.get("_meta") if isinstance(params, dict) else None
    version = meta.get(_VERSION_KEY) if isinstance(meta, dict) else None
    if not isinstance(version, str) or not isinstance(params, dict):
        return {}
    method = str(message.get("method", ""))
    headers = {VERSION: _header(version), "mcp-method": _header(method)}
    name = params.get(_NAMED_BY.get(method, ""))
    return {**headers, "mcp-name": _header(name)} if isinstance(name, str) else headers


def _header(value: str) -> str:
    """Return a text as a header's value: as it is, or in base64 where it has letters that no header may have."""
    if _PLAIN.fullmatch(value) and not value.startswith("=?base64?"):
        return value
    return f"=?base64?{base64.b64encode(value.encode('utf-8', 'surrogatepass')).decode()}?="


def _answers(response: Any) -> Iterator[Message]:
    """Yield the messages of an answer: one of JSON, or those of a stream of events as they come."""
    kind = response.headers.get("content-type", "").partition(";")[0].strip()
    if kind == "text/event-stream":
        data: list[str] = []
        for raw in response:
            line = raw.decode("utf-8", "replace").rstrip("\r\n")
            if line.startswith("data:"):
                data.append(line[5:].lstrip())
            elif not line:
                yield from _message("\n".join(data))
                data = []
        yield from _message("\n".join(data))
    else:
        yield from _message(response.read().decode("utf-8", "replace"))


def _message(text: str) -> Iterator[Message]:
    if not text.strip():
        return
    try:
        message = json.loads(text)
    except ValueError as error:
        raise DaemonError("the daemon answered with no JSON", hint="`helix status` shows which daemon runs") from error
    if isinstance(message, dict) and "jsonrpc" in message:
        yield message
    elif isinstance(message, dict) and message.get("errors"):
        told = message["errors"][0]
        raise DaemonError(str(told.get("message")), hint=(told.get("extensions") or {}).get("hint"))
