"""Credit: what a task has given to a memory, kept so that a better verdict can take exactly that back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any

from helix.agents.outcomes.verdicts import OutcomeVerdict
from helix.memory.scores import LEAST_EASINESS
from helix.memory.upkeep.maintenance import used
from helix.model.clock import from_micros, to_micros
from helix.model.memory import ROOM, Memory, claimed_of, room_of, with_claimed
from helix.model.task import Credit

ROOM_AT_MOST = 2
"""So many times a memory is charged for taking room: together less than what any verdict counts."""
_DIGITS = 9
"""Counters are rounded to so many places, so that what is added and taken back in any order comes to the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CreditEntry:
    """What a memory was given, and how its easiness, half-life and clock stood before and after (microseconds).

    `charged` is what was really added to `failed` for taking room, up to what the verdict says; None for all else.
    """

    memory: str
    outcome: str
    helped: float
    failed: float
    quality: int | None
    uses: int
    at: int
    easiness: tuple[float, float]
    half_life: tuple[float, float]
    last_used: tuple[int | None, int | None]
    charged: float | None = None

    @property
    def added(self) -> float:
        """What a task's outcome added to a memory's `failed`."""
        return self.failed if self.charged is None else self.charged

    def same_as(self, verdict: OutcomeVerdict) -> bool:
        """Return whether the verdict of a task's outcome would give a memory the same."""
        given = (self.outcome, self.helped, self.failed, self.quality)
        return given == (verdict.outcome, verdict.helped, verdict.failed, verdict.quality)

    def shown(self) -> Credit:
        """Return what is told beside a task of the credit that its outcome gave."""
        return Credit(helped=self.helped, failed=self.added, quality=self.quality, at=from_micros(self.at))

    def written(self) -> dict[str, Any]:
        """Return the credit that a task's outcome gave as plain JSON data."""
        pairs = {name: list(getattr(self, name)) for name in ("easiness", "half_life", "last_used")}
        return {**asdict(self), **pairs, "quality": None if self.quality is None else int(self.quality)}


def entry_from(data: Mapping[str, Any]) -> CreditEntry:
    """Return the credit entry of a task's outcome for a memory that was written so."""
    pairs = {name: tuple(data[name]) for name in ("easiness", "half_life", "last_used")}
    return CreditEntry(**{**data, **pairs})


def give_credit(memory: Memory, verdict: OutcomeVerdict, now: datetime) -> tuple[Memory, CreditEntry]:
    """Return a memory after a task's verdict, and the credit to keep. Without a use only the counters change.

    What is only claimed is kept apart within `helped`.
    """
    charged: float | None = None
    if verdict.is_room:
        after = _with_room(memory, 1, verdict.failed)
        charged = _rounded(after.failed - memory.failed)
    elif verdict.is_use:
        after = used(memory, verdict.helped, verdict.failed, verdict.quality, now)
    else:
        after = replace(memory, helped=memory.helped + verdict.helped, failed=memory.failed + verdict.failed)
    if verdict.claimed:
        after = replace(after, attributes=with_claimed(after.attributes, claimed_of(after) + verdict.helped))
    after = replace(after, helped=_rounded(after.helped), failed=_rounded(after.failed))
    entry = CreditEntry(
        memory=memory.id,
        outcome=verdict.outcome,
        helped=verdict.helped,
        failed=verdict.failed,
        quality=verdict.quality,
        uses=after.uses - memory.uses,
        at=to_micros(now),
        easiness=(memory.easiness, after.easiness),
        half_life=(memory.half_life_days, after.half_life_days),
        last_used=(_micros(memory.last_used_at), _micros(after.last_used_at)),
        charged=charged,
    )
    return after, entry


def take_back_credit(memory: Memory, entry: CreditEntry) -> Memory:
    """Return a memory without what the credit entry of a task's outcome gave it.

    Where nothing else has touched easiness, half-life and clock since, they are what they were; else the change that
    the entry made is undone on what they are now. A counter that was halved since may not go below zero.
    """
    if entry.charged is not None:
        return _with_room(memory, -1, entry.failed)
    (easy, easier), (half, longer) = entry.easiness, entry.half_life
    before, after = entry.last_used
    claimed = entry.helped if entry.outcome == "claimed" else 0.0
    return replace(
        memory,
        helped=max(0.0, _rounded(memory.helped - entry.helped)),
        failed=max(0.0, _rounded(memory.failed - entry.failed)),
        uses=max(0, memory.uses - entry.uses),
        easiness=easy if memory.easiness == easier else max(LEAST_EASINESS, memory.easiness + easy - easier),
        half_life_days=half if memory.half_life_days == longer else _scaled(memory.half_life_days, half, longer),
        last_used_at=_moment(before) if _micros(memory.last_used_at) == after else memory.last_used_at,
        attributes=with_claimed(memory.attributes, claimed_of(memory) - claimed),
    )


def _with_room(memory: Memory, more: int, penalty: float) -> Memory:
    """Return a memory after one task more, or one less, in which it took room in vain.

    What is charged goes by how many such tasks there are, not by which came first.
    """
    before, charged = room_of(memory)
    count = max(0, before + more)
    step = penalty * (min(count, ROOM_AT_MOST) - min(before, ROOM_AT_MOST))
    kept = {name: value for name, value in memory.attributes.items() if name != ROOM}
    if count:
        kept[ROOM] = [count, max(0.0, _rounded(charged + step))]
    return replace(memory, failed=max(0.0, _rounded(memory.failed + step)), attributes=kept)


def _scaled(now: float, before: float, after: float) -> float:
    return now * before / after if after > 0 else now


def _rounded(counter: float) -> float:
    return round(counter, _DIGITS)


def _micros(moment: datetime | None) -> int | None:
    return None if moment is None else to_micros(moment)


def _moment(micros: int | None) -> datetime | None:
    return None if micros is None else from_micros(micros)
