"""Salience: how soon memories fade, and what a verified use makes of their easiness, half-life and clock.

Reinforcement follows SM-2 (Wozniak, 1990); decay is exponential, after Ebbinghaus (1885), and is reckoned for the whole
table at once (`fading_moments` of `helix.store.node_columns`). See docs/lifecycle.md, "Fading and use".
"""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import datetime
from enum import IntEnum

from helix.model.memory import TIER_HALF_LIFE_DAYS, Kind, Memory, tier_of

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
    """Return EF' = max(1.3, EF + 0.1 - (5-q)(0.08 + (5-q)*0.02)), SM-2's rule, for a quality of 0..5."""
    short = 5 - quality
    return max(LEAST_EASINESS, easiness + 0.1 - short * (0.08 + short * 0.02))


def reinforced(memory: Memory, quality: int, now: datetime) -> Memory:
    """Return the memory after a verified use: from quality 3 on the half-life grows and the clock is reset."""
    easiness = easiness_after(memory.easiness, quality)
    if quality < _PASSING_QUALITY:
        return replace(memory, easiness=easiness)
    half_life = min(LONGEST_HALF_LIFE_DAYS, memory.half_life_days * easiness)
    return replace(memory, easiness=easiness, half_life_days=half_life, last_used_at=now)
