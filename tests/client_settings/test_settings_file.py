"""Holds that a client's settings get their entries, lose them again, and are otherwise nobody else's business."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from helix.client_settings.settings_file import Memo, SettingsChange, SettingsEntry, parsed, read, take_back
from helix.client_settings.settings_file import put as put_in
from helix.errors import ConfigError

ENTRIES: dict[tuple[str, str], Any] = {
    ("extraKnownMarketplaces", "helix"): {"source": {"source": "directory", "path": "/somewhere"}},
    ("enabledPlugins", "helix@helix"): True,
}


def put(path: Path, entries: dict[tuple[str, str], Any], earlier: Memo | None = None) -> tuple[SettingsChange, Memo]:
    return put_in(
        "claude-code", path, "json", [SettingsEntry(path=at, value=one) for at, one in entries.items()], earlier
    )


FOREIGN = '{\n    "zebra": [1,2],\n    "enabledPlugins": {"other@there": true},\n    "apple": "ä"\n}\n'
SETTINGS = st.fixed_dictionaries(
    {},
    optional={
        "model": st.sampled_from(["opus", "haiku"]),
        "enabledPlugins": st.dictionaries(st.sampled_from(["helix@helix", "other@there"]), st.booleans()),
        "extraKnownMarketplaces": st.dictionaries(st.sampled_from(["helix", "there"]), st.just({"source": {}})),
        "env": st.just({"NAME": "value"}),
    },
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / ".claude" / "settings.json"


def written(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    return path


@pytest.mark.parametrize(
    "text",
    [
        FOREIGN,
        FOREIGN.rstrip("\n"),
        "{}",
        "{}\n",
        " ",
        "",
        "\ufeff" + FOREIGN,
        FOREIGN.replace("\n", "\r\n"),
        '{"a":1}',
        '{"enabledPlugins": {"helix@helix": false}, "extraKnownMarketplaces": {}}',
    ],
)
def test_taking_back_leaves_the_file_byte_for_byte_as_it_was(path: Path, text: str) -> None:
    written(path, text)
    change, memo = put(path, ENTRIES)
    change.write()
    held = json.loads(path.read_text("utf-8-sig"))
    assert held["enabledPlugins"]["helix@helix"] is True
    assert held["extraKnownMarketplaces"]["helix"] == ENTRIES["extraKnownMarketplaces", "helix"]
    take_back(memo).write()
    assert path.read_bytes() == text.encode()


def test_a_file_that_there_was_not_is_gone_again_with_its_folder(path: Path) -> None:
    change, memo = put(path, ENTRIES)
    change.write()
    assert path.stat().st_mode & 0o077 == 0
    take_back(memo).write()
    assert not path.parent.exists()


def test_an_empty_folder_that_there_was_stays_whatever_is_set_in_between(path: Path) -> None:
    path.parent.mkdir(exist_ok=True)
    change, memo = put(path, ENTRIES)
    change.write()
    change, memo = put(path, {("enabledPlugins", "helix@helix-0a1b2c"): True}, Memo.from_json(memo.as_json()))
    change.write()
    take_back(Memo.from_json(memo.as_json())).write()
    assert list(path.parent.iterdir()) == []


def test_a_folder_with_something_else_in_it_stays(path: Path) -> None:
    change, memo = put(path, ENTRIES)
    change.write()
    (path.parent / "agents").mkdir()
    take_back(memo).write()
    assert [entry.name for entry in path.parent.iterdir()] == ["agents"]


def test_setting_them_twice_changes_nothing_the_second_time(path: Path) -> None:
    change, memo = put(written(path, FOREIGN), ENTRIES)
    change.write()
    again, same = put(path, ENTRIES, memo)
    assert again.is_none
    assert same == memo


def test_what_somebody_changed_in_between_stays(path: Path) -> None:
    change, memo = put(written(path, FOREIGN), ENTRIES)
    change.write()
    held = json.loads(path.read_text("utf-8")) | {"permissions": {"allow": ["Bash(ls)"]}}
    written(path, json.dumps(held))  # as the client itself does it: everything written anew
    take_back(memo).write()
    assert json.loads(path.read_text("utf-8")) == json.loads(FOREIGN) | {"permissions": {"allow": ["Bash(ls)"]}}


def test_other_entries_set_later_lead_back_to_the_first_file(path: Path) -> None:
    change, memo = put(written(path, FOREIGN), ENTRIES)
    change.write()
    change, memo = put(path, {("enabledPlugins", "helix@helix-0a1b2c"): True}, memo)
    change.write()
    assert "helix@helix" not in json.loads(path.read_text("utf-8"))["enabledPlugins"]
    take_back(memo).write()
    assert path.read_text("utf-8") == FOREIGN


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(SETTINGS, SETTINGS)
def test_whatever_was_there_and_came_since_only_our_entries_come_and_go(
    path: Path, before: dict[str, Any], since: dict[str, Any]
) -> None:
    change, memo = put(written(path, json.dumps(before)), ENTRIES)
    change.write()
    held = json.loads(path.read_text("utf-8"))
    for name, value in since.items():
        held[name] = {**held.get(name, {}), **value} if isinstance(value, dict) else value
    written(path, json.dumps(held, indent=1))
    take_back(memo).write()
    left = json.loads(path.read_text("utf-8"))
    for (outer, inner), _ in ENTRIES.items():
        was = before.get(outer, {})
        assert left.get(outer, {}).get(inner, "none") == was.get(inner, "none")
        expected = {name: value for name, value in held[outer].items() if name != inner}
        assert {name: value for name, value in left.get(outer, {}).items() if name != inner} == expected
    others = held.keys() - {outer for outer, _ in ENTRIES}
    assert {name: left.get(name) for name in others} == {name: held[name] for name in others}


@pytest.mark.parametrize(
    "text", ["// mine\n{}", '{"a": 1,}', "[]", "nothing", '{"enabledPlugins": []}', '{"enabledPlugins": "x"}']
)
def test_a_file_that_it_cannot_read_is_refused_and_left_alone(path: Path, text: str) -> None:
    with pytest.raises(ConfigError, match=r"settings\.json") as refused:
        put(written(path, text), ENTRIES)
    assert "nothing was changed" in str(refused.value.hint)
    assert path.read_text("utf-8") == text
    assert [entry.name for entry in path.parent.iterdir()] == ["settings.json"]


def test_a_linked_file_is_changed_where_it_lies(path: Path, tmp_path: Path) -> None:
    there = written(tmp_path / "dotfiles" / "claude.json", FOREIGN)
    there.chmod(0o640)
    path.parent.mkdir()
    path.symlink_to(there)
    change, _ = put(path, ENTRIES)
    change.write()
    assert path.is_symlink()
    assert "helix@helix" in there.read_text("utf-8")
    assert there.stat().st_mode & 0o777 == 0o640


def test_a_file_whose_lines_are_all_alike_is_read_in_the_time_that_its_length_takes(tmp_path: Path) -> None:
    """A repository's AGENTS.md, which changed since the block was put in: to compare it took hours."""
    path = tmp_path / "AGENTS.md"
    path.write_text("x\n" * 4_900)
    change, memo = put_in("agents-md", path, "marked", [SettingsEntry(path=("helix",), value="Ask it.")], None)
    block = (change.after or "").removeprefix("x\n" * 4_900)
    pulled = "x\ny\n" * 2_450
    path.write_text(pulled + block)
    assert take_back(memo).after == pulled


