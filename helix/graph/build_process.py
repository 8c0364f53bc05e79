"""Build process: has a graph built beside the one in use, in a process of its own that may be stopped at any moment."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from pathlib import Path

from helix.errors import GraphUnavailableError
from helix.graph.on_disk import Progress
from helix.graph.process import GraphProcess

_ANSWER_SECONDS = 120.0
_STAGE_SECONDS = 3_600.0
"""How long one stage may take, such as indexing the vectors: nothing is told meanwhile."""


def build_beside(command: Sequence[str], target: Path, progress: Progress, stop: threading.Event | None = None) -> int:
    """Build a graph file at `target` by the program of the graph's process; return the journal row it is of.

    Raises GraphUnavailableError soon after `stop` is set, and what building raises.
    """
    process = GraphProcess(command)
    stage, done, total = "starting", 0, 0
    told = begun = time.monotonic()
    try:
        process.tell("build", target=str(target))
        while True:
            if stop is not None and stop.is_set():
                raise GraphUnavailableError(
                    "building the graph was stopped", hint="the next start, or `helix rebuild`, builds it"
                )
            if process.waits(0.1):
                kind, said = process.hear(_ANSWER_SECONDS)
                if kind == "answer":
                    return int(said)
                (stage, done, total), begun = said, time.monotonic()
                progress(stage, done, total)
            elif time.monotonic() - told >= 1:
                told = time.monotonic()
                progress(f"{stage}, {told - begun:.0f} s", done, total)
            if time.monotonic() - begun > _STAGE_SECONDS:
                raise GraphUnavailableError(f"building the graph took too long at: {stage}")
    finally:
        process.kill()
