"""A process that hard forgets a memory and kills itself on the way; run by the test of hard forget.

`main(home, id, place)`: `place` is a key of PLACES.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from helix import settings as configuration
from helix.journal import erase as rows
from helix.journal.log import Journal
from helix.memory.erasure.hard_forget import hard_forget, plan_hard_forget
from helix.memory.worker.worker import MemoryWorker
from helix.model.reports import Job
from helix.operations import erasure
from helix.providers.fakes import HashEmbedder
from helix.service import Helix
from helix.store import erasing
from helix.store.jobs import Jobs
from helix.store.store import Store

ANSWERED = "as soon as it is answered"
PLACES: dict[str, tuple[Any, str, bool, int]] = {
    ANSWERED: (erasure, "hard_forget", False, 1),
    "before the logs are blotted": (erasing, "blot_logs", True, 1),
    "before the graph's files go": (erasing, "_without_graph", True, 1),
    "behind the graph's files": (erasing, "_without_graph", False, 1),
    "before memory and image are read anew": (erasing, "_renew", True, 1),
    "behind memory and image": (erasing, "_renew", False, 1),
    "between removing and erasing": (Journal, "append", False, 1),
    "before rows are emptied": (rows, "_purge", True, 1),
    "inside a copy": (rows, "_purge", True, 2),
    "before the end": (erasing, "end_erasure", True, 1),
}


def die_in(owner: Any, name: str, before: bool, nth: int) -> None:
    """Kill the process at the nth call of a function, before or after it has run."""
    original: Callable[..., Any] = getattr(owner, name)
    calls = 0

    def deadly(*args: Any, **named: Any) -> Any:
        nonlocal calls
        calls += 1
        if before and calls == nth:
            os.kill(os.getpid(), signal.SIGKILL)
        result = original(*args, **named)
        if not before and calls == nth:
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    setattr(owner, name, deadly)


def main(home: Path, wanted: str, place: str) -> None:
    if place == ANSWERED:
        answered(home, wanted)
    store = Store(configuration.load({"home": home}, environ={}, cwd=home), embedder=HashEmbedder())
    die_in(*PLACES[place])
    ended = threading.Event()

    def told(job: Job) -> None:
        if job.ended_at is not None:
            ended.set()

    jobs = Jobs(clock=store.runtime.clock, make_id=store.runtime.make_id)
    jobs.listen(told)
    jobs.start("erase", lambda ticket: {"rows": hard_forget(store, plan_hard_forget(store, wanted), ticket).rows})
    ended.wait()


def answered(home: Path, wanted: str) -> None:
    """Ask as a client does, and die before any of the work is done."""
    MemoryWorker.start = lambda self: None  # type: ignore[method-assign]  # it would make vectors meanwhile
    helix = Helix.open(configuration.load({"home": home}, environ={}, cwd=home), embedder=HashEmbedder())
    erasure.erase.hard_forget = lambda *_: threading.Event().wait()  # type: ignore[attr-defined,assignment]
    die_in(*PLACES[ANSWERED])
    erasure.hard_forget(helix, wanted, wanted)
