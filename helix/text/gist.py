"""Gist: the whole sentences of a text that matter to a question, where all of it is too long."""

from __future__ import annotations

import re
from collections.abc import Collection

from helix.text.tokens import query_terms

_END = re.compile(r"(?<=[.!?\u2026])[\"'\u201d\u2019)\]*_`]*\s+(?=[^\sa-z])|(?<=[\u3002\uff01\uff1f])|\n\s*")
_BETWEEN = 1


def gist(text: str, limit: int, question: str = "") -> str:
    """Return at most `limit` characters of a text in whole sentences, in their order; all of it where it is short.

    The sentence that shares most words with the question comes first, else the first one; then those beside it. Only
    where no sentence is short enough is one cut, between words, and marked as cut.
    """
    if len(text) <= limit:
        return text
    said = [part.strip() for part in _END.split(text) if part.strip()]
    wanted = frozenset(query_terms(question))
    shared = [len(wanted.intersection(query_terms(part))) for part in said] if wanted else [0] * len(said)
    best = max(range(len(said)), key=lambda place: (shared[place], -place))
    nearest = sorted(
        range(len(said)), key=lambda place: (place != 0 and abs(place - best) > 1, abs(place - best), place)
    )
    kept = _fitting(said, nearest, limit)
    if kept:
        return " ".join(said[place] for place in sorted(kept))
    cut = said[best][:limit]
    return f"{cut.rsplit(maxsplit=1)[0] if ' ' in cut else cut[:-1]}\u2026"


def _fitting(said: Collection[str], order: Collection[int], limit: int) -> list[int]:
    kept: list[int] = []
    spent = 0
    lengths = [len(part) for part in said]
    for place in order:
        if spent + lengths[place] <= limit:
            kept.append(place)
            spent += lengths[place] + _BETWEEN
    return kept
