"""Chunks lose nothing but white space and never grow beyond their size."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from helix.text.chunks import MOST_CHUNKS, chunks


@given(st.text(max_size=3_000), st.integers(20, 400))
def test_every_character_but_white_space_is_in_exactly_one_piece(text: str, size: int) -> None:
    pieces = chunks(text, size)
    assert "".join("".join(pieces).split()) == "".join(text.split())
    if len(pieces) < MOST_CHUNKS:
        assert all(0 < len(piece) <= size for piece in pieces)


def test_paragraphs_are_kept_together_where_they_fit() -> None:
    paragraphs = ["alpha " * 12, "beta " * 12, "gamma " * 12]
    assert chunks("\n\n".join(paragraphs), 100) == [paragraph.strip() for paragraph in paragraphs]


def test_an_endless_word_is_cut_anywhere() -> None:
    assert [len(piece) for piece in chunks("x" * 250, 100)] == [100, 100, 50]


def test_empty_text_has_no_pieces() -> None:
    assert chunks(" \n ") == []
