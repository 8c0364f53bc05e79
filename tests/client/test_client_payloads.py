"""Holds that the kept payloads, which other tests take for the client's words, have the shape of what it sends."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from messages_server import Block, Script, call, say
from person import Person

from helix import local_socket
from helix.lock import StoreLock

KEPT = Path(__file__).parent / "payloads"
NAMES = (
    *("pre_bash", "post_bash", "post_bash_failure", "post_bash_timeout", "post_bash_background"),
    *("pre_edit", "post_edit", "pre_write", "post_write"),
    *("post_task_create", "post_task_update_in_progress", "post_task_update_completed", "task_completed"),
    *("pre_agent", "post_agent", "post_agent_async", "subagent_start", "subagent_stop"),
    *("pre_bash_in_subagent", "post_bash_in_subagent", "stop", "session_end"),
)


@contextmanager
def listening(store: Path, payloads: list[dict[str, Any]]) -> Iterator[None]:
    """Own a store in the daemon's place, take what a client tells its hooks, and have nothing to say to it."""

    class Handler(BaseHTTPRequestHandler):
        wbufsize = -1

        def do_POST(self) -> None:
            payloads.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"{}")

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler, bind_and_activate=False)
    server.socket.close()
    owner = StoreLock(store)  # the plugin's MCP server would start a daemon
    owner.acquire()
    listener = local_socket.listen(store)
    assert listener is not None
    server.socket = listener
    thread = Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        local_socket.forget(store)
        thread.join()
        owner.release()


def shape(payload: Mapping[str, Any]) -> tuple[object, ...]:
    """Return what tells two kinds of payload apart: the event, the tool, and the names in it and in the tool's own."""
    inner = (payload.get(name) for name in ("tool_input", "tool_response"))
    names = (frozenset(value) if isinstance(value, dict) else None for value in inner)
    return (payload["hook_event_name"], payload.get("tool_name"), frozenset(payload), *names)


def bash(command: str, **more: Any) -> Block:
    return call("Bash", command=command, description="run it", **more)


def agent(prompt: str, **more: Any) -> Block:
    return call("Agent", description="build", prompt=prompt, subagent_type="helix:builder", **more)


@pytest.mark.soak
def test_the_kept_payloads_have_the_shape_of_what_the_client_sends(person: Person) -> None:
    file = person.project / "a.txt"
    file.write_text("hello\n", "utf-8")
    script = Script(
        turns={
            "BEGIN": [
                [call("TaskCreate", subject="001: build", description="a task", metadata={"seq": "001"})],
                [call("TaskUpdate", taskId="1", status="in_progress")],
                [bash("echo good")],
                [bash("echo bad; exit 3")],
                [bash("sleep 3", timeout=1000)],
                [bash("true", run_in_background=True)],
                [call("Read", file_path=str(file))],
                [call("Edit", file_path=str(file), old_string="hello", new_string="bye")],
                [call("Write", file_path=str(person.project / "b.txt"), content="new")],
                [agent("first-one", run_in_background=False)],
                [call("TaskUpdate", taskId="1", status="completed", metadata={"helix_outcome": "delivered"})],
                [agent("second-one")],
                [say("done")],
            ],
            "first-one": [[bash("true")], [say("DELIVERED: it\nUTILIZED: []")]],
        }
    )
    sent: list[dict[str, Any]] = []
    home = Path(person.settings["HELIX_HOME"])
    person.helix("stop")
    with listening(home / "store", sent):
        person.client.work(script, "BEGIN")
    shapes = set(map(shape, sent))
    kept = {name: json.loads((KEPT / f"{name}.json").read_text("utf-8")) for name in NAMES}
    assert [name for name, payload in kept.items() if shape(payload) not in shapes] == []
