"""A held folder stays the one that was looked at, whatever its name leads to by then."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from helix.held_folder import held_folder, open_resolved


def swap_for_link(folder: Path, target: Path) -> None:
    folder.rename(folder.with_name(f"{folder.name}-away"))
    folder.symlink_to(target)


@pytest.fixture
def places(tmp_path: Path) -> tuple[Path, Path]:
    shared, own = tmp_path / "shared" / "docs", tmp_path / "own"
    for folder, text in ((shared, "theirs"), (own, "mine")):
        folder.mkdir(parents=True)
        (folder / "a.md").write_text(text, "utf-8")
    return shared, own


def test_a_file_is_not_opened_where_a_folder_of_its_path_became_a_link(places: tuple[Path, Path]) -> None:
    shared, own = places
    with open_resolved(shared / "a.md") as file:
        assert file.read() == b"theirs"
    swap_for_link(shared, own)
    with pytest.raises(OSError, match="docs is a link, or no folder"):
        open_resolved(shared / "a.md")


def test_what_is_held_is_written_in_and_nothing_that_takes_its_name(places: tuple[Path, Path]) -> None:
    shared, own = places
    with held_folder(shared) as folder:
        swap_for_link(shared, own)
        folder.write("a.md", "new", 0o600)
        os.close(folder.create("b.md"))
        with folder.open("a.md") as file:
            assert file.read() == b"new"
        folder.remove("b.md")
    assert [(path.name, path.read_text("utf-8")) for path in own.iterdir()] == [("a.md", "mine")]
    assert (shared.with_name("docs-away") / "a.md").read_text("utf-8") == "new"


def test_what_is_missing_is_made_for_the_owner_alone_and_goes_where_it_is_empty(tmp_path: Path) -> None:
    with held_folder(tmp_path / "a" / "b", make=True) as folder:
        folder.write("c", "text", 0o600)
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o700
    with held_folder(tmp_path / "a") as outer:
        with pytest.raises(OSError):
            outer.remove_folder("b")
        (tmp_path / "a" / "b" / "c").unlink()
        outer.remove_folder("b")
    with pytest.raises(FileNotFoundError), held_folder(tmp_path / "a" / "b"):
        pass


def test_a_link_in_a_files_place_is_neither_read_nor_written_through(places: tuple[Path, Path]) -> None:
    shared, own = places
    (shared / "a.md").unlink()
    (shared / "a.md").symlink_to(own / "a.md")
    with held_folder(shared) as folder:
        with pytest.raises(OSError):
            folder.open("a.md")
        with pytest.raises(OSError):
            folder.write("a.md", "new", 0o600)
    assert (own / "a.md").read_text("utf-8") == "mine"
