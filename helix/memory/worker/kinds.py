"""Kinds: which work each kind of background job does, and which of them follow when enough has happened.

It also says what a background job would do now, without a language model or a write, and in bounded time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from helix.errors import QueryTimeoutError
from helix.memory.extraction.consolidation import consolidate, rederive
from helix.memory.failures.systemic import promote_systemic
from helix.memory.insight.llm_reflect import reflect_with_model
from helix.memory.insight.rollup import roll_up
from helix.memory.job_run.foreground import Foreground, Pace
from helix.memory.job_run.run import Run, SlicedRun
from helix.memory.llm.llm_reviews import find_contradictions, upgrade_importance
from helix.memory.upkeep.gaps import close_gaps
from helix.memory.upkeep.maintenance import run_decay, run_decay_edges, run_prune
from helix.memory.upkeep.merge import merge_similar
from helix.model.reports import WorkPlan
from helix.store.store import Store

JobWork = Callable[[Run, Mapping[str, Any]], Mapping[str, int]]
"""What a kind of job does: it may be run again from its beginning at any time, and answers with counts for people."""

CONSOLIDATE = "consolidate"
"""The kind that a session's end, a flush and the budget ask for; its payload is {"scope": a scope, or None for all}."""

KINDS: Mapping[str, JobWork] = MappingProxyType(
    {
        CONSOLIDATE: consolidate,
        "rederive": rederive,
        "promote_systemic": promote_systemic,
        "close_gaps": close_gaps,
        "merge_similar": merge_similar,
        "decay": run_decay,
        "decay_edges": run_decay_edges,
        "prune": run_prune,
        "reflect": reflect_with_model,
        "roll_up": roll_up,
        "upgrade_importance": upgrade_importance,
        "find_contradictions": find_contradictions,
    }
)

ROUND = (
    "upgrade_importance",
    CONSOLIDATE,
    "promote_systemic",
    "close_gaps",
    "roll_up",
    "find_contradictions",
    "reflect",
)
"""What is done, in this order, of a scope when a session of it ends, by a flush, and of all when enough has happened.

Importance is looked at first, as only what is not consolidated yet has it upgraded; of the rest the cheap comes first.
"""

ASKING = frozenset({CONSOLIDATE, "rederive", "upgrade_importance", "find_contradictions", "reflect", "roll_up"})
"""The kinds that ask a language model, where there is one."""


def plan(
    store: Store,
    kind: str,
    work: JobWork,
    payload: Mapping[str, Any],
    *,
    foreground: Foreground,
    pace: Pace,
    monotonic: Callable[[], float] = time.monotonic,
) -> WorkPlan:
    """Return what the worker would do for a kind of job; gives way to whoever waits for an answer, as the job does.

    A plan takes as long as one request may (`request_timeout_ms`): after that it ends at its next resting place and
    QueryTimeoutError is raised, whether or not anybody waits for it still. `without_model` says that the job itself
    asks a language model and may come to something else.
    """
    seconds = store.runtime.settings.request_timeout_ms / 1000
    end = monotonic() + seconds
    began = monotonic()

    def rest() -> bool:
        nonlocal began
        patience = min(pace.rests * (monotonic() - began), pace.patience, max(end - monotonic(), 0.0))
        foreground.give_way(0.0, patience)
        began = monotonic()
        return began >= end

    run = SlicedRun(store, "", kind, rest=rest, dry_run=True)
    result = work(run, payload)
    if monotonic() >= end:
        raise QueryTimeoutError(
            f"the plan of {kind} was not finished within {seconds:g} s",
            hint="plan one scope at a time, or raise the setting 'request_timeout_ms'",
        )
    return WorkPlan(
        kind=kind,
        lines=tuple(run.plan),
        counts={**run.counts, **result},
        without_model=kind in ASKING and store.runtime.language_model is not None,
    )
