"""Files: nothing that a name can stand for is waited for or read without end, and what Helix keeps is its owner's."""

from __future__ import annotations

import ast
import os
import socket
import stat
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from helix import files

PACKAGE = Path(files.__file__).parent
FREE = {
    "files.py",  # the one place
    "hooks/helix_hook.py",  # one file by itself; it has the same in small
    "resources.py",  # what the package itself holds
    "text/word_lists.py",
    "journal/database.py",  # its scripts are of the package
    "graph/queries.py",
    "graph/migrate.py",
    "api/web_pages.py",
    "memory/extraction/extract.py",
    "providers/install.py",  # downloads, each checked by its hash
    "providers/fetch.py",
}
"""Modules that may open files by themselves: they read what is part of Helix, or what they have just written."""
OPENING = {"read_text", "read_bytes", "write_text", "write_bytes", "mkdir", "makedirs", "touch"}
MODES = {"r", "rb", "w", "wb", "a", "ab", "r+b"}
ONCE = {
    "local_socket.py": 2,  # a folder, to name what is in it, and the list of connections that the system keeps
    "graph/graph_server.py": 2,  # its own lock, and what it says to the system of its memory
    "held_folder.py": 5,  # folders that a file is then opened in; making one where it is missing
    "lock.py": 1,  # reads and writes one descriptor
    "cli/main.py": 1,  # nowhere, in place of a closed output
    "store/log_quotes.py": 1,  # overwrites in place what the store lists
    "client_settings/descriptions.py": 2,  # the packaged descriptions of clients
    "client_settings/plugin_files.py": 2,  # the packaged plugin and hook
}
"""How often a module may do so where that is not its work."""


def opened_by_hand(path: Path) -> Iterator[str]:
    """Yield the places of a module that open, write or make something without the one helper."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        called = node.func if isinstance(node, ast.Call) else None
        if isinstance(called, ast.Name) and called.id == "open":
            yield f"{path.relative_to(PACKAGE)}:{called.lineno} open"
        elif isinstance(node, ast.Call) and isinstance(called, ast.Attribute):
            owner = called.value.id if isinstance(called.value, ast.Name) else ""
            modes = {argument.value for argument in node.args if isinstance(argument, ast.Constant)} & MODES
            if (called.attr in OPENING and owner != "files") or (called.attr == "open" and (modes or owner == "os")):
                yield f"{path.relative_to(PACKAGE)}:{called.lineno} {called.attr}"


def test_files_are_opened_and_made_in_one_place() -> None:
    """A pipe, a device or a link in a file's place, or a loose umask, must not need to be thought of again."""
    strays = [
        stray
        for path in sorted(PACKAGE.rglob("*.py"))
        if path.relative_to(PACKAGE).as_posix() not in FREE
        for stray in opened_by_hand(path)
    ]
    found = Counter(stray.partition(":")[0] for stray in strays)
    assert not [stray for stray in strays if found[stray.partition(":")[0]] > ONCE.get(stray.partition(":")[0], 0)]


def pipe(path: Path) -> None:
    os.mkfifo(path)


def listener(path: Path) -> None:
    where = Path.cwd()
    os.chdir(path.parent)  # a socket's name must be short
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(path.name)
    finally:
        os.chdir(where)


KINDS: list[Callable[[Path], object]] = [
    pipe,
    listener,
    Path.mkdir,
    lambda path: path.symlink_to("/dev/zero"),
    lambda path: path.symlink_to("/dev/tty"),
    lambda path: path.symlink_to(path),
]
IDS = ["pipe", "socket", "folder", "device", "terminal", "loop"]


@pytest.mark.parametrize("make", KINDS, ids=IDS)
def test_only_regular_files_are_read(tmp_path: Path, make: Callable[[Path], object]) -> None:
    place = tmp_path / "it"
    make(place)
    with pytest.raises(OSError, match=r"regular|links|device|address"):
        files.read_bytes(place)


def test_a_file_is_read_up_to_a_size_and_not_through_a_link_where_none_is_wanted(tmp_path: Path) -> None:
    file, link = tmp_path / "file", tmp_path / "link"
    file.write_text("caf\u00e9", "utf-8")
    link.symlink_to(file)
    assert files.read_text(link, 5) == "caf\u00e9"
    with pytest.raises(OSError, match="larger than 4 bytes"):
        files.read_bytes(file, 4)
    with pytest.raises(OSError, match="link"):
        files.read_bytes(link, links=False)
    with pytest.raises(OSError, match="name"):
        files.read_bytes("a\0b")


@pytest.fixture
def loose() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def modes(*paths: Path) -> list[int]:
    return [stat.S_IMODE(path.stat().st_mode) for path in paths]


@pytest.mark.usefixtures("loose")
def test_what_is_made_is_the_owners_whatever_the_umask(tmp_path: Path) -> None:
    folder = files.private_folder(tmp_path / "a" / "b")
    files.write_private(folder / "text", "it")
    os.close(files.create_private(folder / "log", append=True))
    assert modes(folder.parent, folder, folder / "text", folder / "log") == [0o700, 0o700, 0o600, 0o600]


def test_what_is_beside_a_file_that_is_written_stays(tmp_path: Path) -> None:
    beside = tmp_path / "report.html.new"
    beside.write_text("mine", "utf-8")
    files.write_private(tmp_path / "report.html", "it")
    with pytest.raises(UnicodeEncodeError):
        files.write_private(tmp_path / "report.html", "\ud800")
    with pytest.raises(IsADirectoryError, match=str(tmp_path)):
        files.write_private(tmp_path, "it")
    assert {one.name: one.read_text("utf-8") for one in tmp_path.iterdir()} == {
        "report.html": "it",
        "report.html.new": "mine",
    }


