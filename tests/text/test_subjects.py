"""A text is about what its title names and what its first sentence defines, by every name that it gives that."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helix.text.statement.subjects import subject_key, subjects


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (
            "Demon Dice\nDemon Dice, originally published as Chaos Progenitus, is a game.",
            {"demon dice", "chaos progenitus"},
        ),
        ("The Wrights (duo)\nAn American duo.", {"wrights", "wrights (duo)"}),
        ("The American Psychological Association (APA) is the largest.", {"american psychological association", "apa"}),
        ("# Session Store\n\nKeeps sessions.", {"session store"}),
        ("Sessions are kept in Redis. They expire.", set()),
        ("We moved to Redis.\nIt is faster.", set()),
        ("", set()),
    ],
)
def test_the_opening_says_what_a_text_is_about(text: str, names: set[str]) -> None:
    assert subjects(text) == names


def test_names_are_compared_without_case_article_and_marks() -> None:
    assert subject_key("**The  Wrights**") == subject_key("wrights")


@given(st.text(max_size=500))
def test_any_text_is_read(text: str) -> None:
    assert all(name == subject_key(name) for name in subjects(text))
