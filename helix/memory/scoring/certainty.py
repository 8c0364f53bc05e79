"""Certainty: how sure a memory is at first, how sure its source lets it become, and what hearing it again adds."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import cast

from helix.memory.change.compose import Composer
from helix.memory.change.intake import OWN_ATTRIBUTE
from helix.model.memory import Memory
from helix.model.provenance import Trust

FIRST: Mapping[Trust, float] = MappingProxyType(
    {
        Trust.USER_ASSERTED: 0.7,
        Trust.VERIFIED_OUTCOME: 0.7,
        Trust.AGENT_INFERRED: 0.6,
        Trust.TOOL_OUTPUT: 0.5,
        Trust.WEB: 0.4,
    }
)
"""Confidence (0..1) of a new memory of which nobody said how sure it is."""
MOST: Mapping[Trust, float] = MappingProxyType(
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


def bounded(confidence: float, trust: Trust) -> float:
    """Return the confidence, or what its class of trust allows where that is less."""
    return min(confidence, MOST[trust])


def count_sighting(composer: Composer, known: Memory, trust: Trust, voice: str) -> Memory:
    """Count a memory that was met again, and return it: with one more sighting, its words untouched.

    It is surer where the one who says it again is trusted no less than its own source, up to what that class allows,
    and once for each `voice`: the source or session that said it. What repeats itself adds nothing.
    """
    attributes: dict[str, object] = {**known.attributes, SEEN: seen(known) + 1}
    voices, who = heard(known), hashlib.sha256(voice.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]
    confidence = known.confidence
    if trust.rank <= known.provenance.trust.rank and who not in voices and len(voices) < _MOST_VOICES:
        raised = bounded(confidence + _SIGHTING * (1.0 - confidence), known.provenance.trust)
        confidence = max(confidence, raised)
        attributes[VOICES] = [*voices, who]
    composer.patch(known.ref, attributes=attributes, confidence=confidence)
    return replace(known, attributes=attributes, confidence=confidence)


def seen(memory: Memory) -> int:
    """Return how often a memory was met."""
    count = memory.attributes.get(SEEN, 1)
    return count if isinstance(count, int) else 1


def heard(memory: Memory) -> list[str]:
    """Return the digests of the voices whose repetition made a memory surer."""
    voices = memory.attributes.get(VOICES, [])
    return list(cast(list[str], voices)) if isinstance(voices, list) else []
