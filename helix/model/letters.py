"""Letters: texts in a normal form of Unicode, in the time that their length takes."""

from __future__ import annotations

import re
import unicodedata
from typing import Literal

MOST_MARKS = 30
"""Marks on one letter that count, as in Unicode's stream-safe format (https://www.unicode.org/reports/tr15/): no
language has more than a few."""
_UNBROKEN = re.compile(rf"[^\x00-\x7f]{{{MOST_MARKS + 1},}}")
_WIDE_MARKS = "\uff9e\uff9f"
"""Letters of half width that become marks."""


def normalised(form: Literal["NFC", "NFKC", "NFD", "NFKD"], text: str) -> str:
    """Return a text in a normal form of Unicode; of more than MOST_MARKS marks on one letter the rest is left out.

    To bring marks into their order Python takes time by the square of how many follow each other: 65,000 kept the whole
    process for 20 seconds.
    """
    return unicodedata.normalize(form, _UNBROKEN.sub(_with_few_marks, text))


def _with_few_marks(found: re.Match[str]) -> str:
    kept: list[str] = []
    marks = 0
    for letter in found.group():
        marks = marks + 1 if unicodedata.category(letter).startswith("M") or letter in _WIDE_MARKS else 0
        if marks <= MOST_MARKS:
            kept.append(letter)
    return "".join(kept)
