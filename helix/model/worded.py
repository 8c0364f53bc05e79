"""Worded: enums whose members say what they stand for, for GraphQL and the reference."""

from __future__ import annotations

from enum import StrEnum
from typing import Self


class Worded(StrEnum):
    """Words from a fixed list, each with one sentence on what it means: `NAME = "word", "What it means."`."""

    said: str

    def __new__(cls, word: str, said: str = "") -> Self:
        """Make a member that is its word."""
        member = str.__new__(cls, word)
        member._value_ = word
        member.said = said
        return member
