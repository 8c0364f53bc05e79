"""Stopwatch: the wall time of each stage of one recall."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager


class Stopwatch:
    """Adds up milliseconds by stage; a stage may be entered more than once, and a stage inside another counts alone."""

    def __init__(self) -> None:
        self.timings_ms: dict[str, float] = {}
        self._inside = 0.0

    @contextmanager
    def __call__(self, stage: str) -> Iterator[None]:
        """Time what happens inside."""
        before, self._inside = self._inside, 0.0
        started = time.perf_counter()
        try:
            yield
        finally:
            spent = (time.perf_counter() - started) * 1000
            self.timings_ms[stage] = self.timings_ms.get(stage, 0.0) + spent - self._inside
            self._inside = before + spent
