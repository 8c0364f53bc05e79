"""Local stores: only what this user made on this machine is used, and nothing is written through a link in it."""

from __future__ import annotations

import os
import shutil
import subprocess
from contextlib import nullcontext
from pathlib import Path

import pytest

from helix import bearer, daemon, local_store
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


def test_a_store_that_was_made_here_is_used_from_below_too(project: Path, home: Path) -> None:
    store = local_store.make(project, home)
    assert used(project / "deep", home) == (store, ())


def test_a_store_that_came_along_is_passed_by_and_named(project: Path, home: Path) -> None:
    (project / ".helix/store").mkdir(parents=True)
    found, (words,) = used(project / "deep", home)
    assert found is None
    assert words == f"{project}/.helix/store is not used: you did not make it on this machine"


def test_a_store_made_here_counts_below_one_that_came_along(project: Path, home: Path) -> None:
    store = local_store.make(project, home)
    (project / "deep/.helix/store").mkdir(parents=True)
    assert used(project / "deep", home)[0] == store


def test_another_folder_in_its_place_is_not_used(project: Path, home: Path) -> None:
    store = local_store.make(project, home)
    store.rename(project / "kept")
    store.mkdir()
    found, (words,) = used(project, home)
    assert found is None
    assert "another folder" in words


@pytest.mark.parametrize("place", ["token", "logs/helix.log", ".", ".."])
def test_a_store_with_a_link_in_it_is_not_used(project: Path, home: Path, tmp_path: Path, place: str) -> None:
    store = local_store.make(project, home)
    linked = (store / place).resolve()
    if linked.is_dir():
        moved = linked.rename(tmp_path / "elsewhere")
        linked.symlink_to(moved)
    else:
        linked.parent.mkdir(exist_ok=True)
        linked.symlink_to(tmp_path / "notes")
    assert used(project, home)[0] is None


@pytest.mark.parametrize("version", ["2", "4", "split"])
def test_a_store_that_git_tracks_is_not_used(project: Path, home: Path, version: str) -> None:
    store = local_store.make(project, home)
    git(project, "config", *(["core.splitIndex", "true"] if version == "split" else ["index.version", version]))
    (project / ".helix/project.toml").write_text("", "utf-8")
    (store / "token").write_text("x" * 43, "utf-8")
    git(project, "add", "--force", ".helix/project.toml")
    git(project, "commit", "--quiet", "--message", "the project has a name")
    assert used(project, home)[0] == store
    git(project, "add", "--force", ".helix/store/token")
    assert used(project, home)[0] is None
    with pytest.raises(ValueError, match="git tracks files in it"):
        local_store.make(project, home)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a folder somebody else's")
def test_a_store_of_another_user_is_not_used(project: Path, home: Path) -> None:
    store = local_store.make(project, home)
    os.chown(store, 12345, -1)
    assert used(project, home)[0] is None


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


def test_a_copy_of_a_store_is_not_the_store(project: Path, home: Path, tmp_path: Path) -> None:
    local_store.make(project, home)
    shutil.copytree(project, tmp_path / "copy")
    assert used(tmp_path / "copy", home)[0] is None


def test_a_store_that_was_named_is_judged_as_one_that_was_found(project: Path, home: Path) -> None:
    """The plugin names the store that it was connected with; a pull may have put another one in its place since."""
    store = local_store.make(project, home)
    (store / "journal.db").write_bytes(b"poison")
    assert load({"home": home, "db_path": store}, environ=UNHURRIED, cwd=home.parent).db_path == store
    git(project, "add", "--force", ".helix/store/journal.db")
    with pytest.raises(ConfigError, match="git tracks files in it"):
        load({"home": home, "db_path": store}, environ=UNHURRIED, cwd=home.parent)


def test_a_store_that_an_outer_repository_tracks_is_not_used(project: Path, home: Path) -> None:
    inner = project / "mine"
    inner.mkdir()
    subprocess.run(["git", "init", "--quiet", inner], check=True)
    store = local_store.make(inner, home)
    (store / "journal.db").write_bytes(b"poison")
    assert used(inner, home)[0] == store
    blob = subprocess.run(
        ["git", "-C", project, "hash-object", "-w", "--stdin"], input=b"poison", check=True, capture_output=True
    ).stdout.decode()
    git(project, "update-index", "--add", "--cacheinfo", f"100644,{blob.strip()},mine/.helix/store/journal.db")
    assert used(inner, home)[0] is None
