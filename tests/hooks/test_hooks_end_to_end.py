"""From a client's process to the daemon and back: a cold start, a brief, a killed daemon, and a store that learned."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from helix import daemon
from helix.hooks import helix_hook
from helix.identity import folder_identity
from helix.lock import is_locked
from helix.settings import Settings, child_environment

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 60.0
"""Longest wait for what must come; it only ends a test that has failed."""


def until(condition: Callable[[], object]) -> Any:
    deadline = time.monotonic() + SECONDS
    while not (found := condition()):
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.05)
    return found


@pytest.fixture
def plain(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[Settings]:
    """Settings of a store without a model that holds nothing back, whose daemon is gone after the test."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT), prepend=os.pathsep)
    monkeypatch.setenv("HELIX_EMBEDDING_MODEL", "none")
    monkeypatch.setenv("HELIX_HOLDBACK", "0")
    sources = {**settings.sources, "embedding_model": "environment", "holdback": "environment"}
    settings = replace(settings, embedding_model="none", holdback=0.0, sources=sources)
    settings.store_path.mkdir(parents=True)
    yield settings
    if daemon.find(settings.store_path) is not None:
        daemon.stop(settings)


class Client:
    """A client that knows nothing but the process hook."""

    def __init__(self, settings: Settings, project: Path) -> None:
        self._settings = settings
        self._project = project
        project.mkdir()

    def tell(self, event: str, session: str = "s1", **fields: Any) -> str:
        """Tell of an event; return the context that the agent is given."""
        payload = {"hook_event_name": event, "session_id": session, "cwd": str(self._project), **fields}
        run = subprocess.run(
            [sys.executable, "-I", "-S", helix_hook.__file__, "--store", str(self._settings.store_path)],
            input=json.dumps(payload),
            env={**child_environment(self._settings), "HELIX_HOME": str(self._settings.home)},
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=True,
        )
        assert run.stderr == ""
        if not run.stdout:
            return ""
        return str(json.loads(run.stdout).get("hookSpecificOutput", {}).get("additionalContext", ""))


def test_a_session_finds_its_memory_whether_the_daemon_was_there_or_not(plain: Settings, tmp_path: Path) -> None:
    client = Client(plain, tmp_path / "shop")
    scope = folder_identity(tmp_path / "shop").scope

    # Nothing runs: the session begins all the same, and a daemon is being started meanwhile.
    assert client.tell("SessionStart", source="startup") == ""
    first = until(lambda: daemon.find(plain.store_path))
    with daemon.ensure_running(plain) as asked:
        asked.store(trigger="money", resolution="amounts are integers of cents", kind="decision", scope=scope)
        asked.store(
            trigger="`make ledger` fails at night", resolution="stop the nightly job", kind="failure", scope=scope
        )
    # A busy machine may take longer than a hook may; then the next prompt brings it.
    until(lambda: "integers of cents" in client.tell("UserPromptSubmit", prompt="go"))
    command = {"tool_name": "Bash", "tool_input": {"command": "make ledger"}}
    until(lambda: "nightly job" in client.tell("PreToolUse", **command))

    # Killed in the middle: the agent goes on, and the next prompt has it started again.
    os.kill(first.pid, signal.SIGKILL)
    until(lambda: not is_locked(plain.store_path))
    assert client.tell("PreToolUse", **command) == ""
    assert client.tell("UserPromptSubmit", prompt="go on") == ""
    second = until(lambda: daemon.find(plain.store_path))
    assert second.pid != first.pid
    until(lambda: "nightly job" in client.tell("PreToolUse", "s2", **command))
    client.tell("SessionEnd", "s2", reason="other")

    with daemon.ensure_running(plain) as asked:
        question = "MATCH (t:Task)-[i:INJECTED]->(m:Memory) RETURN DISTINCT i.arm, m.kind ORDER BY i.arm"
        found = [list(row) for row in asked.run("cypher", query=question)["cypher"]["rows"]]
    assert found == [["action", "failure"], ["brief", "decision"]]
