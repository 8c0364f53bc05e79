"""How tests wait: for what must come, and far longer than it takes. The limits only end a test that has failed."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TypeVar

from helix.model.reports import Job, JobState
from helix.operations import upkeep
from helix.service import Helix
from helix.store.change_events import Event

T = TypeVar("T")

MOST_SECONDS = 180.0
"""Longest wait for one thing: a machine that does a lot beside the tests is twenty times slower."""
_MILLISECONDS = str(int(MOST_SECONDS * 1000))
UNHURRIED = dict.fromkeys(("HELIX_CYPHER_TIMEOUT_MS", "HELIX_REQUEST_TIMEOUT_MS", "HELIX_HOOK_MS"), _MILLISECONDS)
"""The environment of a service whose time limits no test runs into by chance."""


def until(condition: Callable[[], T]) -> T:
    """Return what the condition comes to, once that is something: for what another process does, which tells nobody."""
    deadline = time.monotonic() + MOST_SECONDS
    while not (found := condition()):
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.01)
    return found


def ended(helix: Helix, job: Job) -> Job:
    """Return a job of this service as it ended."""
    over = threading.Event()

    def told(event: Event) -> None:
        if event["type"] == "job.progress" and event["id"] == job.id and event["state"] != JobState.RUNNING:
            over.set()

    leave = helix.events.subscribe(told)
    if upkeep.job(helix, job.id).state is JobState.RUNNING:
        assert over.wait(MOST_SECONDS), upkeep.job(helix, job.id)
    leave()
    return upkeep.job(helix, job.id)


def finished(helix: Helix, job: Job) -> Job:
    """Return a job of this service once it is done; fails where it ended otherwise."""
    job = ended(helix, job)
    assert job.state is JobState.DONE, job.error
    return job


def all_ended(helix: Helix) -> None:
    """Return once this service does no job."""
    for job in helix.jobs.all():
        ended(helix, job)


def at_rest(helix: Helix) -> None:
    """Return once this service does neither a job nor background work."""
    all_ended(helix)
    until(lambda: not (helix.jobs.are_running() or helix.worker.at_work))
