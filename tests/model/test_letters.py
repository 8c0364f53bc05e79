"""Letters: normal forms of Unicode, also of a letter with more marks than any language has."""

from __future__ import annotations

import unicodedata
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helix.agents.answers.task_record import client_task
from helix.model.letters import MOST_MARKS, normalised
from helix.model.told import normal
from helix.text.cleaning import given_name, slug
from helix.text.injection.concepts import plain
from helix.text.tokens import lexical_tokens

Form = Literal["NFC", "NFKC", "NFD", "NFKD"]
FORMS: tuple[Form, ...] = ("NFC", "NFKC", "NFD", "NFKD")
PILES = ["\u0301\u0327", "\uff9e\u0334", "\u0f73\u0f74\u0301", "\u0344\u0316"]
"""Marks out of their order, a pair or so at a time."""
MANY = 200_000
"""Times a pile: to bring so many into their order by the square of their number takes many minutes."""


@pytest.mark.parametrize("form", FORMS)
@given(text=st.text())
def test_texts_are_as_unicode_has_them(form: Form, text: str) -> None:
    assert normalised(form, text) == unicodedata.normalize(form, text)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("text", ["Straße, e\u0301\u0327clair", "हिन्दी में", "漢字" * 100, "ﾊﾞ" * 100, "e\u0301" * 100])
def test_long_runs_of_letters_with_marks_lose_nothing(form: Form, text: str) -> None:
    assert normalised(form, text) == unicodedata.normalize(form, text)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("pile", PILES)
def test_marks_without_end_take_no_time_without_end(form: Form, pile: str) -> None:
    few = (pile * MOST_MARKS)[:MOST_MARKS]
    assert normalised(form, f"a{pile * MANY}b, c") == unicodedata.normalize(form, f"a{few}b, c")


@pytest.mark.parametrize("pile", PILES[:1])
def test_whatever_reads_a_text_comes_to_its_end(pile: str) -> None:
    bomb = f"cafe{pile * MANY} open"
    assert lexical_tokens(bomb, stem=False) == ["cafe", "open"]
    assert slug(bomb) == given_name(bomb) == "cafe-open"
    assert plain(bomb).split()[-1] == "open"
    assert normal(bomb).endswith(" open")
    assert client_task(bomb).endswith("open")
