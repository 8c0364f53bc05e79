"""Paths of a history: a repository brings both its paths and its ignore rules, and comparing them comes to an end."""

from __future__ import annotations

import pytest
from git_history import History

from helix.helixignore import IGNORE_FILE, _Rule
from helix.ingest import git
from helix.ingest.draft import Slice
from tests.counting import calls_of

RULES = "".join(f"*q{number}\n" for number in range(500))


def commit_files(history: History, folders: list[str]) -> None:
    """Commit a file in each of the folders, and rules that match none, without writing them into the work tree."""
    files = "".join(f"M 100644 inline {folder}/f.py\ndata 1\nx\n" for folder in folders)
    head = "commit refs/heads/main\ncommitter A <a@b> 1700000000 +0000\ndata 8\nfeed it\n\n"
    history.git("fast-import", "--quiet", stdin=f"{head}{files}".encode())
    (history.path / IGNORE_FILE).write_text(RULES, "utf-8")


def test_the_folders_of_a_commit_are_compared_with_the_rules_once(history: History) -> None:
    deep = "d/" * 100
    commit_files(history, [f"{deep}{number}" for number in range(40)])
    read: list[Slice] = []
    calls = calls_of(_Rule.says, lambda: read.extend(git.read_history(history.path, scope="x")))
    assert read[0].episode.content.startswith("feed it\n\nFiles:\nA d/d/d")
    assert calls < 500 * (100 + 2 * 40 + 10)


@pytest.mark.soak
def test_a_commit_takes_so_many_comparisons_and_the_next_one_may_again(
    history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(git, "_MOST_EFFORT", 50_000)
    monkeypatch.setattr(git, "_EFFORT", 50_000)
    commit_files(history, [f"{number}/{'/'.join('d' * 20)}" for number in range(40)])
    history.git("read-tree", "HEAD")
    history.git("commit", "--quiet", "--allow-empty", "-m", "nothing is touched")
    history.git("rm", "--quiet", "--cached", "-r", "1")
    history.git("commit", "--quiet", "-m", "take one away")
    read: list[Slice] = []
    calls = calls_of(_Rule.says, lambda: read.extend(git.read_history(history.path, scope="x")))
    assert calls < 150_000
    assert 0 < len(read[0].episode.files) < 40
    assert len(read[-1].episode.files) == 1
