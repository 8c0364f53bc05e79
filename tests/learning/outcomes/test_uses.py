"""Use is found in what was done: files, commands, rare words; never in what the task came with anyway."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from helix.learning.outcomes.uses import Deeds, Given, Lesson, signs_of_use

LESSON = Lesson(
    trigger="pytest cannot find the module on a fresh checkout",
    resolution="Run `uv sync --frozen` first and set PYTHONPATH in conftest.py",
)
TASK = Given(text="Make the tests of the importer pass")


def none(terms: Sequence[str]) -> list[str]:
    return []


def everything(terms: Sequence[str]) -> Sequence[str]:
    return terms


@pytest.mark.parametrize(
    ("deeds", "sign"),
    [
        (Deeds(commands=("cd app && uv sync --frozen && pytest -q",)), "ran uv sync"),
        (Deeds(files=("/home/me/app/tests/conftest.py",)), "edited /home/me/app/tests/conftest.py"),
        (Deeds(text="os.environ['PYTHONPATH'] = ROOT  # frozen"), "wrote frozen, pythonpath"),
    ],
)
def test_what_a_memory_says_and_was_done_is_a_sign(deeds: Deeds, sign: str) -> None:
    assert sign in signs_of_use(LESSON, deeds, TASK, none)


@pytest.mark.parametrize(
    ("deeds", "given"),
    [
        (Deeds(), TASK),
        (Deeds(text="I fixed how the module is found, and pytest passes on a fresh checkout"), TASK),
        (Deeds(files=("tests/conftest.py",)), Given(text="look at it", files=("tests/conftest.py",))),
        (Deeds(files=("tests/conftest.py",)), Given(text="something is wrong in tests/conftest.py")),
        (Deeds(commands=("uv sync --frozen",)), Given(text="run `uv sync --frozen`, set it first", verify="uv sync")),
        (Deeds(commands=("uv pip list", "echo uv sync")), TASK),
        (Deeds(files=("src/notconftest.py",)), TASK),
    ],
)
def test_what_would_be_there_without_the_memory_is_no_sign(deeds: Deeds, given: Given) -> None:
    assert signs_of_use(LESSON, deeds, given, none) == ()


def test_words_that_are_common_in_the_store_are_no_sign() -> None:
    deeds = Deeds(text="PYTHONPATH, frozen and synced")
    assert signs_of_use(LESSON, deeds, TASK, none)
    assert signs_of_use(LESSON, deeds, TASK, everything) == ()


def test_files_that_a_memory_is_about_count_and_one_without_resolution_is_read_by_its_trigger() -> None:
    lesson = Lesson(trigger="always bump SCHEMA_VERSION in a migration", resolution="", files=("db/version.py",))
    assert signs_of_use(lesson, Deeds(files=("db/version.py",)), TASK, none) == ("edited db/version.py",)
    assert signs_of_use(lesson, Deeds(text="SCHEMA_VERSION = 4"), TASK, none)
