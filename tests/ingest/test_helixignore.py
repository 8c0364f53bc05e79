"""`.helixignore` rules mean what git means by them."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from git_history import History
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from helix.errors import InvalidInputError
from helix.helixignore import IGNORE_FILE, IgnoreRules, _parse, _Rule, rules_of, without_ignored
from helix.ingest.note_files import NoteFile, note_files
from tests.counting import calls_of
from tests.sampling import draws

# Not `a**b`: git 2.39 compares pointers into two different texts there, and its answer depends on where they lie.
NAMES = st.lists(
    st.sampled_from(
        ["a", "b", "x", "*", "?", "[a-c]", "[!a]", "[", "]", "\\", "!", "#", " ", ".md", "-", "[[:alpha:]]"]
    ),
    min_size=1,
    max_size=4,
).map("".join)
PATTERNS = st.tuples(
    st.sampled_from(["", "", "/", "!", "!/", "**/"]),
    st.lists(st.one_of(NAMES.filter(lambda name: "**" not in name), st.just("**")), min_size=1, max_size=3).map(
        "/".join
    ),
    st.sampled_from(["", "", "/", "/**", " "]),
).map("".join)
PATHS = st.lists(
    st.sampled_from(["a", "b", "ab", "xb", "a.md", "x", "y z", "[", "*", "\\", "]", "a*", "-", "#a", "!a"]),
    min_size=1,
    max_size=4,
).map("/".join)


@settings(max_examples=draws(20), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(patterns=st.lists(PATTERNS, min_size=1, max_size=4), paths=st.lists(PATHS, min_size=1, max_size=30))
def test_the_same_paths_are_ignored_as_by_git(history: History, patterns: list[str], paths: list[str]) -> None:
    (history.path / ".gitignore").write_text("\n".join(patterns) + "\n", "utf-8")
    run = subprocess.run(
        ["git", "-C", history.path, "check-ignore", "--no-index", "-z", "--stdin"],
        input="".join(f"{path}\0" for path in paths).encode(),
        stdout=subprocess.PIPE,
        check=False,  # it leaves with 1 where nothing is ignored
    )
    by_git = set(run.stdout.decode().split("\0")) - {""}
    rules = IgnoreRules().extended(patterns)
    assert {path for path in paths if rules.ignores(path)} == by_git


@given(st.lists(st.text(max_size=20), max_size=5), st.text(min_size=1, max_size=30))
def test_any_text_is_a_pattern_or_none(patterns: list[str], path: str) -> None:
    IgnoreRules().extended(patterns).ignores(path)


def test_the_last_rule_that_matches_decides_but_not_inside_an_ignored_folder() -> None:
    rules = IgnoreRules().extended(["*.md", "!keep.md", "build/", "!build/keep.md"])
    assert rules.ignores("docs/a.md")
    assert not rules.ignores("docs/keep.md")
    assert rules.ignores("build/keep.md")
    assert not rules.ignores("build")


def test_rules_of_a_folder_hold_below_it_only(tmp_path: Path) -> None:
    (tmp_path / IGNORE_FILE).write_text("\ufeff# comment\r\n/top.md\r\n", "utf-8")
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / IGNORE_FILE).write_text("/inner.md\n", "utf-8")
    rules = rules_of(tmp_path / "docs", "docs", rules_of(tmp_path))
    assert rules.ignores("top.md")
    assert rules.ignores("docs/inner.md")
    assert not rules.ignores("inner.md")
    assert not rules.ignores("docs/top.md")


def test_without_rules_nothing_is_ignored(tmp_path: Path) -> None:
    assert not rules_of(tmp_path).ignores("a/b")


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="needs a file that even root cannot read")
def test_an_ignore_file_that_cannot_be_read_stops_the_import(tmp_path: Path) -> None:
    (tmp_path / IGNORE_FILE).symlink_to("/proc/self/mem")
    with pytest.raises(InvalidInputError, match="cannot be read"):
        rules_of(tmp_path)


HOSTILE = ["*a" * 60 + "b", "**/a/" * 40 + "b", "*?" * 60 + "b", "*[a-b]" * 30 + "c", "a*/**/" * 30 + "b"]


@pytest.mark.parametrize("pattern", HOSTILE)
def test_a_pattern_of_many_wildcards_is_matched_at_once(pattern: str) -> None:
    """A program that took the usual way would be at it for longer than anybody lives."""
    rules = IgnoreRules().extended([pattern, f"/{pattern}"])
    assert not rules.ignores("a" * 255)
    assert not rules.ignores("a/" * 1_000 + "c")


def test_what_is_written_between_many_wildcards_is_found() -> None:
    assert IgnoreRules().extended(["*a*b*c*.md"]).ignores("x/1a2b3ab4c5.md")
    assert IgnoreRules().extended(["**/a*/**/b/*c*d"]).ignores("x/a/y/az/a/b/b/1c2cd3d")
    assert not IgnoreRules().extended(["**/a*/**/b/*c*d"]).ignores("x/a/y/az/a/b/b/1c2cd3")


@pytest.mark.soak
def test_below_a_folder_that_is_not_there_nothing_is_looked_for(tmp_path: Path) -> None:
    (tmp_path / "made").mkdir()
    (tmp_path / "made" / IGNORE_FILE).write_text("*.log\n", "utf-8")
    files = [f"{tmp_path}/made/{'a/' * 1_900}b.py", f"{tmp_path}/made/{'a/' * 1_900}b.log"]
    kept: list[str] = []
    assert calls_of(rules_of, lambda: kept.extend(without_ignored(files, str(tmp_path)))) < 100
    assert kept == [f"made/{'a/' * 1_900}b.py"]


@pytest.mark.soak
def test_rules_and_paths_beyond_all_measure_exclude_what_is_left_unlooked_at(tmp_path: Path) -> None:
    (tmp_path / IGNORE_FILE).write_text("".join(f"*q{number}*z\n" for number in range(1_900)), "utf-8")
    files = [f"{'a/' * 100}{number}.py" for number in range(100)]
    kept: list[str] = []
    assert calls_of(_Rule.says, lambda: kept.extend(without_ignored(files, str(tmp_path)))) < 1_000_000
    assert kept == files[: len(kept)]
    assert 0 < len(kept) < len(files)
    assert without_ignored(["src/main.py"], str(tmp_path)) == ["src/main.py"]


def test_folders_that_bring_rules_each_are_not_read_without_end(tmp_path: Path) -> None:
    files = [f"{number}/a.py" for number in range(30)]
    for file in files:
        folder = (tmp_path / file).parent
        folder.mkdir()
        (folder / IGNORE_FILE).write_text("".join(f"{folder.name}{number}\n" for number in range(1_000)), "utf-8")
    kept: list[str] = []
    assert calls_of(_parse, lambda: kept.extend(without_ignored(files, str(tmp_path)))) < 10_000
    assert kept == files[: len(kept)]
    assert 0 < len(kept) < len(files)


def test_a_path_that_links_lead_through_very_many_names_is_not_followed(tmp_path: Path) -> None:
    """Thirty of these, one behind the other, took a second for each path that a command's error names."""
    (tmp_path / "l").mkdir()
    (tmp_path / "l/a").symlink_to("." + "/../l" * 800)
    with pytest.raises(InvalidInputError, match="cannot be followed"):
        without_ignored(["l/a/x.py"], str(tmp_path))
    assert without_ignored(["l/x.py"], str(tmp_path)) == ["l/x.py"]


