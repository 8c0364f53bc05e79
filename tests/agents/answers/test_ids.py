"""A client's id of a task is the same in whatever words it is named."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helix.agents.answers.planner_answer import sequence
from helix.agents.answers.task_record import client_task, is_one_word

DRESSES = (
    *("{}", "#{}", "# {}", "Task {}", "task #{}", "TASK: {}", "Task ID: {}", "`{}`", "**{}**", '"{}"', "“{}”", "[{}]"),
    *(
        "{} (routes)",
        "{}: routes",
        "{}. routes",
        "{} - routes",
        "the task {}",
        "No. {}",
        "  {}\nand do it well",
        "Task #{}.",
    ),
)
OPAQUE = st.from_regex(r"[a-z]{2,8}(?:[-_][a-z0-9]{1,6}){0,2}", fullmatch=True).filter(
    lambda said: said not in ("none", "null", "na", "nil", "tbd", "unknown")
)


@given(st.integers(0, 10**6), st.sampled_from(DRESSES))
def test_a_number_is_found_in_any_dress(number: int, dress: str) -> None:
    assert client_task(dress.format(number)) == str(number)
    wide = "".join(chr(ord(digit) - ord("0") + 0xFF10) for digit in str(number))
    assert client_task(dress.format(wide)) == str(number)
    assert sequence(dress.format(number)) == str(number).zfill(3)


@given(OPAQUE, st.sampled_from(["{}", "`{}`", "**{}**", '"{}"', "{} (routes)", "{}: routes", "#{}"]))
def test_an_id_that_is_no_number_is_left_as_it_is(ident: str, dress: str) -> None:
    assert client_task(dress.format(ident)) == ident


@pytest.mark.parametrize("said", ["", "none", "n/a", "<clientTask>", "`<id>`", "-", "null", "**", "TBD"])
def test_what_names_nothing_is_no_id(said: str) -> None:
    assert client_task(said) == ""


@pytest.mark.parametrize("said", ["12-ab", "4f5e-33aa", "1.2", "task-7", "7a", "plan:ab:001"])
def test_a_word_with_a_number_in_it_is_that_word(said: str) -> None:
    assert client_task(said) == said


@given(st.text(max_size=80))
def test_nothing_that_is_said_is_an_error(said: str) -> None:
    found = client_task(said)
    assert client_task(found) == found or not is_one_word(found)
