"""Holds that the record of what clients' files were is kept, also where it is broken or of an earlier version."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from helix.client_settings.connections import ConnectionMemos
from helix.client_settings.settings_file import SettingsEntry, put, take_back

ENTRIES = [SettingsEntry(path=("servers", "helix"), value={"command": "helix"})]


@pytest.mark.parametrize("text", ["{", "[{}]", "[1]", "{}x", '[{"client": 1, "had": [1]}]'])
def test_a_record_that_cannot_be_read_is_kept_aside(tmp_path: Path, text: str) -> None:
    known = ConnectionMemos(tmp_path)
    path = tmp_path / "clients/connections.json"
    path.parent.mkdir()
    path.write_text(text, "utf-8")
    path.with_name("connections.json.broken-1").write_text("an earlier one", "utf-8")
    assert known.all() == []
    aside = known.set_aside()
    assert aside == path.with_name("connections.json.broken-2")
    assert aside is not None and aside.read_text("utf-8") == text
    assert known.set_aside() is None
    _, memo = put("zed", tmp_path / "settings.json", "json", ENTRIES)
    known.keep(memo)
    assert known.all() == [memo]
    assert known.set_aside() is None


def test_a_record_of_the_version_before_takes_its_file_and_folder_away(tmp_path: Path) -> None:
    file = tmp_path / "made/settings.json"
    change, memo = put("zed", file, "json", ENTRIES)
    change.write()
    record = memo.as_json()
    assert record.pop("made_folders") == 1
    record.pop("real")
    known = ConnectionMemos(tmp_path)
    (tmp_path / "clients").mkdir()
    earlier = json.dumps([{**record, "made_folder": True}])
    (tmp_path / "clients/connections.json").write_text(earlier, "utf-8")
    (read,) = known.all()
    assert read == memo
    take_back(read).write()
    assert not file.parent.exists()
