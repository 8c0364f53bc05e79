"""A scripted Messages server on loopback: it plays the model for a real coding client and keeps every request.

It is the client's proxy too, one that leads nowhere: whom else the client wanted to reach stands in `strays`.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Block = Mapping[str, Any]
Turn = Sequence[Block]
"""What the model says at once: texts and calls of tools."""

USAGE = {"input_tokens": 10, "output_tokens": 5, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}


def say(text: str) -> Block:
    """Return a block of text."""
    return {"type": "text", "text": text}


def call(tool: str, **arguments: Any) -> Block:
    """Return a block that calls a tool."""
    return {"type": "tool_use", "name": tool, "input": arguments}


@dataclass(kw_only=True)
class Script:
    """What the model says: for each conversation, known by a marker in its first prompt, its turns in their order.

    The marker that stands last in the first prompt decides. A conversation without one, and one whose turns are used
    up, is answered `ok`. `requests` holds the body of each request in the order they came.
    """

    turns: Mapping[str, Sequence[Turn]]
    requests: list[dict[str, Any]] = field(default_factory=list)
    strays: list[str] = field(default_factory=list)

    def next_turn(self, body: Mapping[str, Any]) -> Turn:
        """Return what comes next in the conversation of a request."""
        turns = self.turns.get(self.conversation_of(body), ())
        said = sum(message["role"] == "assistant" for message in body["messages"])
        return turns[said] if said < len(turns) else [say("ok")]

    def conversation_of(self, body: Mapping[str, Any]) -> str:
        """Return the marker of the conversation that a request belongs to; "" where it has none."""
        opening = text_of(body["messages"][0])
        return max(self.turns, key=opening.rfind) if any(marker in opening for marker in self.turns) else ""

    def of(self, marker: str) -> list[dict[str, Any]]:
        """Return the requests of one conversation in their order."""
        return [body for body in self.requests if body.get("tools") and self.conversation_of(body) == marker]


def text_of(message: Mapping[str, Any]) -> str:
    """Return all that a message says, results of tools included."""
    content = message["content"]
    return content if isinstance(content, str) else "\n".join(map(_text_of_block, content))


def _text_of_block(block: Mapping[str, Any]) -> str:
    if block.get("type") == "tool_result":
        return text_of({"content": block.get("content", "")})
    return str(block.get("text", ""))


def message_of(turn: Turn, model: str, number: int) -> dict[str, Any]:
    """Return a turn as a whole message."""
    blocks = [
        {**block, "id": f"toolu_{number}_{index}"} if block["type"] == "tool_use" else dict(block)
        for index, block in enumerate(turn)
    ]
    reason = "tool_use" if any(block["type"] == "tool_use" for block in turn) else "end_turn"
    return {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": blocks,
        "stop_reason": reason,
        "stop_sequence": None,
        "usage": USAGE,
    }


def events_of(message: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Return the events by which a message is streamed."""
    yield {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}}
    for index, block in enumerate(message["content"]):
        if block["type"] == "tool_use":
            start, delta = {**block, "input": {}}, {"partial_json": json.dumps(block["input"])}
        else:
            start, delta = {**block, "text": ""}, {"text": block["text"]}
        kind = "input_json_delta" if block["type"] == "tool_use" else "text_delta"
        yield {"type": "content_block_start", "index": index, "content_block": start}
        yield {"type": "content_block_delta", "index": index, "delta": {"type": kind, **delta}}
        yield {"type": "content_block_stop", "index": index}
    end = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": end, "usage": {"output_tokens": USAGE["output_tokens"]}}
    yield {"type": "message_stop"}


@contextmanager
def serving(script: Script) -> Iterator[str]:
    """Serve a script on a free port of loopback and yield its address."""
    one_at_a_time = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # an answer in one piece

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            if self._strays():
                return
            if not self.path.partition("?")[0].endswith("/v1/messages"):
                self._answer("application/json", json.dumps({"input_tokens": USAGE["input_tokens"]}))
                return
            with one_at_a_time:
                script.requests.append(body)
                message = message_of(script.next_turn(body), body["model"], len(script.requests))
            if body.get("stream"):
                events = (f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events_of(message))
                self._answer("text/event-stream", "".join(events))
            else:
                self._answer("application/json", json.dumps(message))

        def do_GET(self) -> None:
            if not self._strays():
                self._answer("application/json", "{}")

        do_HEAD = do_GET

        def do_CONNECT(self) -> None:
            script.strays.append(self.path)
            self.send_error(403)

        def _strays(self) -> bool:
            if self.path.startswith("/"):
                return False
            script.strays.append(self.path)
            self.send_error(403)
            return True

        def _answer(self, kind: str, body: str) -> None:
            data = body.encode()
            self.send_response(200)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(data)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
