"""Holds that hooks of clients are connected by files of their own, and that a person's own stay as they are."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

from command_line import Command
from people import files_below

from helix.errors import ConfigError

HOOKS = "Documents/Cline/Hooks"
EVENTS = [
    *("PostToolUse", "PreCompact", "PreToolUse", "TaskCancel", "TaskComplete", "TaskResume", "TaskStart"),
    "UserPromptSubmit",
]


def test_a_hook_of_cline_is_a_private_script_an_event_that_answers_and_goes(
    person: Path, machine: dict[Path, bytes], helix_command: Command
) -> None:
    (person / HOOKS).mkdir(parents=True)
    (person / HOOKS / "notes.txt").write_text("mine", "utf-8")
    there = files_below(person)
    assert helix_command("connect", "cline").code == 0
    scripts = sorted(path for path in (person / HOOKS).iterdir() if path.suffix != ".txt")
    assert [path.name for path in scripts if path.stat().st_mode & 0o777 == 0o700] == EVENTS
    payload = json.dumps({"hookName": "TaskComplete", "taskId": "c-1", "workspaceRoots": [str(person / "project")]})
    ran = subprocess.run([person / HOOKS / "TaskComplete"], input=payload, capture_output=True, text=True, check=True)
    assert (ran.stdout, ran.stderr) in (("{}", ""), ("", ""))  # nothing to say, or too late on a slow machine
    assert helix_command("disconnect", "cline").code == 0
    assert files_below(person) == there


def test_a_script_of_ones_own_stays_and_the_rest_is_connected(
    person: Path, machine: dict[Path, bytes], helix_command: Command
) -> None:
    own = person / HOOKS / "PreToolUse"
    own.parent.mkdir(parents=True)
    own.write_text("#!/bin/sh\necho mine\n", "utf-8")
    there = files_below(person)
    refused = helix_command("connect", "cline")
    assert refused.code == ConfigError.exit_code
    assert f"{own} is a script of your own" in refused.err
    command = re.search(
        r"print what that prints: (\S.*helix_hook\.py --client cline .*)", refused.err.replace("\n", " ")
    )
    assert command is not None
    assert (person / HOOKS / "PostToolUse").is_file()
    assert own.read_bytes() == there[own]
    rows = helix_command("connect", "--json").data["connect"]["clients"]
    assert not next(row for row in rows if row["client"] == "cline")["connected"]
    own.write_text(f"#!/bin/sh\necho mine\n{command[1]}\n", "utf-8")
    assert helix_command("connect", "cline").code == 0
    rows = helix_command("connect", "--json").data["connect"]["clients"]
    assert next(row for row in rows if row["client"] == "cline")["connected"] == "user"
    ours = person / HOOKS / "PostToolUse"
    ours.write_text(ours.read_text("utf-8") + "echo and mine\n", "utf-8")
    changed = {path: path.read_bytes() for path in (own, ours)}
    assert helix_command("disconnect", "cline").code == 0
    assert files_below(person) == {**there, **changed}


def test_scripts_that_a_lost_home_left_behind_are_taken_out_and_ones_own_stays(
    person: Path, machine: dict[Path, bytes], home: Path, helix_command: Command
) -> None:
    assert helix_command("connect", "cline").code == 0
    (home / "clients/connections.json").unlink()
    own = person / HOOKS / "PreToolUse"
    own.write_text("#!/bin/sh\necho mine\n", "utf-8")
    assert helix_command("disconnect", "cline").code == 0
    assert [path.name for path in (person / HOOKS).iterdir()] == ["PreToolUse"]


def test_goose_and_continue_are_told_of_by_hooks_of_their_own(
    person: Path, machine: dict[Path, bytes], helix_command: Command
) -> None:
    settings = person / ".continue/settings.json"
    settings.write_text('{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "mine"}]}]}}\n', "utf-8")
    assert helix_command("connect", "goose", "continue").code == 0
    plugin = person / ".agents/plugins/helix"
    assert json.loads((plugin / "plugin.json").read_text("utf-8"))["name"] == "helix"
    for path, client in ((plugin / "hooks/hooks.json", "goose"), (settings, "continue")):
        held = json.loads(path.read_text("utf-8"))["hooks"]
        (hook,) = held["PostToolUseFailure"][0]["hooks"]
        assert (hook["type"], type(hook["timeout"])) == ("command", int)
        assert f"--client {client}" in hook["command"]
    assert next(rule["hooks"][0]["command"] for rule in held["Stop"]) == "mine"
    helix_command("disconnect")
    assert not plugin.exists()
    assert json.loads(settings.read_text("utf-8"))["hooks"] == {
        "Stop": [{"hooks": [{"type": "command", "command": "mine"}]}]
    }


def test_a_broken_record_of_connections_is_kept_and_told_of(
    person: Path, machine: dict[Path, bytes], home: Path, helix_command: Command
) -> None:
    assert helix_command("connect", "zed").code == 0
    record = home / "clients/connections.json"
    record.write_text("[broken", "utf-8")
    assert "kept as" not in helix_command("connect", "cursor", "--dry-run").err
    said = helix_command("connect", "cursor").err
    aside = home / "clients/connections.json.broken-1"
    assert f"kept as {aside}" in said.replace("\n", "")
    assert aside.read_text("utf-8") == "[broken"
    assert helix_command("disconnect").code == 0
    assert (person / ".config/zed/settings.json").read_bytes() == machine[person / ".config/zed/settings.json"]
    aside.unlink()
