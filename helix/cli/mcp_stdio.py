"""The command `mcp`: MCP over stdin and stdout, passed on line by line to the daemon, which is the server.

So this process starts fast and loads no model, and what a client asks by stdio and by HTTP is answered by one program.
"""

from __future__ import annotations

import base64
import json
import re
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import quote

import click

from helix.cli.invocation import Invocation
from helix.client import REQUEST_BYTES, Client
from helix.errors import DaemonError, HelixError
from helix.model.speaker import FOLDER_HEADER

PATH = "/mcp"
SESSION, VERSION = "mcp-session-id", "mcp-protocol-version"
_VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
_NAMED_BY = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
_PLAIN = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?")
_AT_ONCE = 16
_NOT_FOUND, _PARSE_ERROR, _INTERNAL_ERROR = 404, -32700, -32603

Message = dict[str, Any]


@click.command()
@click.pass_obj
def mcp(invocation: Invocation, /) -> None:
    """Speak the Model Context Protocol on stdin and stdout, for a client that starts this.

    \b
    helix connect codex
    claude mcp add helix -- helix mcp
    """
    Bridge(invocation.client(), Path.cwd(), sys.stdout.buffer).carry(sys.stdin.buffer)


class Bridge:
    """Carries one client's messages to the daemon, and back what it answers.

    A session that the daemon no longer knows, as it was started anew, is opened again with the client's own hello.
    """

    def __init__(self, client: Client, folder: Path, out: BinaryIO) -> None:
        self._client = client
        self._out = out
        self._headers = {"accept": "application/json, text/event-stream", FOLDER_HEADER: quote(str(folder))}
        self._hello: Message | None = None
        self._session: Mapping[str, str] = {}
        self._writing, self._renewing = threading.Lock(), threading.Lock()
        self._room = threading.Semaphore(_AT_ONCE)
        self._open: set[threading.Thread] = set()

    def carry(self, lines: Iterable[bytes]) -> None:
        """Pass on what comes until it ends, then wait for what is still asked."""
        for line in lines:
            if line.strip():
                self._take(line)
        for thread in list(self._open):
            thread.join()
        if SESSION in self._session:
            self._quietly_end()

    def _take(self, line: bytes) -> None:
        try:
            message = json.loads(line) if len(line) <= REQUEST_BYTES else None
        except (ValueError, RecursionError):
            message = None
        if not isinstance(message, dict):
            self._write(
                _failure(None, _PARSE_ERROR, f"a message is one line of JSON of at most {REQUEST_BYTES:,} bytes")
            )
        elif "id" in message and "method" in message and message["method"] != "initialize":
            self._room.acquire()
            thread = threading.Thread(target=self._answer_later, args=(message,), daemon=True)
            self._open.add(thread)
            thread.start()
        else:  # in its order: a hello, what the client tells, and what it answers itself
            self._answer(message)

    def _answer_later(self, message: Message) -> None:
        try:
            self._answer(message)
        finally:
            self._open.discard(threading.current_thread())
            self._room.release()

    def _answer(self, message: Message) -> None:
        answered = False
        try:
            for answer in self._ask(message):
                answered = answered or answer.get("id") == message.get("id")
                self._write(answer)
            if not answered and "method" in message and "id" in message:
                raise DaemonError("the daemon gave no answer", hint="it was stopped, perhaps: try again")
        except HelixError as error:
            if "method" in message and "id" in message:
                self._write(_failure(message["id"], _INTERNAL_ERROR, f"{error.code}: {error}"))
            else:
                click.echo(str(error), err=True)

    def _ask(self, message: Message, *, again: bool = True) -> Iterator[Message]:
        """Yield what the daemon answers to one message."""
        hello = message.get("method") == "initialize"
        used = {} if hello else self._session
        headers = {**self._headers, **used, **_routed(message)}
        with self._client.exchange("POST", PATH, json.dumps(message).encode("ascii"), headers) as response:
            if response.status == _NOT_FOUND and SESSION in used and again:
                response.read()
                self._renew(used)
                yield from self._ask(message, again=False)
                return
            if hello and (session := response.headers.get(SESSION)):
                self._hello, self._session = message, {SESSION: session}
            for answer in _answers(response):
                if hello and (version := (answer.get("result") or {}).get("protocolVersion")):
                    self._session = {**self._session, VERSION: str(version)}
                yield answer

    def _renew(self, lost: Mapping[str, str]) -> None:
        """Open the session again, once for all who found it lost."""
        with self._renewing:
            if self._session is lost and self._hello is not None:
                for _ in self._ask(self._hello):
                    pass
                for _ in self._ask({"jsonrpc": "2.0", "method": "notifications/initialized"}, again=False):
                    pass

    def _quietly_end(self) -> None:
        try:
            with self._client.exchange("DELETE", PATH, b"", {**self._headers, **self._session}) as response:
                response.read()
        except HelixError as error:
            click.echo(str(error), err=True)

    def _write(self, message: Message) -> None:
        with self._writing:
            self._out.write(json.dumps(message).encode("ascii") + b"\n")
            self._out.flush()


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
    return f"=?base64?{base64.b64encode(value.encode()).decode()}?="


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


def _failure(request: Any, code: int, words: str) -> Message:
    return {"jsonrpc": "2.0", "id": request, "error": {"code": code, "message": words}}
