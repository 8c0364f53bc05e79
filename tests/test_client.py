"""The client: what it sends, what it makes of answers, and what it does when there is none."""

from __future__ import annotations

import asyncio
import json
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from helix import errors
from helix.api.limits import BODY_BYTES
from helix.client import REQUEST_BYTES, Client, async_client, document, error_from, sync_client, wire
from helix.client.async_client import AsyncClient
from helix.client.wire import data_of, request_for, results_of
from helix.errors import DaemonError, HelixError, InvalidInputError, NotFoundError, QueryTimeoutError
from helix.model.memory import Kind
from helix.model.reports import StoreStatus
from tests.sampling import some

ROOT = Path(__file__).resolve().parent.parent
Answer = Callable[[dict[str, Any]], tuple[int, bytes] | None]


class Server:
    """An HTTP server on a real socket that answers as a test wants, or hangs up, and remembers what it was sent."""

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []
        self.tokens: list[str | None] = []
        self.connections = 0
        self.answer: Answer = lambda request: (200, json.dumps({"data": {"echo": request["variables"]}}).encode())
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def setup(self) -> None:
                super().setup()
                server.connections += 1

            def do_POST(self) -> None:
                request = json.loads(self.rfile.read(int(self.headers["content-length"])))
                server.requests.append(request)
                server.tokens.append(self.headers["authorization"])
                answer = server.answer(request)
                if answer is None:
                    self.close_connection = True
                    return
                status, body = answer
                self.send_response(status)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._http.server_port}"
        threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True).start()

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()


@pytest.fixture
def server() -> Iterator[Server]:
    running = Server()
    yield running
    running.close()


@pytest.fixture
def client(server: Server) -> Iterator[Client]:
    with Client(server.url, "secret", timeout=5) as connected:
        yield connected


def refusing_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


def all_error_classes() -> list[type[HelixError]]:
    return [cls for cls in vars(errors).values() if isinstance(cls, type) and issubclass(cls, HelixError)]


@pytest.mark.parametrize("cls", all_error_classes())
def test_every_code_comes_back_as_the_class_it_was_raised_as(
    server: Server, client: Client, cls: type[HelixError]
) -> None:
    body = {"errors": [{"message": "what", "extensions": {"code": cls.code, "hint": "what next"}}], "data": None}
    server.answer = lambda request: (200, json.dumps(body).encode())
    with pytest.raises(HelixError) as raised:
        client.execute("{ status { version } }")
    assert (type(raised.value), raised.value.message, raised.value.hint) == (cls, "what", "what next")


def test_a_code_of_a_newer_daemon_is_still_an_error_with_its_message() -> None:
    assert type(error_from("NOT_YET_KNOWN", "what")) is HelixError


def test_a_refusal_is_read_whatever_its_http_status(server: Server, client: Client) -> None:
    body = {"errors": [{"message": "no", "extensions": {"code": "UNAUTHORIZED"}}]}
    server.answer = lambda request: (401, json.dumps(body).encode())
    with pytest.raises(errors.UnauthorizedError):
        client.execute("{ a }")


@pytest.mark.parametrize("body", [b"<html>", b"[]", b"{}", b'{"data": null}', b"\xff"])
def test_an_answer_that_is_no_graphql_is_a_daemon_error(server: Server, client: Client, body: bytes) -> None:
    server.answer = lambda request: (502, body)
    with pytest.raises(DaemonError, match="HTTP 502"):
        client.execute("{ a }")


def test_requests_share_one_connection_and_carry_the_token(server: Server, client: Client) -> None:
    for _ in range(3):
        client.execute("{ a }")
    assert (server.connections, set(server.tokens)) == (1, {"Bearer secret"})


def test_a_connection_the_server_has_closed_is_replaced_before_anything_is_sent(server: Server) -> None:
    with Client(server.url, "secret", timeout=5) as client:
        client.execute("{ a }")
        server.answer = lambda request: (200, b'{"data": {"a": 1}}')
        assert client._connection is not None and client._connection.sock is not None
        client._connection.sock.shutdown(socket.SHUT_RDWR)
        assert client.execute("{ a }") == {"a": 1}
    assert len(server.requests) == 2


