"""A provider of language models on loopback: speaks OpenAI's protocol, and says what a test scripts it to say."""

from __future__ import annotations

import json
import threading
import time
from collections import deque
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

GOOD = {"verdict": "yes"}
SCHEMA = {
    "type": "object",
    "properties": {"verdict": {"type": "string", "enum": ["yes", "no"]}},
    "required": ["verdict"],
    "additionalProperties": False,
}


@dataclass(frozen=True, kw_only=True)
class Reply:
    """What the provider says to one request. `drip` sends a blank after another and never ends, `flood` a million."""

    body: Any = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0
    drip: bool = False
    flood: bool = False
    drop: bool = False


def packed(*answers: Any) -> str:
    """Return the content that answers a pack of questions in order."""
    return json.dumps({"answers": [{"item": item, "answer": answer} for item, answer in enumerate(answers, 1)]})


def says(content: str | None, *, finish: str = "stop", refusal: str | None = None) -> Reply:
    """Return a completion with that content, for 100 tokens in and 10 out."""
    message = {"role": "assistant", "content": content, "refusal": refusal}
    usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
    choice = {"index": 0, "finish_reason": finish, "message": message}
    return Reply(body={"id": "1", "object": "chat.completion", "created": 1, "choices": [choice], "usage": usage})


def fails(status: int, message: str = "no", **headers: str) -> Reply:
    """Return an error in OpenAI's form; underscores in the names of headers stand for hyphens."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Reply(status=status, body={"error": {"message": message, "code": "x", "type": "x"}}, headers=named)


YES = says(packed(GOOD))


class ScriptedProvider:
    """A server on a free port of loopback. It gives the replies of `script` in turn, then `otherwise`."""

    def __init__(self) -> None:
        self.script: deque[Reply] = deque()
        self.otherwise = YES
        self.requests: list[tuple[str, dict[str, Any], dict[str, str]]] = []
        self._closing = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        """The address, without a path."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def forget(self) -> None:
        """Start the script and the list of requests anew."""
        self.script.clear()
        self.requests.clear()
        self.otherwise = YES

    def close(self) -> None:
        """Stop serving; a reply that drips ends."""
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _handler(provider) -> type[BaseHTTPRequestHandler]:
        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                provider.requests.append((self.path, asked, dict(self.headers)))
                reply = provider.script.popleft() if provider.script else provider.otherwise
                time.sleep(reply.delay)
                if reply.drop:
                    self.close_connection = True
                    return
                body = reply.body if isinstance(reply.body, str) else json.dumps(reply.body)
                self.send_response(reply.status)
                self.send_header("Content-Type", "application/json")
                for name, value in reply.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                while reply.drip and not provider._closing.wait(0.05):
                    self.wfile.write(b" ")
                    self.wfile.flush()
                while reply.flood:
                    self.wfile.write(b" " * 1_000_000)
                self.wfile.write(body.encode())

            def handle(self) -> None:
                try:
                    super().handle()
                except ConnectionError:
                    self.close_connection = True  # the other side gave up: that is what some tests are about

            def log_message(self, *_: Any) -> None:
                """Say nothing."""

        return Handler
