"""Proof: tasks that were shown memories against tasks that were not, as counted, compared and shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from helix.model.memory import Memory


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """A share of cases with its 95 % interval; `value` is None where there are no cases."""

    hits: Annotated[int, "How many."]
    cases: Annotated[int, "Of how many."]
    value: Annotated[float | None, "hits / cases; null of no cases."]
    low: Annotated[float, "Lower end of its 95 % interval (Wilson's)."]
    high: Annotated[float, "Upper end of its 95 % interval."]


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """Tasks of one treatment. `delivered` is of those that ended, delivered or blocked; `repeated` of all of them.

    `skipped` and `open` ones have no outcome to count. Tokens are those of the memories that were shown; `tokens`
    counts also the briefs of sessions whose main thread did nothing else, which are no tasks, `tokens_per_task` not.
    """

    tasks: Annotated[int, "How many tasks."]
    blocked: Annotated[int, "How many of them were blocked."]
    skipped: Annotated[int, "How many were skipped, and are in no share."]
    open: Annotated[int, "How many have no outcome yet."]
    failed_checks: Annotated[int, "How many ended with a check that failed."]
    delivered: Annotated[Share, "Those delivered, of those that ended delivered or blocked."]
    repeated: Annotated[Share, "Those that met a failure known before they began, of all of them."]
    tokens: Annotated[
        int, "Tokens of the memories that they were shown, and of the briefs of sessions that did nothing else."
    ]
    tokens_per_task: Annotated[float, "Tokens of the memories that one task was shown, on average."]


@dataclass(frozen=True, slots=True, kw_only=True)
class Lift:
    """A share with memory less the same without, with its 95 % interval; `sure` where that leaves out 0."""

    value: Annotated[float, "The share with memory less the share without."]
    low: Annotated[float, "Lower end of its 95 % interval (Newcombe's, from Wilson's)."]
    high: Annotated[float, "Upper end of its 95 % interval."]
    sure: Annotated[bool, "Whether the interval leaves out 0."]


@dataclass(frozen=True, slots=True, kw_only=True)
class Harm:
    """What memory may have cost: tasks blocked with it, and of its showings those that failed or took room unused."""

    blocked: Annotated[int, "Tasks that were shown memories and were blocked."]
    shown: Annotated[int, "How often a memory was shown to a task."]
    failed: Annotated[int, "How often it was used and the task failed."]
    unused: Annotated[int, "How often it was not used, and took room."]
    failed_share: Annotated[Share, "The showings that were used in a task that failed, of all of them."]


@dataclass(frozen=True, slots=True, kw_only=True)
class Leader:
    """What one memory came to in these tasks: how often it was shown, and what became of it there."""

    memory_id: Annotated[str, "The memory."]
    name: str
    kind: str
    shown: Annotated[int, "How often it was shown to a task."]
    helped: Annotated[int, "How often it helped."]
    failed: Annotated[int, "How often it was used and the task failed."]
    unused: Annotated[int, "How often it was not used."]
    claimed: Annotated[int, "How often only the agent's word says that it helped."]
    withheld: Annotated[int, "How often it was held back."]


@dataclass(frozen=True, slots=True, kw_only=True)
class Period:
    """One day or week (from `start`, UTC): what came of the tasks that ended in it, with memory and without."""

    start: Annotated[datetime, "Its beginning, midnight UTC."]
    with_ended: Annotated[int, "Tasks that ended, with memory."]
    with_delivered: Annotated[int, "Those of them that were delivered."]
    without_ended: Annotated[int, "Tasks that ended, held back."]
    without_delivered: Annotated[int, "Those of them that were delivered."]
    with_delivered_share: Annotated[Share, "Those delivered, of the tasks with memory that ended."]
    without_delivered_share: Annotated[Share, "Those delivered, of the tasks held back that ended."]
    with_repeated_share: Annotated[Share, "Those that met a failure known before they began, with memory."]
    without_repeated_share: Annotated[Share, "Those that met a failure known before they began, held back."]
    tokens: Annotated[int, "Tokens of the memories that its tasks were shown."]


@dataclass(frozen=True, slots=True, kw_only=True)
class Showing:
    """One time that a memory was shown to a task, or held back from it, and what came of that."""

    id: Annotated[str, "What tells it from others."]
    task: Annotated[str, "The id of the task."]
    memory_id: Annotated[str, "The id of the version that was shown."]
    name: Annotated[str, "The name of the memory."]
    objective: Annotated[str, "What the task was to reach; empty where nothing is kept of it."]
    session: str
    at: Annotated[datetime, "When it was shown."]
    arm: Annotated[str, "How it came: `recall`, `action`, `error`, `brief` or `prompt`."]
    rank: Annotated[int, "Its place among what was shown, from 1."]
    score: float
    tokens: Annotated[int, "How long it was, in tokens."]
    withheld: Annotated[bool, "Whether it was held back, to learn what it is worth."]
    outcome: Annotated[str, "What came of it: `helped`, `failed`, `unused`, `claimed` or `skipped`; empty while open."]
    use: Annotated[tuple[str, ...], "What was done that shows its use, in words; empty where nothing does."]


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectPeriod:
    """What one memory came to in a day or a week."""

    start: Annotated[datetime, "Its beginning, midnight UTC."]
    shown: Annotated[int, "How often it was shown to a task."]
    helped: Annotated[int, "How often it helped."]
    failed: Annotated[int, "How often it was used and the task failed."]
    unused: Annotated[int, "How often it was not used."]


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryEffect:
    """What one memory came to in all tasks, its earlier versions included."""

    memory: Annotated[Memory, "The memory that was asked for."]
    shown: Annotated[int, "How often it was shown to a task."]
    helped: Annotated[int, "How often it helped."]
    failed: Annotated[int, "How often it was used and the task failed."]
    unused: Annotated[int, "How often it was not used."]
    claimed: Annotated[int, "How often only the agent's word says that it helped."]
    withheld: Annotated[int, "How often it was held back."]
    days: Annotated[int, "How many days a period has: 1 or 7."]
    periods: Annotated[tuple[EffectPeriod, ...], "The days or weeks in order, from the first time it was shown."]


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What memory was worth. The arms are tasks that were drawn and had something to be shown.

    `undrawn` were shown memory while nothing was held back, `neither` were begun and had nothing to be shown.
    `delivered` and `repeated` are None until each arm has `least` tasks. `says` tells in plain words what follows, and
    what does not.
    """

    at: Annotated[datetime, "When it was made."]
    since: Annotated[datetime | None, "Tasks before this are not in it; null for all."]
    scope: Annotated[str | None, "The scope it is about; null for all."]
    holdback: Annotated[float, "The share of tasks that is held back now."]
    least: Annotated[int, "How many tasks have to have ended in each arm before they are compared."]
    enough: Annotated[bool, "Whether so many have."]
    with_memory: Annotated[Arm, "Tasks that were drawn to be shown memories, and were shown some."]
    held_back: Annotated[Arm, "Tasks that were drawn to be shown none, and would have been shown some."]
    undrawn: Annotated[Arm, "Tasks that were shown memories while nothing was held back: they prove nothing."]
    neither: Annotated[int, "Tasks that there was nothing to show to."]
    delivered: Annotated[Lift | None, "The difference in what is delivered; null before there is enough."]
    repeated: Annotated[Lift | None, "The difference in failures that are repeated; null before there is enough."]
    harm: Annotated[Harm, "What memory may have cost."]
    days: Annotated[int, "How many days a period has: 1 or 7."]
    periods: Annotated[tuple[Period, ...], "The days or weeks in order."]
    leaders: Annotated[
        tuple[Leader, ...], "Memories, those that helped most first; of many the first and the last ten."
    ]
    says: Annotated[tuple[str, ...], "What follows from this, and what does not, in plain words."]


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopStats:
    """The counts behind `LoopHealth`, over the newest tasks."""

    memories: Annotated[int, "Memories."]
    with_feedback: Annotated[int, "Memories that have had feedback."]
    without_feedback: Annotated[int, "Memories that have had none."]
    overall_effectiveness: Annotated[float | None, "helped / (helped + failed) over all; null before any feedback."]
    relationships: Annotated[int, "Edges; those that begin in the scope, where one is named."]
    embedding_coverage: Annotated[float, "Share of the passages that have a vector, 0 to 1."]
    ineffective: Annotated[int, "Active memories that hardly ever helped."]
    tasks: Annotated[int, "Tasks that were looked at."]
    tasks_by_status: Annotated[Mapping[str, int], "Tasks of each status."]
    tasks_by_outcome: Annotated[Mapping[str, int], "Tasks of each outcome, `unknown` where none is said."]
    injected: Annotated[int, "How often a memory was shown to a task."]
    withheld: Annotated[int, "How often a memory was held back from a task."]
    judged: Annotated[int, "How often the end of a task said something of a memory that it was shown."]
    credited: Annotated[int, "How often it said that the memory helped or failed."]
    unjudged: Annotated[int, "How often a task ended and nothing was said."]
    sessions_without_task: Annotated[tuple[str, ...], "Of the last sessions without a task, whether each was judged."]
    candidates: Annotated[Mapping[str, int], "Candidates of each status."]


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopHealth:
    """Whether agents' work is learned from: `ok`, or `degraded` with what to look at."""

    status: Annotated[str, "`ok` or `degraded`."]
    issues: Annotated[tuple[str, ...], "What is not as it should be."]
    stats: Annotated[LoopStats, "The counts behind that."]
