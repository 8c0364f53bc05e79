"""Proof: tasks that were shown memories against tasks that were not, as counted, compared and shown."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """A share of cases with its 95 % interval; `value` is None where there are no cases."""

    hits: int
    cases: int
    value: float | None
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """Tasks of one treatment. `delivered` is of those that ended, delivered or blocked; `repeated` of all of them.

    `skipped` and `open` ones have no outcome to count. Tokens are those of the memories that were shown; `tokens`
    counts also the briefs of sessions whose main thread did nothing else, which are no tasks, `tokens_per_task` not.
    """

    tasks: int
    blocked: int
    skipped: int
    open: int
    failed_checks: int
    delivered: Share
    repeated: Share
    tokens: int
    tokens_per_task: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Lift:
    """A share with memory less the same without, with its 95 % interval; `sure` where that leaves out 0."""

    value: float
    low: float
    high: float
    sure: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Harm:
    """What memory may have cost: tasks blocked with it, and of its showings those that failed or took room unused."""

    blocked: int
    shown: int
    failed: int
    unused: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Leader:
    """What one memory came to in these tasks: how often it was shown, and what became of it there."""

    memory_id: str
    name: str
    kind: str
    shown: int
    helped: int
    failed: int
    unused: int
    claimed: int
    withheld: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Period:
    """One day or week (from `start`, UTC): tasks that ended and how many were delivered, with memory and without."""

    start: datetime
    with_ended: int
    with_delivered: int
    without_ended: int
    without_delivered: int
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What memory was worth. The arms are tasks that were drawn and had something to be shown.

    `undrawn` were shown memory while nothing was held back, `neither` were begun and had nothing to be shown.
    `delivered` and `repeated` are None until each arm has `least` tasks. `says` tells in plain words what follows, and
    what does not.
    """

    at: datetime
    since: datetime | None
    scope: str | None
    holdback: float
    least: int
    enough: bool
    with_memory: Arm
    held_back: Arm
    undrawn: Arm
    neither: int
    delivered: Lift | None
    repeated: Lift | None
    harm: Harm
    days: int
    periods: tuple[Period, ...]
    leaders: tuple[Leader, ...]
    says: tuple[str, ...]
