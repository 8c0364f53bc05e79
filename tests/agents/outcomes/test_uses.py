"""Use is found in what was done: files, commands, rare words; never in what the task came with anyway."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given as drawn
from hypothesis import strategies as st

from helix.agents.outcomes.uses import Deeds, Lesson, TaskInput, signs_of_use

LESSON = Lesson(
    trigger="pytest cannot find the module on a fresh checkout",
    resolution="Run `uv sync --frozen` first and set PYTHONPATH in conftest.py",
)
TASK = TaskInput(text="Make the tests of the importer pass")


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
        (Deeds(files=("tests/conftest.py",)), TaskInput(text="look at it", files=("tests/conftest.py",))),
        (Deeds(files=("tests/conftest.py",)), TaskInput(text="something is wrong in tests/conftest.py")),
        (
            Deeds(commands=("uv sync --frozen",)),
            TaskInput(text="run `uv sync --frozen`, set it first", verify="uv sync"),
        ),
        (Deeds(commands=("uv pip list", "echo uv sync")), TASK),
        (Deeds(files=("src/notconftest.py",)), TASK),
    ],
)
def test_what_would_be_there_without_the_memory_is_no_sign(deeds: Deeds, given: TaskInput) -> None:
    assert signs_of_use(LESSON, deeds, given, none) == ()


def test_words_that_are_common_in_the_store_are_no_sign() -> None:
    deeds = Deeds(text="PYTHONPATH, frozen and synced")
    assert signs_of_use(LESSON, deeds, TASK, none)
    assert signs_of_use(LESSON, deeds, TASK, everything) == ()


def test_files_that_a_memory_is_about_count_and_one_without_resolution_is_read_by_its_trigger() -> None:
    lesson = Lesson(trigger="always bump SCHEMA_VERSION in a migration", resolution="", files=("db/version.py",))
    assert signs_of_use(lesson, Deeds(files=("db/version.py",)), TASK, none) == ("edited db/version.py",)
    assert signs_of_use(lesson, Deeds(text="SCHEMA_VERSION = 4"), TASK, none)


PROSE = Lesson(
    trigger="Changing the billing module breaks its tests",
    resolution="Regenerate the fixtures with make billing-fixtures. Never run make clean, it drops them.",
)


@pytest.mark.parametrize("line", ["make billing-fixtures", "cd app && make -j4 billing-fixtures && pytest -q"])
def test_a_command_that_prose_bids_word_for_word_is_a_sign_where_it_was_run(line: str) -> None:
    assert "ran make billing-fixtures" in signs_of_use(PROSE, Deeds(commands=(line,)), TASK, everything)


@pytest.mark.parametrize(
    ("line", "given"),
    [
        ("make clean", TASK),
        ("make billing-fixtures-old", TASK),
        ("make billing", TASK),
        ("make", TASK),
        ("echo make billing-fixtures", TASK),
        ("make billing-fixtures", TaskInput(text="first run make billing-fixtures")),
        ("make billing-fixtures", TaskInput(verify="make billing-fixtures && pytest")),
    ],
)
def test_a_command_that_is_forbidden_or_another_or_was_asked_for_anyway_is_no_sign(line: str, given: TaskInput) -> None:
    assert signs_of_use(PROSE, Deeds(commands=(line,)), given, everything) == ()


PLAIN = ("run", "make", "lint", "never", "in", "src/a.py", "git", "push", "frozen", "palette", "Mira")
MARKS = ("`uv sync`", "uv", "sync", "&&", "|", "'", "`")
WORDS = st.lists(st.sampled_from((*PLAIN, *MARKS)), max_size=9).map(" ".join)
DEEDS = st.builds(
    Deeds, files=st.lists(WORDS, max_size=2).map(tuple), commands=st.lists(WORDS, max_size=3).map(tuple), text=WORDS
)


@drawn(WORDS, WORDS, DEEDS, DEEDS, WORDS)
def test_doing_more_takes_no_sign_away_and_what_was_given_makes_none(
    trigger: str, resolution: str, deeds: Deeds, more: Deeds, task: str
) -> None:
    lesson = Lesson(trigger=trigger, resolution=resolution)
    both = Deeds(
        files=(*deeds.files, *more.files),
        commands=(*deeds.commands, *more.commands),
        text=f"{deeds.text}\n{more.text}",
    )
    asked = TaskInput(text=task)
    first, all_of_it = (signs_of_use(lesson, one, asked, none) for one in (deeds, both))
    assert not first or all_of_it
    assert signs_of_use(lesson, Deeds(), asked, none) == ()
    told = TaskInput(text=f"{task}\n{trigger}\n{resolution}", files=both.files)
    assert not [one for one in signs_of_use(lesson, both, told, none) if one not in all_of_it], "never more signs"
    assert not [one for one in signs_of_use(lesson, both, told, none) if not one.startswith("ran ")]


@drawn(st.text(max_size=80), st.text(max_size=80), st.text(max_size=80), st.text(max_size=80))
def test_no_text_makes_it_stumble(trigger: str, resolution: str, command: str, wrote: str) -> None:
    deeds = Deeds(files=(wrote,), commands=(command,), text=wrote)
    signs_of_use(Lesson(trigger=trigger, resolution=resolution), deeds, TASK, none)
