"""A revert counts against the task whose commit it took back, however the command names that; git itself is asked."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from helix.agents.tasks.board import TaskSighting, find_task, mirror
from helix.operations import tasks
from helix.service import Helix
from helix.store.store import Store
from tests.memory.conftest import Moment


class Repository:
    """A repository of git, and tasks that commit to it."""

    def __init__(self, helix: Helix, store: Store, moment: Moment, folder: Path) -> None:
        self.helix, self.store, self.moment, self.folder = helix, store, moment, folder
        self.git("git init -q -b main")
        self.git("git commit -q --allow-empty -m start")

    def git(self, command: str) -> str:
        words = ["git", "-c", "user.name=A", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false"]
        words += command.split()[1:]
        return subprocess.run(words, cwd=self.folder, check=True, capture_output=True, text=True).stdout

    def task(self, key: str, session: str = "s") -> str:
        return mirror(self.store, TaskSighting(session=session, key=key, objective=f"task {key}")).id

    def does(self, task: str, command: str) -> str:
        """Run a command of git in a task, and have it noted with what git prints; return that."""
        self.moment.forward(minutes=1)
        output = self.git(command)
        tasks.note_action(self.helix, task, command, exit_status=0, output=output)
        return output

    def commits(self, key: str, subject: str = "sort", *, session: str = "s", silent: bool = False) -> str:
        """Have a task commit a file of its own and say that it delivered; return it."""
        task = self.task(key, session)
        (self.folder / f"{key}.txt").write_text(key, "utf-8")
        self.git("git add .")
        self.does(task, f"git commit {'-q ' if silent else ''}-m {subject}")
        tasks.task_outcome(self.helix, task, "delivered", claimed=True)
        return task

    def outcomes(self, *tasks: str) -> list[str]:
        return [found.outcome for task in tasks if (found := find_task(self.store.index, task)) is not None]


@pytest.fixture
def repository(living: Helix, store: Store, moment: Moment, tmp_path: Path) -> Repository:
    folder = tmp_path / "repository"
    folder.mkdir()
    return Repository(living, store, moment, folder)


@pytest.mark.parametrize(
    "command", ["git revert --no-edit HEAD", "git revert --no-edit @", "git revert HEAD~0 --no-edit"]
)
@pytest.mark.parametrize("session", ["s", "another"])
def test_what_git_prints_of_a_revert_names_the_commit_by_its_subject(
    repository: Repository, command: str, session: str
) -> None:
    task, later = repository.commits("a"), repository.task("b", session)
    assert repository.outcomes(task) == ["delivered"]
    output = repository.does(later, command)
    assert 'Revert "sort"' in output and "This reverts" not in output
    assert repository.outcomes(task, later) == ["blocked", ""]


def test_an_older_commit_is_known_by_its_subject_too(repository: Repository) -> None:
    first, second = repository.commits("a", "sort"), repository.commits("b", "mask")
    repository.does(repository.task("c"), "git revert --no-edit HEAD~1")
    assert repository.outcomes(first, second) == ["blocked", "delivered"]


def test_of_commits_that_say_the_same_head_is_the_one_that_the_session_saw_last(repository: Repository) -> None:
    first, second = repository.commits("a", session="one"), repository.commits("b", session="two")
    repository.does(repository.task("c", "three"), "git revert --no-edit HEAD~1")
    assert repository.outcomes(first, second) == ["delivered", "delivered"], "either may be meant"
    third = repository.commits("d", session="two")
    repository.does(repository.task("e", "two"), "git revert --no-edit HEAD")
    assert repository.outcomes(first, second, third) == ["delivered", "delivered", "blocked"]


def test_what_was_committed_in_silence_is_known_as_head(repository: Repository) -> None:
    first, second = repository.commits("a", "mask"), repository.commits("b", silent=True)
    repository.does(repository.task("c"), "git revert --no-edit HEAD")
    assert repository.outcomes(first, second) == ["delivered", "blocked"]


def test_to_revert_a_revert_takes_back_no_other_commit(repository: Repository) -> None:
    first, second = repository.commits("a", silent=True), repository.commits("b", silent=True)
    for _ in range(3):
        repository.does(repository.task("c"), "git revert --no-edit HEAD")
    assert repository.outcomes(first, second) == ["delivered", "blocked"]


def test_a_head_that_nobody_saw_land_is_nobodys(repository: Repository) -> None:
    task = repository.commits("a")
    (repository.folder / "other.txt").write_text("x", "utf-8")
    repository.git("git add .")
    repository.git("git commit -m other")
    repository.does(repository.task("b"), "git revert --no-edit HEAD")
    assert repository.outcomes(task) == ["delivered"]
