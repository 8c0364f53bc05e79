"""Runs the examples in sdk/examples with the libraries they are for: what one run stores, the next one is told.

Each run is a process of its own, with a scripted model on loopback and a real daemon.

All of it is a soak: the tools that the examples call are tested in tests/api/test_mcp_tools.py.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import messages_server
import pytest
from coding_client import ROOT, CodingClient
from scripted_model import Script, model_of

LIBRARIES = ROOT / "build/examples"
SECONDS = 120
QUESTION = "which database does the shop use?"
ANSWER = "Postgres, for its row locks"


class Machine:
    """A person's machine with a store of its own, on which examples are run."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.settings = {
            "PATH": os.pathsep.join([str(ROOT / ".venv/bin"), os.environ["PATH"]]),
            "HOME": str(home),
            "HELIX_HOME": str(home / "helix"),
            "HELIX_EMBEDDING_MODEL": "none",
        }

    def helix(self, *arguments: str) -> str:
        return self._run([str(ROOT / ".venv/bin/helix"), *arguments], {})

    def example(self, name: str, prompt: str, url: str, environment: Mapping[str, str]) -> str:
        """Run an example to its end and return what it printed; nobody but loopback is reached."""
        proxies = {"HTTP_PROXY": url, "HTTPS_PROXY": url, "NO_PROXY": "127.0.0.1,localhost"}
        paths = {"PYTHONPATH": os.pathsep.join([str(LIBRARIES), str(ROOT)])}
        return self._run(
            [sys.executable, str(ROOT / "sdk/examples" / f"{name}.py"), prompt], {**proxies, **paths, **environment}
        )

    def _run(self, line: list[str], environment: Mapping[str, str]) -> str:
        run = subprocess.run(
            line,
            cwd=self.home,
            env={**self.settings, **environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        assert run.returncode == 0, run.stdout[-2000:] + run.stderr[-2000:]
        return run.stdout


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    if not (LIBRARIES / "stamp").is_file():
        pytest.skip("what the examples are for is not installed: `scripts/setup examples` does it")
    found = Machine(tmp_path)
    yield found
    found.helix("stop")


def openai(url: str) -> dict[str, str]:
    return {"OPENAI_BASE_URL": f"{url}/v1", "OPENAI_API_KEY": "none", "OPENAI_AGENTS_DISABLE_TRACING": "1"}


@pytest.mark.soak
def test_a_graph_of_langgraph_is_told_what_it_answered_before(machine: Machine) -> None:
    told = Script(calls=(), says=ANSWER)
    for _ in range(2):
        with model_of(told) as url:
            assert machine.example("langgraph_memory", QUESTION, url, openai(url)).strip() == ANSWER
    first, second = told.asked
    assert "nothing yet" in first and ANSWER not in first
    assert ANSWER in second and "nothing yet" not in second


@pytest.mark.soak
def test_an_agent_of_the_openai_sdk_finds_what_another_wrote(machine: Machine) -> None:
    wrote = Script(calls=[("write", {"when": QUESTION, "what": ANSWER})], says="noted")
    with model_of(wrote) as url:
        assert machine.example("openai_agents_memory", "we use Postgres", url, openai(url)).strip() == "noted"
    searched = Script(calls=[("search", {"question": QUESTION})], says=ANSWER)
    with model_of(searched) as url:
        assert machine.example("openai_agents_memory", QUESTION, url, openai(url)).strip() == ANSWER
    assert "added" in wrote.results[0]
    assert ANSWER in searched.results[0]


@pytest.mark.soak
def test_an_agent_of_the_claude_sdk_finds_what_another_wrote(machine: Machine, client_program: Path) -> None:
    write = messages_server.call("mcp__helix__memory_write", content=ANSWER, when=QUESTION, type="decision")
    search = messages_server.call("mcp__helix__memory_search", query=QUESTION)
    script = messages_server.Script(
        turns={
            "we use Postgres": [[write], [messages_server.say("noted")]],
            QUESTION: [[search], [messages_server.say(ANSWER)]],
        }
    )
    with messages_server.serving(script) as url:
        client = CodingClient(program=client_program, home=machine.home, project=machine.home).environment(url)
        bin_folder = {"PATH": os.pathsep.join([str(client_program.parent), machine.settings["PATH"]])}
        for prompt, said in (("we use Postgres", "noted"), (QUESTION, ANSWER)):
            environment = {**client, **bin_folder}
            assert machine.example("claude_agent_memory", prompt, url, environment).strip() == said
    told = messages_server.text_of(script.of(QUESTION)[-1]["messages"][-1])
    assert ANSWER in told
    assert not script.strays