@pytest.mark.parametrize(
    "part", ["a.", "a . ", '"a"."a\\"" . ', "'a'.", '"' + "a" * 101 + '".', "a." * 62 + '"' + "a" * 150 + '".']
)
def test_a_key_of_parts_without_end_is_refused_at_once(tmp_path: Path, part: str) -> None:
    path = tmp_path / "config.toml"
    path.write_text(f"model = '{'a.' * 50}'\n{'a.' * 60}a = 1\n", "utf-8")
    assert parsed(path, "toml")["model"] == "a." * 50
    path.write_text(f"[{part * 2_000}b]\n", "utf-8")
    with pytest.raises(ConfigError, match="64 parts"):
        parsed(path, "toml")


def test_what_a_kill_left_in_the_middle_of_writing_is_gone_with_the_next_time(tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    file.write_text("{}", "utf-8")
    written = SettingsChange(path=file, before="{}", after='{"a": 1}\n')

    def killed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(os, "replace", killed)
        patched.setattr(os, "unlink", lambda *_, **__: None)  # nothing is tidied up by who is killed
        with pytest.raises(KeyboardInterrupt):
            written.write()
    assert len([*tmp_path.iterdir()]) == 2
    written.write()
    assert [path.name for path in tmp_path.iterdir()] == ["settings.json"]
    assert file.read_text("utf-8") == '{"a": 1}\n'


@pytest.mark.parametrize("swapped", ["folder", "file"])
@pytest.mark.parametrize("after", ['{"a": 1}\n', None])
def test_a_project_that_puts_a_link_in_place_after_it_was_looked_at_changes_nothing_else(
    tmp_path: Path, swapped: str, after: str | None
) -> None:
    folder, own = tmp_path / "project" / ".claude", tmp_path / "own"
    folder.mkdir(parents=True)
    own.mkdir()
    (folder / "settings.json").write_text("{}", "utf-8")
    (own / "settings.json").write_text("mine", "utf-8")
    change = SettingsChange(path=folder / "settings.json", before="{}", after=after, links=False)
    if swapped == "folder":
        folder.rename(folder.with_name("away"))
        folder.symlink_to(own)
        with pytest.raises(OSError, match="is a link"):
            change.write()
        with pytest.raises(ConfigError, match="cannot be read"):
            read(folder / "settings.json", "json", links=False)
    else:
        (folder / "settings.json").unlink()
        (folder / "settings.json").symlink_to(own / "settings.json")
        with suppress(OSError):  # a link is taken away, or not written through
            change.write()
    assert (own / "settings.json").read_text("utf-8") == "mine"
    assert [path.name for path in own.iterdir()] == ["settings.json"]


def test_a_link_of_the_user_is_gone_through(tmp_path: Path) -> None:
    dotfiles = tmp_path / "dotfiles"
    dotfiles.mkdir()
    (tmp_path / ".client").symlink_to(dotfiles)
    change, memo = put(tmp_path / ".client" / "new" / "settings.json", ENTRIES)
    change.write()
    assert (dotfiles / "new" / "settings.json").stat().st_mode & 0o777 == 0o600
    take_back(memo).write()
    assert [*dotfiles.iterdir()] == []
