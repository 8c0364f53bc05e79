"""Folders: one that claims the remote of a project that another folder is known for is told, once, and in `status`."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from helix.folders import folders_before, folders_of, names_before, note_folder
from helix.identity import Identity, identify

REMOTE = '[remote "origin"]\n\turl = git@github.com:ada/shop.git\n'


def clone(folder: Path, remote: str = REMOTE) -> Path:
    """Make a folder with a `.git` that claims a remote, as an archive can bring one."""
    (folder / ".git").mkdir(parents=True)
    (folder / ".git" / "config").write_text(remote, "utf-8")
    return folder


def known(folder: Path) -> Identity:
    found = identify(folder)
    assert found is not None
    return found


def test_a_folder_that_claims_another_ones_remote_is_told_once_and_stays_visible(tmp_path: Path) -> None:
    home, mine, archive = tmp_path / "home", clone(tmp_path / "mine"), clone(tmp_path / "archive")
    first, claims = identify(mine), identify(archive)
    assert first is not None and claims is not None
    assert first.scope == claims.scope == "github.com/ada/shop"
    assert note_folder(home, first) == ()
    assert folders_before(home, claims) == (str(mine),), "before anything was done there"
    assert note_folder(home, claims) == (str(mine),)
    assert note_folder(home, claims) == (), "once"
    assert folders_before(home, claims) == (str(mine),)
    assert folders_before(home, first) == ()
    assert list(folders_of(home, "GitHub.com/ada/shop")) == [str(mine), str(archive)]


@pytest.mark.parametrize("path", ["ada/shop/x", "ADA/Shop/deep/er", "ada/shop/packages/one"])
def test_a_folder_that_claims_a_remote_below_another_ones_sees_its_memory_and_is_told(
    tmp_path: Path, path: str
) -> None:
    home, mine = tmp_path / "home", clone(tmp_path / "mine")
    assert note_folder(home, known(mine)) == ()
    claims = known(clone(tmp_path / "archive", REMOTE.replace("ada/shop", path)))
    assert folders_before(home, claims) == (str(mine),)
    assert note_folder(home, claims) == (str(mine),)
    assert note_folder(home, claims) == (), "once"
    assert folders_before(home, claims) == (str(mine),)
    beside = known(clone(tmp_path / "beside", REMOTE.replace("shop", "shopping")))
    assert note_folder(home, beside) == folders_before(home, beside) == ()


def test_a_folder_whose_remote_changed_has_had_other_names_and_they_are_told_once(tmp_path: Path) -> None:
    home, mine = tmp_path / "home", clone(tmp_path / "mine")
    remotes = [REMOTE, REMOTE.replace("ada", "lovelace"), REMOTE.replace("shop", "store")]
    for number, remote in enumerate(remotes):
        (mine / ".git" / "config").write_text(remote, "utf-8")
        before = ["github.com/lovelace/shop", "github.com/ada/shop"][2 - number :]
        assert names_before(home, known(mine), once=True) == names_before(home, known(mine)) == tuple(before)
        note_folder(home, known(mine))
        assert (names_before(home, known(mine), once=True), names_before(home, known(mine))) == ((), tuple(before))
    assert names_before(home, known(clone(tmp_path / "other"))) == ()


def test_a_folder_beyond_those_that_are_noted_is_told_each_time(tmp_path: Path) -> None:
    home, clones = tmp_path / "home", [clone(tmp_path / f"clone {number}") for number in range(52)]
    for folder in clones[:50]:
        note_folder(home, known(folder))
    for folder in (*clones[50:], *clones[50:]):
        assert note_folder(home, known(folder))[:1] == (str(clones[0]),)


def test_a_sub_project_and_a_worktree_of_ones_own_are_no_other_folder(tmp_path: Path) -> None:
    home, mine = tmp_path / "home", tmp_path / "mine"
    mine.mkdir()
    commands = (
        ["init", "-q", "-b", "main"],
        ["remote", "add", "origin", "https://github.com/ada/shop"],
        ["commit", "-q", "--allow-empty", "-m", "begin"],
    )
    for words in (*commands, ["worktree", "add", "-q", str(tmp_path / "beside"), "-b", "other"]):
        subprocess.run(["git", "-c", "user.name=Ada", "-c", "user.email=a@example.org", *words], cwd=mine, check=True)
    (mine / ".helix").mkdir()
    (mine / ".helix" / "project.toml").write_text('projects = ["packages/*"]\n', "utf-8")
    (mine / "packages" / "one").mkdir(parents=True)
    for folder in (mine, mine / "packages" / "one", tmp_path / "beside"):
        project = identify(folder)
        assert project is not None
        assert note_folder(home, project) == folders_before(home, project) == ()
    forged = tmp_path / "forged"
    forged.mkdir()
    (forged / ".git").write_text(f"gitdir: {mine}/.git/worktrees/beside\n", "utf-8")
    project = identify(forged)
    assert project is not None
    assert folders_before(home, project) == (str(mine),), "the repository's own list names another folder"
    linked = tmp_path / "linked"
    linked.mkdir()
    (linked / ".git").symlink_to("../beside/.git")
    project = identify(linked)
    assert project is not None
    assert folders_before(home, project)[:1] == (str(mine),), "a link to the worktree's file makes no worktree"


def test_an_archive_that_brings_its_own_list_of_worktrees_is_told(tmp_path: Path) -> None:
    home, mine = tmp_path / "home", clone(tmp_path / "mine")
    (mine / ".git" / "HEAD").write_text("ref: refs/heads/main", "utf-8")
    first = identify(mine)
    assert first is not None
    assert note_folder(home, first) == ()
    for name, own, common in (("one", "g", "."), ("two", "g/worktrees/w", "../.."), ("three", "g", "../../mine/.git")):
        archive = tmp_path / name
        (archive / own).mkdir(parents=True)
        (archive / ".git").write_text(f"gitdir: {own}\n", "utf-8")
        (archive / own / "gitdir").write_text(f"{archive}/.git\n", "utf-8")
        (archive / own / "commondir").write_text(f"{common}\n", "utf-8")
        (archive / "g" / "config").write_text(REMOTE, "utf-8")
        claims = identify(archive)
        assert claims is not None
        assert claims.scope == first.scope
        assert folders_before(home, claims)[:1] == (str(mine),), name
        assert note_folder(home, claims)[:1] == (str(mine),), name


def test_a_file_that_cannot_be_read_knows_no_folder(tmp_path: Path) -> None:
    (tmp_path / "folders.json").write_text("[", "utf-8")
    assert not folders_of(tmp_path, "github.com/ada/shop")
    project = identify(clone(tmp_path / "mine"))
    assert project is not None
    assert note_folder(tmp_path, project) == ()
    assert list(folders_of(tmp_path, "github.com/ada/shop")) == [str(tmp_path / "mine")]


@pytest.mark.parametrize("scope", ["work", "github.com/ada/shop/frontend"])
def test_a_chosen_scope_and_a_project_in_a_repository_are_noted_by_their_own_folder_too(
    tmp_path: Path, scope: str
) -> None:
    top = clone(tmp_path / "shop")
    (top / "web").mkdir()
    project = Identity(scope=scope, root=top / "web", repository="github.com/ada/shop")
    assert note_folder(tmp_path, replace(project, scope="github.com/ada/shop", root=top)) == ()
    assert note_folder(tmp_path, project) == ()
    assert list(folders_of(tmp_path, scope)) == [str(top / "web")]
    assert list(folders_of(tmp_path, "github.com/ada/shop")) == [str(top)]
