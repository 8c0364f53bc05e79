"""A process that stores memories until it is killed, printing each acknowledged one; run by the crash test.

`main(home, first, moment)`: `first` numbers the memories; `moment` names the place in which it kills itself, or `none`
to wait for somebody else to do it. Each place is reached by the real code: a thread of this process only pulls the
trigger.
"""

from __future__ import annotations

import os
import random
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

from helix import settings as configuration
from helix.graph.graph_follower import GraphFollower
from helix.graph.process import GraphProcess
from helix.journal.log import Journal
from helix.memory.remember.request import StoreRequest
from helix.model.memory import Kind
from helix.operations import memories
from helix.providers.fakes import HashEmbedder
from helix.service import Helix

REOPEN_AFTER = 4
MOST_BEHIND = 16
"""Memories the graph may lack before the writer waits for it: a backlog without end takes seconds to write."""


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def kill_graph(follower: GraphFollower) -> None:
    if follower.pid is not None:
        os.kill(follower.pid, signal.SIGKILL)


def die_in(
    owner: type[Any], method: str, *, before: bool, nth: int, first: Callable[[Any], None] = lambda _: None
) -> None:
    """Kill the process at the nth call of a method, before or after the method has run."""
    original: Callable[..., Any] = getattr(owner, method)
    calls = 0

    def deadly(self: Any, *args: Any, **named: Any) -> Any:
        nonlocal calls
        calls += 1
        if before and calls == nth:
            first(self)
            die()
        result = original(self, *args, **named)
        if not before and calls == nth:
            die()
        return result

    setattr(owner, method, deadly)


PLACES: dict[str, Callable[[], None]] = {
    "none": lambda: None,
    "before the journal": lambda: die_in(Journal, "append", before=True, nth=6),
    "between journal and graph": lambda: die_in(Journal, "append", before=False, nth=6),
    "while the graph opens": lambda: die_in(GraphProcess, "tell", before=False, nth=1),
    "while the graph applies": lambda: die_in(GraphProcess, "tell", before=False, nth=3),
    "behind the graph's answer": lambda: die_in(GraphFollower, "_step", before=False, nth=2),
    "with the graph's process": lambda: die_in(GraphFollower, "_step", before=True, nth=3, first=kill_graph),
}


PATCHED_BEFORE_OPENING = ("while the graph opens",)


def main(home: Path, first: int, moment: str) -> None:
    settings = configuration.load({"home": home, "reopen_after": REOPEN_AFTER}, environ={}, cwd=home)
    if moment not in PATCHED_BEFORE_OPENING:
        helix = Helix.open(settings, embedder=HashEmbedder())
        PLACES[moment]()
    else:
        PLACES[moment]()
        helix = Helix.open(settings, embedder=HashEmbedder())
    print("ready", flush=True)
    words = random.Random(first)
    for number in range(first, first + 1_000):
        noise = " ".join(words.sample(["wal", "lock", "page", "index", "cache", "graph", "token", "fold"], 3))
        stored = memories.store(
            helix,
            StoreRequest(
                trigger=f"fact{number} about {noise}",
                resolution=f"unique{number} {noise}",
                kind=Kind.FACT,
                files=(f"src/file{number % 5}.c",),
            ),
        )
        print(number, stored.id, flush=True)
        if (number + 1) % MOST_BEHIND == 0:
            helix.store.graph.settle()
