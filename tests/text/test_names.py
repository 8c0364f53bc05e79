"""Names: cleaned text, and the readable names of memories made from it."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from helix.text.cleaning import clean, given_name, slug


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Activate the venv before running pytest", "activate-venv-before-running-pytest"),
        ("Don't retry on HTTP 404!", "dont-retry-http-404"),
        ("Größe der Straße", "grosse-der-strasse"),
        ("日本語のメモ", "日本語のメモ"),
        ("  src/api/routes.py\n", "src-api-routes-py"),
        ("हिन्दी भाषा", "हिन्दी-भाषा"),
        ("this and that", "this-and-that"),
    ],
)
def test_a_slug_keeps_the_telling_words(text: str, name: str) -> None:
    assert slug(text) == name


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("mem-a", "mem-a"),
        ("fix-the", "fix-the"),
        ("x_of.2", "x_of.2"),
        ("one two three four five six seven", "one-two-three-four-five-six-seven"),
        (" Fix: the Build! ", "fix-the-build"),
        ("हिन्दी भाषा", "हिन्दी-भाषा"),
        ("?!", ""),
    ],
)
def test_a_given_name_stays_whole(text: str, name: str) -> None:
    assert given_name(text) == name


@given(st.text())
def test_what_is_a_name_already_stays_as_it_is(text: str) -> None:
    assert given_name(slug(text)) == slug(text)
    assert given_name(given_name(text)) == given_name(text)


@pytest.mark.parametrize("text", ["", "   ", "!?", "\0", "\ud800"])
def test_a_text_without_words_is_called_memory(text: str) -> None:
    assert slug(text) == "memory"


@given(st.text(), st.integers(min_value=8, max_value=80))
@example("x" * 500, 60)
def test_a_slug_is_short_lower_case_words_joined_by_hyphens(text: str, limit: int) -> None:
    name = slug(text, limit)
    assert 0 < len(name) <= limit
    assert not re.search(r"\s|--|^-|-$|[!-,./:-@\[-`{-~]", name)
    assert len(name.split("-")) <= 6


def test_clean_text_has_plain_line_ends_and_no_outer_blanks() -> None:
    assert clean("\r\n a\r\nb\rc \n") == "a\nb\nc"


def test_lone_surrogates_become_replacement_characters_and_nul_goes() -> None:
    assert clean("a\ud800b\0c") == "a\ufffdbc"


@given(st.text())
@example("\ud83d")
def test_clean_text_can_be_written_and_is_clean_already(text: str) -> None:
    cleaned = clean(text)
    cleaned.encode("utf-8")
    assert "\0" not in cleaned
    assert clean(cleaned) == cleaned
