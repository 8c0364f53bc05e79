"""Threads beside a calling thread: every job once, errors told, a busy helper not waited for."""

from __future__ import annotations

import threading

import pytest

from helix.providers.worker_pool import WorkerPool


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_every_job_is_done_once(threads: int) -> None:
    done: list[int] = []
    WorkerPool(threads, "test-pool").run(range(50), done.append)
    assert sorted(done) == list(range(50))


def test_jobs_run_beside_each_other() -> None:
    both = threading.Barrier(2, timeout=10)

    def meet(_: int) -> None:
        both.wait()

    WorkerPool(2, "test-pool").run(range(2), meet)


@pytest.mark.parametrize("threads", [1, 3])
def test_an_error_is_raised_and_leaves_the_rest_undone(threads: int) -> None:
    done: list[int] = []

    def work(job: int) -> None:
        if job == 3:
            raise ValueError("broken job")
        done.append(job)

    with pytest.raises(ValueError, match="broken job"):
        WorkerPool(threads, "test-pool").run(range(10_000), work)
    assert len(done) < 10_000


def test_a_busy_helper_is_not_waited_for() -> None:
    pool = WorkerPool(2, "test-pool")
    busy, free = threading.Barrier(3, timeout=10), threading.Event()

    def wait(_: int) -> None:
        busy.wait()
        free.wait(10)

    bulk = threading.Thread(target=lambda: pool.run(range(2), wait))
    bulk.start()
    busy.wait()
    done: list[int] = []
    pool.run(range(5), done.append)
    assert done == list(range(5))
    free.set()
    bulk.join()
