"""Trips: how many files and functions of Helix one call passes, from the socket to the answer and what follows it.

A real server answers in this process; each thread tells which functions it enters. Every call is made three times
first, so that nothing is counted that is done once.
"""

from __future__ import annotations

import http.client
import json
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import click
import uvicorn

from helix import settings as configuration
from helix.api.app import create_app
from helix.providers.fakes import HashEmbedder
from helix.service import Helix

_HELIX = str(Path(configuration.__file__).parent)
_TOKEN = "trips-" + 40 * "t"
_WARM = 3
_SETTLES_SECONDS = 1.0


class _Passed:
    """The functions of Helix that any thread enters while it is on, with how often."""

    def __init__(self) -> None:
        self.on = False
        self.calls: Counter[CodeType] = Counter()

    def __call__(self, frame: FrameType, event: str, _argument: object) -> None:
        if self.on and event == "call" and _is_function(frame.f_code):
            self.calls[frame.f_code] += 1

    def of(self, call: Callable[[], object]) -> Counter[CodeType]:
        """Return what a call passes, what is done behind its answer included."""
        self.calls = Counter()
        self.on = True
        call()
        time.sleep(_SETTLES_SECONDS)
        self.on = False
        return self.calls


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--most", type=int, default=0, help="List so many functions that are entered most often.")
def trips(as_json: bool, most: int) -> None:
    """Count the files and functions that a recall, a store and a hook of a failed command pass."""
    passed = _Passed()
    sys.setprofile(passed)
    threading.setprofile(passed)
    with tempfile.TemporaryDirectory() as folder:
        settings = configuration.load({"home": Path(folder)}, environ={}, cwd=Path(folder))
        with Helix.open(settings, embedder=HashEmbedder()) as helix:
            app = create_app(helix, token=_TOKEN, hook_token=_TOKEN, shutdown=lambda: None, pages_folder=None)
            server = uvicorn.Server(uvicorn.Config(app, port=0, log_config=None, lifespan="on"))
            thread = threading.Thread(target=server.run)
            thread.start()
            while not server.started:
                time.sleep(0.01)
            port = server.servers[0].sockets[0].getsockname()[1]
            try:
                found = {name: _counted(passed, call, most) for name, call in _calls(port, folder).items()}
            finally:
                server.should_exit = True
                thread.join()
    sys.setprofile(None)
    threading.setprofile(None)
    if as_json:
        click.echo(json.dumps(found, indent=1))
        return
    for name, counted in found.items():
        click.echo(f"{name}: {counted['files']} files, {counted['functions']} functions, {counted['calls']} calls")
        for line in counted["most"]:
            click.echo(f"    {line}")


def _is_function(code: CodeType) -> bool:
    """Whether it is a named function of Helix, and no comprehension or lambda within one."""
    return code.co_filename.startswith(_HELIX) and not code.co_name.startswith("<")


def _calls(port: int, folder: str) -> dict[str, Callable[[], object]]:
    number = 0

    def post(path: str, payload: Mapping[str, Any]) -> object:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        headers = {"authorization": f"Bearer {_TOKEN}", "content-type": "application/json"}
        connection.request("POST", path, json.dumps(payload), headers)
        response = connection.getresponse()
        said = json.loads(response.read())
        if response.status != 200 or said.get("errors"):
            raise click.ClickException(f"{path}: {response.status} {said}")
        return said

    def recall() -> object:
        return post("/graphql", {"query": '{ recall(query: "how is the gate painted?") { items { score text } } }'})

    def store() -> object:
        nonlocal number
        number += 1
        text = f"Gate {number} is painted with colour {number * 7919}"
        return post(
            "/graphql",
            {
                "query": f'mutation {{ store(input: {{trigger: "{text}", resolution: "", kind: FACT}})'
                " { result { id } } }"
            },
        )

    def failed_command() -> object:
        nonlocal number
        number += 1
        return post(
            "/hooks/claude-code",
            {
                "session_id": "trip",
                "transcript_path": "",
                "cwd": folder,
                "hook_event_name": "PostToolUseFailure",
                "tool_name": "Bash",
                "tool_input": {"command": f"pytest tests/test_gate_{number}.py -x"},
                "error": f"Exit code 1\nE   GateError: the gate {number} is shut\n1 failed, 3 passed in 0.1s",
                "tool_use_id": f"call-{number}",
            },
        )

    return {"store": store, "recall": recall, "hook of a failed command": failed_command}


def _counted(passed: _Passed, call: Callable[[], object], most: int) -> dict[str, Any]:
    for _ in range(_WARM):
        call()
        time.sleep(_SETTLES_SECONDS / 5)
    found = passed.of(call)
    return {
        "files": len({code.co_filename for code in found}),
        "functions": len(found),
        "calls": found.total(),
        "most": [
            f"{times:5d} {code.co_filename.removeprefix(_HELIX)} {code.co_qualname}"
            for code, times in found.most_common(most)
        ],
    }
