"""A scripted model on loopback for other agents' clients: it speaks the three APIs that they ask their models by.

These are OpenAI's responses and chat completions, and Gemini's. Whatever is asked, the model calls the tools of its
script one after the other, each by whatever name the client gave to it, and then says what its script ends with.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

JSON, STREAM = "application/json", "text/event-stream"
Call = tuple[str, Mapping[str, Any]]
"""A tool of Helix by the end of its name, such as `search`, and its arguments; `shell` is the client's own, for which
"command" is enough."""
SHELLS = {"exec_command": "cmd", "run_shell_command": "command", "bash": "command"}
"""What clients call the tool that runs a command, and the command in it."""
Tool = tuple[str, str]
"""A tool as a client lists it: the namespace it stands in, or "", and its name."""


@dataclass(kw_only=True)
class Script:
    """The calls that the model makes, and what it `says` then.

    `results` is what the client answered to each call, `tools` what it listed, `asked` all that each request said.
    """

    calls: Sequence[Call]
    says: str = "done"
    tools: set[str] = field(default_factory=set)
    results: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    def next_call(self, tools: Sequence[Tool], results: Sequence[str]) -> tuple[Tool, Mapping[str, Any]] | None:
        """Return the call that comes next, by the client's name for it; None at the end."""
        self.tools |= {name for _, name in tools}
        if len(results) > len(self.results):
            self.results = list(results)
        if len(results) >= len(self.calls):
            return None
        wanted, arguments = self.calls[len(results)]
        if wanted == "shell":
            shell = next((tool for tool in tools if tool[1] in SHELLS), None)
            given = {"description": "runs it"} if shell is not None and shell[1] != "exec_command" else {}
            return None if shell is None else (shell, {SHELLS[shell[1]]: arguments["command"], **given})
        ours = (tool for tool in tools if re.sub("[^a-z]", "_", tool[1].lower()).endswith(f"memory_{wanted}"))
        found = next(ours, None)
        return None if found is None else (found, arguments)


def _listed(tools: Sequence[Mapping[str, Any]], namespace: str = "") -> Iterator[Tool]:
    for tool in tools:
        if tool.get("type") == "namespace":
            yield from _listed(tool.get("tools", ()), tool["name"])
        elif "name" in tool:
            yield namespace, tool["name"]


def responses(script: Script, body: Mapping[str, Any]) -> tuple[str, str]:
    """Answer as OpenAI's responses API does."""
    asked = body.get("input", [])
    results = [json.dumps(item.get("output")) for item in asked if item.get("type") == "function_call_output"]
    called = script.next_call(list(_listed(body.get("tools", []))), results)
    item: dict[str, Any]
    if called is None:
        said = {"type": "output_text", "text": script.says, "annotations": []}
        item = {"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": [said]}
    else:
        (namespace, name), arguments = called
        number = f"call_{len(results)}"
        item = {"type": "function_call", "call_id": number, "name": name, "arguments": json.dumps(arguments)}
        item |= {"namespace": namespace} if namespace else {}
    usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
    if not body.get("stream"):
        details = {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
        whole = {"object": "response", "model": body["model"], "created_at": 1, "output": [item]}
        settled = {"parallel_tool_calls": False, "tool_choice": "auto", "tools": [], "status": "completed"}
        return JSON, json.dumps({"id": "r", **whole, **settled, "usage": {**usage, **details}})
    events = (
        {"type": "response.created", "response": {"id": "r"}},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": {"id": "r", "usage": usage}},
    )
    return STREAM, "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)


def completions(script: Script, body: Mapping[str, Any]) -> tuple[str, str]:
    """Answer as OpenAI's chat completions do."""
    results = [str(message["content"]) for message in body["messages"] if message["role"] == "tool"]
    tools = [("", tool["function"]["name"]) for tool in body.get("tools", ())]
    called = script.next_call(tools, results) if tools else None
    said: dict[str, Any] = {"role": "assistant", "content": script.says}
    if called is not None:
        (_, name), arguments = called
        function = {"name": name, "arguments": json.dumps(arguments)}
        number = f"call_{len(results)}"
        said = {
            "role": "assistant",
            "tool_calls": [{"index": 0, "id": number, "type": "function", "function": function}],
        }
    ended = "stop" if called is None else "tool_calls"
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    answer = {"id": "c", "created": 1, "model": body["model"], "usage": usage}
    if not body.get("stream"):
        choice = {"index": 0, "message": said, "finish_reason": ended}
        return JSON, json.dumps({**answer, "object": "chat.completion", "choices": [choice]})
    chunks = ({"delta": said, "finish_reason": None}, {"delta": {}, "finish_reason": ended})
    told = (
        json.dumps({**answer, "object": "chat.completion.chunk", "choices": [{"index": 0, **chunk}]})
        for chunk in chunks
    )
    return STREAM, "".join(f"data: {chunk}\n\n" for chunk in (*told, "[DONE]"))


def gemini(script: Script, body: Mapping[str, Any], *, streams: bool) -> tuple[str, str]:
    """Answer as Gemini does."""
    parts = [part for content in body.get("contents", ()) for part in content.get("parts", ())]
    results = [json.dumps(part["functionResponse"]) for part in parts if "functionResponse" in part]
    listed = [("", one["name"]) for tool in body.get("tools", ()) for one in tool.get("functionDeclarations", ())]
    called = script.next_call(listed, results) if listed else None
    part: dict[str, Any] = {"text": script.says}
    if called is not None:
        part = {"functionCall": {"name": called[0][1], "args": called[1]}}
    candidate = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
    usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
    answer = json.dumps({"candidates": [candidate], "usageMetadata": usage})
    return (STREAM, f"data: {answer}\r\n\r\n") if streams else (JSON, answer)


@contextmanager
def model_of(script: Script) -> Iterator[str]:
    """Serve a script on a free port of loopback and yield its address; as a proxy it leads nowhere."""
    one_at_a_time = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers.get("content-length") or 0))
            path = self.path.partition("?")[0]
            with one_at_a_time:
                script.asked.append(raw.decode("utf-8", "replace"))
                if path.endswith("/responses"):
                    kind, answer = responses(script, json.loads(raw))
                elif path.endswith("/chat/completions"):
                    kind, answer = completions(script, json.loads(raw))
                elif path.lower().endswith("generatecontent"):
                    kind, answer = gemini(script, json.loads(raw), streams="stream" in path)
                else:
                    kind, answer = JSON, "{}"
            self._say(200, kind, answer)

        def do_GET(self) -> None:
            self._say(200, JSON, '{"data": [], "models": []}')

        def do_CONNECT(self) -> None:
            self._say(403, JSON, "{}")

        def _say(self, status: int, kind: str, text: str) -> None:
            answer = text.encode()
            self.send_response(status)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, format: str, *arguments: object) -> None:
            """Say nothing of each request."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