def test_what_may_have_reached_the_daemon_is_never_sent_twice(server: Server) -> None:
    server.answer = lambda request: None
    client = Client(server.url, "secret", timeout=5, relocate=lambda: (server.url, "secret"))
    with client, pytest.raises(DaemonError, match="broke off"):
        client.execute("mutation { store }")
    assert len(server.requests) == 1


def test_what_has_an_idempotency_key_is_sent_once_more_with_the_same_one(server: Server) -> None:
    def lost_once(request: dict[str, Any]) -> tuple[int, bytes] | None:
        return (200, b'{"data": {"store": {"result": {"status": "ADDED"}}}}') if len(server.requests) > 1 else None

    server.answer = lost_once
    with Client(server.url, "secret", timeout=5) as client:
        assert client.run("store", trigger="t", resolution="r") == {"store": {"status": "ADDED"}}
        client.run("store", trigger="t", resolution="r", idempotency_key="mine")
    first, again, own = (request["variables"]["idempotencyKey"] for request in server.requests)
    assert first == again != own == "mine"


def test_a_connection_that_breaks_off_twice_is_told_of(server: Server) -> None:
    server.answer = lambda request: None
    with Client(server.url, "secret", timeout=5) as client, pytest.raises(DaemonError, match="broke off"):
        client.store("t", "r", "fact")
    assert len(server.requests) == 2


def test_what_only_reads_is_sent_once_more(server: Server) -> None:
    server.answer = lambda request: (200, b'{"data": {"pong": 1}}') if len(server.requests) > 1 else None
    with Client(server.url, "secret", timeout=5) as client:
        assert client.run("status") == {"pong": 1}
    assert len(server.requests) == 2


def test_a_change_without_a_key_is_sent_once(server: Server) -> None:
    server.answer = lambda request: None
    with Client(server.url, "secret", timeout=5) as client, pytest.raises(DaemonError, match="broke off"):
        client.flush()
    assert len(server.requests) == 1


def test_a_silent_daemon_is_a_timeout_and_the_late_answer_is_not_taken_for_the_next(server: Server) -> None:
    release = threading.Event()

    def late(request: dict[str, Any]) -> tuple[int, bytes]:
        release.wait(5)
        return 200, b'{"data": {"late": true}}'

    server.answer = late
    with Client(server.url, "secret", timeout=0.1) as client:
        with pytest.raises(QueryTimeoutError, match=r"within 0\.1 s"):
            client.execute("{ a }")
        release.set()
        server.answer = lambda request: (200, b'{"data": {"prompt": true}}')
        assert client.execute("{ a }") == {"prompt": True}


def test_no_daemon_is_an_error_that_says_where_it_was_looked_for() -> None:
    port = refusing_port()
    with pytest.raises(DaemonError, match=f":{port}"):
        Client(f"http://127.0.0.1:{port}", "secret").execute("{ a }")


def test_a_client_finds_the_daemon_again_after_that_has_left(server: Server) -> None:
    port = refusing_port()
    with Client(f"http://127.0.0.1:{port}", "old", timeout=5, relocate=lambda: (server.url, "new")) as client:
        assert client.execute("{ a }", {"x": 1}) == {"echo": {"x": 1}}
    assert (client.url, server.tokens) == (server.url, ["Bearer new"])


def test_an_operation_is_sent_with_python_names_and_values_in_graphql_form(server: Server, client: Client) -> None:
    client.run(
        "recall",
        query="q",
        budget_tokens=5,
        kinds=(Kind.FAILURE,),
        since=datetime(2025, 1, 31, tzinfo=UTC),
        files=[Path("a.py")],
        scope=None,
    )
    assert server.requests[0]["query"] == document("recall")
    assert server.requests[0]["variables"] == {
        "query": "q",
        "budgetTokens": 5,
        "kinds": ["FAILURE"],
        "since": "2025-01-31T00:00:00+00:00",
        "files": ["a.py"],
    }


