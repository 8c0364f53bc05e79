"""Holds that a coding client is connected, shown what that means, and disconnected again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from command_line import Command

from helix import local_store
from helix.cli.plugin_files import copy_name, folder_of
from helix.errors import ConfigError
from helix.hooks import helix_hook

FOREIGN = '{\n  "model": "opus"\n}\n'


@pytest.fixture
def person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A person's home folder, with settings of a client, and a project to work in."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude/settings.json").write_text(FOREIGN, "utf-8")
    (tmp_path / "project/.git").mkdir(parents=True)
    (tmp_path / "project/inner").mkdir()
    monkeypatch.chdir(tmp_path / "project/inner")
    yield tmp_path


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
    words = helix_command("connect").err
    assert "10% of the tasks get no memories" in words
    assert "HELIX_HOLDBACK" in words
    assert "the commands it runs" in words
    assert "helix disconnect claude-code --user" in words
    assert "disableAllHooks" not in words
    helix_command("disconnect")


def test_it_says_when_the_client_has_hooks_switched_off(person: Path, helix_command: Command) -> None:
    (person / ".claude/settings.json").write_text('{"disableAllHooks": true}', "utf-8")
    assert "disableAllHooks" in helix_command("connect").err
    helix_command("disconnect")


def test_connecting_again_changes_nothing(connected: Path, helix_command: Command) -> None:
    assert helix_command("connect", "--json").data["connect"] == {"dryRun": False, "settings": [], "files": []}


def test_disconnecting_puts_everything_back(person: Path, home: Path, helix_command: Command) -> None:
    helix_command("connect")
    helix_command("connect", "--project")
    assert (person / "project/.claude/settings.local.json").is_file()
    assert helix_command("disconnect").code == 0
    assert (person / ".claude/settings.json").read_text("utf-8") == FOREIGN
    assert not (person / "project/.claude").exists()
    assert not (home / "clients/claude-code/helix").exists()
    assert helix_command("disconnect").out == "nothing to change\n"


def test_the_copy_stays_while_another_place_uses_it(connected: Path, home: Path, helix_command: Command) -> None:
    helix_command("connect", "--project")
    helix_command("disconnect", "--project")
    assert (home / "clients/claude-code/helix/hooks/hooks.json").is_file()
    assert "helix@helix" in (connected / ".claude/settings.json").read_text("utf-8")


def test_a_dry_run_shows_both_and_changes_neither(person: Path, home: Path, helix_command: Command) -> None:
    shown = helix_command("connect", "--dry-run")
    assert '+    "helix@helix": true' in shown.out
    assert "hooks/hooks.json would be written" in shown.out
    assert (person / ".claude/settings.json").read_text("utf-8") == FOREIGN
    assert not (home / "clients/claude-code/helix").exists()
    helix_command("connect")
    assert '-    "helix@helix": true' in helix_command("disconnect", "--dry-run").out
    assert "helix@helix" in (person / ".claude/settings.json").read_text("utf-8")
    helix_command("disconnect")


@pytest.mark.parametrize("text", ["{ // mine\n}", '{"a":' * 50_000], ids=["a comment", "nested without end"])
def test_settings_that_cannot_be_read_are_refused_and_nothing_is_written(
    person: Path, home: Path, helix_command: Command, text: str
) -> None:
    (person / ".claude/settings.json").write_text(text, "utf-8")
    refused = helix_command("--json", "connect")
    assert refused.code == 2
    assert "not valid JSON" in refused.error["message"]
    assert "nothing was changed" in refused.error["hint"]
    assert not (home / "clients/claude-code/helix").exists()


def test_entries_of_a_home_that_has_gone_are_taken_out_too(connected: Path, home: Path, helix_command: Command) -> None:
    (home / "clients/claude-code/connections.json").unlink()
    helix_command("disconnect")
    assert json.loads((connected / ".claude/settings.json").read_text("utf-8")) == {"model": "opus"}


def test_another_store_has_a_name_of_its_own_and_switches_the_first_off_in_its_project(
    connected: Path, home: Path, helix_command: Command
) -> None:
    store = local_store.make(connected / "project", home)
    assert helix_command("connect", "--project").code == 0
    name = copy_name(home, store)
    held = json.loads((connected / "project/.claude/settings.local.json").read_text("utf-8"))
    assert name != "helix"
    assert held["enabledPlugins"] == {f"helix@{name}": True, "helix@helix": False}
    marketplace = folder_of(home, name) / ".claude-plugin/marketplace.json"
    assert json.loads(marketplace.read_text("utf-8"))["name"] == name
    helix_command("stop")
    helix_command("disconnect", "--project")


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
    said = helix_command("connect", "--project")
    assert (said.code, "is a link: nothing is written through it" in said.err) == (ConfigError.exit_code, True)
    assert not list(target.iterdir()) if target.is_dir() else target.read_text("utf-8") == "{}"
