"""A held folder stays the one that was looked at, whatever its name leads to by then."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from helix.errors import ConflictError, NotFoundError
from helix.held_folder import held_folder, new_file, open_resolved


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
            folder.mode_of("a.md", 0o600)
        folder.write("a.md", "new", 0o600)  # it takes the link's place
    assert (own / "a.md").read_text("utf-8") == "mine"


def test_a_new_file_is_in_the_folder_that_was_looked_at(places: tuple[Path, Path]) -> None:
    shared, own = places
    with new_file(shared / "export") as file:
        assert not (shared / "export").exists(), "it has its name once it is whole"
        swap_for_link(shared, own)
        file.write(b"all of it")
    assert [path.name for path in own.iterdir()] == ["a.md"]
    away = shared.with_name("docs-away")
    assert (away / "export").read_bytes() == b"all of it"
    assert sorted(path.name for path in away.iterdir()) == ["a.md", "export"]


def test_a_new_file_takes_nothings_place_and_a_failure_leaves_none(places: tuple[Path, Path]) -> None:
    shared, _ = places
    for name in ("a.md", "link"):
        (shared / "link").unlink(missing_ok=True)
        (shared / "link").symlink_to("nowhere")
        with pytest.raises(ConflictError, match="exists already"), new_file(shared / name):
            pass
    with pytest.raises(NotFoundError), new_file(shared / "none" / "b"):
        pass
    with pytest.raises(KeyError), new_file(shared / "b") as file:
        file.write(b"half")
        raise KeyError
    assert sorted(path.name for path in shared.iterdir()) == ["a.md", "link"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to somebody else")
def test_a_file_that_is_written_keeps_the_rights_of_ones_own_and_runs_as_nobody_else(places: tuple[Path, Path]) -> None:
    shared, _ = places
    for owner, before, after in ((0, 0o6755, 0o755), (0, 0o640, 0o640), (65534, 0o4777, 0o600)):
        os.chown(shared / "a.md", owner, owner)
        (shared / "a.md").chmod(before)
        with held_folder(shared) as folder:
            folder.write("a.md", "new", folder.mode_of("a.md", 0o600))
        assert (shared / "a.md").stat().st_mode & 0o7777 == after
    (shared / "a.md").chmod(0o664)
    with held_folder(shared) as folder:
        os.link(shared / "a.md", shared / "b.md")
        assert folder.mode_of("b.md", 0o600) == 0o600, "whoever may write a file can give it a second name"
        folder.write("b.md", "new", 0o600)
    assert (shared / "b.md").stat().st_mode & 0o7777 == 0o600
