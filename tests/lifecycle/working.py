"""Runs work as the service does: as a job, in a thread of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

from helix.model.reports import Job
from helix.store.jobs import Jobs, Ticket
from helix.store.store import Store

T = TypeVar("T")


def job(store: Store, work: Callable[[Ticket], T]) -> T:
    """Run work as a job of the service, to its end."""
    ended = threading.Event()

    def told(job: Job) -> None:
        if job.ended_at is not None:
            ended.set()

    jobs = Jobs(clock=store.clock, make_id=store.make_id, changed=told)
    results: list[T] = []

    def run(ticket: Ticket) -> dict[str, object]:
        results.append(work(ticket))
        return {}

    started = jobs.start("test", run)
    assert ended.wait(60)
    assert jobs.get(started.id).error == ""
    return results[0]
