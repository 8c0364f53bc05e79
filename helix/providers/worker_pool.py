"""Worker pool: threads that help a calling thread through its jobs, one job at a time each."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")


class WorkerPool:
    """Runs jobs beside each other. One call is safe from any thread, and calls do not wait for each other."""

    def __init__(self, threads: int, name: str) -> None:
        """`threads` counts the calling thread; the others are named after `name` and start when first needed."""
        self._helpers = threads - 1
        self._pool = ThreadPoolExecutor(max(1, self._helpers), thread_name_prefix=name)

    def run(self, jobs: Iterable[T], work: Callable[[T], None]) -> None:
        """Do a local model's `work` for every job, in about their order.

        What it raises leaves the rest undone and is raised here.

        The calling thread takes its share. A helper that is busy with another call is not waited for, which is what
        lets a query through while a bulk job runs.
        """
        queue = deque(jobs)

        def drain() -> None:
            while True:
                try:
                    job = queue.popleft()
                except IndexError:
                    return
                work(job)

        helpers = [self._pool.submit(drain) for _ in range(min(self._helpers, len(queue) - 1))]
        try:
            drain()
        finally:
            queue.clear()
            for helper in helpers:
                if not helper.cancel():
                    helper.result()
