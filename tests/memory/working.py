"""Runs work as the service does, as a job in a thread of its own, and reads the files of an open store."""

from __future__ import annotations

import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
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

    jobs = Jobs(clock=store.runtime.clock, make_id=store.runtime.make_id)
    jobs.listen(told)
    results: list[T] = []

    def run(ticket: Ticket) -> dict[str, object]:
        results.append(work(ticket))
        return {}

    started = jobs.start("test", run)
    assert ended.wait(60)
    assert jobs.get(started.id).error == ""
    return results[0]


@contextmanager
def copied(folder: Path) -> Iterator[list[Path]]:
    """Lend copies of all files of a folder, made by another process.

    A process that opens and closes a database's file by itself drops SQLite's locks on it, and the graph's process then
    takes the log away, as the last one that reads it.
    """
    with tempfile.TemporaryDirectory() as place:
        run = subprocess.run(["cp", "-R", str(folder), place], capture_output=True, text=True, check=False, timeout=60)
        # The graph's log may go while it is copied: what is gone is no file of the folder any more.
        assert all("No such file" in line for line in run.stderr.splitlines()), run.stderr
        yield sorted(file for file in Path(place).rglob("*") if file.is_file())
