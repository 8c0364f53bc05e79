"""Local stores: they lie in HELIX_HOME, nothing in a project counts as one, and nothing is written through a link."""

from __future__ import annotations

import shutil
import subprocess
from contextlib import nullcontext
from pathlib import Path

import pytest

from helix import bearer, daemon, local_store
from helix.confirmed import LOCAL_STORES, confirm
from helix.errors import ConfigError, DaemonError, StoreError
from helix.lock import StoreLock
from helix.settings import load
from tests.waiting import UNHURRIED


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / "deep").mkdir(parents=True)
    subprocess.run(["git", "init", "--quiet", folder], check=True)
    return folder


def git(project: Path, *words: str) -> None:
    author = ("-c", "user.name=N", "-c", "user.email=n@example.org")
    subprocess.run(["git", *author, "-C", project, *words], check=True, capture_output=True)


def used(project: Path, home: Path) -> tuple[Path | None, tuple[str, ...]]:
    settings = load({"home": home}, environ=UNHURRIED, cwd=project)
    return settings.db_path, settings.warnings


def test_a_projects_own_store_lies_in_the_home_and_is_used_from_below_too(project: Path, home: Path) -> None:
    store = local_store.make(project, home)
    assert store.is_relative_to(home) and store.stat().st_mode & 0o777 == 0o700
    assert used(project / "deep", home) == (store, ())
    assert local_store.make(project, home) == store
    assert used(project.parent, home) == (None, ())


def test_the_closest_project_with_a_store_counts(project: Path, home: Path) -> None:
    outer, inner = local_store.make(project, home), local_store.make(project / "deep", home)
    assert outer != inner
    assert (used(project, home)[0], used(project / "deep", home)[0]) == (outer, inner)


def test_what_a_pull_brings_into_a_project_is_no_store(project: Path, home: Path) -> None:
    store = local_store.make(project, home)
    (store / "journal.db").write_bytes(b"mine")
    (project / ".helix/store").mkdir(parents=True)
    (project / ".helix/store/journal.db").write_bytes(b"poison")
    git(project, "add", "--force", ".helix")
    git(project, "commit", "--quiet", "--message", "planted")
    assert used(project, home) == (store, ())
    assert (store / "journal.db").read_bytes() == b"mine"


def test_a_copy_of_a_project_has_no_store(project: Path, home: Path, tmp_path: Path) -> None:
    local_store.make(project, home)
    shutil.copytree(project, tmp_path / "copy")
    assert used(tmp_path / "copy", home)[0] is None


def as_before(project: Path, home: Path) -> Path:
    """Make a store in a project, as Helix did before they lay in the home."""
    store = project / ".helix/store"
    store.mkdir(parents=True)
    (store / "journal.db").write_bytes(b"mine")
    found = store.stat()
    confirm(home, LOCAL_STORES, str(store), device=found.st_dev, inode=found.st_ino)
    return store


def test_a_store_that_lay_in_a_project_is_told_of_and_moved(project: Path, home: Path) -> None:
    before = as_before(project, home)
    found, (words,) = used(project / "deep", home)
    assert (found, words) == (None, f"{before} is not used any more: `helix init --local` in {project} moves it")
    store = local_store.make(project, home)
    assert (store / "journal.db").read_bytes() == b"mine"
    assert not before.exists()
    assert used(project / "deep", home) == (store, ())


@pytest.mark.parametrize("version", ["2", "4", "split"])
def test_a_store_in_a_project_that_git_tracks_is_not_moved(project: Path, home: Path, version: str) -> None:
    as_before(project, home)
    git(project, "config", *(["core.splitIndex", "true"] if version == "split" else ["index.version", version]))
    git(project, "add", "--force", ".helix/store/journal.db")
    with pytest.raises(ValueError, match="git tracks files in it"):
        local_store.make(project, home)


@pytest.mark.parametrize("place", ["token", "logs/helix.log", ".", ".."])
def test_a_store_in_a_project_with_a_link_is_not_moved(project: Path, home: Path, tmp_path: Path, place: str) -> None:
    linked = (as_before(project, home) / place).resolve()
    if linked.is_dir():
        moved = linked.rename(tmp_path / "elsewhere")
        linked.symlink_to(moved)
    else:
        linked.parent.mkdir(exist_ok=True)
        linked.symlink_to(tmp_path / "notes")
    with pytest.raises(ValueError, match="link"):
        local_store.make(project, home)


def test_another_folder_in_the_place_of_a_store_is_not_moved(project: Path, home: Path) -> None:
    before = as_before(project, home)
    before.rename(project / "kept")
    before.mkdir()
    with pytest.raises(ValueError, match="another folder"):
        local_store.make(project, home)


def test_a_store_in_a_project_is_not_used_by_its_name(project: Path, home: Path) -> None:
    """The plugin names the store that it was connected with; a pull may have put another one in its place since."""
    before = as_before(project, home)
    with pytest.raises(ConfigError, match="it lies in a project"):
        load({"home": home, "db_path": before}, environ=UNHURRIED, cwd=home.parent)


def test_a_token_that_was_committed_opens_nothing(project: Path) -> None:
    store = project / ".helix/store"
    store.mkdir(parents=True)
    planted = "p" * 43
    for name in ("token", "hook-token"):
        (store / name).write_text(planted, "ascii")
        (store / name).chmod(0o600)
    git(project, "add", "--force", ".helix")
    git(project, "commit", "--quiet", "--message", "planted")
    assert planted not in (bearer.token_of(store), bearer.hook_token_of(store))


@pytest.mark.parametrize(
    "name",
    [
        "journal.db",
        "journal.db-wal",
        "graph.kuzu",
        "memory.image",
        "lock",
        "starting",
        "token",
        "daemon.json",
        "logs",
    ],
)
def test_nothing_is_written_through_a_link_of_a_store(tmp_path: Path, name: str) -> None:
    """A store may also be named outright: `helix --store FOLDER`."""
    store, target = tmp_path / "store", tmp_path / "precious"
    store.mkdir()
    target.write_text("precious", "utf-8")
    (store / name).symlink_to(target)
    with pytest.raises(StoreError, match=f"{name} is a link"):
        StoreLock(store).acquire()
    with pytest.raises(DaemonError) if name == "token" else nullcontext():
        bearer.token_of(store)
    if name.startswith("daemon"):
        daemon.announce(store, url="http://127.0.0.1:1", port=1, idle_minutes=0)
    assert target.read_text("utf-8") == "precious"


def test_what_was_confirmed_is_not_written_over_where_it_cannot_be_read(home: Path) -> None:
    home.mkdir(exist_ok=True)
    file = home / "confirmed.json"
    file.write_text("{}", "utf-8")
    confirm(home, LOCAL_STORES, "one", store="a")
    damaged = file.read_text("utf-8").replace("}", "")
    file.write_text(damaged, "utf-8")
    with pytest.raises(StoreError, match="cannot be read"):
        confirm(home, LOCAL_STORES, "two", store="b")
    assert file.read_text("utf-8") == damaged