def test_links_are_followed_as_the_system_does_and_not_through_very_many_names(tmp_path: Path) -> None:
    (tmp_path / "a/b").mkdir(parents=True)
    for name, target in {"up": "a/b/../..", "b": "up/a/b", "whole": f"{tmp_path}/b/.", "none": "not/there"}.items():
        (tmp_path / name).symlink_to(target)
    for path in ("up/a", "b/../b/c", "whole/x", "none/../a", "a/./b//", "../..", "not/there/../up", "/", "a/b/../../b"):
        assert files.real_path(tmp_path / path) == (tmp_path / path).resolve()
    (tmp_path / "round").symlink_to("round")
    (tmp_path / "long").symlink_to("a/../" * files.MOST_FOLLOWED)
    for path in ("round", "round/a", "long/a"):
        with pytest.raises(OSError, match="link"):
            files.real_path(tmp_path / path)


def test_nothing_is_written_through_a_link(tmp_path: Path) -> None:
    theirs = tmp_path / "theirs"
    theirs.write_text("keep", "utf-8")
    for name in ("log", "text"):
        (tmp_path / name).symlink_to(theirs)
    with pytest.raises(OSError, match="link"):
        files.create_private(tmp_path / "log", append=True)
    files.write_private(tmp_path / "text", "mine")
    assert theirs.read_text("utf-8") == "keep"
    assert (tmp_path / "text").read_text("utf-8") == "mine"


def test_what_is_open_to_others_is_found_and_closed_without_following_links(tmp_path: Path) -> None:
    home, elsewhere = tmp_path / "home", tmp_path / "elsewhere"
    (home / "store").mkdir(parents=True)
    elsewhere.mkdir()
    for file in (home / "store" / "journal.db", home / "twice", elsewhere / "file"):
        file.write_text("x", "utf-8")
        file.chmod(0o644)
    (home / "out").symlink_to(elsewhere)
    os.link(home / "twice", elsewhere / "once-more")
    for folder in (home, home / "store", elsewhere):
        folder.chmod(0o755)
    changed = files.tighten(home)
    assert set(changed) == {home, home / "store", home / "store" / "journal.db"}
    assert modes(home, home / "store" / "journal.db", elsewhere, elsewhere / "file") == [0o700, 0o600, 0o755, 0o644]
    assert list(files.open_to_others(home)) == [home / "twice"], "it has a second name: left to the owner, and told"


def test_a_folder_on_the_way_that_others_may_change_is_told_through_links_too(tmp_path: Path) -> None:
    """Whoever may write in it can put their own home in the place of this one, with the programs that clients run."""
    passed, target, own = tmp_path / "passed", tmp_path / "target", tmp_path / "own"
    for folder in (passed, target, own):
        folder.mkdir(mode=0o700)
    (target / "home").mkdir()
    (passed / "on").symlink_to(target / "home")
    (own / "home").symlink_to(passed / "on")

    def told() -> set[Path]:
        return {folder for folder in files.changed_by_others(own / "home") if folder.is_relative_to(tmp_path)}

    assert told() == set()
    passed.chmod(0o777)
    target.chmod(0o777)
    assert told() == {passed, target}
    passed.chmod(0o1777)
    assert told() == {target}, "in a folder with the sticky bit nobody renames what is another's"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give a link away")
def test_a_folder_in_which_another_user_has_made_the_link_on_the_way_is_told(tmp_path: Path) -> None:
    """The sticky bit keeps it from being renamed by others, and not from being made anew by who made it."""
    (sticky := tmp_path / "sticky").mkdir()
    sticky.chmod(0o1777)
    (tmp_path / "own").mkdir(mode=0o700)
    (sticky / "on").symlink_to(tmp_path / "own")
    assert sticky not in files.changed_by_others(sticky / "on" / "home")
    os.lchown(sticky / "on", 65_534, 65_534)
    assert sticky in files.changed_by_others(sticky / "on" / "home")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give a folder to any group")
def test_a_folder_that_a_group_may_change_is_told_unless_nobody_else_is_in_the_group(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o2775)
    assert shared not in files.changed_by_others(shared / "home"), "a private group, as with the usual umask of 002"
    os.chown(shared, -1, 54_321)
    assert shared in files.changed_by_others(shared / "home")
    shared.chmod(0o3775)
    assert shared not in files.changed_by_others(shared / "home")


def test_a_file_that_grows_while_it_is_copied_is_copied_no_further(tmp_path: Path) -> None:
    file = tmp_path / "growing"
    file.write_bytes(b"x" * 1_000)
    with files.open_regular(file) as source, (tmp_path / "copy").open("w+b") as copy:
        os.truncate(file, 1 << 26)
        assert not files.copy_open(source, copy, 1_000)
        assert copy.tell() == 1_000
    with files.open_regular(file) as source, (tmp_path / "copy").open("w+b") as copy:
        assert files.copy_open(source, copy, 1 << 26)
        assert copy.tell() == 1 << 26


def test_a_table_of_helixs_own_that_is_too_large_keeps_its_newest_entries(tmp_path: Path) -> None:
    table = {f"{number} {'x' * 3_000}": number for number in range(1_000)}
    file = tmp_path / "kept.json"
    files.write_private(file, files.newest_json(table))
    kept = files.kept_json(file)
    assert 100 < len(kept) < 400
    assert [*kept.values()] == list(range(1_000))[-len(kept) :]
    assert files.newest_json({}) == "{}\n"
