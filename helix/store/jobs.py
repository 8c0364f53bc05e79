"""Jobs: long work in threads of its own, with progress, cancellation and a bounded history."""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from contextvars import copy_context
from dataclasses import replace
from functools import partial
from typing import Any

from helix.errors import ConflictError, HelixError, NotFoundError, of_the_system
from helix.model.clock import Clock, to_micros
from helix.model.ids import IdMaker
from helix.model.paging import page_of
from helix.model.reports import Job, JobState, Page

log = logging.getLogger(__name__)

_KEPT = 50
_OF_THE_JOURNAL = ("backup", "restore", "recover", "erase")
_NOT_BESIDE = {**dict.fromkeys(_OF_THE_JOURNAL, _OF_THE_JOURNAL), "restore": (*_OF_THE_JOURNAL, "reembed")}


class Ticket:
    """What a job's work holds: tells progress, and asks whether it should stop."""

    def __init__(self, jobs: Jobs, job_id: str) -> None:
        self._jobs = jobs
        self._id = job_id
        self.stopping = threading.Event()
        """Set once the job was asked to stop, for work that can be interrupted anywhere."""

    @property
    def cancelled(self) -> bool:
        """Whether an import, a backup or other job of the store was asked to stop."""
        return self.stopping.is_set()

    def stop(self) -> None:
        """Ask a job of the store, such as an import or a backup, to stop at its next resting place."""
        self.stopping.set()

    def progress(self, done: int, total: int, message: str = "") -> None:
        """Tell how far an import, a backup or other job of the store is; `total` 0 means not known."""
        self._jobs.advance(self._id, done=done, total=total, message=message)


Work = Callable[[Ticket], Mapping[str, Any]]


def _not_beside(one: str, other: str) -> bool:
    return one == other or other in _NOT_BESIDE.get(one, ()) or one in _NOT_BESIDE.get(other, ())


class Jobs:
    """The jobs of one service. At most one job of a kind runs at a time, and one of those of the whole journal."""

    def __init__(self, *, clock: Clock, make_id: IdMaker) -> None:
        self._clock = clock
        self._make_id = make_id
        self._listeners: list[Callable[[Job], None]] = []
        self._guard = threading.Lock()
        self._jobs: OrderedDict[str, Job] = OrderedDict()
        self._running: dict[str, tuple[Ticket, threading.Thread]] = {}

    def listen(self, callback: Callable[[Job], None]) -> None:
        """Have `callback` told of each new state of a job, on the job's thread."""
        self._listeners.append(callback)

    def start(self, kind: str, work: Work, *, prepare: Callable[[], object] | None = None) -> Job:
        """Run an import, a backup or other `work` in a thread of the store; ConflictError while one of its kind runs.

        A backup, a restore, a recovery and an erasure are of one kind here: a copy that is begun before an erasure
        and ends after it would bring back what was erased. Nor is a store restored while it is embedded anew.

        `prepare` is done before this returns: what must hold as soon as the job is acknowledged. What it raises is
        raised here, and there is no job then.
        """
        now = self._clock()
        job = Job(id=self._make_id(now), kind=kind, state=JobState.RUNNING, started_at=now)
        ticket = Ticket(self, job.id)
        with self._guard:
            running = (other for other in self._jobs.values() if other.state is JobState.RUNNING)
            if busy := next((other for other in running if _not_beside(kind, other.kind)), None):
                hint = "`helix status` shows how far it is; run this again when it has ended"
                article = "an" if busy.kind[0] in "aeiou" else "a"
                raise ConflictError(f"{article} {busy.kind} job is running already", hint=hint)
            self._jobs[job.id] = job
            while len(self._jobs) > _KEPT:
                oldest = next((old for old in self._jobs.values() if old.state is not JobState.RUNNING), None)
                if oldest is None:
                    break
                del self._jobs[oldest.id]
        if prepare is not None:
            try:
                prepare()
            except BaseException:
                with self._guard:
                    del self._jobs[job.id]
                raise
        run = partial(copy_context().run, self._run, job.id, ticket, work)  # as whoever asked for it
        thread = threading.Thread(target=run, name=f"helix-{kind}", daemon=True)
        with self._guard:
            self._running[job.id] = (ticket, thread)
        thread.start()
        return job

    def get(self, job_id: str) -> Job:
        """Return an import, a backup or other job of the store as it stands now."""
        with self._guard:
            job = self._jobs.get(job_id)
        if job is None:
            raise NotFoundError(f"no job has the id {job_id!r}", hint="`helix status` lists the jobs")
        return job

    def all(self) -> list[Job]:
        """Return every import, backup or other job of the store that is still known, newest first."""
        with self._guard:
            return list(reversed(self._jobs.values()))

    def are_running(self) -> bool:
        """Return whether an import, a backup or other job of the store runs just now."""
        return any(job.state is JobState.RUNNING for job in self.all())

    def page(self, first: int, after: str | None) -> Page[Job]:
        """Return a page of the store's jobs (imports, backups ...), newest first."""
        key = lambda job: (to_micros(job.started_at), job.id)  # noqa: E731
        return page_of(self.all(), key, first=first, after=after, newest_first=True)

    def cancel(self, job_id: str) -> Job:
        """Ask an import, a backup or other job of the store to stop; what it has done stays done."""
        job = self.get(job_id)
        with self._guard:
            running = self._running.get(job_id)
        if running is not None:
            running[0].stop()
        return job

    def forget_words(self) -> None:
        """Let go of what the store's ended jobs list and failed at: it may repeat what was erased. Counts stay."""
        with self._guard:
            for job in [job for job in self._jobs.values() if job.state is not JobState.RUNNING]:
                told = {name: [] if isinstance(one, list | tuple) else one for name, one in job.result.items()}
                self._jobs[job.id] = replace(job, message="", error=job.error and "erased", result=told)

    def close(self) -> None:
        """Ask every long job that the store itself runs (imports, backups ...) to stop and wait for them."""
        with self._guard:
            running = list(self._running.values())
        for ticket, _ in running:
            ticket.stop()
        for _, thread in running:
            thread.join()

    def advance(self, job_id: str, **fields: Any) -> None:
        """Record the new state of an import, a backup or other job of the store, and tell whoever listens."""
        with self._guard:
            job = self._jobs[job_id] = replace(self._jobs[job_id], **fields)
        for callback in tuple(self._listeners):
            callback(job)

    def _run(self, job_id: str, ticket: Ticket, work: Work) -> None:
        fields: dict[str, Any]
        try:
            result = work(ticket)
            fields = {"state": JobState.CANCELLED if ticket.cancelled else JobState.DONE, "result": result}
        except (HelixError, OSError) as raised:
            error = of_the_system(raised) if isinstance(raised, OSError) else raised
            state = JobState.CANCELLED if ticket.cancelled else JobState.FAILED
            log.warning("job ended early", extra={"job": job_id, "state": state.value, "error": str(error)})
            fields = {"state": state, "error": str(error), "error_code": error.code}
        except Exception as unexpected:  # the thread's outermost boundary
            log.exception("job failed", extra={"job": job_id})
            fields = {
                "state": JobState.FAILED,
                "error": f"{type(unexpected).__name__}: {unexpected}",
                "error_code": HelixError.code,
            }
        self.advance(job_id, **fields, ended_at=self._clock())
        with self._guard:
            del self._running[job_id]
