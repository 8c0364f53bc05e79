"""Holds that what is too long is shortened by whole sentences, those that matter to the question."""

from __future__ import annotations

from helix.text.excerpts import gist

TOLD = "Releases are made on Monday. The tag comes from the workflow. Never push a tag by hand. Ask Ann about the keys."


def test_what_is_short_is_told_whole() -> None:
    assert gist(TOLD, 200, "anything") == TOLD


def test_the_sentence_that_the_question_is_about_is_kept_and_none_is_cut() -> None:
    assert gist(TOLD, 60, "may I push the tag myself?") == "The tag comes from the workflow. Never push a tag by hand."
    assert gist(TOLD, 30, "who has the keys?") == "Ask Ann about the keys."
    assert gist(TOLD, 40) == "Releases are made on Monday."
    for limit in range(24, 120):
        assert "\u2026" not in gist(TOLD, limit, "keys") and len(gist(TOLD, limit, "keys")) <= limit


def test_a_sentence_that_alone_is_too_long_is_cut_between_words_and_marked() -> None:
    assert gist("one two three four five", 14) == "one two\u2026"


def test_a_text_of_hardly_anything_but_blanks_is_read_once() -> None:
    # A pattern that looks at the blanks behind each blank would hold the suite up for hours here.
    words = "word " * 30
    assert gist(f"{words}{' ' * 300_000}end", 20) == "word word word\u2026"
    assert gist(f"{words}.{' ' * 300_000}end\n{' ' * 300_000}\nLast.", 20) == "Last."
