"""Readable: a text as a tokenizer can take it."""

from __future__ import annotations

_CHARACTERS_PER_TOKEN = 16
"""A text is cut at this many characters for each token the model reads: no text of words comes near it."""


def readable(text: str, max_tokens: int) -> str:
    """Return the text without lone surrogates, cut far behind the last token that the model reads of it."""
    return text[: max_tokens * _CHARACTERS_PER_TOKEN].encode("utf-8", "replace").decode("utf-8")