def test_a_walk_asks_each_rule_once_for_a_file_however_deep_it_lies(tmp_path: Path) -> None:
    deep = tmp_path.joinpath(*"a" * 60)
    deep.mkdir(parents=True)
    (tmp_path / IGNORE_FILE).write_text("x\n" * 100 + "*.txt\n", "utf-8")
    for number in range(20):
        (deep / f"{number}.txt").write_text("left out", "utf-8")
    (deep / "kept.md").write_text("kept", "utf-8")
    found: list[object] = []
    assert calls_of(_Rule.says, lambda: found.extend(note_files([tmp_path]))) < (60 + 21) * 110
    assert [one.path for one in found if isinstance(one, NoteFile)] == [deep / "kept.md"]


def test_the_rules_of_a_folder_are_read_once_for_many_files(tmp_path: Path) -> None:
    (tmp_path / IGNORE_FILE).write_text("*.log\n" * 50, "utf-8")
    files = [f"{number % 20}/{number}.py" for number in range(300)]
    kept: list[str] = []
    assert calls_of(_parse, lambda: kept.extend(without_ignored([*files, "a.log"], str(tmp_path)))) == 50
    assert kept == files


@pytest.mark.parametrize("text", ["x\n" * 2_001, "x" * 251, "# " + "x" * 40_000])
def test_an_ignore_file_beyond_all_measure_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / IGNORE_FILE).write_text(text, "utf-8")
    with pytest.raises(InvalidInputError, match=IGNORE_FILE):
        rules_of(tmp_path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes with names")
def test_an_ignore_file_that_is_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / IGNORE_FILE)
    with pytest.raises(InvalidInputError, match="cannot be read"):
        rules_of(tmp_path)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can make a file somebody else's")
def test_where_anybody_may_put_files_anothers_rules_say_nothing(tmp_path: Path) -> None:
    shared, file = tmp_path / "shared", tmp_path / "shared" / IGNORE_FILE
    (shared / "mine").mkdir(parents=True)
    file.write_text("*\n", "utf-8")
    os.chown(file, 65_534, 65_534)
    named = [str(shared / "mine" / "a.py")]
    assert without_ignored(named) == []  # a colleague's folder, whose rules are kept to
    shared.chmod(0o1777)
    assert without_ignored(named) == named
    os.chown(file, 0, 0)
    assert without_ignored(named) == []