def test_words_of_enums_are_taken_as_text_and_unknown_ones_refused(server: Server, client: Client) -> None:
    stored = {"status": "ADDED", "name": "n", "id": "i", "redacted": [], "suspicious": [], "contradicts": []}
    server.answer = lambda request: (
        200,
        json.dumps({"data": {"memories": {"result": {}}, "store": {"result": stored}}}).encode(),
    )
    assert client.store("t", "r", "Fact").status is StoreStatus.ADDED
    with pytest.raises(DaemonError, match="the answer to memories cannot be read"):
        client.memories(kinds=["failure", Kind.GAP], status="archived")
    sent = [request["variables"] for request in server.requests]
    assert (sent[0]["kind"], sent[1]["kinds"], sent[1]["status"]) == ("FACT", ["FAILURE", "GAP"], "ARCHIVED")
    with pytest.raises(InvalidInputError, match="unknown kind 'fable'") as raised:
        client.store("t", "r", "fable")
    assert "failure, pattern" in str(raised.value.hint)


def test_an_unknown_operation_is_not_found_in_the_installation(client: Client) -> None:
    with pytest.raises((NotFoundError, FileNotFoundError)):
        client.run("no_such_operation")


@pytest.mark.parametrize("text", ["\x00", "\ud800 alone", "ä漢😀", '"\\\n\u2028', "x" * 1_000_000])
def test_any_text_arrives_as_it_is(client: Client, text: str) -> None:
    assert client.execute("{ a }", {"text": text}) == {"echo": {"text": text}}


def test_threads_can_share_a_client(server: Server, client: Client) -> None:
    answers: list[dict[str, Any]] = []
    threads = [threading.Thread(target=lambda n=n: answers.append(client.execute("{ a }", {"n": n}))) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answer["echo"]["n"] for answer in answers) == list(range(8))


def test_the_client_and_the_daemon_module_load_nothing_heavy() -> None:
    heavy = {"numpy", "kuzu", "onnxruntime", "strawberry", "click", "rich", "uvicorn", "starlette"}
    program = f"import sys, helix.client, helix.daemon; print(sorted({heavy!r} & sys.modules.keys()))"
    run = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_a_request_that_is_too_large_is_refused_before_it_is_sent(server: Server, client: Client) -> None:
    assert REQUEST_BYTES == BODY_BYTES, "what the daemon takes"
    with pytest.raises(InvalidInputError, match="larger than 4,194,304 bytes"):
        client.execute("{ status { version } }", {"text": "x" * REQUEST_BYTES})
    assert server.requests == []


NO_GRAPHQL = [
    b"null",
    b'{"errors": "boom"}',
    b'{"errors": {"a": 1}}',
    b'{"errors": ["x"]}',
    b'{"errors": [{"extensions": {}}]}',
    b'{"errors": [{"message": "x", "extensions": [1]}]}',
    b'{"data": ' + b"[" * 20_000 + b"]" * 20_000 + b"}",
]


@pytest.mark.parametrize("body", NO_GRAPHQL, ids=[body[:30].decode() for body in NO_GRAPHQL])
def test_what_is_no_answer_of_a_daemon_is_told_as_such(body: bytes) -> None:
    with pytest.raises(DaemonError, match="no GraphQL"):
        data_of("http://127.0.0.1:1", 200, body)


def test_an_answer_to_a_mutation_without_a_result_is_told_as_such() -> None:
    request = request_for("prune", {})
    assert request.writes
    assert results_of(request, {"prune": {"result": 1}}) == {"prune": 1}
    for payload in ({}, None, [], "x"):
        with pytest.raises(DaemonError, match="no result"):
            results_of(request, {"prune": payload})


