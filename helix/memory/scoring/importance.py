"""Importance: how much a text is likely to matter, 1..10, once, at write time, without a model."""

from __future__ import annotations

import re

from helix.model.entity import EntityKind, Mention
from helix.model.memory import Kind

_BASE_OF_KIND = {
    Kind.SYSTEMIC: 8.0,
    Kind.FAILURE: 6.0,
    Kind.DECISION: 6.5,
    Kind.CONVENTION: 6.0,
    Kind.PREFERENCE: 6.0,
    Kind.IDENTITY: 6.0,
    Kind.PATTERN: 5.5,
    Kind.EVOLUTION: 4.0,
}
_BASE_OF_MEMORY, _BASE_OF_EPISODE = 5.0, 3.0

_CUES = re.compile(
    r"\b(always|never|must|remember|important|critical|prefer|decided?|because|root cause|security|data loss)\b",
    re.IGNORECASE,
)
_TROUBLE = re.compile(
    r"\b(error|exception|fail(ed|ure|s)?|crash(ed|es)?|leak|deadlock|corrupt\w*|regression|CVE-\d+)\b", re.IGNORECASE
)

_LONG, _SHORT = 400, 40


def importance_of(text: str, mentions: tuple[Mention, ...], kind: Kind | None = None) -> float:
    """Return the importance of a text as episode (`kind` None) or memory.

    Base by kind, plus up to 1.5 for cues, 1.5 for trouble, 1 for density of entities and 0.5 for length, minus 1 for a
    scrap of text; rounded to a half.
    """
    score = _BASE_OF_EPISODE if kind is None else _BASE_OF_KIND.get(kind, _BASE_OF_MEMORY)
    score += min(1.5, 0.5 * len({match.lower() for match in _CUES.findall(text)}))
    score += min(1.5, 0.75 * len(_TROUBLE.findall(text)))
    telling = sum(mention.kind is not EntityKind.CONCEPT for mention in mentions)
    score += min(1.0, 0.2 * telling)
    score += 0.5 if len(text) > _LONG else -1.0 if len(text) < _SHORT else 0.0
    return min(10.0, max(1.0, round(2 * score) / 2))
