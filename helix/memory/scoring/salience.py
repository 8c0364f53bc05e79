"""Salience: how memories fade and what verified use makes of them, as arithmetic; the catalogue does it by the table.

Decay is exponential, after Ebbinghaus (1885); reinforcement follows SM-2 (Wozniak, 1990). What they are for, and who
asks for them, is told in docs/lifecycle.md, "Fading and use".

Reinforcement: what a verified use does to a memory's easiness, half-life and clock (SM-2).
"""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import datetime, timedelta
from enum import IntEnum

from helix.model.memory import RECENCY_HALF_LIFE_DAYS, TIER_HALF_LIFE_DAYS, Kind, Memory, tier_of

FLOOR = 0.5
"""Salience below which a memory leaves default recall, where no setting says otherwise."""
_DAY = timedelta(days=1)


def decay_rate(half_life_days: float) -> float:
    """Return lambda = ln 2 / half-life, per day; 0 for a half-life of 0 or infinity, which never fades."""
    if half_life_days <= 0 or math.isinf(half_life_days):
        return 0.0
    return math.log(2) / half_life_days


def salience(importance: float, days: float, half_life_days: float) -> float:
    """Return importance * e^(-lambda * days): 1..10 at the moment of access, half of it after a half-life.

    A moment before the access counts as the access itself.
    """
    return importance * math.exp(-decay_rate(half_life_days) * max(0.0, days))


def last_access(memory: Memory) -> datetime:
    """Return when a memory's clock was last set: at its recording, or at its last verified use where that is later."""
    return max(memory.recorded_at, memory.last_used_at or memory.recorded_at)


def salience_of(memory: Memory, now: datetime) -> float:
    """Return a memory's salience at a moment."""
    return salience(memory.importance, (now - last_access(memory)) / _DAY, memory.half_life_days)


def faded(memory: Memory, now: datetime, floor: float = FLOOR) -> bool:
    """Return whether a memory's salience is below the floor: it is recalled by `deep` alone, until it is reinforced.

    What has no half-life never fades, however little it matters.
    """
    return decay_rate(memory.half_life_days) > 0.0 and salience_of(memory, now) < floor


def recency(days: float, kind: Kind) -> float:
    """Return 2^(-days / half-life), 0..1, by the kind's own half-life: the clock that ranks, not the one that fades."""
    return float(2.0 ** (-max(0.0, days) / RECENCY_HALF_LIFE_DAYS[kind]))


def effectiveness(helped: float, failed: float) -> float:
    """Return helped / (helped + failed), 0..1; one half before any feedback."""
    total = helped + failed
    return helped / total if total > 0 else 0.5


def tier_half_life(kind: Kind) -> float:
    """Return the salience half-life in days that a kind's tier starts with; infinity where it does not fade."""
    return TIER_HALF_LIFE_DAYS[tier_of(kind)]


LEAST_EASINESS = 1.3
LONGEST_HALF_LIFE_DAYS = 3650.0
_PASSING_QUALITY = 3


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
