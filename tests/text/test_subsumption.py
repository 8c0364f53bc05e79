"""Holds when a text says more than another: by a telling word, a number, a denial or an order of things."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helix.text.statement.subsumption import exceeds, told_by

RULE = "Run the linter before the tests."
words = st.lists(
    st.sampled_from(
        ["run", "linter", "before", "tests", "never", "9410", "docs", "after", "the", "of", "Heroku", "note"]
    ),
    max_size=8,
)


@pytest.mark.parametrize(
    "text",
    [
        "Run the linter before the tests, in docs/ too.",
        "Don't run the linter before the tests.",
        "Run the tests before the linter.",
        "Run 2 linters before the tests.",
        "Run ruff before the tests.",
    ],
)
def test_a_word_a_number_a_denial_and_another_order_say_more(text: str) -> None:
    assert exceeds(told_by(text), told_by(RULE))


@pytest.mark.parametrize(
    "text",
    [RULE, "Remember: run the linter before the tests", "please note that linters run before a test!", "", "..."],
)
def test_openers_and_forms_of_the_words_say_no_more(text: str) -> None:
    assert not exceeds(told_by(text), told_by(RULE))


@given(said=words, more=words)
def test_no_text_says_more_than_itself_with_more_behind_it(said: list[str], more: list[str]) -> None:
    text = " ".join(said)
    assert not exceeds(told_by(text), told_by(text))
    if not {"before", "after"}.intersection(said):
        assert not exceeds(told_by(text), told_by(f"{text} {' '.join(more)}"))
