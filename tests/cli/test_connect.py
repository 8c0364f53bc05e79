"""Holds that a coding client is connected, shown what that means, and disconnected again."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from command_line import Command
from people import FOREIGN, files_below

from helix import local_store
from helix.cli.privacy import PLACE_HINT
from helix.client_settings.descriptions import CLIENTS
from helix.client_settings.marked_text import BEGIN, END, drop_block
from helix.client_settings.plugin_files import copy_name, folder_of
from helix.errors import ConfigError
from helix.hooks import helix_hook


@pytest.fixture
def connected(person: Path, helix_command: Command) -> Iterator[Path]:
    result = helix_command("connect", "claude-code")
    assert result.code == 0, result.err
    yield person
    helix_command("disconnect")


def hooks_of(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "hooks/hooks.json").read_text("utf-8"))["hooks"]
    return found


def test_the_settings_lead_to_a_private_copy_that_asks_this_stores_daemon(connected: Path, home: Path) -> None:
    settings = json.loads((connected / ".claude/settings.json").read_text("utf-8"))
    folder = Path(settings["extraKnownMarketplaces"]["helix"]["source"]["path"])
    assert settings["model"] == "opus"
    assert settings["enabledPlugins"] == {"helix@helix": True}
    assert folder == home / "clients/claude-code/helix"
    assert folder.stat().st_mode & 0o077 == 0
    (hook,) = hooks_of(folder)["PreToolUse"][0]["hooks"]
    assert hook["type"] == "command"
    assert ["--store", str(home / "store")] == hook["args"][hook["args"].index("--store") :][:2]


def test_the_copy_holds_no_token_and_no_address(connected: Path, home: Path) -> None:
    """A client that asks by itself would tell whoever took the port of a daemon that has gone."""
    folder = home / "clients/claude-code/helix"
    text = "".join(path.read_text("utf-8") for path in folder.rglob("*.json"))
    assert {entry["type"] for entries in hooks_of(folder).values() for one in entries for entry in one["hooks"]} == {
        "command"
    }
    assert (home / "store/hook-token").read_text("ascii") not in text
    assert (home / "store/token").read_text("ascii") not in text
    assert "127.0.0.1" not in text


def test_it_says_what_is_taken_what_is_held_back_and_how_to_undo_it(person: Path, helix_command: Command) -> None:
    words = helix_command("connect", "claude-code").err
    assert "10% of the tasks get no memories" in words
    assert "HELIX_HOLDBACK" in words
    assert "the commands they run" in words
    assert "helix disconnect claude-code --user" in words
    assert "disableAllHooks" not in words
    helix_command("disconnect")


def test_it_warns_where_others_could_replace_what_the_client_runs(person: Path, helix_command: Command) -> None:
    (shared := person / "shared").mkdir()
    command = ("--home", str(shared / "home"), "connect", "claude-code", "--dry-run")
    assert "warning" not in helix_command(*command).err
    shared.chmod(0o777)
    said = helix_command(*command).err
    assert f"warning: other users can put another folder in place of what is in {shared}, and clients run" in said
    assert f"hint: {PLACE_HINT}" in said


def test_it_says_when_the_client_has_hooks_switched_off(person: Path, helix_command: Command) -> None:
    (person / ".claude/settings.json").write_text('{"disableAllHooks": true}', "utf-8")
    assert "disableAllHooks" in helix_command("connect", "claude-code").err
    helix_command("disconnect")


def test_connecting_again_changes_nothing(connected: Path, helix_command: Command) -> None:
    assert helix_command("connect", "claude-code", "--json").data["connect"] == {
        "dryRun": False,
        "settings": [],
        "files": [],
    }


def test_disconnecting_puts_everything_back(person: Path, home: Path, helix_command: Command) -> None:
    helix_command("connect", "claude-code")
    helix_command("connect", "claude-code", "--project")
    assert (person / "project/.claude/settings.local.json").is_file()
    assert helix_command("disconnect").code == 0
    assert (person / ".claude/settings.json").read_text("utf-8") == FOREIGN
    assert not (person / "project/.claude").exists()
    assert not (home / "clients/claude-code/helix").exists()
    assert helix_command("disconnect").out == "nothing to change\n"


def test_the_copy_stays_while_another_place_uses_it(connected: Path, home: Path, helix_command: Command) -> None:
    helix_command("connect", "claude-code", "--project")
    helix_command("disconnect", "--project")
    assert (home / "clients/claude-code/helix/hooks/hooks.json").is_file()
    assert "helix@helix" in (connected / ".claude/settings.json").read_text("utf-8")


def test_a_dry_run_shows_both_and_changes_neither(person: Path, home: Path, helix_command: Command) -> None:
    shown = helix_command("connect", "claude-code", "--dry-run")
    assert '+    "helix@helix": true' in shown.out
    assert "hooks/hooks.json would be written" in shown.out
    assert (person / ".claude/settings.json").read_text("utf-8") == FOREIGN
    assert not (home / "clients/claude-code/helix").exists()
    helix_command("connect", "claude-code")
    assert '-    "helix@helix": true' in helix_command("disconnect", "--dry-run").out
    assert "helix@helix" in (person / ".claude/settings.json").read_text("utf-8")
    helix_command("disconnect")


@pytest.mark.parametrize("text", ["{ // mine\n}", '{"a":' * 50_000], ids=["a comment", "nested without end"])
def test_settings_that_cannot_be_read_are_refused_and_nothing_is_written(
    person: Path, home: Path, helix_command: Command, text: str
) -> None:
    (person / ".claude/settings.json").write_text(text, "utf-8")
    refused = helix_command("--json", "connect", "claude-code")
    assert refused.code == 2
    assert "not valid JSON" in refused.error["message"]
    assert "nothing was changed" in refused.error["hint"]
    assert not (home / "clients/claude-code/helix").exists()


def test_entries_of_a_home_that_has_gone_are_taken_out_too(connected: Path, home: Path, helix_command: Command) -> None:
    (home / "clients/connections.json").unlink()
    helix_command("disconnect")
    assert json.loads((connected / ".claude/settings.json").read_text("utf-8")) == {"model": "opus"}


@pytest.mark.soak
def test_another_store_has_a_name_of_its_own_and_switches_the_first_off_in_its_project(
    connected: Path, home: Path, helix_command: Command
) -> None:
    store = local_store.make(connected / "project", home)
    assert helix_command("connect", "claude-code", "--project").code == 0
    name = copy_name(home, store)
    held = json.loads((connected / "project/.claude/settings.local.json").read_text("utf-8"))
    assert name != "helix"
    assert held["enabledPlugins"] == {f"helix@{name}": True, "helix@helix": False}
    marketplace = folder_of(home, name) / ".claude-plugin/marketplace.json"
    assert json.loads(marketplace.read_text("utf-8"))["name"] == name
    helix_command("stop")
    helix_command("disconnect", "--project")


@pytest.mark.soak
def test_a_daemon_of_another_version_brings_the_copy_up_to_date(
    connected: Path, home: Path, helix_command: Command
) -> None:
    script = home / "clients/claude-code/helix/hooks/helix_hook.py"
    helix_command("stop")
    script.write_text("# of an earlier version\n", "utf-8")
    helix_command("stats")
    assert script.read_bytes() == Path(helix_hook.__file__).read_bytes()


@pytest.mark.parametrize("linked", [".claude", ".claude/settings.local.json"])
def test_nothing_is_written_through_a_link_that_a_project_brings(
    connected: Path, tmp_path: Path, helix_command: Command, linked: str
) -> None:
    place = connected / "project" / linked
    target = tmp_path / "target"
    if linked == ".claude":
        target.mkdir()
    else:
        place.parent.mkdir(exist_ok=True)
        target.write_text("{}", "utf-8")
    place.symlink_to(target)
    said = helix_command("connect", "claude-code", "--project")
    assert (said.code, "is a link: nothing is written through it" in said.err) == (ConfigError.exit_code, True)
    assert not list(target.iterdir()) if target.is_dir() else target.read_text("utf-8") == "{}"


OTHERS = tuple(client for client in CLIENTS if client != "claude-code")


def test_without_a_name_it_shows_what_is_installed_and_connected(
    person: Path, machine: dict[Path, bytes], helix_command: Command
) -> None:
    (person / ".codex/config.toml").unlink()
    (person / ".codex").rmdir()
    helix_command("connect", "goose")
    found = {row["client"]: row for row in helix_command("connect", "--json").data["connect"]["clients"]}
    assert list(found) == list(CLIENTS)
    assert [name for name, row in found.items() if not row["installed"]] == ["codex"]
    assert [name for name, row in found.items() if row["connected"]] == ["goose"]
    assert found["goose"]["file"] == str(person / ".config/goose/config.yaml")
    assert found["claude-code"]["hooks"]
    helix_command("disconnect")


def test_all_connects_what_is_installed_and_disconnect_leaves_no_trace(
    person: Path, machine: dict[Path, bytes], helix_command: Command
) -> None:
    assert helix_command("connect", "all", "--agents-md").code == 0
    rows = helix_command("connect", "--json").data["connect"]["clients"]
    assert {row["client"] for row in rows if row["connected"]} == set(CLIENTS)
    settings = json.loads((person / ".cursor/mcp.json").read_text("utf-8"))
    assert settings["mcpServers"]["helix"]["args"][-1] == "mcp"
    assert Path(settings["mcpServers"]["helix"]["command"]).is_absolute()
    assert "helix: begin" in (person / "project/AGENTS.md").read_text("utf-8")
    assert helix_command("disconnect").code == 0
    assert files_below(person) == machine


@pytest.mark.parametrize("client", OTHERS)
def test_each_client_is_connected_and_disconnected_by_its_name(
    person: Path, machine: dict[Path, bytes], helix_command: Command, client: str
) -> None:
    there = sorted(person.rglob("*"))
    assert helix_command("connect", client, "--dry-run").code == 0
    assert files_below(person) == machine
    assert helix_command("connect", client).code == 0
    assert files_below(person) != machine
    assert helix_command("connect", client, "--json").data["connect"]["settings"] == []
    assert helix_command("disconnect", client).code == 0
    assert files_below(person) == machine
    assert sorted(person.rglob("*")) == there


def timeouts(held: object) -> list[float]:
    """Return what stands under `timeout` in settings, however deep."""
    if isinstance(held, list):
        return [found for one in held for found in timeouts(one)]
    if not isinstance(held, dict):
        return []
    return [held["timeout"]] if "timeout" in held else [found for one in held.values() for found in timeouts(one)]


@pytest.mark.parametrize(
    ("file", "unit"), [(".codex/hooks.json", 1), (".cursor/hooks.json", 1), (".gemini/settings.json", 1000)]
)
@pytest.mark.parametrize(("milliseconds", "wanted"), [(300, 1), (4200, 5)])
def test_a_client_waits_for_a_hook_as_long_as_the_setting_says(
    person: Path, machine: dict[Path, bytes], home: Path, helix_command: Command, file: str, unit: int,
    milliseconds: int, wanted: int,
) -> None:  # fmt: skip
    home.mkdir(mode=0o700, exist_ok=True)  # all tests of the command share it
    (home / "config.toml").write_text(f"hook_ms = {milliseconds}\n", "utf-8")
    helix_command("connect", "codex", "cursor", "gemini")
    (home / "config.toml").unlink()
    text = re.sub(r"^\s*//.*$", "", (person / file).read_text("utf-8"), flags=re.MULTILINE)
    given = set(timeouts(json.loads(text)))
    assert given == ({wanted} if unit == 1 else {milliseconds})
    helix_command("disconnect")


def test_nothing_secret_stands_in_a_clients_file(
    person: Path, machine: dict[Path, bytes], home: Path, helix_command: Command
) -> None:
    helix_command("connect", "all")
    said = b"".join(content for path, content in files_below(person).items() if path.is_relative_to(person))
    assert (home / "store/token").read_bytes() not in said
    assert (home / "store/hook-token").read_bytes() not in said
    helix_command("disconnect")


def test_a_project_is_connected_by_its_own_files(
    person: Path, machine: dict[Path, bytes], helix_command: Command
) -> None:
    there = sorted(person.rglob("*"))
    assert helix_command("connect", "codex", "cursor", "vscode", "continue", "opencode", "--project").code == 0
    assert "mcp_servers" in (person / "project/.codex/config.toml").read_text("utf-8")
    assert (person / "project/.cursor/mcp.json").is_file()
    assert helix_command("disconnect", "--user", "--json").data["disconnect"]["settings"] == []
    helix_command("disconnect", "--project")
    assert files_below(person) == machine
    assert sorted(person.rglob("*")) == there
    refused = helix_command("--json", "connect", "goose", "--project")
    assert "no settings of a project" in refused.error["message"]


def test_one_client_whose_settings_are_broken_keeps_no_other_from_being_connected(
    person: Path, machine: dict[Path, bytes], helix_command: Command
) -> None:
    (person / ".codex/config.toml").write_text("model = \n", "utf-8")
    refused = helix_command("--json", "connect", "all")
    assert refused.code == 2
    assert "not valid TOML" in refused.error["message"]
    assert "Codex" not in helix_command("connect", "all").err.partition("error")[0]
    rows = {row["client"]: row["connected"] for row in helix_command("connect", "--json").data["connect"]["clients"]}
    assert rows["gemini"] == "user"
    assert rows["codex"] == "unreadable"
    helix_command("disconnect")
    assert files_below(person) == {**machine, person / ".codex/config.toml": b"model = \n"}


def test_a_projects_link_is_not_written_through(
    person: Path, machine: dict[Path, bytes], helix_command: Command
) -> None:
    (person / "project/.cursor").symlink_to(person / ".cursor")
    assert "is a link" in helix_command("--json", "connect", "cursor", "--project").error["message"]
    assert files_below(person) == machine


def test_a_file_of_lines_without_end_is_shown_in_one(
    helix_command: Command, machine: dict[Path, bytes], person: Path
) -> None:
    """Which a folder brought: to compare it line by line took minutes."""
    lines = "\n".join(f"line {number % 136}" for number in range(20_000))
    (person / "project/AGENTS.md").write_text(f"{lines}\n", "utf-8")
    told = helix_command("connect", "--agents-md", "--dry-run")
    assert told.code == 0
    assert "20000 lines become " in told.out


@pytest.mark.parametrize("client", ["opencode", "cursor", "--agents-md"])
def test_a_link_that_came_since_leads_disconnecting_to_no_other_file(
    person: Path, machine: dict[Path, bytes], helix_command: Command, monkeypatch: pytest.MonkeyPatch, client: str
) -> None:
    before = files_below(person / "project").keys()
    assert helix_command("connect", client, "--project").code == 0
    ours = sorted(files_below(person / "project").keys() - before)
    mine = person / "mine"
    mine.mkdir()
    for number, path in enumerate(ours):
        (mine / str(number)).write_bytes(path.read_bytes() if client == "cursor" else b"# mine\n")
        path.unlink()
        path.symlink_to(mine / str(number))
    kept = files_below(mine)
    monkeypatch.chdir(person)
    assert helix_command("connect", "codex").code == 0
    assert "leads to" in helix_command("--json", "disconnect").error["message"]
    assert len(kept) == len(ours) and files_below(mine) == kept
    rows = {row["client"]: row["connected"] for row in helix_command("connect", "--json").data["connect"]["clients"]}
    assert rows["codex"] == "", "one that is refused keeps no other"
    for path in ours:
        path.unlink()
    assert helix_command("disconnect").code == 0


def test_settings_that_are_a_link_are_shown_and_taken_back_from_the_folder_they_lie_in(
    person: Path, machine: dict[Path, bytes], helix_command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    (person / "mine").mkdir()
    (person / ".gemini/settings.json").rename(person / "mine/gemini.json")
    (person / ".gemini/settings.json").symlink_to(person / "mine/gemini.json")
    before = files_below(person)
    monkeypatch.chdir(person)
    assert helix_command("connect", "gemini", "codex").code == 0
    rows = {row["client"]: row["connected"] for row in helix_command("connect", "--json").data["connect"]["clients"]}
    assert (rows["gemini"], rows["codex"], rows["zed"]) == ("user", "user", "")
    assert helix_command("disconnect").code == 0
    assert files_below(person) == before
    assert (person / ".gemini/settings.json").is_symlink()


def test_a_pipe_in_a_settings_files_place_is_refused_at_once(
    person: Path, machine: dict[Path, bytes], helix_command: Command
) -> None:
    (person / ".cursor/mcp.json").unlink()
    os.mkfifo(person / ".cursor/mcp.json")
    assert "cannot be read" in helix_command("--json", "connect", "cursor").error["message"]


def test_the_block_of_agents_md_comes_and_goes_and_the_rest_stays(
    person: Path, machine: dict[Path, bytes], helix_command: Command
) -> None:
    rules = person / "project/AGENTS.md"
    rules.write_text("# Rules\n\n- be kind", "utf-8")
    helix_command("connect", "--agents-md")
    assert "memory" in rules.read_text("utf-8")
    rules.write_text("# Our rules\n" + rules.read_text("utf-8").partition("\n")[2], "utf-8")
    helix_command("disconnect", "--agents-md")
    assert rules.read_text("utf-8") == "# Our rules\n\n- be kind"


def test_the_block_is_a_projects_and_none_of_the_users(
    person: Path, machine: dict[Path, bytes], helix_command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = sorted(person.rglob("*"))
    assert helix_command("connect", "cursor", "--project", "--agents-md").code == 0
    assert helix_command("disconnect", "--user", "--json").data["disconnect"]["settings"] == []
    monkeypatch.chdir(person)
    assert helix_command("disconnect", "cursor", "--user", "--json").data["disconnect"]["settings"] == []
    monkeypatch.chdir(person / "project")
    assert helix_command("disconnect", "--project").code == 0
    assert sorted(person.rglob("*")) == there


def test_lines_around_a_block_stay_lines() -> None:
    assert drop_block(f"a\n{BEGIN}\ntext\n{END}\nb\n") == "a\nb\n"


@pytest.mark.parametrize("there", [True, False])
def test_the_block_is_written_through_no_link_of_a_project(
    person: Path, machine: dict[Path, bytes], helix_command: Command, there: bool
) -> None:
    elsewhere = person / "elsewhere"
    if there:
        elsewhere.write_text("mine", "utf-8")
    (person / "project/AGENTS.md").symlink_to(elsewhere)
    assert "is a link" in helix_command("--json", "connect", "--agents-md").error["message"]
    assert elsewhere.exists() is there
    assert not there or elsewhere.read_text("utf-8") == "mine"


def test_an_entry_of_ours_by_hand_is_taken_over_and_given_back(
    person: Path, machine: dict[Path, bytes], helix_command: Command
) -> None:
    mine = b'{"mcpServers": {"helix": {"command": "/old/helix", "args": ["mcp"]}}}'
    (person / ".cursor/mcp.json").write_bytes(mine)
    helix_command("connect", "cursor")
    assert b"/old/helix" not in (person / ".cursor/mcp.json").read_bytes()
    helix_command("disconnect", "cursor")
    assert (person / ".cursor/mcp.json").read_bytes() == mine


@pytest.mark.parametrize("command", ["/opt/helixdb", "npx"])
def test_another_program_that_is_called_helix_there_stays(
    person: Path, machine: dict[Path, bytes], helix_command: Command, command: str
) -> None:
    other = json.dumps({"mcpServers": {"helix": {"command": command, "args": ["helix-db", "mcp"]}}})
    (person / ".cursor/mcp.json").write_text(other, "utf-8")
    assert helix_command("disconnect").code == 0
    assert (person / ".cursor/mcp.json").read_text("utf-8") == other


@pytest.mark.parametrize(
    "entry",
    [
        {"command": "/gone/bin/helix", "args": ["--home", "/gone", "mcp"]},
        {"command": "C:\\gone\\helix.exe", "args": ["mcp"]},
        {"command": "/gone/python", "args": ["-E", "-P", "-m", "helix.cli.main", "mcp"]},
    ],
)
def test_a_server_that_a_lost_home_left_behind_is_taken_out(
    person: Path, machine: dict[Path, bytes], helix_command: Command, entry: dict[str, Any]
) -> None:
    (person / ".cursor/mcp.json").write_text(json.dumps({"mcpServers": {"helix": entry, "b": {}}}), "utf-8")
    assert helix_command("disconnect", "cursor").code == 0
    assert json.loads((person / ".cursor/mcp.json").read_text("utf-8")) == {"mcpServers": {"b": {}}}


def test_hooks_that_a_lost_home_left_behind_are_taken_out_and_others_stay(
    person: Path, machine: dict[Path, bytes], helix_command: Command
) -> None:
    other = {"command": "./mine.sh"}
    left = {"command": "python3 /gone/helix/hooks/helix_hook.py --client cursor --store /gone/store"}
    hooks = {"version": 1, "hooks": {"stop": [other, left], "sessionStart": [left]}}
    (person / ".cursor/hooks.json").write_text(json.dumps(hooks), "utf-8")
    assert helix_command("disconnect", "cursor").code == 0
    held = json.loads((person / ".cursor/hooks.json").read_text("utf-8"))
    assert held == {"version": 1, "hooks": {"stop": [other]}}
