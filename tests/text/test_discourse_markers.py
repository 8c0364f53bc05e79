"""Openers are taken off a statement, aliases are one word, and what is left is the statement's own."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helix.text.discourse_markers import without_openers
from helix.text.statement.substitution import without_aliases


@pytest.mark.parametrize(
    ("text", "bare"),
    [
        ("Once more: the venv must be active.", "The venv must be active."),
        ("Reminder to self: source .venv/bin/activate first.", "Source .venv/bin/activate first."),
        ("Please note that commits are signed here.", "Commits are signed here."),
        ("Remember: never force-push to main.", "Never force-push to main."),
        ("remember to deploy to staging first", "Deploy to staging first"),
        ("Note: please run black before committing.", "Run black before committing."),
        ("User told me to activate the venv first.", "Activate the venv first."),
        ("He asked us not to commit any secrets.", "Do not commit any secrets."),
        ("The user told me not to commit secrets.", "Do not commit secrets."),
    ],
)
def test_what_stands_before_a_statement_is_taken_off(text: str, bare: str) -> None:
    assert without_openers(text) == bare


@pytest.mark.parametrize(
    "text",
    [
        "Remember the milk.",
        "Please wait.",
        "I remember that day in Rome.",
        "Again and again the build failed.",
        "Note the colon at the end of the line.",
        "The note: it was lost.",
    ],
)
def test_what_is_part_of_a_statement_stays(text: str) -> None:
    assert without_openers(text) == text


@given(
    st.text(max_size=80)
    | st.lists(st.sampled_from(["please ", "Note: ", "remember that ", "run it now "])).map("".join)
)
def test_taking_off_openers_ends_and_changes_nothing_a_second_time(text: str) -> None:
    bare = without_openers(text)
    assert without_openers(bare) == bare
    assert len(bare) <= len(text) + 3


def test_one_thing_with_two_names_has_one() -> None:
    said = ("Activate the virtual environment.", "Activate the virtualenv.", "Activate the .venv/bin/activate.")
    assert {without_aliases(text) for text in said} == {"Activate the venv."}
    assert without_aliases("The environment is virtual.") == "The environment is virtual."
