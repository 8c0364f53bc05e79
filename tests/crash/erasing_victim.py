"""A process that hard forgets a memory and kills itself on the way; run by the test of hard forget.

`erasing_victim.py HOME ID PLACE`: PLACE is a key of PLACES.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from helix import settings as configuration
from helix.journal import erase as rows
from helix.journal.log import Journal
from helix.lifecycle.erasure.erase import hard_forget, plan_hard_forget
from helix.model.reports import Job
from helix.providers.fakes import HashEmbedder
from helix.store import erasing
from helix.store.jobs import Jobs
from helix.store.store import Store

PLACES: dict[str, tuple[Any, str, bool, int]] = {
    "between removing and erasing": (Journal, "append", False, 1),
    "before rows are emptied": (rows, "_purge", True, 1),
    "inside a copy": (rows, "_purge", True, 2),
    "before the end": (erasing, "_end", True, 1),
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
    store = Store(configuration.load({"home": home}, environ={}, cwd=home), embedder=HashEmbedder())
    die_in(*PLACES[place])
    ended = threading.Event()

    def told(job: Job) -> None:
        if job.ended_at is not None:
            ended.set()

    jobs = Jobs(clock=store.clock, make_id=store.make_id, changed=told)
    jobs.start("erase", lambda ticket: {"rows": hard_forget(store, plan_hard_forget(store, wanted), ticket).rows})
    ended.wait()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3])
