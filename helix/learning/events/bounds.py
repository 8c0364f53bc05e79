"""Bounds: what is told of a task, cut so that it can be kept whatever its length."""

from __future__ import annotations

import json
from collections.abc import Mapping

from helix.text.excerpts import ends

_MOST = 12_000
"""Characters of JSON that what is told at once may have."""
_LONGEST = (3_000, 1_500, 700, 300, 100)
_MOST_WORDS, _LONGEST_WORD = 50, 100


def bounded(told: Mapping[str, object]) -> dict[str, object]:
    """Return what is told with its texts as long as there is room for all, each without its middle where it is longer.

    Of lists the first fifty are kept. A text is redacted before it is cut: half a secret is known by nobody.
    """
    for most in _LONGEST:
        cut = {name: _cut(value, most) for name, value in told.items()}
        if len(json.dumps(cut, ensure_ascii=False, default=str)) <= _MOST:
            break
    return cut if told else {}


def _cut(value: object, most: int) -> object:
    if isinstance(value, str):
        return ends(value, most)
    if isinstance(value, list | tuple):
        return [ends(one, _LONGEST_WORD) if isinstance(one, str) else one for one in value[:_MOST_WORDS]]
    return value
