"""Scores of a memory, as arithmetic: how much it is likely to matter, how sure it is, and how soon it fades.

Importance is 1..10, once, at write time, without a model. Certainty is how sure a memory is at first, how sure its
source lets it become, and what hearing it again adds. Salience is how soon memories fade, and what a verified use makes
of their easiness, half-life and clock: reinforcement follows SM-2 (Wozniak, 1990); decay is exponential, after
Ebbinghaus (1885), and is reckoned for the whole table at once (`fading_moments` of `helix.store.node_columns`). See
docs/lifecycle.md, "Fading and use".
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from enum import IntEnum
from types import MappingProxyType
from typing import cast

from helix.memory.change.compose import Composer
from helix.memory.change.intake import OWN_ATTRIBUTE
from helix.model.entity import EntityKind, Mention
from helix.model.memory import TIER_HALF_LIFE_DAYS, Kind, Memory, tier_of
from helix.model.provenance import Trust

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
    """Return the importance score of a text as episode (`kind` None) or memory.

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


FIRST_CERTAINTY: Mapping[Trust, float] = MappingProxyType(
    {
        Trust.USER_ASSERTED: 0.7,
        Trust.VERIFIED_OUTCOME: 0.7,
        Trust.AGENT_INFERRED: 0.6,
        Trust.TOOL_OUTPUT: 0.5,
        Trust.WEB: 0.4,
    }
)
"""Confidence (0..1) of a new memory of which nobody said how sure it is."""
MOST_CERTAIN: Mapping[Trust, float] = MappingProxyType(
    {
        Trust.USER_ASSERTED: 0.99,
        Trust.VERIFIED_OUTCOME: 0.95,
        Trust.AGENT_INFERRED: 0.8,
        Trust.TOOL_OUTPUT: 0.6,
        Trust.WEB: 0.5,
    }
)
"""Confidence that no memory of a class is stored with above, or comes to by being heard again."""
SEEN = f"{OWN_ATTRIBUTE}seen"
"""Attribute that counts how often a memory was met."""
VOICES = f"{OWN_ATTRIBUTE}voices"
"""Attribute with a digest of each source or session whose repetition made the memory surer."""
# Each further voice closes this share of the distance to certainty.
_SIGHTING = 0.1
_MOST_VOICES = 50
_DIGITS = 12


def bounded_confidence(confidence: float, trust: Trust) -> float:
    """Return a memory's confidence, or what its class of trust allows where that is less."""
    return min(confidence, MOST_CERTAIN[trust])


def count_sighting(composer: Composer, known: Memory, trust: Trust, voice: str) -> Memory:
    """Count a memory that was met again, and return it: with one more sighting, its words untouched.

    It is surer where the one who says it again is trusted no less than its own source, up to what that class allows,
    and once for each `voice`: the source or session that said it. What repeats itself adds nothing.
    """
    attributes: dict[str, object] = {**known.attributes, SEEN: seen(known) + 1}
    voices, who = heard(known), hashlib.sha256(voice.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]
    confidence = known.confidence
    if trust.rank <= known.provenance.trust.rank and who not in voices and len(voices) < _MOST_VOICES:
        raised = bounded_confidence(confidence + _SIGHTING * (1.0 - confidence), known.provenance.trust)
        confidence = max(confidence, raised)
        attributes[VOICES] = [*voices, who]
    composer.patch(known.ref, attributes=attributes, confidence=confidence)
    return replace(known, attributes=attributes, confidence=confidence)


def seen(memory: Memory) -> int:
    """Return how often a memory was seen: its count of sightings."""
    count = memory.attributes.get(SEEN, 1)
    return count if isinstance(count, int) else 1


def heard(memory: Memory) -> list[str]:
    """Return the digests of the voices whose repetition made a memory surer."""
    voices = memory.attributes.get(VOICES, [])
    return list(cast(list[str], voices)) if isinstance(voices, list) else []


LEAST_EASINESS = 1.3
LONGEST_HALF_LIFE_DAYS = 3650.0
_PASSING_QUALITY = 3


def last_access(memory: Memory) -> datetime:
    """Return when a memory's clock was last set: at its recording, or at its last verified use where that is later."""
    return max(memory.recorded_at, memory.last_used_at or memory.recorded_at)


def half_life_of(kind: Kind) -> float:
    """Return the salience half-life in days that a memory of the kind starts with; 0 stands for "never fades"."""
    days = TIER_HALF_LIFE_DAYS[tier_of(kind)]
    return 0.0 if math.isinf(days) else days


class Quality(IntEnum):
    """What a verified use says for a memory, 0..5 as SM-2 counts."""

    USED_AND_PASSED = 5
    """There is evidence that it was used, and the outcome passed."""
    CLAIMED_AND_PASSED = 4
    PASSED = 3
    """The outcome passed; whether it was used is not known."""
    USED_AND_FAILED = 1


def easiness_after(easiness: float, quality: int) -> float:
    """Return a memory's easiness EF' = max(1.3, EF + 0.1 - (5-q)(0.08 + (5-q)*0.02)), SM-2, quality 0..5."""
    short = 5 - quality
    return max(LEAST_EASINESS, easiness + 0.1 - short * (0.08 + short * 0.02))


def reinforced(memory: Memory, quality: int, now: datetime) -> Memory:
    """Return the memory with its scores after a verified use.

    From quality 3 on the half-life grows and the clock is reset.
    """
    easiness = easiness_after(memory.easiness, quality)
    if quality < _PASSING_QUALITY:
        return replace(memory, easiness=easiness)
    half_life = min(LONGEST_HALF_LIFE_DAYS, memory.half_life_days * easiness)
    return replace(memory, easiness=easiness, half_life_days=half_life, last_used_at=now)
