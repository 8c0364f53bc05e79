"""Progress: follows a job of the daemon to its end, with a bar and the time that is left."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from helix.cli.invocation import Invocation
from helix.cli.output import printed_size
from helix.errors import DaemonError, HelixError, NotFoundError

POLL_SECONDS = 0.2
_CANCEL_SECONDS = 10.0
_LINE_SECONDS = 5.0
_GOES_ON = "ingest"
"""The kind of the jobs that find what is in already; any other is whole or not there, and begins anew."""


class Meter(Protocol):
    """Shows how far something is; `total` 0 means that nobody knows yet."""

    def __call__(self, done: int, total: int, message: str = "") -> None: ...


@contextmanager
def meter(invocation: Invocation, title: str, *, in_bytes: bool = False) -> Iterator[Meter]:
    """Yield what shows progress on stderr: a bar on a terminal, else a line now and then, nothing with --json."""
    if invocation.json:
        yield lambda done, total, message="": None
    elif not sys.stderr.isatty():
        yield _ProgressLines(invocation, title, printed_size if in_bytes else str)
    else:
        from rich import progress  # heavy, and of no use without a terminal
        from rich.console import Console

        amount: progress.ProgressColumn = progress.DownloadColumn() if in_bytes else progress.MofNCompleteColumn()
        columns = (progress.TextColumn("{task.description}"), progress.BarColumn(), amount)
        words = progress.TextColumn("{task.fields[message]}", markup=False)
        with progress.Progress(*columns, progress.TimeRemainingColumn(), words, console=Console(stderr=True)) as bars:
            task = bars.add_task(title, total=None, message="")
            yield lambda done, total, message="": bars.update(
                task, completed=done, total=total or None, message=message
            )


def follow(invocation: Invocation, job: dict[str, Any], *, cancels: bool = False) -> dict[str, Any]:
    """Follow a job in the terminal until it is done and return it as it ended.

    Raises the error it failed of. Ctrl-C leaves: with `cancels` the job is stopped first, otherwise it goes on.
    """
    title = str(job["kind"]).replace("_", " ")
    try:
        with meter(invocation, title) as show:
            while job["state"] == "RUNNING":
                show(job["done"], job["total"], job["message"])
                time.sleep(POLL_SECONDS)
                job = _looked_up(invocation, job, title)
            show(job["done"], job["total"])
    except KeyboardInterrupt:
        _leave(invocation, job, title, cancels)
        raise
    if job["state"] == "FAILED":
        from helix.client import error_from  # HTTP: loaded by now, and not for a command's help

        raise error_from(job["errorCode"] or HelixError.code, job["error"] or f"{title} failed")
    if job["state"] == "CANCELLED":
        raise DaemonError(_stopped(job, title), hint=_next(job))
    return job


def _looked_up(invocation: Invocation, job: dict[str, Any], title: str) -> dict[str, Any]:
    try:
        found: dict[str, Any] = invocation.run("job", id=job["id"])["job"]
    except NotFoundError as error:
        # Jobs live as long as their daemon: this one has been replaced, and the client has found its successor.
        words = f"the daemon ended while {title} was at work, after {_reached(job)}"
        raise DaemonError(words, hint=_next(job)) from error
    return found


def _leave(invocation: Invocation, job: dict[str, Any], title: str, cancels: bool) -> None:
    if not cancels:
        invocation.say(f"{title} goes on in the daemon: `helix status` shows it")
        return
    job = invocation.run("cancel_job", id=job["id"])["cancelJob"]
    deadline = time.monotonic() + _CANCEL_SECONDS
    while job["state"] == "RUNNING" and time.monotonic() < deadline:
        time.sleep(POLL_SECONDS)
        job = _looked_up(invocation, job, title)
    ended = f"{title} is being stopped" if job["state"] == "RUNNING" else _stopped(job, title)
    invocation.say(f"{ended}; {_next(job)}")


def _stopped(job: dict[str, Any], title: str) -> str:
    """Return how a job that was stopped has ended: what it says itself, or how far it was."""
    return job["error"] or f"{title} was stopped after {_reached(job)}"


def _next(job: dict[str, Any]) -> str:
    return "the same command goes on from there" if job["kind"] == _GOES_ON else "run the same command again"


def _reached(job: dict[str, Any]) -> str:
    return f"{job['done']} of {job['total']}" if job["total"] else str(job["done"])


class _ProgressLines:
    """Progress where there is no terminal: a line now and then."""

    def __init__(self, invocation: Invocation, title: str, shown: Callable[[int], str]) -> None:
        self._invocation = invocation
        self._title = title
        self._shown = shown
        self._due = time.monotonic() + _LINE_SECONDS

    def __call__(self, done: int, total: int, message: str = "") -> None:
        if time.monotonic() >= self._due:
            self._due = time.monotonic() + _LINE_SECONDS
            whole = self._shown(total) if total else "?"
            self._invocation.say(f"{self._title}: {self._shown(done)} of {whole} {message}".rstrip())
