"""Bounds: what is told of a task, cut so that it can be kept whatever its length."""

from __future__ import annotations

import json
from collections.abc import Mapping

from helix.text.names import clean
from helix.text.redact import redact

_MOST = 12_000
"""Characters of JSON that what is told at once may have."""
_LONGEST = (3_000, 1_500, 700, 300, 100)
_MOST_WORDS, _LONGEST_WORD = 50, 100
_GAP = "\n...\n"


def bounded(told: Mapping[str, object]) -> dict[str, object]:
    """Return what is told with its texts as long as there is room for all, each without its middle where it is longer.

    Of lists the first fifty are kept. A text is redacted before it is cut: half a secret is known by nobody.
    """
    for most in _LONGEST:
        cut = {name: _cut(value, most) for name, value in told.items()}
        if len(json.dumps(cut, ensure_ascii=False, default=str)) <= _MOST:
            break
    return cut if told else {}


def middle_out(text: str, most: int) -> str:
    """Return a text of at most `most` characters: its beginning and its end, redacted where something is left out."""
    if len(text) <= most:
        return text
    half = (most - len(_GAP)) // 2
    # What is cut off is looked through too, as far as a secret that begins in what is kept can reach.
    before, after = (redact(clean(part)).text for part in (text[: 4 * most], text[-4 * most :]))
    return f"{before[:half].rstrip()}{_GAP}{after[-half:].lstrip()}"


def _cut(value: object, most: int) -> object:
    if isinstance(value, str):
        return middle_out(value, most)
    if isinstance(value, list | tuple):
        return [middle_out(one, _LONGEST_WORD) if isinstance(one, str) else one for one in value[:_MOST_WORDS]]
    return value
