"""Commands about hooks: a daemon for them, and what they did, against a real daemon."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.request
from pathlib import Path

from command_line import Command

from helix import bearer, daemon
from helix.hooks import helix_hook

PAYLOAD = {"hook_event_name": "SessionEnd", "session_id": "a-session", "cwd": "/", "reason": "other"}


def test_a_hook_starts_a_daemon_once_and_says_where(helix_command: Command, home: Path) -> None:
    first, second = helix_command("hook", "start", "--json"), helix_command("hook", "start", "--json")
    found = daemon.find(home / "store")
    assert found is not None
    assert first.data == second.data == {"start": {"pid": found.pid, "url": found.url}}


def test_the_log_shows_what_the_daemon_and_the_process_did(helix_command: Command, home: Path) -> None:
    helix_command("hook", "start")
    found = daemon.find(home / "store")
    assert found is not None
    request = urllib.request.Request(
        f"{found.url}/hooks/claude-code",
        json.dumps(PAYLOAD).encode(),
        {"authorization": f"Bearer {bearer.hook_token_of(home / 'store')}", "content-type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=20) as answer:
        assert json.loads(answer.read()) == {}
    subprocess.run(
        [sys.executable, "-I", "-S", helix_hook.__file__, "--store", str(home / "store")],
        input="no JSON",
        text=True,
        check=True,
        timeout=20,
    )
    told = helix_command("hook", "log", "--json").data["hooks"]
    assert [(line["event"], line.get("did")) for line in told if line.get("did")] == [
        ("SessionEnd", "ends the session")
    ]
    assert told[-1]["trouble"] == "the payload is not JSON"
    shown = helix_command("hook", "log", "--limit", "1").out.splitlines()
    assert len(shown) == 2
    assert "not JSON" in shown[1]


def test_without_a_daemon_or_a_log_there_is_nothing_to_show(helix_command: Command, tmp_path: Path) -> None:
    said = helix_command("--home", str(tmp_path), "hook", "log")
    assert (said.code, said.out) == (0, "no hook has done anything yet\n")
