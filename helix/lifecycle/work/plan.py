"""Plan: what a background job would do now, found out without a language model or a write, and in bounded time."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from helix.errors import QueryTimeoutError
from helix.lifecycle.work.foreground import Foreground, Pace
from helix.lifecycle.work.kinds import ASKING, JobWork
from helix.lifecycle.work.slices import SlicedRun
from helix.model.reports import WorkPlan
from helix.store.store import Store


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
    """Return what the work would do and come to; it gives way to whoever waits for an answer, as the job does.

    A plan takes as long as one request may (`request_timeout_ms`): after that it ends at its next resting place and
    QueryTimeoutError is raised, whether or not anybody waits for it still. `without_model` says that the job itself
    asks a language model and may come to something else.
    """
    seconds = store.settings.request_timeout_ms / 1000
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
        without_model=kind in ASKING and store.language_model is not None,
    )
