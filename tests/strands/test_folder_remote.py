"""A folder as a place of strands: what others put there costs an error, and nothing is written through their links."""

from __future__ import annotations

from pathlib import Path

import pytest

from helix.errors import InvalidInputError
from helix.strands import folder_remote
from helix.strands.folder_remote import FolderRemote


def test_links_in_a_place_are_not_gone_through(tmp_path: Path) -> None:
    place, elsewhere = tmp_path / "place", tmp_path / "elsewhere"
    for folder in (place / "0123456789abcdef", elsewhere):
        folder.mkdir(parents=True)
        (folder / "one.dna").touch()
    (place / "link").symlink_to(elsewhere)
    assert FolderRemote(place).names() == ["0123456789abcdef/one.dna"]


def test_a_place_that_names_more_than_any_has_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder_remote, "_MOST_NAMES", 20)
    (tmp_path / "signer").mkdir()
    for number in range(30):
        (tmp_path / "signer" / str(number)).touch()
    with pytest.raises(InvalidInputError, match="more files"):
        FolderRemote(tmp_path).names()