@contextmanager
def answering(answer: bytes) -> Iterator[str]:
    """Yield the address of a program that says the same to each of two requests, and hangs up."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            for _ in range(2):
                connection, _ = listener.accept()
                with connection, suppress(OSError):
                    connection.recv(65_536)
                    connection.sendall(b"HTTP/1.1 200 OK\r\n" + answer)
                    connection.shutdown(socket.SHUT_WR)
                    while connection.recv(65_536):
                        pass

        threading.Thread(target=serve, daemon=True).start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"


@pytest.mark.parametrize(
    "answer",
    [
        b"content-length: 99999999999999\r\n\r\n{}",
        b"transfer-encoding: chunked\r\n\r\nffffffffffffffff\r\n{}",
        b"content-length: 20\r\n\r\n{}",
    ],
)
def test_an_answer_that_says_it_is_larger_than_it_is_has_broken_off(answer: bytes) -> None:
    with answering(answer) as url, Client(url, "t", 20.0) as client, pytest.raises(DaemonError, match="broke off"):
        client.execute("query Q { q }")


def test_an_answer_without_measure_is_read_no_further(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (sync_client, async_client):
        monkeypatch.setattr(module, "MOST_ANSWER", 1 << 20)
    endless = b"transfer-encoding: chunked\r\n\r\n" + (b"100000\r\n" + b" " * (1 << 20) + b"\r\n") * 8

    async def ask(url: str) -> None:
        async with AsyncClient(url, "t", 20.0) as client:
            await client.execute("query Q { q }")

    with answering(endless) as url:
        with Client(url, "t", 20.0) as client, pytest.raises(DaemonError, match="answers with more"):
            client.execute("query Q { q }")
        with pytest.raises(DaemonError, match="answers with more"):
            asyncio.run(ask(url))


@contextmanager
def trickling(begins: bytes) -> Iterator[tuple[str, threading.Event]]:
    """Yield the address of a program that says letter after letter, and whether it came to the end of its breath."""
    through = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            connection, _ = listener.accept()
            with connection, suppress(OSError):
                connection.recv(65_536)
                connection.sendall(begins)
                for _ in range(200):
                    connection.sendall(b"1\r\nx\r\n" if b"chunked" in begins else b"x")
                    time.sleep(0.1)
                through.set()

        threading.Thread(target=serve, daemon=True).start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}", through


@pytest.mark.parametrize(
    "begins",
    some(
        [
            b"HTTP/1.1 200 ",
            b"HTTP/1.1 200 OK\r\nx-y: ",
            b"HTTP/1.1 200 OK\r\ncontent-length: 9000\r\n\r\n",
            b"HTTP/1.1 200 OK\r\n\r\n",
            b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n",
        ],
        1,
    ),
)
def test_an_answer_that_trickles_in_is_late_as_a_whole(begins: bytes) -> None:
    with trickling(begins) as (url, through), Client(url, "t", 1.0) as client:
        with pytest.raises(QueryTimeoutError):
            client.execute("query Q { q }")
        assert not through.is_set()


STREAM = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ncontent-type: text/event-stream\r\n\r\n"


async def listened(url: str, timeout: float) -> None:
    async with AsyncClient(url, "t", timeout) as client:
        async for _ in client.job_progress(id="j"):
            raise AssertionError("nothing was told")


def test_a_line_of_a_subscription_that_trickles_in_is_not_waited_for() -> None:
    with trickling(STREAM) as (url, through), Client(url, "t", 1.0) as client:
        with pytest.raises(DaemonError):
            list(client.job_progress(id="j"))
        assert not through.is_set()
    with trickling(STREAM) as (url, through):
        with pytest.raises(QueryTimeoutError):
            asyncio.run(listened(url, 1.0))
        assert not through.is_set()


@pytest.mark.parametrize("piece", [b"x" * (1 << 20), b"data: " + b"x" * ((1 << 20) - 7) + b"\n"])
def test_an_event_without_measure_is_read_no_further(piece: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "MOST_EVENT", 2 << 20)
    endless = STREAM.partition(b"\r\n")[2] + (b"100000\r\n" + piece + b"\r\n") * 8
    with answering(endless) as url:
        with Client(url, "t", 20.0) as client, pytest.raises(DaemonError, match="answers with more"):
            list(client.job_progress(id="j"))
        with pytest.raises(DaemonError, match="answers with more"):
            asyncio.run(listened(url, 20.0))
