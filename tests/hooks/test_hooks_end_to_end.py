"""From a client's process to the daemon and back: a cold start, a brief, a killed daemon, and a store that learned."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from helix import daemon
from helix.hooks import helix_hook
from helix.identity import folder_identity
from helix.lock import is_locked
from helix.processes import daemon_environment
from helix.settings import Settings
from tests.waiting import MOST_SECONDS, until

ROOT = Path(__file__).resolve().parents[2]


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
            [
                sys.executable,
                "-I",
                "-S",
                helix_hook.__file__,
                "--store",
                str(self._settings.store_path),
                "--seconds",
                "20",
            ],
            input=json.dumps(payload),
            env={**daemon_environment(self._settings), "HELIX_HOME": str(self._settings.home)},
            capture_output=True,
            text=True,
            timeout=MOST_SECONDS,
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

        def shown() -> list[list[Any]]:
            return [list(row) for row in asked.run("cypher", query=question)["cypher"]["rows"]]

        # What was shown is written down after the answer.
        until(lambda: shown() == [["action", "failure"], ["brief", "decision"]])


def told_by_history(file: Path, project: Path, call: str, name: str, given: dict[str, Any], error: str = "") -> None:
    """Write a call and its end into a session's file, as the client does whether a daemon runs or not."""
    call_block = {"type": "tool_use", "id": call, "name": name, "input": given}
    end = {"type": "tool_result", "tool_use_id": call, "content": error, "is_error": bool(error)}
    with file.open("a", encoding="utf-8") as history:
        for kind, block in (("assistant", call_block), ("user", end)):
            record = {
                "type": kind,
                "sessionId": "s1",
                "cwd": str(project),
                "timestamp": datetime.now(UTC).isoformat(),
                "message": {"role": kind, "content": [block]},
                "toolUseResult": error or {"stdout": "", "filePath": given.get("file_path", "")},
            }
            history.write(json.dumps(record) + "\n")


@pytest.mark.soak
def test_a_killed_daemon_costs_a_session_neither_what_it_was_shown_nor_what_it_learned_meanwhile(
    plain: Settings, tmp_path: Path
) -> None:
    project, history = tmp_path / "shop", tmp_path / "s1.jsonl"
    client, scope = Client(plain, project), folder_identity(project).scope
    where = {"transcript_path": str(history)}
    make = {"tool_name": "Bash", "tool_input": {"command": "make ledger"}}
    with daemon.ensure_running(plain) as asked:
        asked.store(trigger="`make ledger` fails at night", resolution="stop the job", kind="failure", scope=scope)
    until(lambda: "stop the job" in client.tell("PreToolUse", **make, **where))

    def rows(question: str) -> list[Any]:
        with daemon.ensure_running(plain) as asked:
            return [list(row) for row in asked.run("cypher", query=question)["cypher"]["rows"]]

    def opened() -> list[Any]:
        client.tell("UserPromptSubmit", prompt="go on", **where)
        return rows("MATCH (s:Session) RETURN s.id")

    until(opened)
    until(lambda: rows("MATCH (:Task)-[i:INJECTED]->(:Memory) RETURN i.arm"))
    first = until(lambda: daemon.find(plain.store_path))
    os.kill(first.pid, signal.SIGKILL)
    until(lambda: not is_locked(plain.store_path))

    edit = {"file_path": str(project / "till.c"), "old_string": "old", "new_string": "new"}
    assert client.tell("PreToolUse", tool_name="Bash", tool_input={"command": "make till"}, **where) == ""
    told_by_history(history, project, "t1", "Bash", {"command": "make till"}, "Exit code 2\ntill.c:4: error: no coin")
    told_by_history(history, project, "t2", "Edit", edit)
    told_by_history(history, project, "t3", "Bash", {"command": "make till"})

    with daemon.ensure_running(plain):
        pass
    learned = "MATCH (m:Memory) WHERE m.trigger CONTAINS 'make till' RETURN m.trigger, m.scope"

    def known() -> list[Any]:
        assert "stop the job" not in client.tell("PreToolUse", **make, **where)
        return rows(learned)

    assert until(known) == [["`make till` fails: error: no coin", scope]]
    assert rows("MATCH (e:Episode) WHERE e.source = 'claude-code:s1:t1' RETURN count(*)") == [[1]]
