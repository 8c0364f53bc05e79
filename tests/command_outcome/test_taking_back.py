"""Taking back: which commands put files to what they were, and that what passed before is then no evidence of them."""

from __future__ import annotations

import pytest

from helix.command_outcome.command_evidence import classify, takes_back
from helix.command_outcome.command_run import CommandRun


@pytest.mark.parametrize(
    ("line", "taken"),
    [
        *((line, True) for line in ("git restore .", "git restore -S -W a.py", "git checkout HEAD~1 -- a.py")),
        *((line, True) for line in ("git checkout .", "git checkout src/a.py", "git checkout -f main")),
        *((line, True) for line in ("git reset --hard", "git reset --hard origin/main", "git switch -f main")),
        *((line, True) for line in ("git stash", "git stash -u", "git stash push a.py", "git stash pop")),
        *((line, True) for line in ("git clean -fd", "git revert --no-edit HEAD", "git -C sub restore a.py")),
        *((line, True) for line in ("cd a && sudo git reset --hard; ls", "pytest || git checkout .")),
        *((line, True) for line in ("if ! pytest; then git stash; fi", "echo it's; git stash")),
        *((line, False) for line in ("git restore --staged a.py", "git checkout main", "git checkout -b feature/a.py")),
        *((line, False) for line in ("git reset", "git reset --soft HEAD~1", "git switch main", "git stash list")),
        *((line, False) for line in ("git clean -nfd", "git status", "echo git stash", "pytest", "", "git diff .")),
    ],
)
def test_what_puts_files_to_what_they_were_is_told_from_what_only_looks_or_moves(line: str, taken: bool) -> None:
    assert takes_back(CommandRun(command=line, exit_status=0)) is taken


def test_what_certainly_failed_or_has_not_ended_took_nothing_back() -> None:
    assert not takes_back(CommandRun(command="git restore a.py", exit_status=1))
    assert not takes_back(CommandRun(command="cd a && git stash", failed=True))
    assert takes_back(CommandRun(command="git stash; git stash pop", exit_status=1))
    assert not takes_back(CommandRun(command="git stash"))


def test_within_a_line_only_what_stands_behind_the_taking_back_is_evidence() -> None:
    def passed(line: str, status: int = 0) -> bool | None:
        found = classify(CommandRun(command=line, exit_status=status))
        return found.passed if found is not None else None

    assert passed("git checkout -- a.py && pytest") is True
    assert passed("pytest && git checkout -- a.py") is None
    assert passed("git stash && pytest && git stash pop") is None
    assert passed("set -e; git stash; pytest", 1) is None
    assert passed("pytest && git commit -m x && git stash") is None
