"""Sentences are cut where people end them, and what only greets or cheers is told from what says something."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helix.text.sentences import LONGEST_SENTENCE, Sentence, cut_at_word, sentences


def texts(text: str) -> list[str]:
    return [sentence.text for sentence in sentences(text)]


def test_text_is_cut_at_the_ends_of_sentences_and_lines_and_loses_bullets() -> None:
    assert texts("We moved to v2.1.3 today. It broke!\n- pin numpy\n2. run e.g. make") == [
        "We moved to v2.1.3 today.",
        "It broke!",
        "pin numpy",
        "run e.g. make",
    ]
    assert texts("今日は雨だ。明日は晴れる。") == ["今日は雨だ。", "明日は晴れる。"]


@pytest.mark.parametrize(
    "text",
    ["Wow, Caroline!", "Thanks, Mel!", "That's so great to hear!", "How are you?", "Sounds awesome, talk soon!", "..."],
)
def test_greetings_thanks_and_cheers_are_filler(text: str) -> None:
    assert Sentence(text, frozenset({"caroline", "melanie"})).is_filler


@pytest.mark.parametrize(
    "text",
    ["I ran a charity race last Saturday.", "At 7.", "We chose Postgres.", "The build fails.", "Это важно."],
)
def test_what_tells_something_is_not(text: str) -> None:
    assert not Sentence(text).is_filler


def test_those_who_are_called_by_name_are_not_what_is_told() -> None:
    called = Sentence("Hey Mel, I visited Oslo with Luna.", frozenset({"melanie", "caroline"}))
    assert called.names == ("Oslo", "Luna")
    assert "mel" not in called.terms


def test_a_longer_text_is_cut_at_a_word_and_marked() -> None:
    assert cut_at_word("one two three four", 12) == "one two\u2026"
    assert cut_at_word("one", 3) == "one"


@given(st.text(max_size=2_000))
def test_any_text_is_read_and_every_sentence_is_bounded(text: str) -> None:
    found = sentences(text)
    assert all(0 < len(sentence.text) <= LONGEST_SENTENCE for sentence in found)
    assert all(isinstance(sentence.is_filler, bool) and sentence.tokens >= 0 for sentence in found)
